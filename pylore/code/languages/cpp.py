"""C++: names mean the same as in C."""

from __future__ import annotations

from .c import SPEC as _C

SPEC = _C._replace(name="cpp")
