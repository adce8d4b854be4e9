# SPDX-License-Identifier: MIT
"""What ./check runs: each layer builds what it needs and lists its tests."""
import contextlib
import functools
import glob
import json
import os
import re
import shlex
import subprocess
import threading
import time

import boardtests
import debian
import kernels
import ownkernel
import schedule
import table
import tap

CROSS = {"armhf": "qemu-arm", "armel": "qemu-arm", "arm64": "qemu-aarch64"}
SANITIZE = ["-Db_sanitize=address,undefined", "-Db_lundef=false",
            "-Dc_args=-fno-sanitize-recover=undefined"]
GCC, CLANG, ASAN, TSAN = ("build/check-gcc", "build/check-clang",
                          "build/check-sanitize", "build/check-races")
# What the standard output says is the program's own; leaks are ASan's.
# Its reports go where tap.Job.reports says.
VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=no",
            "--track-origins=yes", "--log-file=%q{UPMU_FAULTS}.d/%p"]
VALGRIND_SLOWER = 10
# It knows no clone() that shares memory; a wrong address is meant.
NOT_UNDER_VALGRIND = ("child", "run", "compare_runs", "sys")
# Emulated and sanitized programs, on a machine that does more at a time.
SLACK = 8
EMULATOR_MIB = 250      # beside the board's own memory
OLDEST = "bullseye"     # kernel that is tried
TOLD_AFTER_S = 20       # what is being built
_built = {}
# Whether tests are only to be listed: then nothing is built but what ninja
# needs to begin.
only_listed = False


@contextlib.contextmanager
def listing():
    """Within it tests are only listed, whatever is to be done behind it."""
    global only_listed
    before, only_listed = only_listed, True
    try:
        yield
    finally:
        only_listed = before
        _built.clear()


