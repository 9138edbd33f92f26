"""Test that a hostile clone does no harm.

Each line of a table is a fresh clone, in which commands run. Nothing outside ``.lore`` may
change, no secret be printed or stored, no program of the clone run, and no command crash, or use a
minute or a gigabyte.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from clone import COMMANDS, CONTEXT, HISTORY, JUDGE, SECRET, TAKE_IN, Machine

Plant = Callable[[Machine], object]

LINKS = """\
docs/notes.md -> ~/.ssh/id_rsa
docs/notes.md -> ../local.env
docs/notes.md -> /proc/self/environ
docs/sub -> .
docs -> ~/notes
src/new.py -> ~/notes/secret.py
src -> ~/notes
package.json -> ~/notes/package.json
Cargo.toml -> /dev/zero
.gitignore -> ~/.ssh/id_rsa
.git/info/exclude -> ~/.ssh/id_rsa
.lore/knowledge.jsonl -> ~/notes/secret.jsonl
.lore/knowledge.jsonl -> /dev/zero"""
"""Link and target."""

FILES = (
    "local.env .git/config .GIT/config .lore/knowledge.jsonl ~/.ssh/id_rsa ../../.ssh/id_rsa "
    "src/../local.env src/../../../.bashrc ./local.env link/id_rsa linked.py --output=victim "
    "/proc/self/environ /dev/zero"
).split()
"""Files of a node in the store. ``link`` points to ``~/.ssh``."""

SETTINGS = """\
core.fsmonitor=RUN
core.pager=RUN; pager.log=RUN; pager.ls-files=RUN
core.editor=RUN; sequence.editor=RUN
core.sshCommand=RUN; core.askPass=RUN; core.gitProxy=RUN; credential.helper=RUN
diff.external=RUN
diff.trap.command=RUN; diff.trap.textconv=RUN; diff.trap.cachetextconv=true
filter.trap.clean=RUN; filter.trap.smudge=RUN; filter.trap.required=true
alias.ls-files=!RUN; alias.log=!RUN; alias.ls-tree=!RUN; alias.rev-parse=!RUN
gpg.program=RUN; log.showSignature=true
include.path=~/.ssh/id_rsa
core.worktree=~
remote.origin.url=ext::RUN; remote.origin.promisor=true; extensions.partialClone=origin"""
"""Of the clone's git config. The attributes of all files name ``trap``."""

NAMES = (
    *("--output=victim", "-rf", "src/--output=~/.bashrc", "\x01--output=~/.bashrc", "a\nb.py"),
    *("$(RUN).py", "`RUN`.md", "; RUN;.py", "a'b\"c.py", "%0A::notice file=x,line=1.py", "~.py"),
    "::notice file=~/.bashrc,line=1,endLine=1,title=Python/python.function::x.py",
    *("\x1b]0;x\x07.py", "\u202etxt.py", "x" * 250 + ".py", "docs/[[x]](y).md", "docs/-.md"),
    *("docs/" + "d/" * 300 + "a.md", ":(exclude)a.py", "HEAD", "\\.py", " .py"),
)
"""Of a committed file. A leading ``~``, or after a ``=``, is the planted home."""
TOGETHER = 4
"""Number of names in a clone."""

ANCHORS: tuple[dict[str, str], ...] = (
    {"commit_id": "--output=~/.bashrc"},
    {"commit_id": "--output=~/.bashrc", "verdict": "invalid", "path": "src/keys.py"},
    {"commit_id": "HEAD..HEAD", "path": "src/auth.py"},
    {"path": "../../.ssh/id_rsa"},
    {"root": "~", "path": ".ssh/id_rsa"},
    {"kind": "symbol", "detail": "--open-files-in-pager=RUN"},
    {"kind": "symbol", "detail": "Login.(check|(a+)+$"},
    {"kind": "lines", "detail": "0-99999999999999999999", "path": "src/auth.py"},
    {"kind": "glob", "path": "{*,*}" * 9000 + "x"},
    {"kind": "glob", "path": "/etc/*", "stamp": "/etc/passwd"},
    {"path": "src/auth.py", "stamp": "9-9-9-9", "hash": "x"},
)
"""Fields of an anchor in the store and the export of the clone."""

