# SPDX-License-Identifier: MIT
"""Runs a test program and reads the TAP that it prints."""
import contextlib
import dataclasses
import fcntl
import glob
import itertools
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import patience

LINE = re.compile(r"(not )?ok\b\s*(\d+)?\s*(?:- )?(.*)")
DIRECTIVE = re.compile(r"\s*#\s*(skip|todo)\S*\s*(.*)$", re.I)
PLAN = re.compile(r"1\.\.(\d+)(?:\s*#\s*skip\S*\s*(.*))?", re.I)
COLOUR = re.compile(r"\x1b\[[\d;]*m")
# A failure of its own, wherever it stands in its line: in a test within a test,
# behind a null character; half of one, whose other half was printed on another
# way; and the end of a whole program.
OTHER_FAILURE = re.compile(r"[^\w#]+not ok\b.*|[^\w#]*not\s*$|Bail out!.*",
                           re.I)
# What no second run makes good, and no "ok": a fault of the kernel, a board that
# hangs, a sanitizer's or valgrind's report, what glibc, shells or qemu-user say
# of a program that crashes. A word is looked at from its beginning alone: from
# each of its letters a long one took minutes.
FAULTS = re.compile(
    r"kernel fault: .*|boards/run: \S+: (?:hung|did not power off|"
    r"emulator ended)\b.*|"
    r"(?:ERROR|WARNING|SUMMARY|FATAL): \w+Sanitizer: .*|"
    r"(?<!\w)\w+Sanitizer(?::DEADLYSIGNAL| CHECK failed: |: allocator is ).*|"
    r"(?<!\S)\S+: runtime error: .*|==\d+== ERROR SUMMARY: [1-9].*|"
    r"==\d+== (?:Conditional jump|Use of uninitialised|Invalid |Mismatched |"
    r"Syscall param|Jump to the invalid|Source and destination overlap|"
    r"Argument .* has a fishy|Process terminating).*|"
    r"\*\*\* .* \*\*\*: terminated|"
    r"(?:double free or corruption|corrupted (?:size vs\.|double-linked)|"
    r"(?:free|malloc|realloc|munmap_chunk|malloc_consolidate)\(\): \w+).*|"
    r"(?<!\S)\S+: line \d+: +\d+ (?:Segmentation fault|Bus error|Aborted|"
    r"Illegal instruction|Floating point exception)\b.*|"
    r"(?m:^(?:Segmentation fault|Bus error|Aborted|Illegal instruction|"
    r"Floating point exception|Trace/breakpoint trap)(?: \(core dumped\))?$)|"
    r"qemu: uncaught target signal (?:4|6|7|8|11)\b.*|"
    r"(?:crashed|' failed) with status (?:13[2-6]|139)\b.*")    # tests/cli
# 125 is a board's own failure; the others are what a shell makes of SIGILL,
# SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV.
BAD_ENDS = (125, 132, 133, 134, 135, 136, 139)
END_S = 10      # between SIGTERM and SIGKILL; for output after the end
LOOK_MS = 200   # how often it is asked whether a silent program has ended
ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
SAID_SHOWN = 10     # lines of what was said of a failure
SAID_WIDE = 200     # characters of each
LEFT_SHOWN = 5      # names of what a test has left
LOGS = "build/check"
# Where sanitizers are told what to do, also to write their reports elsewhere:
# a test may keep a child's words and status to itself.
SANITIZERS = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")

# What somebody has set for what he measures himself, and no test is to hear of:
# it would run on another kernel, under the same name.
NOT_FOR_TESTS = {"UPMU_" + name for name in (
    "ALONE", "CXX", "EVENTS", "FILE", "INTERVAL", "KERNEL", "MODEL_STILL",
    "MODEL_WRONG", "NO_BUILD", "REPORT", "ROOT", "SOURCE", "SOURCES")}

_running = {}       # process: its temporary folder
_stopped = False
_lock = threading.Lock()    # of both


@dataclasses.dataclass
class Job:
    layer: str
    name: str
    words: list
    timeout_s: float = 120
    env: dict = dataclasses.field(default_factory=dict)
    folder: str = "."
    memory_mib: int = 300

    @property
    def title(self):
        return f"{self.layer} {self.name}"

    def log(self, again=False):
        """Where its output is kept: a second run's beside the first one's."""
        name = re.sub(r"[^\w.-]+", "-", self.title)
        return f"{LOGS}/{name}{'.again' if again else ''}.log"

    def faults(self):
        """Where a board that fails says so, whatever its test makes of it.

        Another ./check in this tree does not take it away.
        """
        return os.path.abspath(f"{self.log().removesuffix('.log')}."
                               f"{os.getpid()}.faults")

    def reports(self):
        """Where a process leaves what a sanitizer, or valgrind, says of it."""
        return self.faults() + ".d"