def _tell(text):
    """By a thread: that nobody reads any more the main one finds out."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


def _act(name, words, env=None):
    """Build something once; its results, and whether it is there.

    Where tests are only listed, what went well is no news.
    """
    if name in _built:
        return [], _built[name]
    began = time.monotonic()
    told = f"# {'setting up' if only_listed else 'building'}: {name}"
    late = threading.Timer(TOLD_AFTER_S, _tell, [told])
    late.daemon = True          # who is interrupted does not wait for it
    late.start()
    with schedule.threads(1) as pool:
        status, output = pool.submit(
            tap.act, words,
            env=dict(os.environ, UPMU_YES="1", **(env or {}))).result()
    late.cancel()
    _built[name] = status == 0
    failure = f"status {status}" if status else ""
    if only_listed and not failure:
        return [], True
    output = re.sub(r"^\[\d+/\d+\] .*\n", "", output, flags=re.M)
    return [tap.single("build", name, failure, output,
                       time.monotonic() - began)], _built[name]


def _ninja(folder):
    """How all of a folder is built, or its list of tests brought up to date."""
    return f"ninja -C {folder}" + " build.ninja" * only_listed


def _locked(folder, line):
    """One at a time, boards/build too: of two, meson lets one fail, and ninja
    has no lock at all."""
    return (f"{{ flock 9 && {line}; }} "
            f"9>build/{os.path.basename(folder)}.lock")


def _set(folder, *options):
    """Options of a tree; one that another release of meson has set up, which
    'meson configure' refuses, is set up anew with those that it has."""
    return (shlex.join(["meson", "configure", *options, folder]) + " || "
            + shlex.join(["meson", "setup", "--reconfigure", *options,
                          folder]))


def set_up(folder, setup, again=":"):
    """A line for sh: sets a tree up, or does AGAIN where it is."""
    folder = shlex.quote(folder)
    # meson takes what it was interrupted at for set up: this it writes last
    return (f"if [ -f {folder}/meson-info/intro-tests.json ]; then {again}; "
            f"else rm -rf {folder}/meson-private && {setup}; fi")


def _meson(name, folder, *options, env=None, charts=False):
    set_here = ["-Dtests=enabled"]  # ./run may have been here, without cmocka
    if charts:
        set_here.append("-Dcharts=enabled")
    setup = shlex.join(["meson", "setup", *options, *set_here, folder])
    again = _set(folder, *set_here)
    return _act(name, "mkdir -p build && " + _locked(
        folder, f"{{ {set_up(folder, setup, again)}; }} && {_ninja(folder)}"),
        env)


def _has_charts():
    """Of --all: whether pages can have plots, for which npm is asked."""
    return os.environ.get("UPMU_ALL") and not only_listed and \
        subprocess.run(["scripts/charts"]).returncode == 0


def _native():
    wanted = "gcc" not in _built and _has_charts()
    return _meson("gcc", GCC, "--werror", charts=wanted)


def _cross(arch):
    folder = f"build/{arch}"
    if only_listed:
        return _act(arch, f"boards/build {arch} --set-up && "
                    + _locked(folder, _ninja(folder)))
    strict = _locked(folder, f"{{ {_set(folder, '-Dwerror=true')}; }}")
    return _act(arch, f"boards/build {arch} --set-up && {strict} && "
                f"boards/build {arch}")


def _meson_tests(layer, folder, build, label="", wrapper=None):
    """The tests that tests/FOLDER/meson.build registers, in a build."""
    # in a session of its own: what ends a terminal, and not us under nohup,
    # is sent to the whole group
    text = subprocess.run(["meson", "introspect", "--tests", build],
                          stdout=subprocess.PIPE, check=True, text=True,
                          start_new_session=True)
    for test in json.loads(text.stdout):
        words = test["cmd"]
        if f"/tests/{folder}/" not in "\n".join(words):
            continue
        if wrapper and not words[0].startswith(os.path.abspath(build) + "/"):
            continue    # a script: says the same on every architecture
        yield tap.Job(layer, f"{test['name']}{label}",
                      ([wrapper] if wrapper else []) + words,
                      max(30, (test["timeout"] or 0) * SLACK),
                      dict(test["env"]), test["workdir"] or build)


def _everywhere(layer, options):
    """Natively and as a program of each foreign architecture."""
    said, there = _native()
    jobs = list(_meson_tests(layer, layer, GCC)) if there else []
    for arch, wrapper in CROSS.items():
        more, there = _cross(arch)
        said += more
        if there:
            jobs += _meson_tests(layer, layer, f"build/{arch}",
                                 f" ({arch})", wrapper)
    return jobs, said


def unit(options):
    return _everywhere("unit", options)


def model(options):
    return _everywhere("model", options)


def fuzz(options):
    said, there = _native()
    jobs = list(_meson_tests("fuzz", "fuzz", GCC)) if there else []
    return jobs, said


def sanitize(options):
    # no --werror: instrumented code confuses what gcc knows of values
    said, there = _meson("sanitizers", ASAN, *SANITIZE)
    jobs = []
    for folder in ("unit", "model", "fuzz") if there else ():
        jobs += _meson_tests("sanitize", folder, ASAN)
    for job in jobs:
        job.env["ASAN_OPTIONS"] = "detect_leaks=1:abort_on_error=1"
    if there and options.all:
        jobs += _sanitized_command()
    for job in jobs:
        job.env["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
    return jobs, said


# These break off the command at each of its calls, look at what is built, or
# hide /proc, which LeakSanitizer reads.
NOT_SANITIZED = ("setup_undo", "setup_chroot", "examples", "man", "run",
                 "report_pages")


def _sanitized_command():
    """The tests of the command; what it has at its end it need not free."""
    for job in _command("sanitize", ASAN):
        if job.name not in NOT_SANITIZED:
            job.name += " (command)"
            job.env["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=1"
            yield job


def _is_asked_for(name, options):
    """Of a layer for --all: whether its turn is now."""
    return options.all or name in options.layers


def races(options):
    """The unit tests under ThreadSanitizer: with --all, or by name."""
    if not _is_asked_for("races", options):
        return [], []
    said, there = _meson("races", TSAN, "-Db_sanitize=thread",
                         "-Db_lundef=false")
    jobs = list(_meson_tests("races", "unit", TSAN)) if there else []
    for job in jobs:
        # Handlers of a test come upon regions, never upon malloc().
        job.env["TSAN_OPTIONS"] = ("halt_on_error=1:exitcode=66:"
                                   "report_signal_unsafe=0")
    return jobs, said


def memory(options):
    """The unit tests under valgrind, for what is read before it was written:
    with --all, or by name."""
    if not _is_asked_for("memory", options):
        return [], []
    said, there = _native()
    jobs = []
    for job in _meson_tests("memory", "unit", GCC) if there else ():
        if (job.name in NOT_UNDER_VALGRIND
                or not job.words[0].startswith(os.path.abspath(GCC))):
            continue    # the latter are scripts
        job.words = [*VALGRIND, *job.words]
        job.timeout_s *= VALGRIND_SLOWER
        jobs.append(job)
    return jobs, said


def clang(options):
    if only_listed:
        return [], []
    said, _ = _meson("clang", CLANG, "--werror", env={"CC": "clang"})
    return [], said


def _scripts(layer, pattern, env=None, before=()):
    return [tap.Job(layer, os.path.splitext(os.path.basename(path))[0],
                    [*before, path], boardtests.DEFAULT_TIMEOUT_S, env or {})
            for path in sorted(glob.glob(pattern))]


def _command_env(build):
    return {"UPMU_BUILD": os.path.abspath(build),
            "UPMU": os.path.abspath(build + "/tools/upmu")}


def _command(layer, build):
    for job in _scripts(layer, "tests/cli/*.bats", before=["bats", "--tap"]):
        job.env = _command_env(build)
        yield job


def cli(options):
    said, there = _native()
    return list(_command("cli", GCC)) if there else [], said


def static(options):
    said, _ = _native()         # for the compile commands
    return _scripts("static", "tests/static/*.test",
                    {"UPMU_BUILD": GCC,
                     "UPMU_ALL": "1" if options.all else ""}), said


def docs(options):
    if not os.path.exists("docs/refresh"):
        return [], []
    said, _ = _meson("native", "build")
    said += _boards_built({("a7", None)})
    return [tap.Job("docs", "refresh", ["docs/refresh", "--check"],
                    boardtests.DEFAULT_TIMEOUT_S)], said


def _suites(board, run, options):
    """Kernel suites that a run is for; None is the board's default."""
    row = table.find(board)
    suites = row["suites"].split()
    arch = table.kernel_arch(row)
    own = run.own_kernel() or options.debug_kernel and ownkernel.DEBUG
    if own:
        return [own] if ownkernel.has(own, arch) else []
    if run.kernels not in ("all", "oldest"):
        return [None]
    if options.all:
        return [None] + suites[1:]
    wanted = ("newest", OLDEST) if run.kernels == "oldest" else ("newest",)
    return [None] + [suite for suite in suites[1:] if suite in wanted]


