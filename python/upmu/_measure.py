# SPDX-License-Identifier: MIT
"""What does one call of a function cost?"""
from __future__ import annotations

import errno
import gc
from collections.abc import Callable, Iterable, Mapping
from ctypes import c_uint64
from typing import Any, Iterator, NamedTuple

from . import _show
from ._library import Error, library
from ._regions import refuse_what_runs_later
from ._sets import Set


class Measurement(NamedTuple):
    """One event over all runs. What an empty function costs (overhead, its
    median) is taken off each; a run below it counts as 0. Quartiles are by
    nearest rank."""

    event: str
    unit: str
    min: int
    q1: int
    median: int
    q3: int
    max: int
    overhead: int
    runs: tuple[int, ...]

    def __repr__(self) -> str:
        return _show.text_table(*_table([self]))


class Measurements(Mapping[str, Measurement]):
    """A Measurement for each event, by name; a table when shown."""

    def __init__(self, rows: Iterable[Measurement]):
        self.rows = tuple(rows)

    def __getitem__(self, event: str | int) -> Measurement:
        if isinstance(event, int):
            return self.rows[event]
        for row in self.rows:
            if row.event == event:
                return row
        raise KeyError(event)

    def __iter__(self) -> Iterator[str]:
        return (row.event for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return _show.text_table(*_table(self.rows))

    def _repr_html_(self) -> str:
        return _show.html_table(*_table(self.rows))

    def plot(self, ax: Any = None) -> Any:
        """Medians with their quartiles, with matplotlib; returns its axes."""
        return _show.bars(
            [row.event for row in self.rows],
            [row.median for row in self.rows], ax,
            [[row.median - row.q1 for row in self.rows],
             [row.q3 - row.median for row in self.rows]], "median of a call")


def _table(rows: Iterable[Measurement]) \
        -> tuple[list[str], list[list[object]]]:
    return (["event", "median", "q1", "q3", "min", "max", "unit"],
            [[m.event, m.median, m.q1, m.q3, m.min, m.max, m.unit]
             for m in rows])


def rank(ordered: list[int], percent: int) -> int:
    """By nearest rank, as the library has it."""
    return ordered[max(-(-percent * len(ordered) // 100), 1) - 1]


def _empty(*_: object, **__: object) -> None:
    pass


def _run(handle: Any, n: int, function: Callable, arguments: tuple,
         named: dict, warmup: int, runs: int) -> list[list[int]]:
    """The differences of each run, for each event."""
    before, after = (c_uint64 * n)(), (c_uint64 * n)()
    count_all, found = library.count_all, []
    for i in range(warmup + runs):
        error = count_all(handle, before, n)
        function(*arguments, **named)
        error = count_all(handle, after, n) or error
        library.check(error)
        if i >= warmup:
            found.append([after[k] - before[k] for k in range(n)])
    return found


def _refuse_others(how: dict) -> None:
    """What does not count this thread all the time is no cost of a call."""
    wrong = [name for name in ("stopped", "pid", "inherit", "on_exec", "cpu")
             if how.get(name) or name == "cpu" and how.get(name) == 0]
    if wrong:
        raise Error(errno.EINVAL, "measured functions count the calling "
                    f"thread: no {', '.join(wrong)}")


def measure(function: Callable, *arguments: Any,
            events: str | Iterable[str] = "cycles", warmup: int = 10,
            runs: int = 101, options: dict | None = None,
            **named: Any) -> Measurements:
    """What one call costs beyond that of an empty function.

    The function is called warmup + runs times with the arguments, on this
    thread, with the garbage collector off. `options` are those of upmu.Set
    that leave it at counting this thread, else Error EINVAL. ValueError: runs
    below 1 or warmup below 0. TypeError: a coroutine or
    generator, of which a call runs nothing. Error EAGAIN: the events were
    not on the hardware all the time; else as of upmu.Set.
    """
    if runs < 1 or warmup < 0:
        raise ValueError("runs is at least 1, warmup at least 0")
    refuse_what_runs_later(function)
    _refuse_others(options or {})
    with Set(events, **(options or {})) as counted:
        handle, n = counted._open_handle(), len(counted)
        collects = gc.isenabled()
        gc.disable()
        try:
            empty = _run(handle, n, _empty, arguments, named, warmup, runs)
            full = _run(handle, n, function, arguments, named, warmup, runs)
        finally:
            if collects:
                gc.enable()
        if any(v.running_ns != v.enabled_ns for v in counted.read().values()):
            raise Error(errno.EAGAIN, "the events were not on the hardware "
                        "all the time: others want counters too")
        return Measurements(_sum_up(counted, k, empty, full)
                            for k in range(n))


def _sum_up(counted: Set, k: int, empty: list[list[int]],
            full: list[list[int]]) -> Measurement:
    overhead = rank(sorted(run[k] for run in empty), 50)
    runs = [max(run[k] - overhead, 0) for run in full]
    ordered = sorted(runs)
    return Measurement(counted.events[k], counted.units[k], ordered[0],
                       rank(ordered, 25), rank(ordered, 50),
                       rank(ordered, 75), ordered[-1], overhead, tuple(runs))
