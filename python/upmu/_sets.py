# SPDX-License-Identifier: MIT
"""Sets of events, and what they counted."""
from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from ctypes import byref, c_uint64, c_void_p
from typing import Any, NamedTuple

from . import _show
from ._library import (NO_COUNT, RawValue, Verdict, c_text, library,
                       list_names, list_text, options)


class Value(NamedTuple):
    """One reading of one event, with the times that it was counted in."""

    count: int
    enabled_ns: int
    running_ns: int

    def scaled(self) -> int:
        """The count extended to all of enabled_ns: a guess, which supposes
        that the event came as often while the set was off the hardware.

        Error ENODATA: it never was on the hardware.
        """
        raw, estimate = RawValue(*self), c_uint64()
        library.check(library.scale(byref(raw), byref(estimate)))
        return estimate.value


class Counts(Mapping[str, int]):
    """Event names and their counts; a table in print() and in notebooks.

    An event is found by the name that was asked for and by the one that it
    counts under ("cycles:u" where the kernel allows user mode alone).
    `running` is the share of the time in which the set was on the hardware
    (None: not asked); below 1 the counts lack what came in the rest.
    """

    def __init__(self, events: Iterable[str], units: Iterable[str],
                 values: Iterable[int], running: float | None = None,
                 asked: Iterable[str] = ()):
        self.events = tuple(events)
        self.units = tuple(units)
        self.values_ = tuple(values)
        self.running = running
        self.asked = tuple(asked)

    def __getitem__(self, event: str | int) -> int:
        if isinstance(event, int):
            if event not in range(-len(self.values_), len(self.values_)):
                raise KeyError(event)
            return self.values_[event]
        for names in (self.events, self.asked):
            if event in names:
                return self.values_[names.index(event)]
        raise KeyError(event)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self.events))

    def __len__(self) -> int:
        return len(dict.fromkeys(self.events))

    def __sub__(self, before: "Counts") -> "Counts":
        if self.events != before.events:
            return NotImplemented
        return Counts(self.events, self.units,
                      (now - then for now, then
                       in zip(self.values_, before.values_)),
                      asked=self.asked)

    def _table(self) -> tuple[list[str], list[list[object]]]:
        return (["event", "count", "unit"],
                [list(row) for row in
                 zip(self.events, self.values_, self.units)])

    def __repr__(self) -> str:
        note = ""
        if self.running is not None and self.running < 1:
            note = (f"\non the hardware for {100 * self.running:.1f} % "
                    "of the time")
        return _show.text_table(*self._table()) + note

    def _repr_html_(self) -> str:
        return _show.html_table(*self._table())

    def plot(self, ax: Any = None) -> Any:
        """Bars, with matplotlib; returns its axes."""
        return _show.bars(self.events, self.values_, ax)


class Set:
    """Events counted at the same time on the thread that opens the set.

    events: "cycles,instructions", or a sequence of names, 1 to 32 of them
    user_only: leave the kernel's part out
    stopped: start() starts it
    any_clock: a timer or clock rather than an error (look at units)
    bound: the thread stays on the kinds of core that it may run on now
    inherit: what the thread starts from now on too
    on_exec: its next exec starts it
    pid: another thread, by its number
    cpu: all that runs on this CPU
    source: "page", "read", "raw"; None: the first that serves the events

    Counts run from the opening on. As a context manager the set is closed at
    the end, and counts() keeps what it had come to. Error says why a set cannot
    be opened. Any thread may read; start(), stop() and close() need the caller
    to keep other threads away.
    """

    def __init__(self, events: str | Iterable[str], **how: Any):
        text = list_text(events)
        # Who is interrupted (Ctrl-C) as it opens leaves it to __del__().
        self._handle: c_void_p | None = c_void_p()
        handle = self._handle
        library.check(library.open(byref(handle), c_text(text),
                                   byref(options(**how))))
        self._n = library.size(handle)
        self.events = tuple(library.event_name(handle, i).decode()
                            for i in range(self._n))
        self.units = tuple(library.unit(handle, i).decode()
                           for i in range(self._n))
        self.source = library.source(handle).decode()
        asked = list_names(text)
        self._asked = asked if len(asked) == self._n else ()
        self._counters = [library.counter_at(handle, i)
                          for i in range(self._n)]
        self._last: Counts | None = None

    def _open_handle(self) -> c_void_p:
        if not self._handle:
            raise ValueError("the set is closed")
        return self._handle

    def start(self) -> None:
        """Go on counting, from where the counts stood."""
        library.check(library.start(self._open_handle()))

    def stop(self) -> None:
        """Hold all events; the counts stay readable."""
        library.check(library.stop(self._open_handle()))

    def count(self, event: int = 0) -> int:
        """One event's count so far, by its place: the cheapest reading."""
        self._open_handle()
        count = library.count_by_call(self._counters[event])
        if count == NO_COUNT:
            # Tells why; or the counter came back meanwhile.
            return self.counts().values_[event]
        return count

    def counts(self) -> Counts:
        """All counts so far, of one instant; after close() the last ones."""
        if self._handle is None and self._last is not None:
            return self._last
        values = (c_uint64 * self._n)()
        library.check(library.count_all(self._open_handle(), values, self._n))
        return self._named(values)

    def read(self) -> dict[str, Value]:
        """Counts and times of all events, of one instant; a system call."""
        return dict(zip(self.events, self._read(self._open_handle())))

    def _read(self, handle: c_void_p) -> list[Value]:
        values = (RawValue * self._n)()
        library.check(library.read(handle, values, self._n))
        return [Value(v.count, v.enabled_ns, v.running_ns) for v in values]

    def _named(self, values: Iterable[int],
               running: float | None = None) -> Counts:
        return Counts(self.events, self.units, values, running, self._asked)

    def close(self) -> None:
        """Stop counting; counts() keeps the last counts."""
        # Whoever else closes it, or is interrupted here, finds it closed.
        handle, self._handle = self._handle, None
        if not handle:
            return
        try:
            last = self._read(handle)
            share = min((v.running_ns / v.enabled_ns if v.enabled_ns else 0.0)
                        for v in last)
            self._last = self._named((v.count for v in last), share)
        finally:
            library.close(handle)

    def __enter__(self) -> "Set":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a set cannot be copied: it is counters of a thread")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library.close(self._handle)

    def __getitem__(self, event: str | int) -> int:
        return self.counts()[event]

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        if self._handle is None and self._last is None:
            return "<upmu.Set, closed>"
        return repr(self.counts())

    def _repr_html_(self) -> str:
        return self.counts()._repr_html_()

    def plot(self, ax: Any = None) -> Any:
        """Bars, with matplotlib; returns its axes."""
        return self.counts().plot(ax)


class Source(NamedTuple):
    """What became of asking one way of reading; error 0: it serves."""

    name: str
    unit: str
    error: int
    reason: str


def sources() -> list[Source]:
    """Every way of reading, in the order of asking, and why it will not do."""
    found = []
    while True:
        verdict = Verdict(size=ctypes.sizeof(Verdict))
        if library.probe(len(found), byref(verdict)) < 0:
            return found
        found.append(Source(verdict.source.decode(), verdict.unit.decode(),
                            -verdict.error, verdict.reason.decode()))
