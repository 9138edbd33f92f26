"""Commands that make and mend the store, and change settings: init, store, config."""

from __future__ import annotations

import os
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from ..app.sync import earlier_store, make_store
from ..core.errors import LoreError, UsageError
from ..core.settings import SETTINGS, Settings, named, users_alone
from ..core.vocabulary import RELATIONS
from ..embed import open_embedder
from ..graph.relations import require_relations
from ..indexing.embed import embed_store
from ..indexing.indexer import rebuild
from ..store import FILE, backup, create_store, open_store
from ..system import stores
from ..system.config import load, locate
from ..system.edits import change_file, users_file
from ..system.files import SHARED, project_of, trust
from ..system.project_files import real_place
from ..terminal import note, write
from ..terminal.text import columns, counts_text, each
from .command import Group, argument, command, exclusive, option, require_utf8
from .session import data_folder, project_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.settings import Setting, Weights
    from ..embed import Embedder
    from ..store import Store
    from .session import Session

STORE_NAME = argument("STORE", complete="files")

# --- init


@command("init [FOLDER]")
def init(
    session: Session, folder: str = argument("[FOLDER]", default="", complete="files")
) -> None:
    """Make a store for this folder, or for FOLDER.

    The folder becomes a project; collaborators share the files in .lore/. An existing
    .lore/knowledge.jsonl is imported. With LORE_DIR set and no FOLDER, search.db is made there.
    """
    chosen = "" if folder else os.environ.get("LORE_DIR", "")
    shared = store = require_utf8(os.path.abspath(chosen or folder or "."), "the folder")
    if not chosen:
        os.makedirs(real_place(os.path.join(shared, SHARED)), exist_ok=True)
        project, store = locate(shared)
        shared = os.path.join(project, SHARED)
    path, busy = os.path.join(store, FILE), session.settings.busy_timeout
    existed = os.path.exists(path) and os.path.getsize(path) > 0
    if existed:
        open_store(store, busy_timeout=busy).close()  # raises if it is unusable
    elif chosen:
        create_store(store, busy_timeout=busy).close()
    else:
        found = earlier_store(project)
        store = stores.claim(project)
        read, fault = make_store(store, project, session.settings)
        if read:
            trust = "hooks are silent about what others wrote until you run 'lore store trust'"
            found = f"read {read}; {trust}{found}"
        session.say(filter(None, (found.removeprefix("; "), fault)))
    row = {"folder": os.path.abspath(shared), "state": "unchanged" if existed else "added"}
    row["store"] = os.path.join(os.path.abspath(store), FILE)
    session.output.one(row, columns("state folder"))


# --- store: where it is

STORE = Group(
    "store",
    """\
Find, trust, copy and rebuild stores.

The search.db of a repository is in ~/.local/share/lore/projects, or in LORE_DIR.""",
)


@command("store path")
def path(session: Session) -> None:
    """Print the path of the search.db in use."""
    if not session.form_given():
        session.print_as("text", "text")  # for $(lore store path)
    if project_folder() and not os.path.exists(os.path.join(data_folder(), FILE)):
        session.open().close()  # the first command in a clone makes the store
    row = {"id": os.path.join(data_folder(), FILE), "project": project_folder()}
    session.output.one(row, lambda row: f"{row['id']}\n")


@command("store list")
def list_stores(session: Session) -> None:
    """List the stores of all projects, also of missing projects."""
    session.output.list([_row(*one) for one in stores.stores()], each(_TEXT))


@command("store adopt STORE")
def adopt(session: Session, store: str = STORE_NAME) -> None:
    """Use the store of a missing project here; trust is not adopted.

    STORE is a token of 'lore store list', or the former folder of the project.
    """
    if not project_folder():
        raise LoreError("no project here to adopt a store for: run this in the folder of a project")
    folder, own = stores.adopt(store, project_folder())
    row = _row(os.path.basename(folder), project_of(folder), folder)
    session.say([f"the store that was here is kept as {os.path.basename(own)}"] if own else [])
    session.output.one({**row, "state": "adopted"}, _TEXT)


@command("store remove STORE")
def remove(session: Session, store: str = STORE_NAME) -> None:
    """Delete the store of a missing project."""
    found = stores.gone_store(store)
    row = {**_row(*found), "state": "removed"}
    rmtree(found[-1])
    session.output.one(row, _TEXT)


def _row(name: str, place: str, store: str) -> dict[str, Any]:
    file = os.path.join(store, FILE)
    state = "gone" if stores.is_gone(store) else "present"
    size = os.path.getsize(file) if os.path.exists(file) else 0
    return {"id": name, "folder": place, "state": state, "bytes": size, "file": file}


_TEXT = columns("state bytes folder id")