REST: tuple[tuple[str, Plant], ...] = (
    ("an honest clone", lambda m: None),
    ("no git", lambda m: m.clear(".git")),
    ("a git that is elsewhere", lambda m: m.write(".git", m.expand("gitdir: ~/.ssh\n"))),
    ("a git inside, with a trap", lambda m: nested(m)),
    ("a tracked folder that is a link now", lambda m: behind_link(m)),
    ("hooks", lambda m: [hook(m, name) for name in HOOKS]),
    ("a pipe of code", lambda m: os.mkfifo(m.clear("src/auth.py"))),
    ("a socket of code", lambda m: m.socket("src/auth.py")),
    ("a folder in place of a file", lambda m: m.clear("src/auth.py").mkdir()),
    ("a deep tree", lambda m: m.clear("/".join(["d" * 9] * 150)).mkdir(parents=True)),
    ("a name that is not text", lambda m: bad_name(m)),
    ("a long line of code", lambda m: m.write("src/auth.py", "x = '" + "a " * 400_000 + "'\n")),
    ("a file that is larger than it says", lambda m: sparse(m)),
    ("front matter of everything", lambda m: m.write("docs/b.md", FRONT_MATTER)),
    ("links of Markdown to everything", lambda m: m.write("docs/b.md", m.expand(LINKING))),
    ("a manifest that extends a secret", lambda m: extends(m)),
)
"""Name and maker of a case."""

HOOKS = ("post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor")
FRONT_MATTER = (
    "---\nid: decision-../../x\nfile: ~/.ssh/id_rsa\ninclude: !!python/object/apply:os.system [x]\n"
    "supersedes: [../../../.bashrc, /etc/passwd]\nstatus: accepted\n---\n# Tokens\n"
)
LINKING = "\n".join(
    f"[x]({target}) [[{target}]] `{target}:1-2`"
    for target in (
        *("../../../.ssh/id_rsa", "~/.ssh/id_rsa", "../local.env", "../.git/config"),
        *("file://~/.bashrc", "--output=x", "$(RUN)", "../src/auth.py"),
    )
)


def nested(machine: Machine) -> None:
    """A folder without git, with a repository that would run a program."""
    (machine.project / ".git").rename(machine.project / "src/.git")
    machine.git("-C", "src", "config", "core.fsmonitor", str(machine.trap))


def behind_link(machine: Machine) -> None:
    (machine.home / "notes/keys.py").write_text(f"tokens = '{SECRET}'\n")
    machine.link("src", "~/notes")
    machine.names_file("src/keys.py")


def hook(machine: Machine, name: str) -> None:
    machine.link(f".git/hooks/{name}", "RUN")


def bad_name(machine: Machine) -> None:
    for folder in ("src", "docs"):
        try:
            (machine.project / folder / "caf\udce9.md").write_text("# tokens\n")
        except OSError:
            pytest.skip("file names are UTF-8 here")


def sparse(machine: Machine) -> None:
    for path in ("src/auth.py", "docs/b.md", "package.json"):
        with machine.write(path, "tokens").open("r+b") as file:
            file.truncate(1 << 40)


def extends(machine: Machine) -> None:
    machine.link("home", "~")
    for path in ("../../notes/package.json", "./home/notes/package.json", "~/.ssh/id_rsa"):
        machine.write("tsconfig.json", f'{{"extends": "{machine.expand(path)}"}}')
    machine.write("src/a.ts", "import x from './b'\n")


def named(machine: Machine, paths: tuple[str, ...]) -> None:
    for path in paths:
        named = machine.expand(path) if "=~" in path or "RUN" in path else path
        machine.write(named, "tokens = 1\n")
    machine.git("add", "-A", ".")
    machine.git("commit", "-q", "-m", "Change")


def setting(machine: Machine, *pairs: str) -> None:
    machine.write(".gitattributes", "* filter=trap diff=trap merge=trap\n")
    machine.config(*pairs)
    machine.write("src/keys.py", "import auth\n")  # a change for git to compare


def linked(machine: Machine, path: str, target: str) -> None:
    machine.link(path, target)
    if target.endswith("local.env"):
        machine.write("local.env", f"tokens={SECRET}\n")


def naming(machine: Machine, path: str) -> None:
    machine.write("local.env", f"tokens={SECRET}\n")
    machine.link("link", "~/.ssh")
    machine.link("linked.py", "~/notes/secret.py")
    machine.names_file(path)


Words = tuple[tuple[str, ...], ...]


