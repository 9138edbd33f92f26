"""Set up a repository: attributes, the merge driver, blocks in hooks."""

from __future__ import annotations

import os
import re
from shlex import quote

from ..core.errors import LoreError
from .edits import Left, block_key, change_block, has_block, read_text
from .git_process import NO_HOOKS, run_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .edits import Done

_OF_A_SHELL = re.compile(r"#! *(\S*/env +(-\S+ +|\w+=\S* +)*)?(\S*/)?(ba|da|a|k|mk|z)?sh\s")
_SHEBANG = "#!/bin/sh\n"


class ProjectTree:
    """The work tree of a project, with blocks of one command in its hooks: its ``top`` folder, the
    way ``below`` to the project, the ``key`` of the blocks.
    """

    def __init__(self, project: str, put: str, take: str) -> None:
        """Keep the commands ``put`` and ``take``; raise LoreError without git, or a work tree."""
        self.project = os.path.realpath(project)
        self.top = ""
        self.top = self.read("rev-parse", "--show-toplevel")
        if not self.top:
            raise LoreError(f"{project}: is not a git repository: run this in one")
        self.below = os.path.relpath(self.project, os.path.realpath(self.top))
        self.key = block_key(put, take, quote(self.below))

    def hook(self, name: str) -> str:
        """Return the file of a hook, wherever the config has them."""
        values = self.read("config", "-z", "--path", "--get-all", "core.hooksPath").split("\0")
        if values[-2:] != [NO_HOOKS, ""]:  # lore's own option comes last
            raise LoreError(f"{self.top}: git does not tell its core.hooksPath: mend its config")
        usual = os.path.join(self.read("rev-parse", "--git-common-dir"), "hooks")
        folder = values[-3] if len(values) > 2 else usual
        return os.path.join(os.path.realpath(os.path.join(self.top, folder)), name)

    def put_into_hooks(self, lines: Mapping[str, Sequence[str]]) -> Iterator[Done]:
        """Put lines into hooks, by their names, or bring them up to date."""
        for name in lines:
            yield self._put(self.hook(name), lines[name])

    def _put(self, path: str, lines: Sequence[str]) -> Done:
        if "\n" in self.below:
            return path, "left", f"the name of the folder {self.below!r} has a line break"
        try:
            text = read_text(path)
        except Left as why:
            return path, "left", str(why)
        if text is not None and not os.access(path, os.X_OK):
            return path, "left", "it is not executable, so git does not run it"
        if text is not None and not _OF_A_SHELL.match(text):
            return path, "left", "it is not a script of a shell"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        done = change_block(path, self.key, lines, head=_SHEBANG)
        if text is None:
            os.chmod(path, 0o755)
        return done

    def take_out_of_hooks(self, names: Iterable[str]) -> Iterator[Done]:
        """Take the lines out of hooks, as far as there are such hooks."""
        for path in map(self.hook, names):
            if os.path.lexists(path):
                yield change_block(path, self.key, None, head=_SHEBANG)

    def hooks_with_lines(self, names: Iterable[str]) -> list[str]:
        """Return the files of the hooks that have lines."""
        return [path for path in map(self.hook, names) if has_block(path, self.key)]

    def read(self, *words: str) -> str:
        """Return what a command of git prints; nothing if it fails."""
        status, out, _ = self.ask(*words)
        return "" if status else os.fsdecode(out).removesuffix("\n")

    def ask(self, *words: str) -> tuple[int, bytes, bytes]:
        """Run a command of git, under the person's own config, as ``run_git``."""
        return run_git(self.top or self.project, *words)


DRIVER = "merge.lore.driver"
PROGRAM = "lore merge-file %O %A %B --path %P || git merge-file %A %O %B"
"""Where lore fails or is missing, git merges by lines; sync reads the markers of a conflict."""
HOOKS = ("post-merge", "post-checkout", "post-rewrite", "post-commit", "pre-commit")
"""The hooks for lines, if these are wanted."""
_ATTRIBUTES, _NEEDS = ".gitattributes", "merge=lore"