@command("store trust [--revoke]")
def trust_project(
    session: Session, *, revokes: bool = option("--revoke", "stop trusting the project")
) -> None:
    """Let hooks, MCP clients and hubs use the records of a clone."""
    if not project_folder():
        raise LoreError("no project here to trust: run this in a project")
    session.open().close()  # the first command in a clone makes the store
    changed = trust(data_folder(), trusted=not revokes)
    state = ("revoked" if revokes else "trusted") if changed else "unchanged"
    session.output.one({"folder": project_folder(), "state": state}, columns("state folder"))


# --- store: indexes

ENGINES = ("auto", "fts5", "fts4")


@command("store embed [--all]", settings=("embedder", "endpoint_model"))
def embed(session: Session, *, all: bool = option("--all", "replace every vector")) -> None:
    """Make missing vectors.

    endpoint:URL is http or https; LORE_ENDPOINT_KEY holds the key.

    \b
    lore store embed --all --embedder endpoint:http://localhost:11434/v1
    """
    settings = session.settings
    with session.open(whole="embed") as store, store.faults:
        embedder = open_embedder(settings.embedder, store, settings, anew=all)
        if embedder is None:
            drop = "'lore store reindex --embedder none'"
            raise UsageError(f"embedder is none: choose a model, or delete the vectors with {drop}")
        _make_vectors(session, store, embedder, all=all)
        store.compact()
        if settings.origins.get("embedder", "").startswith("flag:"):
            use = f"set embedder={settings.embedder} in your config"
            session.say([f"to search with these vectors, {use}"])
        row = {
            "embedder": embedder.name,
            "dimension": embedder.dimension,
            "passages": store.vectors.count_passages(),
            "missing": store.vectors.count_passages(lacking=True),
        }
    session.output.one(row, counts_text)


def _make_vectors(session: Session, store: Store, embedder: Embedder, *, all: bool) -> None:
    total = store.vectors.count_passages(lacking=not all)
    made = "vectors made so far are kept, and the same command continues from there"
    with session.progress("embedding", total, kept=made) as advance:
        embed_store(store, embedder, all=all, progress=advance)


@command("store reindex [options]", settings=("embedder",))
def reindex(
    session: Session,
    *,
    fulltext: str = option("--fulltext ENGINE", "auto, fts5 or fts4", "auto", choices=ENGINES),
) -> None:
    """Rebuild the full-text and vector indexes."""
    with session.open(whole="reindex") as store, store.faults:
        total = sum(store.nodes.count_by_type().values())
        embedder = session.engine(store).embedder
        if embedder is not None:
            embedder.embed(["a word"])  # raises before anything is changed
        with session.progress("indexing", total, kept="the indexes are as they were") as advance:
            count = rebuild(store, fulltext, lambda done: advance.show(done, total))
        if embedder is not None:
            _make_vectors(session, store, embedder, all=False)
        store.compact()
        session.wipe(store)
        row = {
            "nodes": count,
            "fulltext": store.fulltext.engine,
            "embedder": store.meta.get("embedder"),
        }
    session.output.one(row, counts_text)


# --- store: backups


@command("store backup FILE")
def back_up(session: Session, file: str = argument("FILE", complete="files")) -> None:
    """Copy the store into a file."""
    session.open(whole="backup").close()  # raises for a damaged store
    wait = session.settings.busy_timeout
    with session.progress("copying", kept="there is no new backup"):
        backup.back_up(data_folder(), _of_backup(file), busy_timeout=wait)
    session.output.one({"file": os.path.abspath(file)}, columns("file"))


@command("store restore FILE")
def restore(session: Session, file: str = argument("FILE", complete="files")) -> None:
    """Replace the store by a backup, and keep the replaced store."""
    session.require_whole("restore")
    wait = session.settings.busy_timeout
    with session.progress("copying", kept="the store is as it was"):
        kept = backup.restore_backup(data_folder(), _of_backup(file), busy_timeout=wait)
    session.say([f"what was there is kept in {kept}"] if kept else [])
    session.output.one({"file": os.path.abspath(file), "kept": kept}, columns("file"))


def _of_backup(path: str) -> str:
    if path in ("-", ""):
        raise UsageError("a backup is a file: use 'lore export' and 'lore import' with pipes")
    return path


# --- config

CONFIG = Group(
    "config",
    """\
Print and change settings.

A setting is an option (--graph-depth), else a variable (LORE_GRAPH_DEPTH), else a key (graph_depth)
of .lore/.config, else of ~/.config/lore/config.""",
    default="list",
)

KEY = argument("KEY", complete="settings")
USER = option("--user", "in your own config file")
PROJECT = option("--project", "in the config file of the project")
_CHANGE, _SETTING = columns("state id file"), columns("id value origin help")


@command("config list [SECTION]", needs_config=False)
def list_settings(session: Session, section: str = argument("[SECTION]", default="")) -> None:
    """List settings with value, origin and description."""
    _load(session)
    rows = [_setting_row(session, one) for one in SETTINGS if one.section.startswith(section)]
    if not rows:
        sections = ", ".join(dict.fromkeys(one.section for one in SETTINGS))
        raise UsageError(f"no section '{section}': give one of {sections}")
    session.output.list(rows, each(_SETTING))


