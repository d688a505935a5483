"""Put Amazon RDS's certificate authorities into the layer; `make build` does it first.

A deployed function verifies the certificate of the database with them and refuses to connect without them. Downloaded
over verified TLS; every certificate must be one of Amazon RDS's own authorities, and all of them must be readable.

usage: python -m tools.rds_authorities [download | none | FILE]
  download   from Amazon, unless the layer has them already; those are checked again, and refused after 90 days
  FILE       a copy of Amazon's global-bundle.pem
  none       build without: the functions cannot connect to Aurora, for builds that are not deployed

exit status: 0 done; 1 they could not be read
"""

from __future__ import annotations

import hashlib
import ssl
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

LAYER_FILE = Path(__file__).resolve().parents[1] / "layers" / "dependencies" / "rds-authorities.pem"
# "Using SSL/TLS to encrypt a connection to a DB cluster" in the Aurora user guide.
ADDRESS = "https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem"
_TIMEOUT_S, _MAX_BYTES, _MAX_DAYS = 20, 5_000_000, 90


class AuthoritiesError(Exception):
    """The bundle could not be read, or has other certificates; the message says what to do."""


def main(arguments: Sequence[str], layer_file: Path = LAYER_FILE) -> int:
    """Write the bundle into the layer, print what was done, and return the exit status."""
    source = next(iter(arguments), "") or "download"
    try:
        if source == "none":
            layer_file.unlink(missing_ok=True)
            print("Building without the authorities of Amazon RDS: do not deploy this, its functions cannot connect.")
            return 0
        is_kept = source == "download" and layer_file.exists()
        pem = _read_kept(layer_file) if is_kept else _read_bundle(source)
        count = check_bundle(pem)
        if not is_kept:
            layer_file.write_text(pem, encoding="ascii")
        digest = hashlib.sha256(pem.encode("ascii")).hexdigest()
        print(f"The layer has {count} certificate authorities of Amazon RDS (SHA-256 {digest}).")
    except (AuthoritiesError, OSError, UnicodeError) as error:
        print(f"The certificate authorities of Amazon RDS could not be read: {error}", file=sys.stderr)
        print("Download global-bundle.pem elsewhere and use make build RDS_AUTHORITIES=<file>;", file=sys.stderr)
        print("RDS_AUTHORITIES=none builds what cannot be deployed, for tests.", file=sys.stderr)
        return 1
    return 0


def _read_bundle(source: str) -> str:
    return _download() if source == "download" else Path(source).read_text(encoding="ascii")


def _read_kept(layer_file: Path) -> str:
    """Return the bundle of an earlier build; Amazon adds authorities before it uses them."""
    if (days := (time.time() - layer_file.stat().st_mtime) // 86_400) > _MAX_DAYS:
        raise AuthoritiesError(f"{layer_file} is {days:.0f} days old. Delete it: the next build downloads a newer one")
    return layer_file.read_text(encoding="ascii")


def check_bundle(pem: str) -> int:
    """Return the number of certificates; raise AuthoritiesError unless all are authorities of Amazon RDS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError) as error:
        raise AuthoritiesError("the file is not a bundle of certificates") from error
    names = [_get_names(certificate) for certificate in context.get_ca_certs()]
    others = [name for name in names if not name.startswith("Amazon RDS ")]
    if others or not names or pem.count("BEGIN CERTIFICATE") != len(names):
        raise AuthoritiesError(f"certificates are missing or not of Amazon RDS: {', '.join(others[:3])}")
    return len(names)


def _get_names(certificate: object) -> str:
    """Return the common name of a certificate as `get_ca_certs` describes it."""
    subject = certificate["subject"] if isinstance(certificate, dict) else ()
    return next((value for ((name, value),) in subject if name == "commonName"), "")


def _download() -> str:
    with urllib.request.urlopen(ADDRESS, timeout=_TIMEOUT_S) as answer:
        return str(answer.read(_MAX_BYTES).decode("ascii"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
