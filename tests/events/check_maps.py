# SPDX-License-Identifier: MIT
"""Compares lib/events/tables/perf.maps with the drivers of a Linux tree.

usage: check_maps.py LINUX-TREE [VERSION]

VERSION (6.1) is the tree's; without it, it is newer than any in perf.maps.
"""
import os
import re
import sys

import kernel_maps

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TABLES = os.path.join(ROOT, "lib/events/tables")
sys.path.insert(0, os.path.join(ROOT, "lib/events"))

import tables as t  # noqa: E402
import perf_names  # noqa: E402

NEWEST = (99, 0)


def arrays():
    """{driver's array: our map}, as the lines of perf.maps have it."""
    with open(os.path.join(TABLES, "perf.maps"), encoding="ascii") as file:
        return dict(reversed(pair) for pair in
                    re.findall(r"^map (\S+) (\S+)$", file.read(), re.M))


def tried_by(version, choices):
    """Codes in the order of trying, each once."""
    return list(dict.fromkeys(code for code, since in choices
                              if since <= version))


def compare_map(name, ours, theirs, array):
    for generic in sorted(set(ours) | set(theirs)):
        code, codes = theirs.get(generic), ours.get(generic, [])
        if generic == "branch-instructions" and array == "armv8_pmuv3":
            continue        # compare_branches
        if codes != [code] and (codes or code is not None):
            here = " ".join(map(hex, codes)) or "nothing"
            there = "nothing" if code is None else f"{code:#04x}"
            yield f"{name}: {generic} is {there} in the driver, {here} here"


def compare_branches(ours, order):
    if ours["branch-instructions"] != order:
        yield (f"pmuv3: branches are tried with {order} in the driver, "
               f"with {ours['branch-instructions']} here")


def compare_cores(folder, bound, known):
    """Does each core's perf-map say the driver that Linux binds?"""
    for table in t.read_all(TABLES):
        # Without a name of its own a PMU is bound by this one.
        generic = ["armv8_pmuv3"] if table.arch == "armv8" else []
        for name in table.perf or generic:
            if name not in bound and kernel_maps.says(folder, name):
                yield f"{name}: a driver has this name, but which map?"
            if name not in bound:
                continue    # an older or newer kernel's name
            wanted = [known[array] for array in bound[name]]
            if table.perf_maps != wanted:
                yield (f"{table.name}: the driver of {name} goes by "
                       f"{' '.join(wanted)}, perf-map says "
                       f"{' '.join(table.perf_maps)}")


def main(args):
    if len(args) not in (1, 2):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    linux, known = kernel_maps.maps(args[0]), arrays()
    version = tuple(map(int, args[1].split("."))) if args[1:] else NEWEST
    maps = {name: {generic: tried_by(version, choices)
                   for generic, choices in names.items()}
            for name, names in perf_names.read_maps(
                os.path.join(TABLES, "perf.maps"), t.fail).items()}
    bound = kernel_maps.drivers(args[0])
    found = [f"{array}: Linux has no such map" for array in known
             if array not in linux and array != "m1_pmu"]
    for array, name in known.items():
        if array in linux:
            found += compare_map(name, maps[name], linux[array], array)
    found += compare_branches(maps["pmuv3"],
                              kernel_maps.branch_order(args[0]))
    found += compare_cores(args[0], bound, known)
    for line in found:
        print(line)
    print(f"{len(linux)} maps and {len(bound)} PMU names of Linux: "
          f"{len(found)} differences")
    return 1 if found or len(linux) < 10 or len(bound) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