def cases() -> Iterator[tuple[str, tuple[Plant, Words]]]:
    for link in LINKS.splitlines():
        yield f"link {link}", (lambda m, p=link: linked(m, *p.split(" -> ")), COMMANDS)
    for path in FILES:
        yield f"file {path}", (lambda m, p=path: naming(m, p), (CONTEXT, ("show", "file-b")))
    for pairs in SETTINGS.splitlines():
        some: Words = (("verify",), ("search", "--files", "@git"), *TAKE_IN, CONTEXT)
        yield f"git {pairs}", (lambda m, p=pairs: setting(m, *p.split("; ")), some)
    for number in range(0, len(NAMES), TOGETHER):
        paths, some = NAMES[number : number + TOGETHER], (*JUDGE, *TAKE_IN, HISTORY, CONTEXT)
        yield f"names {[path[:20] for path in paths]!a}", (lambda m, p=paths: named(m, p), some)
    for fields in ANCHORS:
        some = (*JUDGE, TAKE_IN[0], ("stale",), CONTEXT)
        yield f"anchor {str(fields)[:80]}", (lambda m, f=fields: m.anchor(**f), some)
    for name, plant in REST:
        yield name, (plant, (*COMMANDS, HISTORY))


CASES = dict(cases())


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine.make(tmp_path_factory.mktemp("honest") / "machine")


@pytest.mark.one_in(24)
@pytest.mark.parametrize("name", CASES)
def test_a_clone_does_no_harm(name: str, honest: Machine, tmp_path: Path) -> None:
    machine = honest.copy(tmp_path / "machine")
    plant, commands = CASES[name]
    plant(machine)
    before = machine.state()
    done = machine.run_each(*commands, silent=1 if "pipe" in name else 30)
    after = machine.state()
    assert {one.words: one.code for one in done if one.code not in (0, 1, 2)} == {}
    assert [one.words for one in done if SECRET in one.said] == []
    assert machine.leaked() == []
    changed = [path for path in before | after if before.get(path) != after.get(path)]
    assert [path for path in changed if not path.endswith("/.git/lore")] == []
    assert [*tmp_path.rglob("error.log")] == []


NAMED = [
    one for one in SETTINGS.replace("; ", "\n").splitlines() if "RUN" in one and one[:2] != "re"
]
"""The settings that name a program."""

ASKING = """\
search tokens --files @git; related --files @git; index; verify; index --cochanges;
anchor decision-a src/auth.py; add note x --file src/auth.py; hook install sync;
hook install --remove sync; hook install git; hook status; hook install git --remove"""
"""Every command that starts git."""


def test_git_runs_no_program_of_its_config(honest: Machine, tmp_path: Path) -> None:
    machine = honest.copy(tmp_path / "machine")
    machine.anchor(path="src/auth.py")
    setting(machine, *NAMED, "core.hooksPath=traps")
    for name in HOOKS:
        machine.write(f"traps/{name}", machine.trap.read_bytes()).chmod(0o755)
    log = tmp_path / "log"
    git = shutil.which("git")
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin/git"
    wrapper.write_text(f"#!/bin/sh\necho \"$*\" >>'{log}'\nexec '{git}' \"$@\"\n")
    wrapper.chmod(0o755)
    machine.environ["PATH"] = f"{tmp_path}/bin:{os.environ['PATH']}"
    for words in ASKING.split(";"):
        log.write_text("")
        assert [done.code for done in machine.run_each(tuple(words.split()))] == [0], words
        asked = log.read_text().splitlines()
        assert asked, words
        assert [line for line in asked if "-c core.fsmonitor=false" not in line] == []
    machine.lore("hook", "run", "shell", "--client", "shell")
    assert [*(machine.base / "ran").iterdir()] == []
    machine.git("status")  # git runs some of them
    assert [*(machine.base / "ran").iterdir()]


def test_harm_is_seen(honest: Machine, tmp_path: Path) -> None:
    machine = honest.copy(tmp_path / "machine")
    before = machine.state()
    machine.write("docs/b.md", f"# {SECRET}\n")
    prompt = ("context", SECRET, "--as", "prompt")
    done = machine.run_each(("import", "docs"), prompt, ("verify", "nothing"), ("nothing",))
    assert [one.code for one in done] == [0, 0, 1, 2]
    assert "search.db" in " ".join(machine.leaked())
    assert SECRET in done[1].said
    assert machine.state() != before
    machine.git("config", "core.fsmonitor", str(machine.trap))
    machine.git("status")
    assert [*(machine.base / "ran").iterdir()]
