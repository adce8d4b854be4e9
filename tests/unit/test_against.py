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


def folder_read(source, where, text):
    """What a folder with a single file in it is read as."""
    with tempfile.TemporaryDirectory(suffix="[x]") as folder:
        path = os.path.join(folder, where)
        os.makedirs(os.path.dirname(path))
        with open(path, "w") as file:
            file.write(text)
        with contextlib.redirect_stderr(io.StringIO()):
            return against.read_lists(source, folder)


A53 = "pmu/cortex-a53.json"


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
        ("a_list_without_mnemonics_is_read", gator_codes() == {3: ""}),
    ]
    for number, (claim, good) in enumerate(claims, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {claim}")
    print(f"1..{len(claims)}")
    return 0 if all(good for _, good in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
