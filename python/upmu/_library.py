# SPDX-License-Identifier: MIT
"""libupmu.so.0 by ctypes: its structs, its functions, its errors."""
from __future__ import annotations

import ctypes
import os
import re
from ctypes import (POINTER, c_char, c_char_p, c_double, c_int, c_int32,
                    c_size_t, c_uint32, c_uint64, c_void_p)

NO_COUNT = 2 ** 64 - 1

USER_ONLY, STOPPED, ANY_CLOCK, BOUND, INHERIT, ON_EXEC, CPU = (
    1 << bit for bit in range(7))


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("flags", c_uint32), ("pid", c_int32),
                ("source", c_char_p), ("cpu", c_uint32),
                ("reserved", c_uint32)]


class RawValue(ctypes.Structure):
    _fields_ = [("count", c_uint64), ("enabled_ns", c_uint64),
                ("running_ns", c_uint64)]


class RawRegionStats(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("calls", c_uint64), ("total", c_uint64),
                ("min", c_uint64), ("max", c_uint64), ("overhead", c_uint64),
                ("mean", c_double), ("running", c_double)]


class Verdict(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("source", c_char_p), ("unit", c_char_p),
                ("error", c_int), ("reason", c_char * 1024)]


# What may wait (a lock, a file, the kernel's answer) lets other threads run.
WAITING = {
    "upmu_open": (c_int, POINTER(c_void_p), c_char_p, POINTER(Options)),
    "upmu_close": (None, c_void_p),
    "upmu_probe": (c_int, c_size_t, POINTER(Verdict)),
    "upmu_regions_init": (c_int, c_char_p, POINTER(Options)),
    "upmu_region_open": (c_int, POINTER(c_void_p), c_char_p),
    "upmu_region_read": (c_int, c_void_p, c_size_t, POINTER(RawRegionStats)),
    "upmu_regions_report": (c_int, c_int, c_int),
}
# Giving up the interpreter's lock would cost more than these do.
QUICK = {
    "upmu_start": (c_int, c_void_p),
    "upmu_stop": (c_int, c_void_p),
    "upmu_size": (c_size_t, c_void_p),
    "upmu_event_name": (c_char_p, c_void_p, c_size_t),
    "upmu_unit": (c_char_p, c_void_p, c_size_t),
    "upmu_source": (c_char_p, c_void_p),
    "upmu_counter_at": (c_void_p, c_void_p, c_size_t),
    "upmu_count_by_call": (c_uint64, c_void_p),
    "upmu_count_all": (c_int, c_void_p, POINTER(c_uint64), c_size_t),
    "upmu_read": (c_int, c_void_p, POINTER(RawValue), c_size_t),
    "upmu_scale": (c_int, POINTER(RawValue), POINTER(c_uint64)),
    "upmu_region_begin": (c_int, c_void_p),
    "upmu_region_end": (c_int, c_void_p),
    "upmu_explain": (c_char_p,),
    "upmu_version": (c_char_p,),
}


class Error(OSError):
    """What libupmu refused: errno, the reason in words, hints.

    `reason` is the sentence, `hints` the commands that mend it.
    """

    def __init__(self, number: int, text: str):
        lines = text.splitlines() or [os.strerror(number)]
        super().__init__(number, "\n".join(lines))
        self.hints = [line[6:] for line in lines if line.startswith("hint: ")]
        self.reason = "\n".join(
            line for line in lines if not line.startswith("hint: "))

    def __str__(self) -> str:
        return self.strerror


class Library:
    """The functions, by their names without upmu_."""

    def __init__(self) -> None:
        name = os.environ.get("UPMU_LIBRARY", "libupmu.so.0")
        try:
            loaders = ((ctypes.CDLL(name), WAITING),
                       (ctypes.PyDLL(name), QUICK))
        except OSError as error:
            raise ImportError(f"upmu: cannot load {name}: {error}") from error
        for loader, functions in loaders:
            for function, (result, *arguments) in functions.items():
                found = getattr(loader, function, None)
                if found is None:
                    raise ImportError(f"upmu: {name} has no {function}(): "
                                      "another library, or an older one")
                found.restype = result
                found.argtypes = arguments
                setattr(self, function[len("upmu_"):], found)

    def check(self, error: int) -> None:
        """Raise Error where a call returned a negative errno."""
        if error < 0:
            raise Error(-error, self.explain().decode(errors="replace"))


library = Library()


def version() -> str:
    """The release of libupmu that is loaded."""
    return library.version().decode()


def c_text(text: str) -> bytes:
    """For C, which would stop at a null character."""
    if "\0" in text:
        raise ValueError(f"a null character in {text!r}")
    return text.encode()


def _fitting(name: str, value: int, least: int, most: int) -> int:
    """ctypes would drop the bits that do not fit."""
    if not least <= value <= most:
        raise ValueError(f"{name} is {value}: {least} to {most} is possible")
    return value


def options(*, user_only: bool = False, stopped: bool = False,
            any_clock: bool = False, bound: bool = False,
            inherit: bool = False, on_exec: bool = False, pid: int = 0,
            cpu: int | None = None, source: str | None = None) -> Options:
    """struct upmu_options; upmu.Set says what each means."""
    flags = (user_only * USER_ONLY | stopped * STOPPED | any_clock * ANY_CLOCK
             | bound * BOUND | inherit * INHERIT | on_exec * ON_EXEC
             | (cpu is not None) * CPU)
    return Options(ctypes.sizeof(Options), flags,
                   _fitting("pid", pid, -2 ** 31, 2 ** 31 - 1),
                   c_text(source) if source else None,
                   _fitting("cpu", cpu or 0, 0, 2 ** 32 - 1), 0)


def list_text(events: object) -> str:
    """"a,b" of "a,b" or of a sequence of names."""
    return events if isinstance(events, str) else ",".join(events)


def list_names(text: str) -> list[str]:
    """What a list asks for: the commas in pmu/a=1,b=2/ part no events."""
    parts = re.findall(r"(?:[^,/]|/[^/]*/?)+", re.sub("[{}]", "", text))
    return [part.strip() for part in parts]
