"""A headless Chromium, asked through a pipe: no driver and no port. For tests of pages."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
SWITCHES = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage "
    "--remote-debugging-pipe"
)

_DRAWN = """
const canvas = CanvasRenderingContext2D.prototype, { fillRect, fillText } = canvas;
window.drawn = [];
canvas.fillRect = function (x, y, width, height) { // the whole of it begins a picture
  if (width >= this.canvas.clientWidth && height >= this.canvas.clientHeight) window.drawn = [];
  fillRect.call(this, x, y, width, height);
};
canvas.fillText = function (text, x, y) {
  const size = this.measureText(text);
  window.drawn.push({ text, x, y, alpha: this.globalAlpha,
    box: [x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent,
      x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent] });
  fillText.call(this, text, x, y);
};
"""


def overlaps(texts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the pairs of drawn texts that overlap."""
    return [
        (one["text"], other["text"])
        for place, one in enumerate(texts)
        for other in texts[:place]
        if one["box"][0] < other["box"][2]
        and other["box"][0] < one["box"][2]
        and one["box"][1] < other["box"][3]
        and other["box"][1] < one["box"][3]
    ]


class Browser:
    """A browser with an open page; ``said`` has the page's requests and errors."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def pipes() -> None:  # file descriptors of --remote-debugging-pipe
            os.dup2(os.dup2(to_read, 30), 3)
            os.dup2(os.dup2(to_write, 40), 4)

        with open(folder / "browser.log", "wb") as log:
            self._process = subprocess.Popen(
                [CHROMIUM, *SWITCHES.split(), f"--user-data-dir={folder}/profile", "about:blank"],
                env={**os.environ, "HOME": str(folder)},
                stdout=log,
                stderr=log,
                pass_fds=(to_read, to_write, 3, 4),
                preexec_fn=pipes,
            )
        os.close(to_read)
        os.close(to_write)
        self._left = b""
        self._number = 0
        self._session = ""
        self.said: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send("Page.addScriptToEvaluateOnNewDocument", {"source": _DRAWN})
        self.send("Emulation.setFocusEmulationEnabled", {"enabled": True})
        size = {"width": 1200, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", size)

    def send(self, method: str, params: Mapping[str, Any] = {}) -> Any:
        """Send a command of the protocol and return the result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.said.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            piece = os.read(self._read, 1 << 16)
            assert piece, "the browser has ended"
            self._left += piece
        message, _, self._left = self._left.partition(b"\0")
        return dict(json.loads(message))

    def run(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page, as soon as it is defined."""
        given = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        found = self.send("Runtime.evaluate", given)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def open(self, file: Path, fragment: str = "") -> None:
        """Open a file and wait until the script has run."""
        self.send("Page.navigate", {"url": file.as_uri() + fragment})
        self.run(
            "new Promise(done => { const look = () => document.documentElement?.dataset.ready"
            " ? done() : setTimeout(look, 20); look(); })"
        )

    def drawn(self) -> list[dict[str, Any]]:
        """Return the lines of text on a canvas, as ``text``, ``x``, ``y``, ``alpha`` and ``box``
        (filled area).
        """
        frame = "requestAnimationFrame(() => requestAnimationFrame(() => done(window.drawn)))"
        return list(self.run(f"new Promise(done => {frame})"))

    def labels(self) -> dict[str, float]:
        """Return the texts on a canvas, with lines joined, and the opacity of each."""
        found: dict[str, float] = {}
        above: dict[str, Any] = {}
        for line in self.drawn():
            if above.get("x") == line["x"]:
                found.pop(above["text"])
                line["text"] = f"{above['text']} {line['text']}"
            found[line["text"]] = line["alpha"]
            above = line
        return found

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key."""
        codes = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Escape": 27, "Tab": 9}
        code = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        self.send("Input.dispatchKeyEvent", {"type": "keyDown", **code, "text": text})
        self.send("Input.dispatchKeyEvent", {"type": "keyUp", **code})

    def click(self, x: float, y: float) -> None:
        """The left button, at this place of the window."""
        at = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.send("Input.dispatchMouseEvent", {**at, "type": "mouseMoved", "button": "none"})
        self.send("Input.dispatchMouseEvent", {**at, "type": "mousePressed"})
        self.send("Input.dispatchMouseEvent", {**at, "type": "mouseReleased"})

    def picture(self) -> bytes:
        """Return a screenshot as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", {"format": "png"})["data"])

    def close(self) -> None:
        """Ends the browser."""
        self._session = ""
        self.send("Browser.close")
        os.close(self._write)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
