"""A server that greets as PostgreSQL does before TLS, shakes hands, and says no more."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType


def certificate(folder: Path, host: str) -> Path | None:
    """Return a file with a new key and a self-signed certificate for a host, or None without
    openssl.
    """
    if shutil.which("openssl") is None:
        return None
    path = folder / f"{host}.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
        f" -subj /CN={host} -addext subjectAltName=DNS:{host}"
    )
    files = ["-keyout", str(path), "-out", f"{path}.crt"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


class TlsGreeter:
    """Listen at ``port`` of this machine within a ``with`` block."""

    def __init__(self, certificate: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> TlsGreeter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._listening.close()

    def _serve(self) -> None:
        with suppress(OSError):  # until the socket is closed
            while True:
                asking, _ = self._listening.accept()
                with suppress(OSError), asking:
                    asking.recv(8)  # the request for TLS
                    asking.sendall(b"S")
                    self._context.wrap_socket(asking, server_side=True).recv(1)
