# SPDX-License-Identifier: MIT
"""Reads public lists of events: {core: {code: name}}, names in lower case.

A name is '' where the list describes an event without naming it. Nothing of a
list is kept in this tree: its folder is given by who runs the comparison.
"""
import glob
import json
import os
import re
import xml.etree.ElementTree


def _read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _code(text):
    return text if isinstance(text, int) else int(text, 0)


def arm_data(folder):
    """github.com/ARM-software/data: pmu/CORE.json"""
    names = {"arm1136jf-s": "arm1136", "arm1176jzf-s": "arm1176"}
    found = {}
    for path in glob.glob(folder + "/pmu/*.json"):
        base = os.path.basename(path)[:-len(".json")]
        table = json.loads(_read(path))
        if "events" in table:
            found[names.get(base, base)] = {
                event["code"]: event.get("name", "").lower()
                for event in table["events"] if "code" in event}
    return found


GATOR = {"arm11": ["arm1136", "arm1176"], "cortex-a17": ["cortex-a12",
         "cortex-a17"], "cortex-a65ae": ["cortex-a65"],
         "cortex-a78": ["cortex-a78", "cortex-a78ae"],
         "ampere-emag": ["emag"], "cavium-thunder": ["thunderx"],
         "exynos-m1_2": ["exynos-m1"], "krait-architected": ["krait"],
         "scorpionmp": ["scorpion-mp"]}


def gator(folder):
    """github.com/ARM-software/gator: daemon/events-CORE.xml; no mnemonics"""
    found = {}
    for path in glob.glob(folder + "/daemon/events-*.xml"):
        base = os.path.basename(path)[len("events-"):-len(".xml")].lower()
        text = re.sub(r"<\?xml.*?\?>", "", _read(path))
        root = xml.etree.ElementTree.fromstring(f"<list>{text}</list>")
        events = {_code(event.get("event")): ""
                  for event in root.iter("event") if event.get("event")}
        for core in GATOR.get(base, [base]):
            found[core] = events
    return found


PFM = {"arm_1176": "arm1176", "cavium_tx2": "thunderx2",
       "fujitsu_a64fx": "a64fx", "fujitsu_monaka": "monaka",
       "hisilicon_kunpeng": "tsv110", "nvidia_olympus": "olympus",
       "qcom_krait": "krait", "xgene": "emag"}


def libpfm4(folder):
    """libpfm4: lib/events/arm_CORE_events.h"""
    found = {}
    for path in glob.glob(folder + "/lib/events/arm_*_events.h"):
        base = os.path.basename(path)[len("arm_"):-len("_events.h")]
        core = PFM.get(base) or PFM.get("arm_" + base) or \
            base.replace("_", "-")
        pairs = re.findall(r'\.name\s*=\s*"([^"]+)"[^{}]*?'
                           r'\.code\s*=\s*(0x[0-9a-fA-F]+)', _read(path))
        found[core] = {_code(code): name.lower() for name, code in pairs}
    return found


def _arch_std(folder):
    """Linux names its standard events once, for all cores."""
    found = {}
    for path in glob.glob(folder + "/common-and-microarch.json") + \
            glob.glob(folder + "/recommended.json"):
        for event in json.loads(_read(path)):
            if "EventCode" in event:
                found[event["EventName"]] = _code(event["EventCode"])
    return found


def linux(folder):
    """Linux: tools/perf/pmu-events/arch/arm64/MAKER/CORE/*.json"""
    names = {"hip08": ["tsv110"], "t410": ["olympus"],
             "ampereone": ["ampere-1"], "ampereonex": ["ampere-1a"],
             "cortex-a57-a72": ["cortex-a57", "cortex-a72"],
             "cortex-a65-e1": ["cortex-a65", "neoverse-e1"],
             "cortex-a78": ["cortex-a78", "cortex-a78ae"],
             "neoverse-n2-v2": ["neoverse-n2", "neoverse-v2"]}
    base = folder + "/tools/perf/pmu-events/arch/arm64"
    standard = _arch_std(base)
    found = {}
    for path in glob.glob(base + "/*/*/*.json"):
        events = {}
        for event in json.loads(_read(path)):
            if event.get("Unit"):
                continue    # a PMU outside the core
            name = event.get("ArchStdEvent")
            if name and name in standard:
                events[standard[name]] = name.lower()
            elif "EventCode" in event and "EventName" in event:
                events[_code(event["EventCode"])] = \
                    event["EventName"].lower()
        folder_name = os.path.basename(os.path.dirname(path))
        for core in names.get(folder_name, [folder_name]):
            found.setdefault(core, {}).update(events)
    return found


