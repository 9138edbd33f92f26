"""Secrets in the context of sessions, and texts without secrets, generated at each run.

Each pattern has an example in the code; this module adds surroundings and gaps between patterns.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING

from made_secrets import Maker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOKENS_OF = {
    f"token {beginning}": f"I used «{beginning}<40>» for that, it works now"
    for beginning in (
        "AGE-SECRET-KEY- sk-ant- ATATT3 AKIA cio dapi dop_v1_ dckr_pat_ dp.pt. figd_ fm1_ "
        "ghp_ glpat- GOCSPX- AIza ya29. glsa_ gsk_ HRKU- hf_ lin_api_ NRAK- ntn_ npm_ sk- "
        "pplx- pscale_tkn_ PMAK- pypi- r8_ rubygems_ SG. sntrys_ shpat_ xoxa- sq0atp- "
        "sk_live_ sbp_ hvs. xai- "
    ).split()
}
"""A token for each service."""


def _read(name: str) -> dict[str, str]:
    lines = (Path(__file__).parent / "secrets" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return dict(map(json.loads, lines))


IN_TEXTS = _read("planted")
"""Name to template: a secret for each fixed form, and secrets in texts."""

HELD_OUT = _read("held_out")
"""Kinds of secrets without a pattern: an estimate for unknown kinds. Whoever adds a pattern for a
kind moves it to the planted secrets, and adds a new kind."""


def _fullwidth(text: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _cut(between: str, at: int) -> Callable[[str], str]:
    return lambda secret: secret[:at] + between + secret[at:]


CHANGED: dict[str, tuple[str, Callable[[str], str]]] = {
    "zero width within": ("I used «ghp_<36>» there", _cut("\u200b", 12)),
    "zero width within a password": ("password=«x9<12>»", _cut("\u2060", 6)),
    "zero width within its beginning": ("I used «glpat-<20>» there", _cut("\u200d", 3)),
    "soft hyphen within": ("I used «sk-ant-<95>» there", _cut("\xad", 40)),
    "line end within": ("I used «ghp_<36>»\nthere", _cut("\n", 20)),
    "line end and indent within": ("  export T=«glpat-<20>»\n", _cut("\n    ", 16)),
    "line end behind a backslash": ("I used «sk-ant-<95>» there", _cut("\\\n", 60)),
    "line end, early": ("I used «github_pat_<60>» there", _cut("\n", 15)),
    "base64 of a token": ("x: «ghp_<36>»", _base64),
    "base64 of a password": ("it decodes: «admin:x9<20>»", _base64),
    "fullwidth": ("I used «ghp_<36>» there", _fullwidth),
}
"""Return the name of a template's case and of the change to the secret."""


def planted(seed: int = 0, more: dict[str, str] | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield name, text and secret of an example of each kind, or of each kind in ``more``."""
    plain = [*(more or {**TOKENS_OF, **IN_TEXTS}).items()]
    number = 0
    for number, (name, template) in enumerate(plain):
        yield (name, *Maker(seed * 1000 + number).made(template))
    for name, (template, change) in () if more else CHANGED.items():
        number += 1
        yield (name, *Maker(seed * 1000 + number).made(template, change))


ORDINARY = (
    "commit <40h>\nmerged <8h> into main",
    'git show "<40h>" --stat',
    "session <8h>-<4h>-<4h>-<4h>-<12h> was resumed, see '<8h>-<4h>-<4h>-<4h>-<12h>'",
    "sha256:<64h>  image.tar",
    "cmd/words/internal/store_<6a>_manual-commit_2.go:120:14: error",
    "'/Users/me/src/<6a>/.worktrees/2/cmd/words/cli/strategy/a_test.go'",
    "https://github.com/words/cli/pull/137#issuecomment-<10d>",
    "--- PASS: TestFormatCheckpointOutputWithLongNameWords (0.01s)",
    'token := os.Getenv("WORDS_TOKEN"); if token == "" { return err }',
    "key: cfg.Keys[@], password: req.Password, secret = load_secret()",
    "The secret is to keep keys (in words) short: the API key (as is) was: renamed2words",
    "users are identified by words_@ or a name; --no-password=true foreign_key=words.id_@",
    "FROM python:3.12.@-slim@sha256:<64h>",
    "def f(password: str, api_key: Optional[str] = None, token2: int = @) -> dict[str, list[int]]:",
    "secret_key: [u8; 32], auth_token: Vec<u8>, access_token: None, cache_key: int",
    'PASSWORD="$DB_PASSWORD_@" --token "${{ secrets.T@ }}" API_KEY=${K@} password = get_pw(@)',
    "curl -H 'X-Api-Key: $KEY@' -b \"$JAR\"",
    "max_tokens=@096, n_key = @1234567890",
    "mkdir -p words@ && git checkout -b words-@ && cp -a words@ /tmp/@",
    "https://git@example.org/words ssh://words@host https://words@x.org",
    "go.sum h1:<32b>\n twine==6.1.0\n-pytest==8.4.@",
    "login of web-7d9f8c6b5-x2k4q runs x86_64-pc-linux-gnu-gcc-13, calls getUserByIdV2?",
    "branch sk-another-container-orientation, Authorization: Bearer YOUR_ACCESS_TOKEN",
    "uses: docker/login-action@<40h> # v4.6.@",
    "パスワードは8文字以上で入力してください",
    "image web-X<9h>\nlogin works",
    "call_X<20h> wrote X<20h>.js in /home/me/words/container/session/X<20h>/strategy",
)
"""Templates of common contents of sessions; ``@`` is a number."""


def ordinary(seed: int = 0, number: int = 40) -> Iterator[str]:
    """Yield common contents of sessions that must not change."""
    for at in range(number):
        maker = Maker(1_000_000 + seed * 1000 + at)
        yield from (maker.made(text.replace("@", str(at)))[0] for text in ORDINARY)
