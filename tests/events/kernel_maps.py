# SPDX-License-Identifier: MIT
"""Reads the maps from perf's generic names to events out of Linux's drivers.

maps(FOLDER) gives {driver's array: {generic name: code}}, the array without
its _perf_map or _perf_cache_map; codes the driver does not have are left out.
branch_order(FOLDER) gives the codes that PMUv3's `branches` is tried with;
drivers(FOLDER) gives {PMU's name: [array, ...]} in the order of asking;
says(FOLDER, NAME) tells whether a driver has that string at all.
"""
import functools
import glob
import re

FILES = ["drivers/perf/arm_v[67]_pmu.c", "drivers/perf/arm_pmuv3.c",
         "drivers/perf/apple_m1_cpu_pmu.c", "include/linux/perf/arm_pmuv3.h",
         "arch/arm/kernel/perf_event_v[67].c", "arch/arm64/kernel/perf_event.c",
         "arch/arm64/include/asm/perf_event.h"]

HARDWARE = {"CPU_CYCLES": "cycles", "INSTRUCTIONS": "instructions",
            "CACHE_REFERENCES": "cache-references",
            "CACHE_MISSES": "cache-misses",
            "BRANCH_INSTRUCTIONS": "branch-instructions",
            "BRANCH_MISSES": "branch-misses", "BUS_CYCLES": "bus-cycles",
            "STALLED_CYCLES_FRONTEND": "stalled-cycles-frontend",
            "STALLED_CYCLES_BACKEND": "stalled-cycles-backend",
            "REF_CPU_CYCLES": "ref-cycles"}
CACHES = {"L1D": "L1-dcache", "L1I": "L1-icache", "LL": "LLC", "DTLB": "dTLB",
          "ITLB": "iTLB", "BPU": "branch", "NODE": "node"}
OPERATIONS = {"OP_READ": ("loads", "load-misses"),
              "OP_WRITE": ("stores", "store-misses"),
              "OP_PREFETCH": ("prefetches", "prefetch-misses")}


@functools.lru_cache(None)
def _sources(folder):
    text = ""
    for pattern in FILES:
        for path in glob.glob(f"{folder}/{pattern}"):
            with open(path, encoding="utf-8") as file:
                text += file.read()
    return text


def _numbers(text):
    """#define and enum values, as far as they are plain numbers."""
    found = {}
    for name, value in re.findall(
            r"^(?:#define\s+|\s+)([A-Z][A-Z0-9_a-z]*)\s*=?\s*"
            r"(0[xX][0-9a-fA-F]+)\b(?!\s*[|<+])", text, re.M):
        found.setdefault(name, int(value, 16))
    return found


def _array_entries(body, numbers):
    for index, value in re.findall(r"\[PERF_COUNT_HW_(\w+)\]\s*=\s*(\w+)",
                                   body):
        yield HARDWARE[index], numbers[value]
    for cache, operation, result, value in re.findall(
            r"\[C\((\w+)\)\]\s*\[C\((\w+)\)\]\s*\[C\(RESULT_(\w+)\)\]"
            r"\s*=\s*(\w+)", body):
        suffix = OPERATIONS[operation][result == "MISS"]
        yield f"{CACHES[cache]}-{suffix}", numbers[value]


def maps(folder):
    text = _sources(folder)
    numbers = _numbers(text)
    found = {}
    for name, body in re.findall(
            r"static const unsigned (\w+?)_perf(?:_cache)?_map"
            r"(?=\W)[^=;]*= \{(.*?)^\};", text, re.M | re.S):
        found.setdefault(name, {}).update(_array_entries(body, numbers))
    return found


def branch_order(folder):
    """Since 6.15 or so a function asks PMCEID; before, the array decided."""
    text = _sources(folder)
    numbers = _numbers(text)
    body = re.search(r"__armv8_pmuv3_map_event_id\(.*?^\}", text, re.M | re.S)
    if body:
        return [numbers[name] for name in
                re.findall(r"test_bit\((\w+)", body.group(0))]
    return [maps(folder)["armv8_pmuv3"]["branch-instructions"]]


def _arrays_of(function):
    """armv8_a57_map_event asks PMUv3's arrays first, then its own."""
    name = re.sub(r"_map_event.*", "", function)
    name = {"m2_pmu": "m1_pmu"}.get(name, name)
    if name.startswith("armv8_") and name != "armv8_pmuv3":
        return ["armv8_pmuv3", name]
    return [name]


def drivers(folder):
    text = _sources(folder)
    found = {name: ["armv8_pmuv3"]
             for name in re.findall(r"^PMUV3_INIT_SIMPLE\((\w+)\)", text, re.M)}
    pairs = re.findall(r"^PMUV3_INIT_MAP_EVENT\((\w+), (\w+)\)", text, re.M)
    pairs += re.findall(r'armv8_pmu_init\w*\(cpu_pmu, "(\w+)",\s*(\w+)', text)
    pairs += re.findall(r'cpu_pmu->name\s*= "(\w+)";'
                        r"[^}]*?cpu_pmu->map_event\s*= (\w+)", text)
    # These take another's init and give it a name.
    pairs += [(name, function) for function, name in re.findall(
        r"= (\w+)_pmu_init\(cpu_pmu\);\s*cpu_pmu->name\s*= \"(\w+)\"", text)]
    pairs += [(name, "armv6") for name in re.findall(
        r'armv6pmu_init\(cpu_pmu\);\s*cpu_pmu->name\s*= "(\w+)"', text)]
    pairs += [(name, "m1_pmu") for name in re.findall(
        r'cpu_pmu->name\s*= "(apple_\w+)";\s*return m1_pmu_init', text)]
    for name, function in pairs:
        found[name] = _arrays_of(function)
    return found


def says(folder, name):
    return f'"{name}"' in _sources(folder)
