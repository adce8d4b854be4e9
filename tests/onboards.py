# SPDX-License-Identifier: MIT
"""How the tests end that tests/mutate runs, and which ones it runs on boards."""
import contextlib
import functools
import glob
import os
import select
import signal
import subprocess
import tempfile

import patience
import table
import tap

# A build, and a test: a board that hangs would take the much longer limit of its
# own, and none of the tests that are named below needs as long, nor computes as
# long, which ends one that hangs on a machine with much else to do.
BOARD_S, TEST_S = 1200, 300
CROSS = {"armhf": "arm-linux-gnueabihf-", "armel": "arm-linux-gnueabi-",
         "arm64": "aarch64-linux-gnu-"}
# What a test that prints TAP says of its first failure, and how often a silent
# one is looked at.
NOT_OK, LOOK_S = b"\nnot ok", 0.2

# The board tests of a file, the one that notices most first: TEST.BOARD, or
# TEST.BOARD.SUITE.
COVER = [
    # of PMUv3, whose permissions perf's driver writes too, and without a PMU
    ("kmod/access.c", "kmod_lease.a15", "kmod_written.a7", "kmod_restore.a15",
     "kmod_open.a15", "kmod_switch.a7", "kmod_hidden_late.a15",
     "kmod_readers.a72", "kmod_lease.a72", "kmod_soak_taken.a72",
     "kmod_hostile.a15"),
    ("kmod/adopt.c", "kmod_adopt.bare", "kmod_adopt_refused.bare",
     "kmod_adopt_some.big", "kmod_adopt_unlike.big",
     "kmod_adopt_unknown.bare"),
    ("kmod/cores.c", "kmod_v6.pi0", "kmod_adopt.bare", "kmod_adopt.v8-32",
     "kmod_raw.a15"),
    ("kmod/core.c", "kmod_adopt.bare", "kmod_info.a15", "kmod_info.v8-32",
     "kmod_lease.a15", "kmod_looks.v8-32", "kmod_hidden.a15",
     "kmod_lockdown.a15"),
    ("kmod/cpu.c", "kmod_unload.a15", "kmod_handover.a15", "kmod_restore.a15",
     "kmod_lease.a15"),
    ("kmod/counters.c", "kmod_raw.a15", "kmod_cycles.a15", "kmod_restore.a15",
     "kmod_handover.a15", "kmod_written.a7"),
    ("kmod/device.c", "kmod_info.a15", "kmod_info.v8-32", "kmod_info.a72",
     "kmod_lease.a15", "kmod_shared.a15", "kmod_fuzz.a15",
     "kmod_limit.a15", "kmod_lockdown.a15", "kmod_raw.a15",
     "kmod_load.a15"),
    ("kmod/family.c", "kmod_lease.a15", "kmod_faults.a15",
     "kmod_shared.a15", "kmod_switch.a7"),
    ("kmod/fold.c", "kmod_fold.bare", "v6_fold.pi0"),
    ("kmod/fork.c", "kmod_lease.a15", "kmod_faults.a15", "kmod_written.a7",
     "kmod_hostile.a15"),
    ("kmod/guard.c", "kmod_written.a7", "kmod_raw.a15", "kmod_cycles.a15",
     "kmod_written.a15"),
    ("kmod/lease.c", "kmod_written.a7", "kmod_switch.a7", "kmod_lease.a15",
     "kmod_broken.a15", "kmod_handover.a15", "kmod_raw.a15",
     "kmod_limit.a15", "kmod_faults.a15", "kmod_hostile.a15",
     "kmod_open.a15", "kmod_load.a15"),
    ("kmod/mode.c", "kmod_lease.a15", "kmod_raw.a15", "kmod_handover.a15",
     "kmod_unload.a15", "kmod_faults.a15"),
    ("kmod/publish.c", "kmod_page.a15", "kmod_info.bare", "kmod_info.a72",
     "kmod_page.a15.newest", "kmod_load.a72", "kmod_pmus.big",
     "kmod_cycles_late.big", "kmod_unload.a15"),
    ("kmod/main.c", "kmod_load.a15", "kmod_unload.a15"),
    ("kmod/open.c", "kmod_open.a15", "kmod_load.a15", "kmod_cycles.a15"),
    ("kmod/pinned.c", "kmod_handover.a15", "kmod_raw.a15",
     "kmod_cycles.a15", "kmod_open.a15", "stat_raw.bare"),
    ("kmod/process.c", "kmod_lease.a15", "kmod_faults.a15", "kmod_limit.a15",
     "kmod_shared.a15", "kmod_hostile.a15", "kmod_switch.a7",
     "kmod_raw.a15", "kmod_written.a7"),
    ("kmod/registers.c", "kmod_restore.a15", "kmod_raw.a15",
     "kmod_pmuv1.a15"),
    ("kmod/state.c", "kmod_lease.a15", "kmod_hidden.a15", "kmod_restore.a15",
     "kmod_load.a15", "kmod_handover.a15", "kmod_switch.a7",
     "kmod_open.a15"),
    ("kmod/table.c", "kmod_shared.a15", "kmod_lease.a15", "kmod_switch.a7"),
    ("kmod/tell.c", "kmod_written.a7", "kmod_broken.a15", "kmod_faults.a15",
     "kmod_lease.a15", "kmod_unload.a15"),
    # PMUv3: what the others have does not trap
    ("kmod/trap.c", "kmod_looks.v8-32", "kmod_looks.a72", "kmod_load.a72",
     "kmod_readers.a72", "kmod_cycles.a72", "kmod_vcpu.el2"),
    ("kmod/watch.c", "kmod_lease.a15", "kmod_switch.a7", "kmod_unload.a15",
     "kmod_hostile.a15"),
    ("kmod/written.c", "kmod_written.a7", "kmod_shared.a15",
     "kmod_open.a15"),
    ("kmod/wrap.c", "kmod_raw.a15", "kmod_cycles.a15", "kmod_broken.a15",
     "kmod_written.a7", "kmod_page.a15", "kmod_open.a15",
     "kmod_readers.a72"),
    ("kmod/", "kmod_lease.a15", "kmod_raw.a15", "kmod_cycles.a15",
     "kmod_written.a7", "kmod_restore.a15", "kmod_hostile.a15",
     "kmod_open.a15", "kmod_switch.a7"),
    ("lib/engine/registers.c", "stat_raw.bare", "stat_v6.pi0"),
    ("lib/engine/", "stat_a7.a7", "stat_smp.a15"),
    ("lib/region/", "lib_measure.a7", "examples_a7.a7"),
    ("lib/registers/", "exec_lease.a7", "lib_sources.a7", "lib_sets.a7"),
    ("lib/", "lib_sources.a7", "lib_sets.a7", "lib_errors.a7",
     "lib_attach.a7"),
    ("regs/v8_64.h", "kmod_raw.a72", "kmod_cycles.a72", "kmod_cycles.el2"),
    ("regs/", "kmod_raw.a15", "exec_lease.a7"),
    ("tools/stat/", "stat_a7.a7", "stat_smp.a15"),
    ("tools/exec/", "exec_lease.a15"),
    ("tools/setup/", "setup_board.a7"),
    ("tools/check/", "check_mends.a7"),
    ("tools/list/", "list.a7"),
    ("tools/regs/", "check_mends.a7"),
    ("tools/cost/", "cost.a7"),
]
# On a kernel of our own with lockdep, KASAN and faults to order, where it is
# asked for: it is built first, and boots slowly.
DEBUG = [
    ("kmod/process.c", "kmod_faults.a15.debug", "kmod_raw.a15.debug"),
    ("kmod/fork.c", "kmod_faults.a15.debug", "kmod_raw.a15.debug"),
    ("kmod/", "kmod_raw.a15.debug"),
]


