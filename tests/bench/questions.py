"""Questions as people ask them, about four repositories, with answers that stand in the tree.

    questions.py FOLDER [LORE.SH…] [--half tuned|held-out]

FOLDER has clones of pallets/flask, spf13/cobra, scrapy/scrapy and expressjs/express by these
names. Each LORE.SH indexes them into a store of its own and is asked with ``-n 3``; right is an
answer with one of the files named below among the first three. Beside it stands ``git grep`` with
the three rarest words of the question: files with most of these words, then most lines, come
first. Every second question, from the first, is for tuning; the others are held out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pylore.core.text import STOP_WORDS, words

FIRST = 3
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


def main() -> int:
    """Asks, and prints how many were answered right by each, by half, and which were not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("lore", nargs="*", default=[Path(__file__).parents[2] / "lore.sh"])
    parser.add_argument("--half", choices=("tuned", "held-out"))
    parser.add_argument("--misses", action="store_true", help="print what was not found")
    options = parser.parse_args()
    asked = [
        (repository, question, set(answers.split()), "tuned" if place % 2 == 0 else "held-out")
        for repository, questions in QUESTIONS.items()
        for place, (question, answers) in enumerate(questions)
    ]
    asked = [row for row in asked if options.half in (None, row[3])]
    for repository, question, answers, _ in asked:
        for answer in answers:
            if not (options.folder / repository / answer).exists():
                sys.stderr.write(f"questions: {repository}: no {answer}: {question}\n")
    for name in ("git grep", *options.lore):
        with tempfile.TemporaryDirectory() as home:
            answer = grepped if name == "git grep" else Lore(Path(name), Path(home)).asked
            right = {"tuned": 0, "held-out": 0}
            for repository, question, answers, half in asked:
                found = answer(options.folder / repository, question)
                right[half] += bool(answers.intersection(found))
                if options.misses and name != "git grep" and not answers.intersection(found):
                    print(f"  {repository} [{half}]: {question}: {' '.join(found)}")
        for half, count in right.items():
            number = sum(row[3] == half for row in asked)
            if number:
                print(f"{name}\t{half}\t{count} of {number}\t{100 * count / number:.1f} %")
    return 0


class Lore:
    """One checkout of lore, with stores of its own."""

    def __init__(self, program: Path, home: Path) -> None:
        self._program, self._home = program, home

    def _run(self, repository: Path, *words: str) -> str:
        environ = {**os.environ, "HOME": str(self._home),
                   "LORE_DIR": str(self._home / repository.name)}  # fmt: skip
        done = subprocess.run(
            ["bash", str(self._program), *words],
            cwd=repository, env=environ, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    def asked(self, repository: Path, question: str) -> list[str]:
        """The files of the first results."""
        if not (self._home / repository.name).exists():
            self._run(repository, "init")
            self._run(repository, "index")
        rows = json.loads(self._run(repository, "search", question, "-n", str(FIRST), "--json"))
        paths = [row["id"].partition("-")[2].partition("::")[0] for row in rows]
        return paths[:FIRST]


def grepped(repository: Path, question: str) -> list[str]:
    """The files that have most of the three rarest words of the question."""
    asked = {word.lower() for word in words(question)} - STOP_WORDS
    lines = {word: _lines(repository, word) for word in sorted(asked)}
    rarest = sorted(filter(lines.get, lines), key=lambda word: len(lines[word]))[:3]
    files: dict[str, list[int]] = {}
    for word in rarest:
        for path, number in lines[word].items():
            files.setdefault(path, []).append(number)
    return sorted(files, key=lambda path: (-len(files[path]), -sum(files[path]), path))[:FIRST]


def _lines(repository: Path, word: str) -> dict[str, int]:
    done = subprocess.run(
        ["git", "grep", "-c", "-i", "-w", "-I", "-e", word],
        cwd=repository, capture_output=True, text=True, check=False,
    )  # fmt: skip
    rows = (line.rpartition(":") for line in done.stdout.splitlines())
    return {path: int(number) for path, _, number in rows}


if __name__ == "__main__":
    sys.exit(main())
