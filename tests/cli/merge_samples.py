#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""merge_samples.py FOLDER N: what upmu stat -j writes in each of N ranks.

Rank r has 1000 + r instructions and 2000 cycles, so that sums are known.
"""
import json
import sys
from pathlib import Path


def event(name, value, **more):
    return {"event": name, "state": "counted", "unit": "events",
            "value": value, "counted": int(value), "estimated": False, **more}


def report(rank, ranks):
    return {"upmu_stat": 1, "version": "0.1.0", "command": ["app"],
            "rank": rank, "ranks": ranks, "runs": 1, "elapsed_s": 1.5,
            "user_s": 1.0, "sys_s": 0.25,
            "events": [event("instructions", 1000 + rank),
                       event("cycles", 2000),
                       event("l1d_cache", 400, estimated=True, low_95=390,
                             high_95=410),
                       {"event": "r7ff", "state": "not counted",
                        "unit": "events"}],
            "metrics": [{"metric": "ipc", "value": (1000 + rank) / 2000,
                         "unit": "", "event": "instructions"}],
            "user_only": False, "machine": {"host": f"n{rank}", "cores": []}}


def main():
    folder, ranks = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(exist_ok=True)
    for rank in range(ranks):
        path = folder / f"rank-{rank}.json"
        path.write_text(json.dumps(report(rank, ranks), indent=2) + "\n")


main()