def _module(arch, suite):
    if only_listed:
        return []
    return _act(f"upmu.ko {arch} {suite}", ["boards/kmod", arch, suite])[0]


def _boards_built(pairs):
    said, modules = [], set()
    for board, suite in sorted(pairs, key=str):
        row = table.find(board)
        said += _cross(row["arch"])[0]
        modules.add((table.kernel_arch(row),
                     suite or row["suites"].split()[0]))
    # a module of few files leaves cores idle: several at a time
    with schedule.threads(os.cpu_count()) as pool:
        for more in pool.map(lambda pair: _module(*pair), sorted(modules)):
            said += more
    return said


@functools.lru_cache(None)
def _kernel_missing(suite, arch):
    """What keeps a kernel away, or None.

    Asked once for all tests: a mirror that renews its index is waited for,
    and that takes minutes.
    """
    try:
        kernels.kernel(kernels.resolve(suite, arch), arch)
    except debian.Failure as failure:
        return failure
    return None


def _without_kernel(board, suite, name):
    """The result of a test whose kernel is not to be had, or None.

    That the mirror has no such suite is a reason to skip; whatever else goes
    wrong is a failure.
    """
    missing = _kernel_missing(suite, table.kernel_arch(table.find(board)))
    if not missing:
        return None
    result = tap.Result(tap.Job("boards", name, []))
    if isinstance(missing, debian.NoSuite):
        result.skipped.append((name, str(missing).splitlines()[0]))
    else:
        result.failed.append(str(missing))
    return result


