"""TypeScript: names mean the same as in JavaScript."""

from __future__ import annotations

from .javascript import SPEC as _JAVASCRIPT

SPEC = _JAVASCRIPT._replace(name="typescript")