@command("config get [--value] KEY", needs_config=False)
def get(
    session: Session, key: str = KEY, *, value: bool = option("--value", "print only the value")
) -> None:
    """Print a setting.

    EDGE_WEIGHTS prints the weights of all relations, EDGE_WEIGHTS[calls] of a single relation. See
    also 'lore graph relations'.
    """
    _load(session)
    setting, element = named(key)
    row = _setting_row(session, setting)
    if setting.name == "edge_weights":
        row.update(_weights_in_force(session.settings, element))
    if value:
        write(f"{row['value']}\n")
    else:
        session.output.one(row, _SETTING)


@command("config set [--user | --project] KEY VALUE", needs_config=False)
def set_setting(
    session: Session,
    key: str = KEY,
    value: str = argument("VALUE"),
    *,
    user: bool = USER,
    project: bool = PROJECT,
) -> None:
    """Write a setting into a config file.

    \b
    lore config set 'EDGE_WEIGHTS[calls]' 0.5 --user
    """
    _load(session)
    key = _spelled(key)
    session.settings.changed([(key, value)], "command:config set")
    exclusive(user=user, project=project)
    alone, here = users_alone(named(key)[0].name, value), project_folder()
    if project and alone and here:
        raise UsageError(f"{key} counts only in the user's own config: add --user")
    _change(session, key, value, [_file(user=user or (not project and bool(alone or not here)))])


@command("config unset [--user | --project] KEY", needs_config=False)
def unset(session: Session, key: str = KEY, *, user: bool = USER, project: bool = PROJECT) -> None:
    """Remove a setting from your config file and the project's, or from either."""
    _load(session)
    exclusive(user=user, project=project)
    places = [] if project else [_file(user=True)]
    places += [] if user else [_file(user=False)]
    _change(session, key, None, places)


def _change(session: Session, key: str, value: str | None, files: list[str]) -> None:
    """Set or remove a key in config files, and print the files that have changed."""
    changed = [file for file in files if change_file(file, {key: value})]
    if not changed:
        key = _spelled(key)
        changed = [file for file in files if change_file(file, {key: value})]
    state = ("unset" if value is None else "set") if changed else "unchanged"
    row = {"id": key, "value": value, "state": state, "file": " ".join(changed or files)}
    session.output.one(row, _CHANGE)


def _spelled(key: str) -> str:
    """Return a key as in a config file; raise UsageError if it is unknown."""
    setting, element = named(key)
    return setting.config_key + (f"[{element}]" if element else "")


def lenient_settings(given: Mapping[str, str]) -> Settings:
    """Return the settings without invalid lines and values, and the problems with these."""
    problems = []
    try:
        load(os.environ)
    except UsageError as error:
        problems.append(str(error))
    try:
        settings = Settings.load(given, lenient=True)
    except UsageError as error:
        settings = Settings()
        problems.append(str(error))
    settings.problems = [*problems, *settings.problems]
    return settings


def _load(session: Session) -> None:
    """Load the settings without invalid lines, which these commands may fix."""
    settings = lenient_settings(session.given)
    for text in (*settings.problems, *settings.warnings):
        note(text)
    session.use(settings)


def _setting_row(session: Session, setting: Setting) -> dict[str, Any]:
    return {
        "id": setting.config_key,
        "section": setting.section,
        "value": session.settings.as_text(setting.name),
        "origin": session.settings.origins.get(setting.name, "default"),
        "help": setting.help,
    }


def _weights_in_force(settings: Settings, relation: str) -> dict[str, str]:
    """Return the fields ``id``, ``value`` and ``origin`` of all weights, or of a relation's."""
    known: Weights = {name: one[:2] for name, one in RELATIONS.items()}
    weights = {
        name: f"{there:.15g}" + ("" if back in (None, there) else f"/{back:.15g}")
        for name, (there, back) in sorted({**known, **settings.edge_weights}.items())
    }
    if not relation:
        return {"value": " ".join(f"{name}={one}" for name, one in weights.items())}
    (name,) = require_relations([relation], weights)
    origin = settings.origins["edge_weights"] if name in settings.edge_weights else "default"
    return {"id": f"EDGE_WEIGHTS[{name}]", "value": weights[name], "origin": origin}


def _file(*, user: bool) -> str:
    """Return the config file of the user or the project. Raise LoreError if the latter is a link:
    it may come from a clone."""
    folder = os.path.join(project_folder(), SHARED) if project_folder() else data_folder()
    path = users_file() if user else os.path.join(folder, ".config")
    if not user and project_folder() and os.path.islink(path):
        raise LoreError(f"{path}: is a link: replace it by a file")
    return path
