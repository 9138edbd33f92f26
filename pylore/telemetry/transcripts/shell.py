"""What a shell command of a transcript did: a commit, a call of lore; what its failure says."""

from __future__ import annotations

import re

from ..events import MOST_ERROR

_AT_COMMAND = r"(?:^|[;&|(\n])\s*(?:\w+=\S*\s+)*"
_COMMITS = re.compile(_AT_COMMAND + r"git(?:\s+-[cC]\s+\S+|\s+--?[\w-]+(?:=\S+)?)*\s+commit\b")
_LORE = re.compile(_AT_COMMAND + r"(?:\S*/)?lore(?:\.sh)?\s+\w")
_COMMITTED = re.compile(r"^\[(?:[^\]\n]*? )?([0-9a-f]{7,40})\] (.*)$", re.MULTILINE)
_HERE_TEXT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?\s*\n(.*?)\n\s*\1\b", re.DOTALL)
_MESSAGE = re.compile(
    r"\bcommit\b.*?\s(?:-\w*m|--message)[\s=]*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL
)
_SAYS_WHY = re.compile(
    r"error|fail|panic|exception|fatal|undefined|cannot|can't|not found|no such|denied|invalid"
    r"|unexpected|expected|missing|refused|timed? ?out|✗|✘",
    re.IGNORECASE,
)
_HEADS = re.compile(
    r"\A(?:\s*<tool_use_error>|\s*(?:Error: )?Exit code:? \d+\s*(?:\n|\Z)"
    r"|\s*Process exited with code \d+\s*\n|Chunk ID:[^\n]*\n|Wall time:[^\n]*\n|Output:\s*\n"
    r"|Total output lines:[^\n]*\n|\[[\w:]+\] \$[^\n]*\n)+"
)
_SAYS_NOTHING = re.compile(r"\[[\w:]+\] ERROR task failed|make: \*\*\*|npm ERR! code")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_LONGEST = 100_000


def runs_lore(command: str) -> bool:
    """Whether a command runs lore.

    >>> runs_lore("cd x && lore search tokens"), runs_lore("cat lore.md")
    (True, False)
    """
    return "lore" in command and _LORE.search(command) is not None


def commits(command: str) -> bool:
    """Whether a command makes a commit.

    >>> commits("git add -A && git -C x commit -m 'a'"), commits("grep 'git commit' README")
    (True, False)
    """
    return "commit" in command and _COMMITS.search(command) is not None


def commit_of(command: str, output: str) -> tuple[str, str]:
    """The hash and the message of a commit, as far as they are seen.

    >>> commit_of("git commit -m 'Mend it'", "[main 1a2b3c4] Mend it")
    ('1a2b3c4', 'Mend it')
    """
    made = _COMMITS.search(command)
    rest = command[made.start() :] if made else command
    said = _COMMITTED.search(output[:_LONGEST])
    here, given = _HERE_TEXT.search(rest), _MESSAGE.search(rest)
    text = here.group(2) if here else given.group(1) or given.group(2) or "" if given else ""
    return said.group(1) if said else "", (text or (said.group(2) if said else "")).strip()


def why_it_failed(output: str) -> str:
    """The lines of an output that say what failed, beginning with the first that does.

    >>> why_it_failed("Exit code 1\\nrunning\\nsrc/a.py:3: error: no such name")
    'src/a.py:3: error: no such name'
    """
    text = _COLOURS.sub("", output[:_LONGEST]).replace("\r", "\n")
    text = _HEADS.sub("", text).replace("</tool_use_error>", "").strip()
    start = 0
    for line in text.split("\n"):
        if _SAYS_WHY.search(line) and not _SAYS_NOTHING.match(line):
            return text[start : start + 4 * MOST_ERROR].strip()
        start += len(line) + 1
    return text[: 4 * MOST_ERROR]
