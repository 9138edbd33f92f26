"""Links to files, where the terminal has them (OSC 8)."""

from __future__ import annotations

import os
import sys

_KNOWN = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby")
_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "foot-extra", "contour")
_FIRST_VTE = 5000
_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def linked(text: str, path: str) -> str:
    """Return ``text`` as a link to the file, if it is there and the terminal has links."""
    if not path or not has_links():
        return text
    full = os.path.join(_root(), path)
    if not os.path.isfile(full):
        return text
    url = "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in os.fsencode(full))
    return f"\x1b]8;;file://{url}\x1b\\{text}\x1b]8;;\x1b\\"


def has_links() -> bool:
    """Return whether stdout is a terminal that shows links; FORCE_HYPERLINK says so, or 0 that
    not."""
    environ = os.environ
    if not sys.stdout.isatty() or environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    forced = environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    vte = environ.get("VTE_VERSION", "")
    return (
        any(environ.get(name) for name in _KNOWN)
        or environ.get("TERM_PROGRAM") in _PROGRAMS
        or environ.get("TERM") in _TERMS
        or (vte.isdecimal() and int(vte) >= _FIRST_VTE)
    )


def _root() -> str:
    """Return the folder that paths in the store start from."""
    return os.environ.get("LORE_PROJECT") or os.getcwd()
