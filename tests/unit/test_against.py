#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/events/against: what it notices, on a made-up source."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "tests", "events")
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True

import sources  # noqa: E402


def load():
    loader = importlib.machinery.SourceFileLoader(
        "against", os.path.join(FOLDER, "against"))
    spec = importlib.util.spec_from_loader("against", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


against = load()
TABLES = {t.name: t for t in against.t.read_all(
    os.path.join(ROOT, "lib/events/tables")) if not t.common}
ROWS = {row.code: row.name for row in TABLES["cortex-a53"].rows.values()}


def compare(rows, *lines):
    """(what is printed, differences accepted, not accepted)"""
    accepted = [against.Accepted("here", line) for line in lines]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        _, explained, unexplained = against.compare(
            "data", {"cortex-a53": rows}, TABLES, accepted)
    return said.getvalue(), explained, unexplained


def refused(line):
    try:
        against.Accepted("here", line)
    except SystemExit:
        return True
    return False


def gator_codes():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/daemon")
        with open(folder + "/daemon/events-Cortex-A53.xml", "w") as file:
            file.write('<category><event event="0x03" name="Refill"/>'
                       "</category>")
        return sources.gator(folder)["cortex-a53"]


def folder_read(source, where, text, more=()):
    """What a folder with this file in it, and more pairs, is read as."""
    with tempfile.TemporaryDirectory(suffix="[x]") as folder:
        for name, content in ((where, text), *more):
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(content)
        with contextlib.redirect_stderr(io.StringIO()):
            return against.read_lists(source, folder)


A53 = "pmu/cortex-a53.json"


def oprofile_read(include):
    """A list of two events that includes another, of which it renames one."""
    return folder_read(
        "oprofile", "events/arm/armv7-ca9/events",
        f"include:arm/{include}\nevent:0x40 um:zero name:OWN : its own\n"
        "event:0x0C um:zero name:MINE : renamed\n",
        [("events/arm/armv7-common/events",
          "event:0x0c um:zero name:THEIRS : of all\n"
          "event:0x0d um:zero name:BOTH : of all\n")])


def simpleperf_read():
    return folder_read(
        "simpleperf", "simpleperf/event_table.json",
        '{"arm64": {"events": [["0x0003", "L1D_CACHE_REFILL", "text"]],'
        ' "cpus": [{"name": "Cortex-A55", "common_events": ["0x0003"],'
        ' "implementation_defined_events": [["0xC1", "OWN", "text"]]}]}}')


def main():
    less = {code: name for code, name in ROWS.items() if code != 0x10}
    more = {**ROWS, 0x1ff: "new_event"}
    other = {**ROWS, 0x10: "br_something"}
    accept = "data cortex-a53 theirs 0x1fe-0x1ff | made up"
    claims = [
        ("a_source_that_agrees_has_no_difference",
         compare(ROWS) == ("", 0, 0)),
        ("an_event_that_the_source_lacks_is_noticed",
         "0x10: in our table alone: br_mis_pred" in compare(less)[0]),
        ("an_event_that_we_lack_is_noticed",
         "0x1ff: in the source alone: new_event" in compare(more)[0]),
        ("another_name_is_noticed",
         "there br_something" in compare(other)[0]),
        ("an_older_manuals_spelling_is_no_other_name",
         against.alike("l1d_cache_refill_rd", "l1d_cache_refill_ld")),
        ("an_accepted_difference_is_counted_alone",
         compare(more, accept) == ("", 1, 0)),
        ("what_is_accepted_of_another_core_explains_nothing",
         compare(more, accept.replace("a53", "a57"))[2] == 1),
        ("what_is_accepted_of_another_kind_explains_nothing",
         compare(more, accept.replace("theirs", "ours"))[2] == 1),
        ("a_line_without_a_reason_is_refused",
         refused("data cortex-a53 ours 0x10 |")),
        ("a_line_of_no_known_kind_is_refused",
         refused("data cortex-a53 mine 0x10 | because")),
        ("every_line_of_the_accepted_file_can_be_read",
         len(against.read_accepted(FOLDER + "/accepted")) > 50),
        ("a_folder_with_brackets_in_its_name_is_read",
         folder_read("data", A53, '{"events": [{"code": 3, "name": "L"}]}')
         == {"cortex-a53": {3: "l"}}),
        ("a_broken_list_is_no_difference",
         folder_read("data", A53, "{bad") is None
         and folder_read("data", A53, '{"events": [3]}') is None
         and folder_read("gator", "daemon/events-A.xml", "<a>") is None
         and folder_read("linux", "tools/perf/pmu-events/arch/arm64/x.json",
                         "[]") in (None, {})),
        ("oprofiles_included_lists_are_read_and_own_rows_win",
         oprofile_read("armv7-common")
         == {"cortex-a9": {0x40: "own", 0x0c: "mine", 0x0d: "both"}}),
        ("oprofiles_list_that_includes_itself_is_refused",
         oprofile_read("armv7-ca9") is None),
        ("oprofiles_list_that_includes_nothing_there_is_refused",
         oprofile_read("armv9") is None),
        ("simpleperfs_common_and_own_events_are_read",
         simpleperf_read() == {"cortex-a55": {3: "l1d_cache_refill",
                                              0xc1: "own"}}),
        ("apples_list_serves_both_cores_of_a_chip",
         folder_read("apple", "a14.md", "- INST_ALL (140, 0x8c): All\n")
         == {"apple-firestorm": {0x8c: "inst_all"},
             "apple-icestorm": {0x8c: "inst_all"}}),
        ("a_list_without_mnemonics_is_read", gator_codes() == {3: ""}),
    ]
    for number, (claim, good) in enumerate(claims, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {claim}")
    print(f"1..{len(claims)}")
    return 0 if all(good for _, good in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
