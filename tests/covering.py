# SPDX-License-Identifier: MIT
"""Which native test runs which line, as gcov counts it in a build of its own.

A fault is only noticed by a test that comes by it, so tests/mutate runs these
alone: of a file of bats, the single tests. A line that gcov does not know (a
table, a declaration), or that no test came by, is left to all tests of which
any line of its file is part. What is known of a test holds until its program,
or its text, is another.
"""
import collections
import glob
import gzip
import hashlib
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time

import layers
import onboards

# What takes longer where nothing is broken waits for ever.
ONCE_S = 120
# A test may compute so much longer than it did, at -O0 and counted.
SLACK, LEAST_S = 4, 2
# Of a fuzzer what it comes by at first: the rest takes longer than all else.
FUZZ_RUNS = "200"
# What these look at is installed or built as a whole: pages, ./run.
NOT_OF_THE_COMMAND = ("examples", "man", "run", "report_pages", "unwinding")
# Not counted: what gcov writes at an exit would be killed at each of its calls,
# or by a limit on files, or has no memory either.
# {test: (of what lies there, how long it takes)}
FILES = ("tools/replace.c", "tools/stat/output.c", "tools/stat/cmd_stat.c",
         "tools/stat/run.c", "tools/stat/run_wait.c")
ALLOCATES = ("tools/list/", "tools/compare/", "tools/merge/", "tools/stat/",
             "tools/documents.c", "tools/child.c", "tools/print.c")
UNCOUNTED = {
    "cli setup_undo": (("tools/setup/",), 30),
    "cli output_files: a_file_that_may_not_be_so_long_is_told_and_none_is_left":
        (FILES, 2),
    "cli output_files: "
    "a_file_that_may_not_grow_keeps_what_it_had_and_stderr_the_rest":
        (FILES, 2),
    "cli output_files: "
    "a_disk_that_fills_up_has_whole_intervals_and_stderr_the_rest":
        (FILES, 5),
    "cli output: what_is_left_out_for_want_of_memory_is_told": (ALLOCATES, 5),
    "cli output: no_lack_of_memory_is_taken_for_a_fault_of_the_file":
        (("tools/compare/",), 5),
    "cli output: no_command_of_compare_loses_a_word_for_want_of_memory":
        (("tools/compare/", "tools/child.c"), 5),
    "cli counted: stat_D_that_cannot_start_counting_obeys_timeout":
        (("tools/stat/", "lib/engine/"), 5),
}

# The programs that tests of the command start.
COMMAND = ("tools/upmu", "examples/regions", "tests/unit/fake_upmu",
           "tests/unit/kill_at")

# What no test names, and many read: without it they fail without any fault.
MACHINES = "tests/fixtures/unpacked"

# title: of one among those in a file of bats
Test = collections.namedtuple("Test", "name words env workdir targets title",
                              defaults=("",))