def telemetry(folder):
    """Arm's telemetry-solution: data/pmu/cpu/FAMILY/CORE[-RELEASE].json"""
    found = {}
    for path in sorted(glob.glob(folder + "/data/pmu/cpu/*/*.json")):
        base = os.path.basename(path)[:-len(".json")]
        base = re.sub(r"^arm-|-pmu$", "", base)
        core = re.sub(r"-r\dp\d$", "", re.sub(r"-pmu$", "", base))
        events = {_code(event["code"]): name.lower()
                  for name, event in json.loads(_read(path))["events"].items()}
        found.setdefault(core, {}).update(events)
    return found


def windowsperf(folder):
    """github.com/arm-developer-tools/windowsperf: wperf-common/CORE.def"""
    found = {}
    for path in glob.glob(folder + "/wperf-common/neoverse-*.def"):
        events = re.findall(r'WPERF_TS_EVENTS\("[^"]+",\s*\w+\s*,\s*'
                            r'(0x[0-9a-fA-F]+)\s*,\s*"([^"]+)"', _read(path))
        core = re.sub(r"-r\dp\d$", "", os.path.basename(path)[:-4])
        found.setdefault(core, {}).update(
            {_code(code): name.lower() for code, name in events})
    return found


def likwid(folder):
    """github.com/RRZE-HPC/likwid: src/includes/perfmon_CORE_events.txt"""
    names = {"a57": ["cortex-a57"], "a64fx": ["a64fx"],
             "applem1": ["apple-firestorm", "apple-icestorm"],
             "cavtx2": ["thunderx2"], "graviton3": ["neoverse-v1"],
             "neon1": ["neoverse-n1"], "a15": ["cortex-a15"]}
    found = {}
    for short, cores in names.items():
        for path in glob.glob(
                f"{folder}/src/includes/perfmon_{short}_events.txt"):
            events = re.findall(r"^EVENT_(\w+)\s+(0x[0-9a-fA-F]+)\s+PMC",
                                _read(path), re.M)
            found.update({core: {_code(code): name.lower()
                                 for name, code in events}
                          for core in cores})
    return found


def _oprofile_list(paths, name, seen=()):
    """A list with those that it includes; an own row wins."""
    if name in seen:
        raise ValueError(f"{name} includes itself")
    text, found = _read(paths[name]), {}
    for other in re.findall(r"^include:arm/(\S+)", text, re.M):
        found.update(_oprofile_list(paths, other, (*seen, name)))
    found.update((_code(code), event.lower()) for code, event in re.findall(
        r"^event:(0x[0-9a-fA-F]+) .*?name:(\S+)", text, re.M))
    return found


def oprofile(folder):
    """OProfile: events/arm/CORE/events, with the lists that it includes"""
    names = {"armv6": "arm1136", "armv7-ca5": "cortex-a5",
             "armv7-ca7": "cortex-a7", "armv7": "cortex-a8",
             "armv7-ca9": "cortex-a9", "armv7-ca15": "cortex-a15",
             "armv7-ca17": "cortex-a17", "armv8-ca53": "cortex-a53",
             "armv8-ca57": "cortex-a57", "armv8-thunderx2": "thunderx2",
             "armv7-scorpion": "scorpion", "armv7-scorpionmp": "scorpion-mp",
             "armv7-krait": "krait"}
    paths = {os.path.basename(os.path.dirname(path)): path
             for path in glob.glob(folder + "/events/arm/*/events")}
    return {core: _oprofile_list(paths, name)
            for name, core in names.items() if name in paths}


def simpleperf(folder):
    """Android's platform/system/extras: simpleperf/event_table.json"""
    found = {}
    for path in glob.glob(folder + "/simpleperf/event_table.json"):
        table = json.loads(_read(path))["arm64"]
        names = {_code(event[0]): event[1].lower()
                 for event in table["events"]}
        for cpu in table["cpus"]:
            events = {_code(code): names.get(_code(code), "")
                      for code in cpu.get("common_events", [])}
            events.update((_code(event[0]), event[1].lower()) for event in
                          cpu.get("implementation_defined_events", []))
            found[cpu["name"].lower()] = events
    return found


def apple(folder):
    """Apple's /usr/share/kpep, as github.com/jiegec/apple-pmu dumps it: *.md"""
    names = {"a14": ["apple-firestorm", "apple-icestorm"],
             "a15": ["apple-avalanche", "apple-blizzard"]}
    found = {}
    for chip, cores in names.items():
        for path in glob.glob(f"{folder}/{chip}.md"):
            events = re.findall(r"^- (\w+) \(\d+, (0x[0-9a-f]+)\)",
                                _read(path), re.M)
            found.update({core: {_code(code): name.lower()
                                 for name, code in events}
                          for core in cores})
    return found


READERS = {"apple": apple, "data": arm_data, "gator": gator,
           "libpfm4": libpfm4, "likwid": likwid, "linux": linux,
           "oprofile": oprofile, "simpleperf": simpleperf,
           "telemetry": telemetry, "windowsperf": windowsperf}
