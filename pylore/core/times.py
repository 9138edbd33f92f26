"""Times as the store writes them: UTC, ISO 8601, whole seconds."""

from __future__ import annotations

import time

from .errors import UsageError

LONG_AGO = "1970-01-01T00:00:00Z"
"""The time of things without a time."""
_UNITS = {"h": 3600, "d": 86_400, "w": 7 * 86_400, "m": 30 * 86_400, "y": 365 * 86_400}


def time_of(seconds: float) -> str:
    """Return the time of ``seconds`` since 1970."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def now() -> str:
    """Return the time of this second."""
    return time_of(time.time())


def now_after(moment: str) -> str:
    """Return the time of this second; if ``moment`` is not earlier, a whole second after it.

    >>> now_after("2999-01-31T23:59:59.5Z"), now_after("2999-01-31T23:59Z")
    ('2999-02-01T00:00:00Z', '2999-02-01T00:00:00Z')
    """
    at = now()
    if at > moment:
        return at
    from _datetime import datetime, timedelta  # type: ignore[import-not-found]

    try:
        second = datetime.fromisoformat(moment[:19].replace("Z", ":59"))
        return f"{(second + timedelta(seconds=1)).isoformat()}Z"
    except (ValueError, OverflowError):
        return at


def days_since(moment: str) -> int:
    """Return whole days, by date, from a time to now; 0 if it is in the future, or invalid.

    >>> days_since(now()), days_since(ago(400)), days_since("?")
    (0, 400, 0)
    """
    from _datetime import date

    try:
        age: int = (date.fromisoformat(now()[:10]) - date.fromisoformat(moment[:10])).days
    except ValueError:
        return 0
    return max(0, age)


def ago(days: int) -> str:
    """Return the time ``days`` ago (negative: ahead); 1970 at the earliest."""
    return time_of(max(0, int(time.time()) - days * _UNITS["d"]))


def parse_until(text: str) -> str:
    """Return a time as ``parse_since`` does; a day is included to its end."""
    found = parse_since(text)
    return found[:11] + "23:59:59Z" if len(text) < 11 and text[-1:].isdigit() else found


def parse_since(text: str) -> str:
    """Parse a date, a time, or an age (``12h``, ``7d``, ``2w``, ``3m``, ``1y``, ``3 months ago``);
    raise UsageError for anything else."""
    count, _, word = text.removesuffix(" ago").partition(" ")
    is_age = word.removesuffix("s") in ("hour", "day", "week", "month", "year")
    number, unit = (count, word[0]) if is_age else (text[:-1], text[-1:])
    if unit in _UNITS and number.isascii() and number.isdigit() and len(number) < 6:
        return time_of(max(0, int(time.time()) - int(number) * _UNITS[unit]))
    from _datetime import datetime, timedelta

    why = "give 2026-01-31, 2026-01-31T12:00:00Z, or an age as 7d"
    try:
        moment = datetime.fromisoformat(text[:-1] if text.endswith("Z") else text)
        return f"{(moment - (moment.utcoffset() or timedelta())).isoformat()[:19]}Z"
    except (ValueError, OverflowError):
        raise UsageError(f"'{text}' is not a valid date: {why}") from None
