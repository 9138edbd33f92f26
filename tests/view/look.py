"""Looks at pages of 'lore graph view' in Chromium: python look.py FOLDER NAME…

Prints a line for each check, saves NAME.png and NAME-dark.png, and exits 1 if one fails.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from browser import Browser, overlaps

_STARTS = "[...document.querySelectorAll('.start button')].map(b => b.title)"
_RECORDS = (
    "JSON.parse(document.getElementById('data').textContent).nodes"
    ".filter(n => !['file', 'symbol', 'commit', 'run'].includes(n.type)).map(n => n.label)"
)
_ABOUT = "document.getElementById('about').textContent"
_COUNT = "document.getElementById('count').textContent"
_CHOSEN = "document.querySelector('#text h2')?.textContent"
_FRAMES = """new Promise(done => {
  const graph = document.getElementById("graph"), times = [], box = graph.getBoundingClientRect();
  let before = performance.now(), number = 0;
  requestAnimationFrame(function frame(now) {
    times.push(now - before);
    before = now;
    number += 1;
    graph.dispatchEvent(new WheelEvent("wheel", { deltaY: number % 60 < 30 ? -20 : 20,
      clientX: box.x + 400, clientY: box.y + 300, cancelable: true }));
    if (number < 120) requestAnimationFrame(frame);
    else done(times.sort((a, b) => a - b)[60]);
  });
})"""


def checks(browser: Browser, page: Path) -> Iterator[tuple[str, bool]]:
    """Yield what a page has to be, and whether it is."""
    browser.open(page)
    texts = browser.drawn()
    labels = browser.labels()
    page.with_suffix(".png").write_bytes(browser.picture())
    yield f"{len(texts)} texts, none over another", bool(texts) and not overlaps(texts)
    records = browser.run(_RECORDS)
    named = [label for label in records if label in labels]
    yield (
        f"{len(named)} of {len(records)} records have their labels",
        2 * len(named) >= len(records),
    )
    starts = browser.run(_STARTS)
    yield f"{len(starts)} nodes are marked as the start", bool(starts) == bool(browser.run(_ABOUT))
    wanted = records[-1].rstrip("…") if records else "vocabulary"
    browser.press("/", "/")
    browser.send("Input.insertText", {"text": wanted})
    browser.press("Enter", "\r")
    yield f"'/' and Enter find '{wanted}'", wanted in str(browser.run(_CHOSEN))
    yield "and its picture has no text over another", not overlaps(browser.drawn())
    browser.press("Escape")
    browser.press("Escape")
    frame = browser.run(_FRAMES)
    yield f"a frame of zooming takes {frame:.1f} ms of {browser.run(_COUNT)} (not a check)", True
    browser.send("Emulation.setEmulatedMedia",
                 {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})  # fmt: skip
    browser.drawn()
    page.with_name(f"{page.stem}-dark.png").write_bytes(browser.picture())
    browser.send("Emulation.setEmulatedMedia", {"features": []})


def main() -> int:
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    failed = 0
    with TemporaryDirectory() as home:
        browser = Browser(Path(home))
        try:
            for name in names:
                for what, holds in checks(browser, folder / f"{name}.html"):
                    print(f"{'ok' if holds else 'not ok'} {name}: {what}", flush=True)
                    failed += not holds
        finally:
            browser.close()
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