def _is_said(line):
    return not (LINE.match(line) or PLAN.match(line))


def _name(found):
    return DIRECTIVE.sub("", found.group(3)) or f"test {found.group(2)}"


def _failed(line):
    """The name of the test that failed by this line, or None."""
    found = LINE.match(line)
    return _name(found) if found and found.group(1) else None


class Result:
    """What a test program said: TAP lines, and how it ended."""

    def __init__(self, job):
        self.job, self.passed = job, 0
        self.seconds = self.cpu_s = 0
        self.failed, self.skipped, self.output = [], [], ""
        self.flaky = {}     # what failed before it was repeated: what was said
        self.fault = ""     # why no repeat may forgive it

    def parse(self, output):
        self.output = output
        plans, numbers, comment = [], [], ""
        for line in COLOUR.sub("", output).splitlines():
            plan, found = PLAN.match(line), LINE.match(line)
            if plan:
                plans.append(int(plan.group(1)))
                if not plans[-1]:
                    self._skip("all of it", plan.group(2))
            elif found:
                numbers.append(found.group(2))
                self._take(found, comment)
                comment = ""
            elif OTHER_FAILURE.match(line):
                self.failed.append(line.strip())
            elif line.startswith("#"):
                comment = line.lstrip("# ")
        self._check_plan(plans, numbers)

    def _check_plan(self, plans, numbers):
        if not plans and not numbers:
            self.failed.append("prints no test")
        elif not plans:
            self.failed.append("prints no plan: did it end early?")
        elif len(plans) > 1:
            self.failed.append(f"prints {len(plans)} plans")
        elif plans[0] != len(numbers):
            self.failed.append(f"planned {plans[0]} tests, ran {len(numbers)}")
        given = [number for number in numbers if number]
        self.failed += [f"test {number} of {plans[0]} that are planned"
                        for number in given
                        if plans and not 0 < int(number) <= plans[0]]
        self.failed += [f"there are {given.count(number)} tests {number}"
                        for number in sorted(set(given))
                        if given.count(number) > 1]

    def _take(self, found, comment):
        bad, _, name = found.groups()
        directive = DIRECTIVE.search(name)
        # cmocka alone calls a skip "not ok", and names it behind the word
        is_skip = (directive and directive.group(1).lower() == "skip"
                   and not (bad and (DIRECTIVE.sub("", name)
                                     or not directive.group(2))))
        name = _name(found)
        if is_skip:
            self._cmocka_or_skip(name, directive.group(2), comment)
        elif bad:
            self.failed.append(name)
        else:
            self.passed += 1

    def _cmocka_or_skip(self, name, rest, comment):
        # cmocka prints "not ok 2 # SKIP name": the reason is printed before
        if name.startswith("test "):
            name, rest = rest, comment
        self._skip(name, rest)

    def _skip(self, name, reason):
        if reason:
            self.skipped.append((name, reason))
        else:
            self.failed.append(f"{name}: skipped without a reason")

    def ended(self, status, timed_out, left, faults=""):
        # a test may lose the status of a board, or print none of its output
        if faults:
            self.fault = faults.splitlines()[0]
            self.failed.append(self.fault)
        if timed_out:
            self.fault = f"still ran after {self.job.timeout_s:.0f} s"
            self.failed.append(self.fault)
        elif left:
            self.fault = "left a process behind that holds its output"
            self.failed.append(self.fault)
        elif status and not self.failed:
            self.failed.append(f"ended with status {status}")
        found = FAULTS.search(self.output)
        if self.fault:
            return
        if found:
            self.fault = found.group(0)
            # of a program that the test did not ask how it ended
            self.failed = self.failed or [self.fault]
        elif self.failed and (status < 0 or status in BAD_ENDS):
            self.fault = f"ended with status {status}"

    def said_of(self, failure):
        """The first lines behind a test that failed, or else those before it;
        the last ones of all where it is no test."""
        lines = [line[:SAID_WIDE]
                 for line in COLOUR.sub("", self.output).splitlines()
                 if line.strip("# ")]
        at = next((number for number, line in enumerate(lines)
                   if failure in (_failed(line), line.strip())), None)
        if at is None:
            return [line for line in lines if _is_said(line)][-SAID_SHOWN:]
        behind = itertools.takewhile(_is_said, lines[at + 1:])
        before = itertools.takewhile(_is_said, reversed(lines[:at]))
        return (list(itertools.islice(behind, SAID_SHOWN))
                or list(itertools.islice(before, SAID_SHOWN))[::-1])

    def print(self, file):
        text = f"{self.passed} passed"
        if self.failed:
            text += f", {len(self.failed)} FAILED"
        if self.skipped:
            text += f", {len(self.skipped)} skipped"
        print(f"{self.job.title}: {text} ({self.seconds:.0f} s)", file=file)
        if self.failed:
            lines = [line for line in self.output.splitlines()
                     if not re.match(r"ok\b", line)]
            for line in lines[-60:]:
                print(f"    {line}", file=file)
            for name in self.failed:
                print(f"  failed: {name}", file=file)
        file.flush()


