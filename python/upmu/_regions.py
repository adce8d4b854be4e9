# SPDX-License-Identifier: MIT
"""Named parts of a program that measure themselves."""
from __future__ import annotations

import ctypes
import errno
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from ctypes import byref, c_void_p
from typing import Any, NamedTuple, TypeVar, cast, overload

from . import _show
from ._library import (Error, RawRegionStats, c_text, library, list_text,
                       options)

Called = TypeVar("Called", bound=Callable[..., Any])


class RegionStats(NamedTuple):
    """One event in one region, over all calls and threads.

    What a pair of begin and end costs in the library (overhead) is taken off
    each call; what Python adds is in the counts. running: share of the time
    that the events were on the hardware.
    """

    calls: int
    total: int
    min: int
    max: int
    mean: float
    overhead: int
    running: float


def init_regions(events: str | Iterable[str] | None = None,
                 **how: Any) -> None:
    """Choose what regions count, before the first begins.

    1 to 8 events; None: the environment's UPMU_EVENTS=, else
    "cycles,instructions". `how` as of upmu.Set. At exit the library reports to
    standard error, or where the environment's UPMU_REPORT= says ("none": not
    at all). What ends by os._exit(), as multiprocessing's workers do, has no
    such exit: there call report(). Error EALREADY: a region has begun.
    """
    text = None if events is None else c_text(list_text(events))
    library.check(library.regions_init(text, byref(options(**how))))


def refuse_what_runs_later(function: Callable) -> None:
    """Its call only makes an object; what runs, runs in pieces."""
    # An object is called by its class's function.
    for called in (function, type(function).__call__):
        if (inspect.iscoroutinefunction(called)
                or inspect.isgeneratorfunction(called)
                or inspect.isasyncgenfunction(called)):
            name = getattr(function, "__qualname__", repr(function))
            raise TypeError(f"{name}() is a coroutine or a generator: "
                            "calling it runs none of it; enter a region "
                            "inside it, around what does not wait")


_is_forked = False


def _note_fork() -> None:
    global _is_forked
    _is_forked = True


os.register_at_fork(after_in_child=_note_fork)


class Region:
    """A region: `with` enters it, as a decorator each call does.

    Regions nest; each thread has its own nesting. The child of os.fork() is in
    none, and leaves those of its parent in silence. Make one with
    upmu.region().
    """

    def __init__(self, name: str):
        self.name = name
        self._region = c_void_p()
        library.check(library.region_open(byref(self._region), c_text(name)))

    def __enter__(self) -> "Region":
        library.check(library.region_begin(self._region))
        return self

    def __exit__(self, *_: object) -> None:
        error = library.region_end(self._region)
        if error and not (_is_forked and error == -errno.EINVAL):
            library.check(error)

    def __call__(self, function: Called) -> Called:
        refuse_what_runs_later(function)

        @functools.wraps(function)
        def inside(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)
        return cast(Called, inside)

    def stats(self) -> list[RegionStats]:
        """What each event came to so far, in the order of the list."""
        found = []
        while True:
            raw = RawRegionStats(size=ctypes.sizeof(RawRegionStats))
            error = library.region_read(self._region, len(found), byref(raw))
            if error == -errno.ENOENT:
                return found
            library.check(error)
            found.append(RegionStats(raw.calls, raw.total, raw.min, raw.max,
                                     raw.mean, raw.overhead, raw.running))

    def _table(self) -> tuple[list[str], list[list[object]]]:
        return (["event", "calls", "total", "mean", "min", "max"],
                [[str(i), s.calls, s.total, s.mean, s.min, s.max]
                 for i, s in enumerate(self.stats())])

    def __repr__(self) -> str:
        return f"region {self.name}\n" + _show.text_table(*self._table())

    def _repr_html_(self) -> str:
        return _show.html_table(*self._table())


@functools.lru_cache(maxsize=None)
def _region_of(name: str) -> Region:
    return Region(name)


@overload
def region(what: str) -> Region: ...
@overload
def region(what: Called) -> Called: ...


def region(what: Any) -> Any:
    """The region of that name, to enter by `with` or to decorate a function.

    @upmu.region without a name takes the function's. Error ENOSPC: there are
    64 regions already; EINVAL: a name of no or more than 63 bytes.
    """
    if callable(what):
        name = getattr(what, "__qualname__", type(what).__qualname__)
        return _region_of(name[-63:])(what)
    return _region_of(what)


def report(file: Any = None, *, json: bool = False) -> None:
    """Write the report on all regions now, to a file object (standard error).

    There is then none at exit.
    """
    to = sys.stderr if file is None else file
    to.flush()
    try:
        to_fd = to.fileno()
    except (AttributeError, OSError) as error:
        raise Error(errno.EBADF, f"no file of the system: {error}") from error
    library.check(library.regions_report(to_fd, 1 if json else 0))
