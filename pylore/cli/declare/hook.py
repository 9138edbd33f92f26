"""lore hook and its verbs."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "hook",
    "install | uninstall | status | shell | run",
    "bring what is known to agents, commits and prompts at the right moment",
    """\
Agents call hooks when a session begins, when a person has asked, and around their tools.
Then lore gives them a few lines: open tasks, what no longer holds and the best confirmed
records (1200 tokens at the most); records that bear on the question (400); what is known
of a file (300). Nothing comes twice in a session, nothing that matches weakly, and
nothing from a store that you have not made or trusted: see 'lore trust'. What is shown
stands in a run, which 'lore run list' has, and does not count as use.""",
    verbs=("install", "uninstall", "status", "shell", "run"),
)


AGENTS = ("claude", "codex", "gemini", "cursor", "git")
AGENT = Argument("AGENT", "agent", choices=AGENTS)
SCOPES = (
    Option("--user", "in your own settings, for all projects", into="scope", constant="user"),
    Option("--local", "in those of this clone alone (claude)", into="scope", constant="local"),
    Option(
        "--shared", "in those of the project, which git shares", into="scope", constant="shared"
    ),
)

INSTALL = Command(
    "hook install",
    "[options] AGENT",
    "",
    """\
Puts lore's entries into the settings of claude, codex, gemini or cursor, beside what is
there: order, indentation and mode stay, and the file as it was is kept as
NAME.lore-backup. A file with comments, or with a key twice, is left as it is, and the
lines to paste are said. Once more changes no byte. Unless said otherwise those of claude
go into what is of this clone alone, those of the others into your own, for all projects.
Cursor is told when a session begins; its other hooks take no text.

For git, lines go into two hooks of this repository, beside what is there: pre-commit
says what is known of the staged files, and refuses nothing; post-commit stages what a
message teaches: its lines 'Lesson: …', 'Decision: …', 'Failure: …' and 'Pattern: …'.""",
    *SCOPES,
    Option("--dry-run", "print the file as it would be"),
    OUTPUT,
    QUIET,
    examples=(
        "lore hook install claude",
        "lore hook install gemini --shared --dry-run",
        "lore hook install git",
    ),
    arguments=(AGENT,),
    run="hooks:install",
)


EVENTS = ("session-start", "prompt", "file", "tool", "pre-commit", "post-commit", "shell")

RUN = Command(
    "hook run",
    "EVENT --client AGENT",
    "",
    """\
What the entries of 'lore hook install' call: reads what the agent sends (JSON on stdin)
and prints what it accepts, or nothing. It ends with 0 whatever happens, after half a
second of processor time, or three seconds on the clock. 'tool' prints nothing: it appends
a line to the log of events, with names and paths alone, in your own state folder.
'pre-commit' and 'post-commit' are git's, 'shell' is what 'lore hook shell' starts: the
last two have ten times as long. LORE_HOOK_DEBUG=FILE appends to a file why nothing was
printed; the file has a / in its name. LORE_HOOK_DEBUG=1 prints it on stderr.""",
    Option(
        "--client AGENT",
        "claude, codex, gemini, cursor, git or shell",
        choices=("claude", "codex", "gemini", "cursor", "git", "shell"),
    ),
    examples=('echo \'{"prompt":"why signed tokens"}\' | lore hook run prompt --client claude',),
    arguments=(Argument("EVENT", choices=EVENTS),),
    hot="hooks:run_command",
)


SHELL = Command(
    "hook shell",
    "bash|zsh",
    "",
    """\
Prints what a shell needs to show a line before its prompt when something is known of the
project's changed files: once each time that the line changes. At a prompt only built-ins
of the shell run, which read the line from a file; every ten seconds at the most 'lore
hook run shell' writes it anew in the background.

For bash, in ~/.bashrc:      eval "$(lore hook shell bash)"
For zsh, in ~/.zshrc:        eval "$(lore hook shell zsh)"
""".rstrip(),
    arguments=(Argument("SHELL", "shell", choices=("bash", "zsh")),),
    hot="completion:prompt_command",
)


STATUS = Command(
    "hook status",
    "[options]",
    "",
    """\
Where hooks are installed, a line for each agent and settings file and for each hook of
git, and whether the store of this folder is trusted: else they say nothing.""",
    OUTPUT,
    QUIET,
    run="hooks:status",
)


UNINSTALL = Command(
    "hook uninstall",
    "[options] AGENT",
    "",
    """\
Takes out of an agent's settings the handlers whose command is exactly one that install
writes, or lore's lines out of git's hooks, and nothing else: other handlers of the same
group stay. A settings file that nobody has changed in between is restored byte for byte;
of another one a copy is kept as NAME.lore-backup, as of a hook in whose lines of lore
somebody has written.""",
    *SCOPES,
    OUTPUT,
    QUIET,
    examples=("lore hook uninstall claude",),
    arguments=(AGENT,),
    run="hooks:uninstall",
)