def build_by(words, stderr=subprocess.STDOUT, **options):
    """What a step of building prints; one that fails ends us."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=stderr,
                          text=True, errors="replace", **options)
    if done.returncode:
        sys.exit(done.stdout + "tests/mutate: the tree does not build")
    return done.stdout


def set_up(tree, build, *options, first=":"):
    """Makes a build of a tree ready for ninja, where it is not."""
    setup = shlex.join(["meson", "setup", "-Dtests=enabled", *options, build])
    build_by(["sh", "-c", layers.set_up(build, f"{first} && exec {setup}")],
             cwd=tree)


def _meson(kind, build):
    return json.loads(build_by(["meson", "introspect", kind, build],
                               stderr=subprocess.DEVNULL))


def _names(paths, build):
    return [os.path.relpath(path, build) for path in paths]


def _bats(path, titles):
    """How some tests of a file are run; or, without titles, all."""
    which = ["-f", f"^({'|'.join(titles)})$"] if titles else []
    return ["bats", "-t", *which, path]


def _of_the_command(tree, build):
    for path in sorted(glob.glob(tree + "/tests/cli/*.bats")):
        file = os.path.basename(path)[:-len(".bats")]
        if file in NOT_OF_THE_COMMAND:
            continue
        name = "cli " + file
        titles = [""]
        if name not in UNCOUNTED:
            with open(path) as text:
                titles = re.findall(r'^@test "(\w+)" \{$', text.read(), re.M)
        for title in titles:
            yield Test(f"{name}: {title}" if title else name,
                       _bats(path, [title] if title else []),
                       {"UPMU_BUILD": build, "UPMU": build + "/tools/upmu"},
                       tree, list(COMMAND), title)


def tests_of(tree, build):
    """Each native test, and what ninja has to make for it."""
    targets = {one["id"]: _names(one["filename"], build)
               for one in _meson("--targets", build)}
    for one in _meson("--tests", build):
        words = one["cmd"]
        if words[0].startswith(build + "/"):
            yield Test(one["name"], words, dict(one["env"]),
                       one["workdir"] or build,
                       [MACHINES] + [name for depends in one["depends"]
                                     for name in targets[depends]])
    yield from _of_the_command(tree, build)


def together(tests):
    """The same in lists, each of one call: a file of bats starts slowly."""
    found = {}
    for test in tests:
        found.setdefault(test.words[-1] if test.title else test.name,
                         []).append(test)
    return list(found.values())


def as_one(tests):
    """What together() put into one list, as one test."""
    if len(tests) == 1:
        return tests[0]
    return tests[0]._replace(
        words=_bats(tests[0].words[-1], [one.title for one in tests]),
        name=f"{tests[0].name} and {len(tests) - 1} more")


def limited(test, cpu_s, slower=1, umask=0o22):
    """How a test is run that took cpu_s when nothing was broken."""
    most = int(slower * SLACK * cpu_s) + LEAST_S

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        os.umask(umask)
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
    options = limited(test, 1000, umask=0)
    # a program on a full disk would say so of its own counts
    options["env"]["GCOV_ERROR_FILE"] = os.devnull
    wrong = onboards.failure(test.words, ONCE_S, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if wrong:
        return None
    return {"s": time.monotonic() - began,
            "cpu_s": (after.ru_utime + after.ru_stime - before.ru_utime
                      - before.ru_stime)}


def _look(test, tree, build):
    """{"s":, "cpu_s":, "ran": {path: lines}, "has": {path: lines}}"""
    one = _once(test) or _once(test)
    lines_of = _counted(build)
    if not one:
        print(f"# not used: {test.name} fails without any fault")
        return None
    one["has"], one["ran"] = {}, {}
    for path, lines in lines_of.items():
        if path.startswith(tree + "/"):
            path = os.path.relpath(path, tree)
            one["has"][path] = sorted(lines)
            one["ran"][path] = sorted(n for n, ran in lines.items() if ran)
    return one


class _Stamps:
    """What a test is made of: its programs, or the file of bats."""

    def __init__(self, build):
        self.build, self.known = build, {}

    def _of(self, path):
        if path not in self.known:
            with open(path, "rb") as file:
                self.known[path] = hashlib.sha256(file.read()).hexdigest()
        return self.known[path]

    def of(self, test):
        own = [test.words[-1]] if test.title else [test.words[0]]
        return " ".join(self._of(os.path.join(self.build, path))
                        for path in own + test.targets)


def _make(tree, build):
    """A build that counts, with tests/counted.c in each program."""
    counted = build + "-exits.o"
    set_up(tree, build, "-Db_coverage=true", "-Doptimization=0",
           # else what is compiled anew is another program
           "-Dc_args=-frandom-seed=upmu",
           f"-Dc_link_args=-Wl,--wrap=_exit -Wl,--wrap=raise "
           f"{shlex.quote(counted)} -lgcov",
           first=shlex.join(["cc", "-O2", "-fPIC", "-c", "-o", counted,
                             tree + "/tests/counted.c"]))
    build_by(["ninja", "-C", build, "--quiet"])
    # where root tests, some do it as nobody, whose counts count
    for folder, _, _ in os.walk(build):
        os.chmod(folder, 0o777)
    _counted(build)


class Covering:
    """What was seen of a tree; of what has changed it is looked at anew.

    Of programs at once, of the command's tests when complete() is called: they
    take longer by far, and programs notice most of what is broken in lib/. Of
    those of the command only the ones that came by one of the files when they
    were last seen, or were never seen: most changes lead no test elsewhere.
    """

    def __init__(self, tree, folder):
        self.path = folder + "/covered.json.gz"
        self.tree, self.build, known = tree, folder + "/counted", {}
        self.dropped = set()
        if os.path.exists(self.path):
            with gzip.open(self.path, "rt") as file:
                known = json.load(file)
        _make(tree, self.build)
        stamps = _Stamps(self.build)
        self.every = [one for one in tests_of(tree, self.build)
                      if one.name not in UNCOUNTED]
        self.stamp = {one.name: stamps.of(one) for one in self.every}
        known = {name: one for name, one in known.items()
                 if name in self.stamp}
        self.seen = {name: one for name, one in known.items()
                     if one["stamp"] == self.stamp[name]}
        self.seen_before = {name: one for name, one in known.items()
                            if name not in self.seen}
        self._look([one for one in self.every if not one.title])

    def drop(self, name):
        """A test that cannot be used in another build."""
        self.dropped.add(name)

    def is_complete(self):
        return all(one.name in self.seen for one in self.every)

    def _may_come_by(self, name, paths):
        before = self.seen_before.get(name)
        return not before or any(before["ran"].get(path) for path in paths)

    def complete(self, paths):
        self._look([one for one in self.every
                    if self._may_come_by(one.name, paths)])
        # what failed is not asked for again
        self.every = [one for one in self.every if one.name in self.seen]

    def _look(self, tests):
        try:
            for test in tests:
                one = (None if test.name in self.seen
                       else _look(test, self.tree, self.build))
                if one:
                    self.seen[test.name] = {**one,
                                            "stamp": self.stamp[test.name]}
        finally:
            # whoever is killed here leaves no half of it
            with gzip.open(self.path + ".new", "wt", compresslevel=1) as file:
                json.dump({**self.seen_before, **self.seen}, file)
            os.replace(self.path + ".new", self.path)

    def _of(self, name, what):
        return (UNCOUNTED[name][1] if name in UNCOUNTED
                else self.seen[name][what])

    def _cpu_s(self, name):
        return self._of(name, "cpu_s")

    def limits(self, tests, slower, least_s):
        """(seconds, options) of how as_one() of them is run."""
        names = [one.name for one in tests]
        return (slower * sum(self._of(name, "s") for name in names) + least_s,
                limited(tests[0], sum(map(self._cpu_s, names)), slower))

    def tests(self, path, line):
        """Names of the tests for a line, the cheapest first."""
        def those(lines):
            return sorted((name for name, one in self.seen.items()
                           if lines(one)), key=self._cpu_s)
        found = those(lambda one: line in one["ran"].get(path, ()))
        if not self.is_complete():
            return self.used(found)
        uncounted = [name for name, (folder, _) in UNCOUNTED.items()
                     if path.startswith(folder)]
        # a header without code is part of whatever there is
        return self.used((found or those(lambda one: one["ran"].get(path))
                          or those(lambda one: True)) + uncounted)

    def used(self, names):
        return [name for name in names if name not in self.dropped]

    def is_passed(self, path, line):
        """Whether a test came by; True where gcov does not know."""
        has = any(line in one["has"].get(path, ())
                  for one in self.seen.values())
        return not has or any(line in one["ran"].get(path, ())
                              for one in self.seen.values())
