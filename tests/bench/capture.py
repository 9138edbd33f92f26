"""What a capture of a folder of transcripts costs, and what becomes of it.

    .venv/bin/python tests/bench/capture.py FOLDER [--from claude]

Captures into a log of its own, which it deletes; once more, when nothing is new; then reads all
of it back. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))


def main() -> None:
    """Prints it, a JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--from", dest="source", default="claude")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        from pylore.capture.capture import Capture
        from pylore.capture.events import read_events
        from pylore.capture.redaction import Redactor
        from pylore.capture.transcripts import TRANSCRIPTS

        kind = TRANSCRIPTS[given.source]
        for what in ("first", "again"):
            start = time.process_time()
            receipt = Capture(kind, Redactor(), "", lambda _: None).run([given.folder])
            print(json.dumps({
                "what": what, "seconds": round(time.process_time() - start, 2),
                "most memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                **receipt.to_dict(),
            }))  # fmt: skip
        start = time.process_time()
        count = sum(1 for _ in read_events())
        print(json.dumps({"what": "read_events", "events": count,
                          "seconds": round(time.process_time() - start, 2)}))  # fmt: skip


if __name__ == "__main__":
    main()
