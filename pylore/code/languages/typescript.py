"""TypeScript: its names mean what JavaScript's do."""

from __future__ import annotations

from .javascript import SPEC as _JAVASCRIPT

SPEC = _JAVASCRIPT._replace(name="typescript")
