"""The machine: files, folders, programs, git; and the optional parts of lore.

Other packages import ``pylore/capture`` and ``pylore/hub`` only through ``part``.
"""

from __future__ import annotations

from ..core.errors import LoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def part(name: str, module: str) -> ModuleType | None:
    """Import a module of a part; None without the part."""
    package = f"pylore.{name}"
    try:
        return __import__(f"{package}.{module}", fromlist=("",))
    except ModuleNotFoundError as error:
        # A folder without files, of caches alone for one, is a package too.
        if error.name not in (package, f"{package}.{module}"):
            raise
        return None


def require_part(name: str, module: str) -> ModuleType:
    """Import a module of a part; raise LoreError without the part."""
    found = part(name, module)
    if found is None:
        raise LoreError(f"this installation has no {name} (pylore/{name}): install lore again")
    return found
