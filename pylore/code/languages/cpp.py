"""C++: its names mean what C's do, and C has nothing that they would not."""

from __future__ import annotations

from .c import SPEC as _C

SPEC = _C._replace(name="cpp")
