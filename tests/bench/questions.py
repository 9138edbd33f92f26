"""Questions as people ask them about repositories, with the files that answer them.

    questions.py CLONES [--set FOLDER] [--half tuned|held-out] [--type T,…] [--setting KEY=VALUE]…
                        [--documents] [--grep] [--misses] [--context TOKENS,…]

CLONES has a clone of each repository by its name. Without ``--set`` the questions are those below,
about pallets/flask, spf13/cobra, scrapy/scrapy and expressjs/express; every second one, from the
first, is for tuning, the others are held out. FOLDER has a file ``NAME.jsonl`` a repository, whose
first line is ``{"repository", "commit"}`` and every other one ``{"query", "files"}``.

Each repository is indexed once, into ``.bench/questions``; with ``--documents`` its documents are
imported as well. hit@k: one of the answers is among the first k distinct files of the results;
recall@5: the share of them among the first five; all@5: all of them are. Beside it ``--grep`` shows
``git grep`` with the three rarest words of the question: files with most of these words, then most
lines, come first.
With ``--context``, for questions of a FOLDER with ``symbols``: the share of these functions and
classes of Python whose definition is in a context for a model of so many tokens.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from places import CACHE, LORE, ROOT, environment, read_lines

sys.path.insert(0, str(ROOT))

from pylore.app.context import ContextRequest, context
from pylore.app.engine import Engine
from pylore.app.search import search
from pylore.core.settings import Settings
from pylore.core.text import STOP_WORDS, words
from pylore.core.vocabulary import CODE_IDS, path_of
from pylore.store import open_store

STORES = CACHE / "questions"
HITS = (1, 3, 5)
DISTINCT = 5
QUESTIONS = {
    "flask": (
        ("where is the Flask class defined", "src/flask/app.py"),
        ("where is url_for implemented", "src/flask/helpers.py src/flask/app.py"),
        ("where does flask load config from a python file", "src/flask/config.py"),
        ("how does flask sign session cookies", "src/flask/sessions.py"),
        ("where are blueprints registered on the application",
         "src/flask/sansio/blueprints.py src/flask/sansio/app.py src/flask/sansio/scaffold.py"),
        ("how is the flask command line interface built", "src/flask/cli.py"),
        ("which function flashes a message for the next request", "src/flask/helpers.py"),
        ("where are error handlers looked up for an exception",
         "src/flask/sansio/app.py src/flask/sansio/scaffold.py src/flask/app.py"),
        ("how are template context processors run when rendering",
         "src/flask/templating.py src/flask/app.py"),
        ("where is stream_with_context implemented", "src/flask/helpers.py"),
        ("where is the test client defined", "src/flask/testing.py"),
        ("how does flask convert a dataclass or uuid to json",
         "src/flask/json/provider.py src/flask/json/tag.py"),
        ("why was the before_first_request decorator removed", "CHANGES.rst"),
        ("where is the request context pushed and popped", "src/flask/ctx.py"),
        ("what must I change when I change blueprints",
         "src/flask/sansio/blueprints.py src/flask/blueprints.py src/flask/sansio/scaffold.py"
         " src/flask/sansio/app.py"),
        ("when was support for python 3.8 dropped", "CHANGES.rst"),
    ),
    "cobra": (
        ("where is the Command struct defined", "command.go"),
        ("where is bash completion generated", "bash_completions.go bash_completionsV2.go"),
        ("how are flags marked as mutually exclusive", "flag_groups.go"),
        ("where does cobra check the number of arguments", "args.go"),
        ("how does cobra suggest a command when the user mistypes", "command.go cobra.go"),
        ("where is ExactArgs implemented", "args.go"),
        ("where are man pages generated", "doc/man_docs.go"),
        ("how are markdown docs generated for a command", "doc/md_docs.go"),
        ("where is the zsh completion script written", "zsh_completions.go"),
        ("what is ShellCompDirective and where is it defined", "completions.go"),
        ("how are persistent flags of parents merged", "command.go"),
        ("where is a flag marked as required", "shell_completions.go flag_groups.go command.go"),
        ("where are hidden completion commands handled", "completions.go"),
        ("where is the powershell completion generated", "powershell_completions.go"),
        ("how does cobra behave when started from the windows explorer",
         "command_win.go cobra.go"),
        ("what must I change when I change completions", "completions.go completions_test.go"
         " bash_completionsV2.go zsh_completions.go fish_completions.go powershell_completions.go"),
    ),
    "scrapy": (
        ("where is the Crawler class defined", "scrapy/crawler.py"),
        ("how does scrapy obey robots.txt",
         "scrapy/downloadermiddlewares/robotstxt.py scrapy/robotstxt.py"),
        ("where are failed requests retried", "scrapy/downloadermiddlewares/retry.py"),
        ("how are duplicate requests filtered", "scrapy/dupefilters.py"),
        ("where is the fingerprint of a request computed", "scrapy/utils/request.py"),
        ("where are the default settings", "scrapy/settings/default_settings.py"),
        ("how does the autothrottle extension adjust the delay",
         "scrapy/extensions/throttle.py"),
        ("where does the images pipeline make thumbnails", "scrapy/pipelines/images.py"),
        ("how are items exported to csv", "scrapy/exporters.py"),
        ("where is the sitemap spider implemented",
         "scrapy/spiders/sitemap.py scrapy/utils/sitemap.py"),
        ("where does scrapy handle cookies", "scrapy/downloadermiddlewares/cookies.py"
         " scrapy/http/cookies.py"),
        ("how is the http cache stored on disk", "scrapy/extensions/httpcache.py"
         " scrapy/downloadermiddlewares/httpcache.py"),
        ("which code limits the depth of a crawl", "scrapy/spidermiddlewares/depth.py"),
        ("where are feed exports stored to s3", "scrapy/extensions/feedexport.py"
         " scrapy/pipelines/files.py"),
        ("where is the scheduler's disk queue created",
         "scrapy/core/scheduler.py scrapy/squeues.py scrapy/pqueues.py"),
        ("how does the shell command open a response in the browser",
         "scrapy/shell.py scrapy/utils/response.py scrapy/commands/shell.py"),
    ),
    "express": (
        ("where is res.send implemented", "lib/response.js"),
        ("how does express decide whether a request is fresh", "lib/request.js"),
        ("where are view templates looked up on disk", "lib/view.js"),
        ("where is the application created", "lib/express.js lib/application.js"),
        ("how does express parse the query string", "lib/utils.js lib/request.js"),
        ("where does express set a cookie on the response", "lib/response.js"),
        ("where is the etag of a response generated", "lib/utils.js lib/response.js"),
        ("how are trusted proxies compiled", "lib/utils.js lib/application.js lib/request.js"),
        ("where is res.sendFile implemented", "lib/response.js"),
        ("where is app.listen defined", "lib/application.js"),
        ("how is the client ip address found behind a proxy", "lib/request.js"),
        ("why was res.redirect changed for security reasons", "History.md"),
        ("where are the defaults of the app's settings", "lib/application.js"),
        ("when was support for old node versions dropped", "History.md"),
        ("how is content negotiation done with res.format", "lib/response.js"),
        ("where is the X-Powered-By header set", "lib/application.js"),
    ),
}  # fmt: skip


class Asked(NamedTuple):
    """One question: about which repository, and the files that answer it."""

    repository: str
    question: str
    answers: frozenset[str]
    half: str
    symbols: tuple[str, ...] = ()


def main() -> int:
    """Ask all questions; print a row of figures a repository and half, and their mean."""
    options = _options()
    asked = list(_of_set(options.set, options.clones) if options.set else _own())
    asked = [one for one in asked if options.half in (None, one.half)]
    for one in asked:
        for answer in one.answers:
            if not (options.clones / one.repository / answer).exists():
                sys.stderr.write(f"questions: {one.repository}: no {answer}: {one.question}\n")
    if options.context:
        return _contexts(options, [one for one in asked if one.symbols])
    for name in ("git grep", "lore") if options.grep else ("lore",):
        print("\t".join([name, "", *(f"hit@{k}" for k in HITS), "recall@5", "all@5"]))
        rows: dict[tuple[str, str], list[list[float]]] = {}
        for repository in dict.fromkeys(one.repository for one in asked):
            files = _answerer(name, options, repository)
            for one in (one for one in asked if one.repository == repository):
                found = files(one.question)
                rows.setdefault((repository, one.half), []).append(_scores(found, one.answers))
                if options.misses and not one.answers.intersection(found[: max(HITS[:2])]):
                    print(f"  {repository}: {one.question}: {' '.join(found)}"
                          f" | {' '.join(sorted(one.answers))}")  # fmt: skip
        means = {key: _means(scores) for key, scores in rows.items()}
        for (repository, half), scores in means.items():
            print("\t".join([repository, half, *(f"{100 * score:.1f}" for score in scores)]))
        for half in dict.fromkeys(half for _, half in means):
            mean = _means([scores for (_, one), scores in means.items() if one == half])
            print("\t".join(["mean", half, *(f"{100 * score:.1f}" for score in mean)]))
    return 0


def _contexts(options: argparse.Namespace, asked: list[Asked]) -> int:
    """Print a row a repository: of the named symbols, the share that contexts define."""
    print("\t".join(["context", *map(str, options.context)]))
    rows = []
    for repository in dict.fromkeys(one.repository for one in asked):
        clone: Path = options.clones / repository
        own = [one for one in asked if one.repository == repository]
        store = open_store(str(_store(clone, documents=options.documents)))
        engine = Engine(store, Settings(), str(clone))
        rows.append([_defined(engine, own, budget) for budget in options.context])
        print("\t".join([repository, *(f"{100 * share:.1f}" for share in rows[-1])]))
    print("\t".join(["mean", *(f"{100 * share:.1f}" for share in _means(rows))]))
    return 0


def _defined(engine: Engine, asked: list[Asked], budget: int) -> float:
    under = engine.changed([("budget", str(budget))], "bench")
    shares = []
    for one in asked:
        text = context(under, ContextRequest(one.question, form="prompt")).text
        names = {name for _, name in re.findall(r"^\s*(?:async )?(def|class) (\w+)", text, re.M)}
        shares.append(len(names.intersection(one.symbols)) / len({*one.symbols}))
    return sum(shares) / len(shares)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--set", type=Path, metavar="FOLDER")
    parser.add_argument("--half", choices=("tuned", "held-out"))
    parser.add_argument("--type", type=lambda text: text.split(","), default=[])
    parser.add_argument("--setting", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--documents", action="store_true", help="import the documents as well")
    parser.add_argument("--grep", action="store_true", help="measure git grep beside lore")
    parser.add_argument("--context", type=lambda text: [*map(int, text.split(","))], default=[])
    parser.add_argument("--misses", action="store_true", help="print what was not found")
    return parser.parse_args()


def _own() -> Iterator[Asked]:
    for repository, questions in QUESTIONS.items():
        for place, (question, answers) in enumerate(questions):
            half = "held-out" if place % 2 else "tuned"
            yield Asked(repository, question, frozenset(answers.split()), half)


def _of_set(folder: Path, clones: Path) -> Iterator[Asked]:
    """Yield the questions of a folder; leave out a repository that is not at its commit."""
    for path in sorted(folder.glob("*.jsonl")):
        first, *rows = read_lines(path)
        clone = clones / path.stem
        head = _git(clone, "rev-parse", "HEAD").strip() if clone.exists() else ""
        if head != first["commit"]:
            sys.stderr.write(f"questions: {clone} is not {first['repository']} at"
                             f" {first['commit']}: left out\n")  # fmt: skip
            continue
        for row in rows:
            symbols = tuple(row.get("symbols", ()))
            yield Asked(path.stem, row["query"], frozenset(row["files"]), "", symbols)


def _scores(found: list[str], answers: frozenset[str]) -> list[float]:
    """Return hit@1, @3, @5, recall@5 and all@5 of one list of files."""
    hits = [float(bool(answers.intersection(found[:k]))) for k in HITS]
    recall = len(answers.intersection(found[:DISTINCT])) / len(answers)
    return [*hits, recall, float(recall == 1)]


def _means(rows: list[list[float]]) -> list[float]:
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def _answerer(
    name: str, options: argparse.Namespace, repository: str
) -> Callable[[str], list[str]]:
    """Return what finds the files of a question's results, best first."""
    clone: Path = options.clones / repository
    if name == "git grep":
        return lambda question: grepped(clone, question)
    pairs = [tuple(one.split("=", 1)) for one in options.setting]
    store = _store(clone, documents=options.documents)
    engine = Engine(open_store(str(store)), Settings().changed(pairs, "bench"), str(clone))
    return lambda question: _files(search(engine, question, types=options.type))


