"""What callers pass for parameters, round by round, with what other files' calls passed before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from . import marks
from .calls import Calls
from .inference import Values
from .kept import Passes, Written
from .lazy import LazyFiles, WholeError
from .rounds import read_value, written_passes
from .scopes import MOST_VALUES, Place, Value

_MORE: Written = ("Module", "", "")
"""More than was looked at."""

_Told = frozenset[Written] | None
"""All that is passed for a parameter; None where it is too much."""


class KeptPassed(dict[Place, dict[Value, None]]):
    """``Values.passed`` as it is in one round, of the parameters that were asked for."""

    def __init__(self, files: LazyFiles, own: Calls, values: Values) -> None:
        super().__init__()
        self._files = files
        self._values = values
        self._calls = own
        self.round = 0
        self.own: dict[str, Passes] = {}
        """What the files pass that are resolved anew."""
        self._now: dict[Written, list[dict[Written, int]]] = {}
        """The same by parameter."""
        self._was: dict[Written, list[Mapping[Written, int]]] = {}
        """What they passed before."""
        self._others: dict[Written, dict[str, Mapping[Written, int]]] = {}

    def get(self, place: Place, default: object = None) -> dict[Value, None]:
        found = super().get(place)
        if found is None:
            found = self[place] = self._known(place)
        return found

    def _known(self, place: Place) -> dict[Value, None]:
        made, name = place
        told = self.told((made.file.path, made.qualified, name), self.round, is_new=True)
        if told is None:
            module = self._values.modules.module
            return dict.fromkeys(module(f"\0{number}") for number in range(MOST_VALUES + 1))
        files, values = self._files, self._values
        try:
            return {read_value(files, values, one): None for one in sorted(told)}
        except KeyError:
            raise WholeError from None

    def told(self, place: Written, round: int, *, is_new: bool) -> _Told:
        """What is passed until a round, as it is now or was before the change."""
        rows = self._rows(place, is_new=is_new)
        found = {value for row in rows for value, number in row.items() if number <= round}
        is_open = _MORE in found
        found.discard(_MORE)
        if len(found) > MOST_VALUES:
            return None
        if is_open and is_new:
            raise WholeError
        return None if is_open else frozenset(found)

    def _rows(self, place: Written, *, is_new: bool) -> list[Mapping[Written, int]]:
        own = self._now if is_new else self._was
        return [*self._rest(place).values(), *own.get(place, ())]

    def _before(self, path: str) -> Mapping[Written, Mapping[Written, int]]:
        answers = self._files.kept.answers(path)
        return {} if answers is None else answers.passes

    def _rest(self, place: Written) -> dict[str, Mapping[Written, int]]:
        """What the other files pass, of which nothing is resolved anew."""
        found = self._others.get(place)
        if found is None:
            path, qualified, name = place
            mark = marks.mark(marks.inner(marks.place(path), qualified), name)
            found = self._others[place] = {
                one: passes[place]
                for one in self._files.kept.holding(mark)
                if one not in self.own and place in (passes := self._before(one))
            }
        return found

    def take_over(self, paths: Iterable[str], round: int) -> None:
        """These files are resolved anew from here on; what they passed until now stands."""
        for path in paths:
            own = self.own[path] = {}
            for place, values in self._before(path).items():
                self._was.setdefault(place, []).append(values)
                if place in self._others:
                    self._others[place].pop(path, None)
                kept = {value: number for value, number in values.items() if number <= round}
                if kept:
                    own[place] = kept
                    self._now.setdefault(place, []).append(kept)

    def update_own(self) -> None:
        """Takes what the calls have passed by now."""
        for path, passes in written_passes(self._calls).items():
            held = self.own.setdefault(path, {})
            for place, values in passes.items():
                row = held.get(place)
                if row is None:
                    row = held[place] = {}
                    self._now.setdefault(place, []).append(row)
                for value, number in values.items():
                    row.setdefault(value, number)

    def differing(self, round: int) -> set[Written]:
        """The parameters for which something else is passed now, until a round."""
        looked_at: set[Written] = set()
        for path, now in self.own.items():
            before = self._before(path)
            looked_at.update(
                place for place in before.keys() | now.keys()
                if before.get(place) != now.get(place)
                and _until(before, place, round) != _until(now, place, round)
            )  # fmt: skip
        return {
            place for place in looked_at
            if self.told(place, round, is_new=False) != self.told(place, round, is_new=True)
        }  # fmt: skip

    def advance(self, round: int) -> set[Place]:
        """Goes on to a round; the parameters of which there is more now."""
        self.round = round
        grown = set()
        for place in list(self):
            made, name = place
            rows = self._rows((made.file.path, made.qualified, name), is_new=True)
            if not any(round in row.values() for row in rows):
                continue
            known = self._known(place)
            if known.keys() != self[place].keys():
                self[place] = known
                grown.add(place)
        return grown


def _until(
    passes: Mapping[Written, Mapping[Written, int]], place: Written, round: int
) -> set[Written]:  # fmt: skip
    return {value for value, number in passes.get(place, {}).items() if number <= round}


def with_marks(places: Iterable[Written]) -> Mapping[int, Written]:
    """The marks of parameters."""
    return {
        marks.mark(marks.inner(marks.place(path), qualified), name): (path, qualified, name)
        for path, qualified, name in places
    }