class Repository:
    """The repository that a project lies in; ``file`` is what merges, from the project."""

    def __init__(self, project: str, file: str) -> None:
        """Raise LoreError without git, or outside of a repository with a work tree."""
        self.file = file
        self._tree = ProjectTree(project, "lore sync --install", "lore sync --uninstall")
        self._attributes = os.path.join(self._tree.project, _ATTRIBUTES)

    def install(self, *, hooks: bool) -> Iterator[Done]:
        """Write missing parts; yield the change of each file."""
        yield change_block(self._attributes, self._tree.key, [f"{self.file} {_NEEDS}"])
        old = self._programs()
        if old and old[-1] != PROGRAM:
            yield DRIVER, "left", f"it is '{old[-1]}' already"
        else:
            self._configure("--replace-all", DRIVER, PROGRAM)
            yield DRIVER, "unchanged" if old else "added", ""
        lines = {name: _hook_lines(name, self._tree.below, self.file) for name in HOOKS}
        yield from self._tree.put_into_hooks(lines if hooks else {})

    def uninstall(self) -> Iterator[Done]:
        """Take out what ``install`` has written, and nothing else."""
        yield change_block(self._attributes, self._tree.key, None)
        needed = self._tree.read("grep", "--untracked", "-l", "-w", "-e", _NEEDS, "--",
                                 f":(glob)**/{_ATTRIBUTES}")  # fmt: skip
        if PROGRAM not in self._programs():
            yield DRIVER, "unchanged", ""
        elif needed:
            yield DRIVER, "left", f"{needed.splitlines()[0]} still names it"
        else:
            self._configure("--unset-all", DRIVER, "^lore merge-file ")
            yield DRIVER, "removed", ""
        yield from self._tree.take_out_of_hooks(HOOKS)

    def is_ignored(self) -> bool:
        """Return True if git ignores the file."""
        path = os.path.join(self._tree.project, self.file)
        return self._tree.ask("check-ignore", "-q", "--", path)[0] == 0

    def _programs(self) -> list[str]:
        """Return the values of the driver's key."""
        return self._tree.read("config", "--local", "-z", "--get-all", DRIVER).split("\0")[:-1]

    def _configure(self, *words: str) -> None:
        status, _, errors = self._tree.ask("config", "--local", *words)
        if status:
            said = errors.decode("utf-8", "replace").strip()
            raise LoreError(f"{DRIVER}: git says '{said}': check the config of the repository")


def _hook_lines(name: str, below: str, file: str) -> list[str]:
    """Return what a hook does; it fails in nothing, and where there is no lore it does nothing."""

    def place(path: str) -> str:
        return quote("./" + os.path.normpath(os.path.join(below, path)))

    folder, shared = place(""), place(file)
    own = place(os.path.dirname(file))

    def sync(*options: str) -> str:
        words = " ".join((*options, "--quiet", "--text"))
        return f"(cd {folder} && LORE_DIR= LORE_SCOPE= lore sync {words} </dev/null >&2)"

    lines = [f"if command -v lore >/dev/null 2>&1 && [ -d {own} ]; then"]
    git = "git --literal-pathspecs"
    if name == "post-commit":
        return [
            *lines,
            "  case $(git log --walk-reflogs -1 --format=%gs HEAD 2>/dev/null) in",
            "    cherry-pick* | revert*) # which run no other hook",
            f"      {git} diff-tree --quiet HEAD~1 HEAD -- {shared} 2>/dev/null ||",
            f"        {sync('--in')} 2>/dev/null || : ;;",
            "  esac",
            "fi",
        ]
    if name != "pre-commit":
        return [*lines, f"  {sync('--in')} || :", "fi"]
    return [
        *lines,
        f"  if {{ {git} diff-index --quiet HEAD -- {shared} 2>/dev/null ||",
        f"    [ $? -ne 1 ] || {sync('--in')}; }} && # what a merge brought is no command to undo",
        f"    {sync()}; then",
        "    case ${GIT_INDEX_FILE-} in",
        "      *next-index-*) ;; # a commit of some files alone",
        f'      *) [ -z "$({git} ls-files -- {shared})" ] ||',
        f"        {git} add -- {shared} || : ;;",
        "    esac",
        "  fi",
        "fi",
    ]
