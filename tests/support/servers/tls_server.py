"""A private database server with a certificate of an authority of its own, and a proxy in between that strips TLS."""

from __future__ import annotations

import ipaddress
import shlex
import shutil
import socket
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from local.services.mysql import PrivateServer
from local.services.mysql_binaries import find_or_install
from tests.support.faults.tcp_proxy import HEADER, TcpProxy, packets, pass_on

DAY = timedelta(days=1)
SSL = 0x0800
# Of the greeting after its protocol's version and the server's: connection id, 8 bytes of a challenge, and a filler.
BEFORE_CAPABILITIES = 13


class Authority:
    """Signs certificates; `file` is what those have who trust it."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key, self._name = ec.generate_private_key(ec.SECP256R1()), _named(name)
        self.file = folder / f"{name}.pem"
        made = _certificate(self._name, self._name, self._key, authority=True)
        self.file.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def certificate(self, address: str) -> tuple[Path, Path]:
        """A certificate for a server at that IP address, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        made = _certificate(_named(address), self._name, key, authority=False).add_extension(names, critical=False)
        certificate, secret = self._folder / "server.pem", self._folder / "server.key"
        certificate.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return certificate, secret


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, *, authority: bool
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )


@contextmanager
def tls_server() -> Iterator[tuple[str, Authority]]:
    """The address of a private server, without a schema, and the authority that its certificate is of."""
    directory = Path(tempfile.mkdtemp(prefix="exhibit-ingest-"))
    authority = Authority(directory, "ours")
    certificate, key = authority.certificate("127.0.0.1")
    binaries = find_or_install()
    options = [f"--ssl-ca={authority.file}", f"--ssl-cert={certificate}", f"--ssl-key={key}"]
    started = directory / "server-with-tls"
    started.write_text(f'#!/bin/sh\nexec {shlex.quote(str(binaries.server))} "$@" {shlex.join(options)}\n')
    started.chmod(0o755)
    server = PrivateServer(directory / "server", binaries=replace(binaries, server=started), tcp=True)
    try:
        yield server.start(), authority
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


class StrippingProxy(TcpProxy):
    """Takes out of the server's greeting that it can do TLS, as an eavesdropper would."""

    def serve(self, client: socket.socket, server: socket.socket) -> None:
        """Only the greeting is changed."""
        greeting = bytearray(next(packets(server)))
        place = greeting.index(b"\0", HEADER + 1) + 1 + BEFORE_CAPABILITIES
        (capabilities,) = struct.unpack_from("<H", greeting, place)
        struct.pack_into("<H", greeting, place, capabilities & ~SSL)
        client.sendall(greeting)
        answers = Thread(target=pass_on, args=(server, client, Event()), daemon=True)
        answers.start()
        pass_on(client, server, Event())
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)
        answers.join()
