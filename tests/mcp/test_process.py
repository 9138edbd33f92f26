"""Test ``lore mcp`` as a process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from homes import move_home
from new_stores import copy_store, store_folder
from wire import LORE, RECORDS, lore, request, serving, text_of, tool


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with a store, for tests that only read."""
    with pytest.MonkeyPatch.context() as patch:
        move_home(patch, tmp_path_factory.mktemp("home"))
        yield _project(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def project(shared: Path, tmp_path: Path) -> Path:
    """A copy of it, as a clone has it: not trusted."""
    copy = tmp_path / "a project"
    shutil.copytree(shared, copy)
    copy_store(os.environ["XDG_DATA_HOME"], shared, copy)
    return copy


def _project(folder: Path) -> Path:
    lore(folder, "init")
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    (folder / "records.jsonl").write_text(lines)
    lore(folder, "import", "records.jsonl", "-q")
    return folder


def test_store_is_found_again_at_every_call(project: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    call = tool(1, "lore_search", query="tokens")
    with serving(bare) as wire:
        assert len(wire.ask(request(0, "tools/list"))["result"]["tools"]) == 4
        assert "run 'lore init'" in text_of(wire.ask(call))
        lore(bare, "init")
        assert text_of(wire.ask(call)) == "[]\n"
        # a new store in the same place is opened, and a new config is read
        data = os.environ["XDG_DATA_HOME"]
        shutil.rmtree(store_folder(data, bare))
        copy_store(data, project, bare)
        assert len(json.loads(text_of(wire.ask(call)))) == 2
        (bare / ".lore/.config").write_text("max_bytes=10\n")
        assert "does not fit: max_bytes is 10" in text_of(wire.ask(call))
        (bare / ".lore/.config").write_text("fulltext_share=often\n")
        assert "fulltext_share" in text_of(wire.ask(call))
    with serving(tmp_path, "--store", str(store_folder(data, project)), "--write") as wire:
        assert len(json.loads(text_of(wire.ask(call)))) == 2
        answer = wire.ask(tool(2, "lore_remember", type="note", text="named by its user"))
        assert not answer["result"]["isError"]


def test_server_ends_with_its_client(shared: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = f"exec 3<>'{fifo}'; bash '{LORE}' mcp <&3 & echo $!; sleep 60; :"
    parent = subprocess.Popen(["bash", "-c", script], cwd=shared, stdout=subprocess.PIPE)
    assert parent.stdout
    child = int(parent.stdout.readline())
    held = os.open(fifo, os.O_RDWR)  # keeps stdin open
    os.write(held, json.dumps(request(1, "server/discover")).encode() + b"\n")
    assert b"result" in parent.stdout.readline()  # the server is up, and knows the parent
    subprocess.run(["pkill", "-9", "-P", str(parent.pid), "sleep"], check=False)
    parent.kill()
    parent.wait()
    with pytest.raises(ProcessLookupError):
        for _ in range(100):
            os.kill(child, 0)
            time.sleep(0.1)
    os.close(held)


def test_server_ends_by_a_signal_or_an_unreadable_stdin(shared: Path) -> None:
    with serving(shared) as wire:
        wire.ask(request(1, "server/discover"))
        wire.process.send_signal(signal.SIGTERM)
        assert wire.process.wait(timeout=10) == -signal.SIGTERM
    with open(os.devnull, "wb") as unreadable:
        subprocess.run([LORE, "mcp"], cwd=shared, stdin=unreadable, check=True, timeout=60)


def test_clients_share_a_store_that_is_written(project: Path) -> None:
    lore(project, "trust")

    def talk(number: int) -> list[str]:
        with serving(project, "--write") as wire:
            texts = []
            for turn in range(3):
                texts.append(text_of(wire.ask(tool(turn, "lore_search", query="tokens cookie"))))
                note = {"type": "note", "text": f"{number} said {turn}"}
                wire.ask(tool(f"w{turn}", "lore_remember", **note))
            assert wire.end() == []
            return texts

    for name in range(10):
        (project / f"m{name}.py").write_text(f"def f{name}():\n    return {name}\n")
    with ThreadPoolExecutor(3) as pool:
        index = pool.submit(lore, project, "index", "-q")
        texts = [text for found in pool.map(talk, range(2)) for text in found]
        index.result()
    assert all(json.loads(text)[0]["id"] == "decision-cookie" for text in texts)
    assert lore(project, "list", "--status", "staged", "--ids").count("note-") == 6
    assert json.loads(lore(project, "doctor", "--json"))
