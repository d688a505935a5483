"""Who can log in to a private server, and which files it reads and writes: its owner with a password, and none.

Guaranteed: no user of the machine who cannot read the owner's files can log in, also to a data directory of an earlier
version, whose root had no password: a server sets the password before it accepts a connection. The password is in files
of mode 0600 and in the URL only, never on a command line. SQL cannot read or write files of the machine: its user has
not the privilege, and the only folder that the server would use is empty and cannot be written to.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from local.private_files import read_or_create_secret, write_secret_file

_PASSWORD, _INIT, _CLIENT, _NO_FILES = "password", "users.sql", "client.cnf", "no-files"
_STATEMENTS = """\
CREATE USER IF NOT EXISTS root@'127.0.0.1' IDENTIFIED BY '{password}';
ALTER USER root@'127.0.0.1' IDENTIFIED BY '{password}';
CREATE USER IF NOT EXISTS root@localhost IDENTIFIED BY '{password}';
ALTER USER root@localhost IDENTIFIED BY '{password}';
DROP USER IF EXISTS root@'::1';
GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
GRANT ALL ON *.* TO root@localhost WITH GRANT OPTION;
REVOKE FILE ON *.* FROM root@'127.0.0.1';
REVOKE FILE ON *.* FROM root@localhost;
"""


class DatabaseAccess:
    """The access to the server of a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def password(self) -> str:
        """The password of root; empty for a server that an earlier version started, which has none."""
        path = self._directory / _PASSWORD
        return path.read_text(encoding="ascii") if path.exists() else ""

    def prepare(self, *, is_mysql: bool, port: int, socket: str) -> list[str]:
        """Write the password and the files that need it; return the options with which the server is started.

        A client uses the port, or the socket if that is 0.
        """
        password = read_or_create_secret(self._directory / _PASSWORD)
        init = self._directory / _INIT
        write_secret_file(init, _STATEMENTS.format(password=password))
        place = f"protocol=tcp\nhost=127.0.0.1\nport={port}" if port else f'protocol=socket\nsocket="{socket}"'
        client = f"[client]\n{place}\nuser=root\npassword={password}\n"
        write_secret_file(self._directory / _CLIENT, client)
        return [f"--init-file={init}", f"--secure-file-priv={'NULL' if is_mysql else self._make_empty_folder()}"]

    def build_client_command(self, schema: str) -> str:
        """Return the command that opens the schema with a MySQL client, for a shell."""
        return shlex.join(["mysql", f"--defaults-extra-file={self._directory / _CLIENT}", schema])

    def _make_empty_folder(self) -> Path:
        """Return an empty folder that cannot be written to.

        MariaDB has no value that forbids files: without the option, and with an empty one, it has no limit, and with
        NULL it does not start.
        """
        folder = self._directory / _NO_FILES
        folder.mkdir(exist_ok=True)
        folder.chmod(0o500)
        return folder
