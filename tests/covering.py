# SPDX-License-Identifier: MIT
"""Which native test runs which line, as gcov counts it in a build of its own.

A fault is only noticed by a test that comes by it, so tests/mutate runs these
alone. A line that gcov does not know (a table, a declaration), or that no test
came by, is left to all tests of which any line of its file is part.
"""
import collections
import glob
import gzip
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import time

SLACK, LEAST_S = 10, 10     # a test may take so much longer than it did
# Of a fuzzer what it comes by at first: the rest takes longer than all else.
FUZZ_RUNS = "200"
# What these look at is installed or built as a whole: pages, ./run.
NOT_OF_THE_COMMAND = ("examples", "man", "run", "report_pages")
# Not counted: what gcov writes at an exit would be killed at each of its calls.
# A test of all that lies there, and how long it takes.
UNCOUNTED = {"cli setup_undo": ("tools/setup/", 30)}

Test = collections.namedtuple("Test", "name words env workdir targets")


def _meson(kind, build):
    text = subprocess.run(["meson", "introspect", kind, build], check=True,
                          text=True, stdout=subprocess.PIPE)
    return json.loads(text.stdout)


def _names(paths, build):
    return [os.path.relpath(path, build) for path in paths]


def tests_of(tree, build):
    """Each native test, and what ninja has to make for it."""
    targets = {one["id"]: _names(one["filename"], build)
               for one in _meson("--targets", build)}
    for one in _meson("--tests", build):
        words = one["cmd"]
        if words[0].startswith(build + "/"):
            yield Test(one["name"], words, dict(one["env"]),
                       one["workdir"] or build,
                       [name for depends in one["depends"]
                        for name in targets[depends]])
    command = [name for one in _meson("--targets", build)
               if "/tests/" not in one["defined_in"]
               and "/man/" not in one["defined_in"]
               for name in _names(one["filename"], build)]
    for path in sorted(glob.glob(tree + "/tests/cli/*.bats")):
        name = os.path.basename(path)[:-len(".bats")]
        if name not in NOT_OF_THE_COMMAND:
            yield Test("cli " + name, ["bats", path],
                       {"UPMU_BUILD": build, "UPMU": build + "/tools/upmu"},
                       tree, command + ["tests/unit/kill_at"])


def limited(test, cpu_s):
    """How a test is run that took cpu_s when nothing was broken."""
    most = int(SLACK * cpu_s) + LEAST_S

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    return {"env": {**os.environ, "UPMU_FUZZ_RUNS": FUZZ_RUNS, **test.env},
            "cwd": test.workdir, "preexec_fn": limit}


def _counted(build):
    """{path: {line: whether it ran}} of all that has run in a build."""
    # glob() would pass by what Meson calls .._.._lib_sys.c.gcda
    data = [os.path.join(folder, name) for folder, _, names in os.walk(build)
            for name in names if name.endswith(".gcda")]
    lines = collections.defaultdict(dict)
    if not data:
        return lines
    # --stdout prints one JSON text a line, one for each object
    said = subprocess.run(["gcov", "--json-format", "--stdout", *data],
                          cwd=build, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    for text in said.stdout.splitlines():
        one = json.loads(text)
        for file in one["files"]:
            path = os.path.normpath(os.path.join(
                one["current_working_directory"], file["file"]))
            for line in file["lines"]:
                number = line["line_number"]
                lines[path][number] = (lines[path].get(number, False)
                                       or line["count"] > 0)
    for path in data:
        os.unlink(path)
    return lines


def _once(test):
    """Seconds that a test took and computed, or None where it failed."""
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = limited(test, 1000)
    # a program on a full disk would say so of its own counts
    options["env"]["GCOV_ERROR_FILE"] = os.devnull
    done = subprocess.run(test.words, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None
    return {"s": time.monotonic() - began,
            "cpu_s": (after.ru_utime + after.ru_stime - before.ru_utime
                      - before.ru_stime)}


def _look(tree, build):
    """{test: {"s":, "cpu_s":, "ran": {path: lines}, "has": {path: lines}}}"""
    seen = {}
    for test in tests_of(tree, build):
        if test.name in UNCOUNTED:
            continue
        one = _once(test) or _once(test)
        lines_of = _counted(build)
        if not one:
            print(f"# not used: {test.name} fails without any fault")
            continue
        one["has"], one["ran"] = {}, {}
        for path, lines in lines_of.items():
            if path.startswith(tree + "/"):
                path = os.path.relpath(path, tree)
                one["has"][path] = sorted(lines)
                one["ran"][path] = sorted(n for n, ran in lines.items() if ran)
        seen[test.name] = one
    return seen


def _stamp(tree):
    whole = hashlib.sha256()
    for folder in ("lib", "tools", "regs", "include", "examples", "tests"):
        for path in sorted(glob.glob(f"{tree}/{folder}/**", recursive=True)):
            if re.search(r"\.([chs]|build|bats|events|cpp)$", path):
                with open(path, "rb") as file:
                    whole.update(path[len(tree):].encode() + file.read())
    return whole.hexdigest()


class Covering:
    """What was seen of a tree; looked at anew where the tree has changed."""

    def __init__(self, tree, folder):
        path, build = folder + "/covering.json.gz", folder + "/counted"
        stamp = _stamp(tree)
        if os.path.exists(path):
            with gzip.open(path, "rt") as file:
                known = json.load(file)
            if known["stamp"] == stamp:
                self.seen = known["seen"]
                return
        if not os.path.exists(build + "/build.ninja"):
            subprocess.run(["meson", "setup", "-Dtests=enabled",
                            "-Db_coverage=true", "-Doptimization=0", build],
                           cwd=tree, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["ninja", "-C", build, "--quiet"], check=True)
        _counted(build)
        self.seen = _look(tree, build)
        # whoever is killed here leaves no half of it
        with gzip.open(path + ".new", "wt") as file:
            json.dump({"stamp": stamp, "seen": self.seen}, file)
        os.replace(path + ".new", path)

    def seconds(self, name):
        return (UNCOUNTED[name][1] if name in UNCOUNTED
                else self.seen[name]["s"])

    def limits(self, test, slower, least_s):
        """(seconds, options) of how a test is run."""
        cpu_s = self.seen.get(test.name, {}).get("cpu_s",
                                                 self.seconds(test.name))
        return (slower * self.seconds(test.name) + least_s,
                limited(test, cpu_s))

    def tests(self, path, line):
        """Names of the tests for a line, the shortest first."""
        def those(lines):
            return sorted((name for name, one in self.seen.items()
                           if lines(one)), key=self.seconds)
        uncounted = [name for name, (folder, _) in UNCOUNTED.items()
                     if path.startswith(folder)]
        found = those(lambda one: line in one["ran"].get(path, ()))
        # a header without code is part of whatever there is
        return (found or those(lambda one: one["ran"].get(path))
                or those(lambda one: True)) + uncounted

    def is_passed(self, path, line):
        """Whether a test came by; True where gcov does not know."""
        has = any(line in one["has"].get(path, ())
                  for one in self.seen.values())
        return not has or any(line in one["ran"].get(path, ())
                              for one in self.seen.values())
