"""The page itself: markup, style, script, libraries and data in one file.

Text from the store is data: it stands in a block that no browser runs, with nothing in
it that could end the block, and the page's script shows it as text. A policy in the
page lets only these two scripts and this style work, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

from ..system.json_encode import dumps

_ASSETS = Path(__file__).parent / "assets"
_BLANK = re.compile(r"\{\{(\w+)\}\}")


def page(picture: dict[str, Any]) -> str:
    """The HTML that shows ``picture`` (see ``picking.picture``)."""
    style, script = _asset("page.css"), _asset("layout.js") + _asset("page.js")
    library = _asset("cytoscape.min.js") + "\n" + _asset("d3-force.min.js")
    parts = {
        "policy": "; ".join(
            ("default-src 'none'", f"script-src {_hash(library)} {_hash(script)}",
             f"style-src {_hash(style)}", "img-src data:", "base-uri 'none'", "form-action 'none'")
        ),
        "style": style, "library": library, "script": script, "data": data_block(picture),
    }  # fmt: skip
    return _BLANK.sub(lambda blank: parts[blank[1]], _asset("page.html"))


def data_block(value: Any) -> str:
    """``value`` as JSON that may stand between ``<script>`` tags: it ends none, and opens none.

    >>> data_block("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    return dumps(value).translate(_ESCAPED)


_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """How a policy names a script or a style: by what is in it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
