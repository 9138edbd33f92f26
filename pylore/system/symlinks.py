"""Links that lead out of the project that they lie in: such a one may have come with a clone.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError

MARKS = (".lore", ".git")
"""Entries of which a project's top folder has either."""

_MOST_LINKS = 40


def real_place(path: str) -> str:
    """Return where the file that a person means by ``path`` is: the same with no link in it.

    A link is followed where it leads to within the project that it lies in: the nearest
    folder above with a ``.lore`` or a ``.git``, or else the working directory. Outside of
    both a folder's link is followed anywhere, since no clone brought it; one in place of
    the file itself where it stays within the folder that it lies in.

    Raises:
        LoreError: a link leads further; the message names it and where it leads.
    """
    place = "/" if path.startswith("/") else os.getcwd()
    parts = path.split("/")[::-1]
    for _ in range(_MOST_LINKS):
        link = ""
        while parts and not link:
            part = parts.pop()
            if part == "..":
                place = os.path.dirname(place)
            elif part not in ("", "."):
                place = os.path.join(place, part)
                link = place if os.path.islink(place) else ""
        if not link:
            return place
        _require_within(path, link, last=not any(parts))
        target = os.readlink(link)
        place = "/" if target.startswith("/") else os.path.dirname(link)
        parts += target.split("/")[::-1]
    raise LoreError(f"{path}: leads through too many links: name the place itself")


def project_of(folder: str) -> str | None:
    """Return the project that a folder (a real path) lies in; None where it lies in none.

    Where no folder above it has a mark, that is the working directory if it lies in there,
    unless that is home or above it: what a person keeps at home is not a project.
    """
    above = folder
    while True:
        if any(os.path.lexists(os.path.join(above, mark)) for mark in MARKS):
            return above
        if above == "/":
            break
        above = os.path.dirname(above)
    here, home = os.getcwd(), os.path.realpath(os.path.expanduser("~"))
    return here if _lies_in(folder, here) and not _lies_in(home, here) else None


def _require_within(path: str, link: str, *, last: bool) -> None:
    folder = os.path.dirname(link)
    project = project_of(folder)
    if project is None and not last:
        return
    target = os.path.realpath(link)
    if not _lies_in(target, project or folder):
        of = f"the project {project}" if project else folder
        raise LoreError(f"{path}: {link} is a link that leads out of {of}, to {target}: "
                        "name the place itself, or take the link away")  # fmt: skip


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