def computed_s(session):
    """What its processes computed, with those that they waited for."""
    ticks = 0
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(path) as file:
                words = file.read().rpartition(")")[2].split()
            # proc(5): session is the 6th, utime to cstime the 14th to 17th
            if int(words[3]) == session:
                ticks += sum(map(int, words[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def wrong_with(process, limit_s, heard, most_s=None):
    """What is, or "": the first test that is not ok, its end, or its time.

    What it said is added to `heard`; `most_s` is how long it may compute.
    """
    limit, said = patience.Limit(limit_s, patience.machine_waited_s), b"\n"
    while limit.left_s() > 0 and (not most_s
                                  or computed_s(process.pid) < most_s):
        # what it said last is read when it has ended
        ended = process.poll() is not None
        if not select.select([process.stdout], [], [],
                             0 if ended else LOOK_S)[0]:
            if ended:
                break
            continue
        more = os.read(process.stdout.fileno(), 65536)
        if not more:
            process.wait(max(limit.left_s(), 0))
            break
        heard.append(more)
        said = said[-len(NOT_OK):] + more
        if NOT_OK in said:
            return "not ok"
    status = process.poll()
    return ("too late" if status is None
            else f"status {status}" if status else "")


@contextlib.contextmanager
def room(env=None):
    """An environment whose temporary folder goes with what a killed test left."""
    folder = tap.room()
    try:
        yield {**(os.environ if env is None else env), "TMPDIR": folder}
    finally:
        tap.clear(folder)


def failure(words, limit_s, heard=None, most_s=None, env=None, **options):
    """Why a program does not end well, and in time, or ""."""
    with room(env) as env, subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True, env=env,
            **options) as process:
        try:
            return wrong_with(process, limit_s,
                              [] if heard is None else heard, most_s)
        except subprocess.TimeoutExpired:
            return "too late"
        finally:
            # what it has started may wait for ever
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def board_tests(path, debug_kernel=False):
    return [name for rows in (COVER, DEBUG if debug_kernel else ())
            for name in next((row[1:] for row in rows
                              if path.startswith(row[0])), ())]


def kernel_of(name):
    """Architecture and suite of the kernel that a test runs on."""
    _test, board, *suite = name.split(".")
    row = table.find(board)
    return table.kernel_arch(row), (suite or row["suites"].split())[0]


def build_for(tree, path, name):
    """Whether what a test of `path` runs on a board compiles."""
    if path.startswith(("kmod/", "regs/")) and failure(
            ["boards/kmod", *kernel_of(name)], BOARD_S, cwd=tree):
        return False
    arch = table.find(name.split(".")[1])["arch"]
    return not failure(["boards/build", arch], BOARD_S, cwd=tree)


@functools.lru_cache(None)
def module_of(tree, arch, suite):
    """The module that boards/kmod makes."""
    said = subprocess.run(["/usr/bin/python3", "boards/kernels.py", "headers",
                           arch, suite], cwd=tree, check=True, text=True,
                          stdout=subprocess.PIPE)
    release = said.stdout.strip().rpartition("/linux-headers-")[2]
    return f"{tree}/build/kmod/{arch}-{release}/upmu.ko"


def code_of(path):
    """What is run of a module, without places and sums of its text."""
    arch = os.path.basename(os.path.dirname(path)).split("-")[0]
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(
            [CROSS[arch] + "objcopy", "-g", "-R", ".modinfo", "-R", ".note.*",
             path, work + "/code"], check=True)
        with open(work + "/code", "rb") as file:
            return file.read()


def wrong_on_board(tree, name):
    """Why a test does not pass on its board, or ""."""
    test, board, *suite = name.split(".")
    faults, heard = os.path.join(os.path.dirname(tree), "faults"), []
    env = {**os.environ, "UPMU_NO_BUILD": "1", "UPMU_FAULTS": faults}
    if suite:
        env["UPMU_KERNEL"] = suite[0]
    with contextlib.suppress(FileNotFoundError):
        os.unlink(faults)
    wrong = failure(["tests/boards/run", test, board], TEST_S, heard,
                    most_s=TEST_S, cwd=tree, env=env)
    if wrong or os.path.exists(faults):
        return wrong or "kernel fault"
    # a program that ends early fails none of its tests
    result = tap.Result(tap.Job("boards", name, []))
    result.parse(b"".join(heard).decode(errors="replace"))
    return "".join(result.failed[:1])


class Boards:
    """The tests on boards: which ones can be believed."""

    def __init__(self, tree, are_asked, debug_kernel=False):
        self.tree, self.sound, self.dropped = tree, set(), set()
        self.killer, self.before = None, {}
        self.are_asked = are_asked      # for more than the module
        self.debug_kernel = debug_kernel

    def look(self, path):
        """Before a fault is put into a file of the module."""
        for name in board_tests(path, self.debug_kernel):
            module = module_of(self.tree, *kernel_of(name))
            if (module not in self.before
                    and build_for(self.tree, path, name)):
                self.before[module] = code_of(module)

    def _is_same(self, path, name):
        module = module_of(self.tree, *kernel_of(name))
        return (path.startswith("kmod/")
                and self.before.get(module) == code_of(module))

    def judge(self, mutant):
        said = "the same code"
        for name in board_tests(mutant.path, self.debug_kernel):
            if name in self.dropped:
                continue
            if not build_for(self.tree, mutant.path, name):
                return "does not compile", ""
            if self._is_same(mutant.path, name):
                continue
            said = "survived"
            wrong = self._wrong(name)
            # a claim that fails only once was the machine's doing; a board
            # that hangs, or whose kernel faults, was not, and takes minutes
            if wrong == "not ok":
                wrong = self._wrong(name)
            if wrong:
                self.killer = name
                return "killed", name + (wrong != "not ok") * f", {wrong}"
            self.sound.add(name)
        return said, ""

    def _wrong(self, name):
        return wrong_on_board(self.tree, name)

    def unsound(self, path):
        """The test that killed, where it fails without any fault too."""
        name, self.killer = self.killer, None
        if not name or name in self.sound:
            return []
        build_for(self.tree, path, name)
        wrong = self._wrong(name)
        if not wrong:
            self.sound.add(name)
            return []
        print(f"# not used: {name} fails without any fault ({wrong})",
              flush=True)
        self.dropped.add(name)
        return [name]