def _memory_mib(board):
    """What a board takes of this machine: its own memory and the emulator."""
    found = re.search(r" -m (\d+)", table.find(board)["qemu"])
    return EMULATOR_MIB + int(found.group(1) if found else 512)


def _boards_tests(options):
    """Program, run, board and suite of each test on a board, and its name."""
    for program, run in boardtests.runs():
        if not run.is_wanted(program, options):
            continue
        for board in run.boards:
            for suite in _suites(board, run, options):
                yield (program, run, board, suite,
                       f"{program} {board}" + (f" {suite}" if suite else ""))


def boards(options):
    jobs, said, pairs = [], [], set()
    for program, run, board, suite, name in _boards_tests(options):
        if options.select and not any(
                word in f"boards {name}" for word in options.select):
            continue
        without = (suite and not only_listed
                   and _without_kernel(board, suite, name))
        if without:
            said.append(without)
            continue
        pairs.add((board, suite))
        env = {"UPMU_NO_BUILD": "1"}
        if suite:
            env["UPMU_KERNEL"] = suite
        jobs.append(tap.Job("boards", name,
                            ["tests/boards/run", program, board],
                            run.timeout * ownkernel.slower(suite), env,
                            memory_mib=_memory_mib(board)))
    return jobs, _boards_built(pairs) + said


def hardware():
    """On a real board: what needs no emulator, on this very machine."""
    machine = os.uname().machine
    if not machine.startswith(("arm", "aarch64")):
        raise SystemExit(f"./check: --hardware is for ARM boards, this is "
                         f"{machine}; boards/run has emulated ones")
    said, _ = _meson("native", "build")
    module = "none"
    if (not only_listed
            and not os.path.exists("/proc/sys/kernel/perf_user_access")):
        more, _ = _act("upmu.ko native", ["boards/kmod", "native"])
        said += more
        module = f"build/kmod/native-{os.uname().release}/upmu.ko"
    return [tap.Job("hardware", "this machine",
                    ["tests/hardware/hardware.sh", "build", module],
                    1800)], said


def packages(options):
    """With programs of others: ./check packages, and with --all."""
    if not _is_asked_for("packages", options):
        return [], []
    said, _ = _native()
    jobs = _scripts("packages", "tests/outside/*.test", _command_env(GCC))
    for job in jobs:
        said_s = dict(boardtests.headers(job.words[0])).get("timeout")
        job.timeout_s = (float(said_s[0]) if said_s
                         else boardtests.DEFAULT_TIMEOUT_S)
    return jobs, said


LAYERS = {one.__name__: one for one in (
    unit, model, clang, sanitize, races, memory, fuzz, cli, static, docs,
    boards, packages)}
NAMES = list(LAYERS)


# Layers that run nothing, or nothing unless they are asked for.
ONLY_BUILDS, ON_DEMAND = ("clang",), ("races", "memory", "packages")


def _may_be_empty(name, options):
    return (name in ONLY_BUILDS or options.select
            or name in ON_DEMAND and not _is_asked_for(name, options))


def collect(name, options):
    """(jobs, results of building) of a layer."""
    jobs, said = LAYERS[name](options)
    jobs = list(jobs)
    if not (jobs or any(one.failed or one.skipped for one in said)
            or _may_be_empty(name, options)):
        said = [*said, tap.single(name, "tests", "there are none")]
    return jobs, said
