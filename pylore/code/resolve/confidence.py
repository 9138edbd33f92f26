"""How sure an edge from code is: its weight, by the way in which its name was resolved.

The settings' ``min_confidence`` cuts at search time, so that what is left out here is
only what would be a guess among many.
"""

from __future__ import annotations

SAME_FILE = 0.95
"""A name that is defined in the file, in a scope around the call."""
IMPORTED = 0.92
"""A name that an import gives, followed through re-exports to its definition."""
OWN_METHOD = 0.9
"""``self.x``, ``this.x``, ``super.x``: looked up in the class and then its bases."""
PACKAGE = 0.88
"""A name of the same package or of an included file, which needs no import by name."""
KNOWN_CLASS = 0.85
"""A method of an object whose class an assignment or an annotation tells."""
PASSED_ON = 0.7
"""What a function returns, or what its callers pass in."""
UNIQUE_FUNCTION = 0.75
"""The only function of that name, in a language where functions need no import."""
SUBCLASS = 0.65
"""A method of ``self`` that its subclasses alone define."""
UNIQUE_METHOD = 0.6
"""The only method of that name in the tree, on a receiver of which nothing is known."""
AMBIGUOUS = 0.5
"""Several methods of that name: each has its share of this."""
MOST_CANDIDATES = 5
"""More candidates than this are counted, and get no edges."""

REASONS = {
    SAME_FILE: "same_file",
    IMPORTED: "imported",
    OWN_METHOD: "own_method",
    PACKAGE: "package",
    KNOWN_CLASS: "known_class",
    PASSED_ON: "passed_on",
    UNIQUE_FUNCTION: "unique_function",
    SUBCLASS: "subclass",
    UNIQUE_METHOD: "unique_method",
}
"""What ``metadata`` and the counts call each of them."""
