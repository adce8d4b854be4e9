# SPDX-License-Identifier: MIT
"""What reading costs in Python: user-mode instructions between two readings.

Where instructions are counted exactly (board a7) each line has one value; the
median of 201 is printed, with the interpreter that runs it.
"""
import platform
import statistics
import sys

import upmu

RUNS = 201
EVENTS = "instructions:u,cycles:u"


def between(read, number=lambda value: value):
    """Instructions from inside one reading to inside the next."""
    found = []
    for _ in range(RUNS):
        first = read()
        second = read()
        found.append(number(second) - number(first))
    return statistics.median(found)


def around(what, count, nothing):
    """Of what(), less those of a function that does nothing."""
    found = []
    for _ in range(RUNS):
        before = count()
        what()
        found.append(count() - before - nothing)
    return statistics.median(found)


def empty():
    pass


def main():
    upmu.init_regions(EVENTS)
    inside = upmu.region("inside")

    def enter():
        with inside:
            pass

    def whole():
        with upmu.Set(EVENTS):
            pass

    with upmu.Set(EVENTS, source=(sys.argv[1:] or [None])[0]) as counts:
        print(f"python {platform.python_version()}, source {counts.source}")
        nothing = around(empty, counts.count, 0)
        rows = {
            "count() twice": between(counts.count),
            "counts() of two events, twice":
                between(counts.counts, lambda value: value[0]),
            "read() of two events, twice":
                between(counts.read, lambda value: value[counts.events[0]].count),
            "with region": around(enter, counts.count, nothing),
            "with Set of two events": around(whole, counts.count, nothing),
        }
    for name, instructions in rows.items():
        print(f"{instructions:12,.0f}  {name}")


if __name__ == "__main__":
    main()