def _store(clone: Path, *, documents: bool) -> Path:
    """Return the store of a clone, made where there is none."""
    commit = _git(clone, "rev-parse", "--short=12", "HEAD").strip()
    store = STORES / f"{clone.name}-{commit}{'-documents' * documents}"
    if not (store / "done").exists():
        store.mkdir(parents=True, exist_ok=True)
        steps = [["init"], ["index"], *([["import", "."]] if documents else [])]
        for step in steps:
            subprocess.run(
                ["bash", LORE, *step], cwd=clone, env=environment(store), check=True,
                capture_output=True,
            )  # fmt: skip
        (store / "done").touch()
    return store


def _files(hits: Iterable[Any]) -> list[str]:
    """Return the distinct files of results, in their order."""
    paths = (path_of(hit.id) if hit.id.startswith(CODE_IDS) else hit.file for hit in hits)
    return [*dict.fromkeys(filter(None, paths))]


def grepped(repository: Path, question: str) -> list[str]:
    """The files that have most of the three rarest words of the question."""
    asked = {word.lower() for word in words(question)} - STOP_WORDS
    lines = {word: _lines(repository, word) for word in sorted(asked)}
    rarest = sorted(filter(lines.get, lines), key=lambda word: len(lines[word]))[:3]
    files: dict[str, list[int]] = {}
    for word in rarest:
        for path, number in lines[word].items():
            files.setdefault(path, []).append(number)
    return sorted(files, key=lambda path: (-len(files[path]), -sum(files[path]), path))[:DISTINCT]


def _lines(repository: Path, word: str) -> dict[str, int]:
    lines = _git(repository, "grep", "-c", "-i", "-w", "-I", "-e", word).splitlines()
    rows = (line.rpartition(":") for line in lines)
    return {path: int(number) for path, _, number in rows}


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=clone, capture_output=True, text=True, check=False
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
