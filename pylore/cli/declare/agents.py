"""Commands for agents: mcp, hook, run, feedback."""

from __future__ import annotations

from ..declaration import Argument, Heading, OldCommand, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET, limit

MCP_COMMAND = OldCommand(
    "mcp",
    "[--write] [--store FOLDER] | --install CLIENT",
    "the graph for agents, by the Model Context Protocol on stdin and stdout",
    """\
A client starts it and asks it line by line; it ends when the client does. The tools
lore_search, lore_related, lore_show and lore_context answer with the results of the
command of that name, without the fields that say nothing to a model. The store is the
one that a command run here would use, looked up anew at each call: start it anywhere,
run 'lore init' later.

It reads alone. Reads do not count as use, so what an agent is shown is not taken for
confirmed. An answer is 32768 bytes at the most (--max-bytes): results are dropped
from the end, and a second text says how many.""",
    Option(
        "--write",
        "lore_remember and lore_feedback too. What is remembered is staged\n"
        "until a person confirms it; for a project that was shared with you\n"
        "only after 'lore store trust'",
    ),
    Option("--store FOLDER", "the data folder, as LORE_DIR would name it", kind="files"),
    Option("--max-bytes N", "the most bytes of an answer", setting="max_bytes"),
    Heading("To tell a client of it"),
    Option(
        "--install CLIENT",
        "print what stands in the client's configuration, for this project:\n"
        "claude, codex, cursor, gemini or vscode",
        choices=("claude", "codex", "cursor", "gemini", "vscode"),
    ),
    Option(
        "--write-config",
        "with --install: put it into the client's file, beside what is there\n"
        "(the file as it was is kept as NAME.lore-backup)",
    ),
    examples=(
        "claude mcp add lore -- lore mcp",
        "lore mcp --write --store ~/notes",
    ),
    settings=None,
    run="mcp:mcp",
)


HOOK_COMMAND = OldCommand(
    "hook",
    "install | uninstall | status | shell | run",
    "bring what is known to agents, commits and prompts at the right moment",
    """\
Agents call hooks when a session begins, when a person has asked, and around their tools.
Then lore gives them a few lines: what the last session edited, open tasks, what no longer
holds and confirmed records that were rated or read (1200 tokens at the most); files likely
at hand and records that bear on these or on the question (400); what is known of a file
(300), and what an edit of it newly puts against rules (300). Nothing comes twice in a
session, nothing that matches weakly, and nothing from a store that you have not made or
trusted: see 'lore store trust'. What is shown stands in a run, which 'lore run list' has, and
does not count as use.""",
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

INSTALL = OldCommand(
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
    run="commands.agents:install",
)


EVENTS = (
    "session-start", "prompt", "file", "tool", "session-end", "pre-commit", "post-commit", "shell",
)  # fmt: skip

RUN = OldCommand(
    "hook run",
    "EVENT --client AGENT",
    "",
    """\
What the entries of 'lore hook install' call: reads what the agent sends (JSON on stdin)
and prints what it accepts, or nothing. It ends with 0 whatever happens, after half a
second of processor time, or three seconds on the clock. 'tool' appends a line to the log of
events, with names and paths alone, in your own state folder, and prints what an edit by the
agent's own tools newly puts against a rule.
'session-end' finishes the session's run.
'pre-commit' and 'post-commit' are git's, 'shell' is what 'lore hook shell' starts: the
last two have ten times as long. LORE_HOOK_DEBUG=FILE appends to a file why nothing was
printed; the file has a / in its name. LORE_HOOK_DEBUG=1 prints it on stderr.""",
    Option(
        "--client AGENT",
        "claude, codex, gemini, cursor, git or shell",
        choices=("claude", "codex", "gemini", "cursor", "git", "shell"),
    ),
    examples=('echo \'{"prompt":"why signed tokens"}\' | lore hook run prompt --client claude',),
    arguments=(Argument("EVENT", "event", choices=EVENTS),),
    raw="hooks:run_command",
)


SHELL = OldCommand(
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
    raw="completion:prompt_command",
)


STATUS = OldCommand(
    "hook status",
    "[options]",
    "",
    """\
Where hooks are installed, a line for each agent and settings file and for each hook of
git, and whether the store of this folder is trusted: else they say nothing.""",
    OUTPUT,
    QUIET,
    run="commands.agents:status",
)


UNINSTALL = OldCommand(
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
    run="commands.agents:uninstall",
)


RUN_COMMAND = OldCommand(
    "run",
    "start | finish | list | show",
    "keep what a piece of work was shown, and say what of it helped",
    """\
A run is one attempt at a task. With LORE_RUN set to its id, or --run ID, every
search records which records it showed and at which position; finishing the run
makes a link 'used_in_run' of each. What was helpful comes sooner next time.""",
    verbs=("start", "finish", "list", "show"),
)


START = OldCommand(
    "run start",
    "[options]",
    "",
    """\
Starts a run and prints its id, alone.""",
    Option(
        "--task ID",
        "what it is an attempt at: the run becomes a part of it",
        kind="ids",
        default="",
    ),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=("export LORE_RUN=$(lore run start --task task-1a2b3c4d)",),
    run="commands.agents:start",
)


SHOW = OldCommand(
    "run show",
    "[options] [RUN]",
    "",
    """\
One run, LORE_RUN unless given, with each record that it was shown: its best
position, the search or question that gave it, its rating. coverage: how many were
shown and rated; diversity: which share of the top five of an answer is of one
category, on average (share) and at most.""",
    Option("--run RUN", "the run, if it is not an argument", setting="run"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    arguments=(Argument("[RUN]", "run", "runs"),),
    run="commands.agents:show",
)


LIST = OldCommand(
    "run list",
    "[options]",
    "",
    """\
The runs, the newest first, each with counts of what it was shown.""",
    limit("how many; all unless set"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    run="commands.agents:list_runs",
)


FINISH = OldCommand(
    "run finish",
    "[options] [RUN]",
    "",
    """\
Ends a run, LORE_RUN unless given: every record that it was shown is linked to
it, rated or not. What is rated need not have been shown. A lone - in place of
ids reads them from stdin.""",
    Option("--helpful ID,…", "what helped", kind="ids", many=True),
    Option("--unhelpful ID,…", "what did not", kind="ids", many=True),
    Option("--run RUN", "the run, if it is not an argument", setting="run"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=("lore run finish --helpful decision-1a2b3c4d,lesson-5e6f7a8b",),
    arguments=(Argument("[RUN]", "run", "runs"),),
    run="commands.agents:finish",
)


FEEDBACK_COMMAND = OldCommand(
    "feedback",
    "[options] ID…",
    "say which records helped and which did not",
    """\
What was helpful comes sooner in later searches, what was not comes later; no
result is ever left out for it. A record has one rating a run: the last one
counts. Without a run the rating belongs to this day. A lone - reads ids from stdin.""",
    Option("--helpful", "these helped", many=True, constant="helpful", into="verb"),
    Option("--unhelpful", "these did not", many=True, constant="unhelpful", into="verb"),
    Option(
        "--undo",
        "take back the newest rating of each of these; without an\n"
        "id, everything that was rated last at once",
        many=True,
        constant="undo",
        into="verb",
    ),
    Option(
        "--list",
        "the ratings, the newest first; of these records, if given",
        many=True,
        constant="list",
        into="verb",
    ),
    limit("how many to list; all unless set"),
    Option("--run RUN", "the run it is about; LORE_RUN unless given", setting="run"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=('lore search "token rotation" --ids -n 1 | lore feedback --helpful -',),
    arguments=(Argument("ID…", "ids", "ids"),),
    run="commands.agents:feedback",
)