def single(layer, name, failure, output="", seconds=0):
    """The result of one act that is not a test program."""
    result = Result(Job(layer, name, []))
    result.output, result.seconds = output, seconds
    if failure:
        result.failed.append(failure)
    else:
        result.passed = 1
    return result


def _end_group(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(END_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        if number == signal.SIGTERM:
            time.sleep(0.2)     # its children may be ending


def _ignore(_number, _frame):
    """As nohup and a shell's & have it, but tests do not inherit that."""


def end_by(act):
    """act(number, frame) ends us where a signal is to, but one that is ignored."""
    for number in ENDS:
        ignored = signal.getsignal(number) == signal.SIG_IGN
        signal.signal(number, _ignore if ignored else act)


def stop_all():
    """Ends all that runs, and whatever a thread is about to start."""
    global _stopped
    with _lock:
        _stopped = True
        for process, folder in _running.items():
            _end_group(process)
            clear(folder)


def room():
    """A temporary folder for one test, also where it becomes another user."""
    folder = tempfile.mkdtemp(prefix="upmu-check-")
    os.chmod(folder, 0o1777)
    return folder


def _open_up(folder, device=None, **at):
    """Gives its owner back what a test has closed, folders within too.

    No link is followed, also where another user of the machine puts one in a
    folder's place meanwhile: anybody may write there."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        fd = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY, **at)
        stack.callback(os.close, fd)
        opened, is_on = f"/proc/self/fd/{fd}", os.fstat(fd).st_dev
        if device not in (None, is_on):
            return
        os.chmod(opened, 0o700)
        for name in os.listdir(opened):
            _open_up(name, is_on, dir_fd=fd)


def clear(folder):
    """What a test that was ended has left goes, as bats' own folder, also out
    of folders that it has closed."""
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(folder):
        _open_up(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _log(path, output):
    with open(path, "w", errors="replace") as file:
        file.write(output)


def _read(path):
    with contextlib.suppress(FileNotFoundError):
        with open(path, errors="replace") as file:
            return file.read()
    return ""


def _reports(job):
    """What sanitizers and valgrind have written; and it is gone."""
    text = "".join(_read(path) for path in
                   sorted(glob.glob(glob.escape(job.reports()) + "/*")))
    shutil.rmtree(job.reports(), ignore_errors=True)
    return text


def _remove(path):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


@contextlib.contextmanager
def sweep():
    """Removes what a ./check that was killed has left in this tree.

    Whoever is within has a lock, and where another ./check is, nothing is
    removed: of one in a container nobody here knows the process number.
    """
    os.makedirs(LOGS, exist_ok=True)
    folder = os.open(LOGS, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove_rests()
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_SH)
        yield
    finally:
        os.close(folder)


def _remove_rests():
    for path in glob.glob(glob.escape(LOGS) + "/*.faults*"):
        if re.search(r"\.\d+\.faults\.d$", path):
            shutil.rmtree(path, ignore_errors=True)
        elif re.search(r"\.\d+\.faults$", path):
            os.unlink(path)


def _popen(words, env=None, **options):
    """A program that stop_all() ends, with what it has started."""
    with _lock:
        if _stopped:
            raise InterruptedError("interrupted")
        folder = room()
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, start_new_session=True,
                env={**(os.environ if env is None else env), "TMPDIR": folder},
                **options)
        except OSError:
            clear(folder)
            raise
        _running[process] = folder
        return process


def _ended(process):
    """What is wrong with what it has left in its temporary folder, or ""."""
    with _lock:
        folder = _running.pop(process)
        try:
            left = [ascii(name) for name in sorted(os.listdir(folder))]
            return left and ("leaves in the temporary folder: "
                             + " ".join(left[:LEFT_SHOWN]))
        except OSError as error:
            return f"leaves no temporary folder: {error.strerror}"
        finally:
            clear(folder)


def _start(job):
    inherited = {name: value for name, value in os.environ.items()
                 if name not in NOT_FOR_TESTS}
    env = {**inherited, "CMOCKA_MESSAGE_OUTPUT": "TAP",
           "LC_ALL": "C.UTF-8", "UPMU_FAULTS": job.faults(), **job.env}
    os.makedirs(job.reports(), exist_ok=True)
    os.chmod(job.reports(), 0o1777)     # some programs become another user
    quote = '"' if "'" in job.reports() else "'"
    for name in SANITIZERS:
        given = env.get(name, "")
        env[name] = (given + ":" * bool(given) +
                     f"log_path={quote}{job.reports()}/of{quote}")
    return _popen(job.words, env=env, cwd=job.folder)


def act(words, **options):
    """(status, output) of a program that is no test, as a line for the shell
    or as words. Not for the main thread, see run()."""
    process = _popen(words, shell=isinstance(words, str), text=True,
                     errors="replace", **options)
    output, _ = process.communicate()
    _ended(process)
    return process.returncode, output


class _Follow:
    """What a process printed, its CPU time, whether its time ran out."""

    def __init__(self, process, timeout_s):
        self.process, self.timed_out, self.cpu_s = process, False, 0
        self.left = False   # somebody still had its output when it had ended
        done = threading.Event()
        timer = threading.Thread(target=self._wait, args=(timeout_s, done))
        timer.start()
        self.output = b"".join(self._read()).decode(errors="replace")
        self._reap()
        done.set()
        timer.join()
        process.stdout.close()

    def _has_ended(self):
        try:
            return os.waitid(os.P_PID, self.process.pid,
                             os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True     # _end() has seen to it

    def _read(self):
        """Its output to the end, which what it left behind may keep away."""
        last, file = None, self.process.stdout.fileno()
        poll = select.poll()
        poll.register(file, select.POLLIN)
        while last is None or time.monotonic() < last:
            if poll.poll(LOOK_MS):
                data = os.read(file, 1 << 16)
                if not data:
                    return
                yield data
            elif last is None and self._has_ended():
                last = time.monotonic() + END_S
        self.left = True

    def _wait(self, timeout_s, done):
        limit = patience.Limit(timeout_s, patience.machine_waited_s)
        while (left_s := limit.left_s()) > 0:
            if done.wait(left_s):
                return
        self.timed_out = True
        _end_group(self.process)

    def _reap(self):
        # wait4() tells the CPU time, children's included; Popen does not
        try:
            _, status, usage = os.wait4(self.process.pid, 0)
        except ChildProcessError:
            return      # _end() was faster
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime


def run(job, again=False):
    """Runs a job; `again`: a second time, the first one's log is kept.

    Not for the main thread, which signals interrupt: stop_all() would miss
    what has just been started.
    """
    result = Result(job)
    began = time.monotonic()
    for path in (job.faults(), *([] if again else [job.log(True)])):
        _remove(path)   # of an earlier ./check
    _reports(job)       # likewise, of one that was killed
    try:
        os.makedirs(LOGS, exist_ok=True)    # boards write there, too
        process = _start(job)
    except OSError as error:
        _reports(job)
        result.failed.append(f"cannot start: {error}")
        return result
    followed = _Follow(process, job.timeout_s)
    left = _ended(process)
    result.seconds = time.monotonic() - began
    result.cpu_s = followed.cpu_s
    result.parse(followed.output)
    result.output += _reports(job)
    result.ended(process.returncode, followed.timed_out, followed.left,
                 _read(job.faults()))
    if left and not result.failed:
        result.failed.append(left)
    _remove(job.faults())
    try:
        _log(job.log(again), result.output)
    except OSError as error:
        result.failed.append(f"its log cannot be kept: {error.strerror}")
    return result
