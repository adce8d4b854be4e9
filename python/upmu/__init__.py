# SPDX-License-Identifier: MIT
"""Read the processor's own performance counters.

    import upmu

    with upmu.Set("cycles,instructions,page-faults") as counts:
        work()
    print(counts["instructions"], "instructions")

    with upmu.region("parse"):          # summed up, told at exit
        parse()

    @upmu.region                        # each call of solve()
    def solve(): ...

    print(upmu.measure(work))           # median of 101 calls

Counts are of the thread that opened the set, the interpreter included. Where
the processor has no counters for this user, the kernel's own events
(page-faults, task-clock, context-switches) still count; upmu.sources() tells
why, and so does the text of upmu.Error, with the command that mends it.

The module loads libupmu.so.0, or the file that UPMU_LIBRARY names.
"""
from ._library import Error, version
from ._measure import Measurement, Measurements, measure
from ._regions import Region, RegionStats, init_regions, region, report
from ._sets import Counts, Set, Source, Value, sources
from ._version import __version__

__all__ = [
    "Counts", "Error", "Measurement", "Measurements", "Region", "RegionStats",
    "Set", "Source", "Value", "__version__", "init_regions", "measure",
    "region", "report", "sources", "version"]
