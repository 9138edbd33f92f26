"""A repository that grows, a commit after the other, as fast as git takes them in."""

from __future__ import annotations

from random import Random

_AREAS = ("api", "billing", "core", "jobs", "search", "web")
_VERBS = ("load", "check", "merge", "send", "parse", "store", "drop", "list", "find", "sign")


class Source:
    """The files of a repository, and commits that change, add, rename and delete them."""

    def __init__(self, name: str, seed: int, names: list[str], sentences: list[str]) -> None:
        self._random = Random(seed)
        self._names = names
        self._sentences = sentences
        self._name = name
        self.files: dict[str, list[str]] = {}
        """Path to its functions, each the text of one; of a document its paragraphs."""
        self.renamed: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.commits = 0

    def stream(self, count: int, now: int, span: int) -> bytes:
        """So many commits of the last ``span`` seconds, as ``git fast-import`` reads them."""
        start = "from refs/heads/main^0\n" if self.commits else ""
        parts = []
        for number in range(count):
            at = now - span + span * (number + 1) // (count + 1)
            parts.append(self._commit(at, start))
            start = ""
        return "".join(parts).encode()

    def code(self) -> list[str]:
        return [path for path in self.files if path.endswith(".py")]

    def symbol(self, path: str, random: Random) -> str:
        """The name of one of a file's functions."""
        return random.choice(self.files[path]).split("(")[0].removeprefix("def ")

    def _commit(self, at: int, start: str) -> str:
        changes = self._changes() if self.commits else [self._add() for _ in range(12)]
        self.commits += 1
        reason = self._random.choice(self._sentences)
        message = f"{changes[0][0]}\n\nThis is needed because {reason[0].lower()}{reason[1:]}"
        return (
            f"commit refs/heads/main\ncommitter n <n@example.org> {at} +0000\n{_data(message)}"
            + start + "".join(text for _, text in changes) + "\n"
        )  # fmt: skip

    def _changes(self) -> list[tuple[str, str]]:
        """One to four changes: a message and what fast-import is told."""
        kinds = self._random.choices(
            (self._edit, self._grow, self._add, self._rename, self._delete, self._document),
            (50, 22, 11, 5, 4, 8),
            k=self._random.choice((1, 1, 1, 2, 2, 3, 4)),
        )
        return [kind() for kind in kinds]

    def _add(self) -> tuple[str, str]:
        name = "_".join(self._random.choices(self._names, k=2))
        place = f"src/{self._random.choice(_AREAS)}/{name}.py"
        if place in self.files:
            return self._edit()
        self.files[place] = []
        for _ in range(self._random.randint(3, 7)):
            self.files[place].append(self._function())
        return f"Add {place}", self._written(place)

    def _edit(self) -> tuple[str, str]:
        path = self._random.choice(self.code())
        functions = self.files[path]
        at = self._random.randrange(len(functions))
        head = functions[at].partition("\n")[0]
        functions[at] = f"{head}\n{self._body()}"
        return f"Correct {head[4:].partition('(')[0]}", self._written(path)

    def _grow(self) -> tuple[str, str]:
        path = self._random.choice(self.code())
        self.files[path].append(self._function())
        return f"Extend {path}", self._written(path)

    def _rename(self) -> tuple[str, str]:
        path = self._random.choice(self.code())
        to = path.replace(".py", f"_{self._random.choice(self._names)}.py")
        if to in self.files:
            return self._edit()
        self.files[to] = self.files.pop(path)
        self.renamed[path] = to
        return f"Rename {path}", f"R {path} {to}\n"

    def _delete(self) -> tuple[str, str]:
        if len(self.code()) < 10:
            return self._add()
        path = self._random.choice(self.code())
        del self.files[path]
        self.deleted.add(path)
        return f"Remove {path}", f"D {path}\n"

    def _document(self) -> tuple[str, str]:
        path = f"docs/{self._random.choice(_AREAS)}.md"
        about = self._random.choice(self.code())
        text = f"{self._random.choice(self._sentences)} See `{about}`."
        self.files[path] = [*self.files.get(path, ()), text][-20:]
        return f"Describe {about}", self._written(path)

    def _function(self) -> str:
        name = f"{self._random.choice(_VERBS)}_{'_'.join(self._random.choices(self._names, k=2))}"
        return f"def {name}(value):\n{self._body()}"

    def _body(self) -> str:
        others = [one for path in self._random.sample(sorted(self.code()), min(2, len(self.code())))
                  for one in self.files[path][:1]]  # fmt: skip
        calls = "".join(f"    value = {one[4:].partition('(')[0]}(value)\n" for one in others)
        return (
            f'    """{self._random.choice(self._sentences)}"""\n'
            f"    # {self._random.choice(self._sentences)}\n{calls}"
            f"    return value or {self._random.randrange(1000)}\n"
        )

    def _written(self, path: str) -> str:
        parts = self.files[path]
        if path.endswith(".md"):
            return f"M 644 inline {path}\n" + _data(f"# {path}\n\n" + "\n\n".join(parts) + "\n")
        called = {word.partition("(")[0] for one in parts for word in one.split()}
        first = {
            self.files[other][0][4:].partition("(")[0]: other
            for other in self.code()
            if other != path and self.files[other]
        }
        imports = [
            f"from {other[4:-3].replace('/', '.')} import {name}\n"
            for name, other in sorted(first.items())
            if name in called
        ]
        return f"M 644 inline {path}\n" + _data("".join(imports) + "\n\n" + "\n\n".join(parts))


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"
