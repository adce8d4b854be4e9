# SPDX-License-Identifier: MIT
"""Runs a test program and reads the TAP that it prints."""
import dataclasses
import os
import re
import signal
import subprocess
import threading
import time

LINE = re.compile(r"(not )?ok\b\s*(\d+)?\s*(?:- )?(.*)")
DIRECTIVE = re.compile(r"\s*#\s*(skip|todo)\S*\s*(.*)$", re.I)
PLAN = re.compile(r"1\.\.(\d+)(?:\s*#\s*skip\S*\s*(.*))?", re.I)
END_S = 10      # between SIGTERM and SIGKILL
LOGS = "build/check"

_running = set()
_lock = threading.Lock()


@dataclasses.dataclass
class Job:
    layer: str
    name: str
    words: list
    timeout_s: float = 120
    env: dict = dataclasses.field(default_factory=dict)
    folder: str = "."

    @property
    def title(self):
        return f"{self.layer} {self.name}"


class Result:
    """What a test program said: TAP lines, and how it ended."""

    def __init__(self, job):
        self.job, self.passed, self.seconds = job, 0, 0
        self.failed, self.skipped, self.output = [], [], ""
        self.flaky = []     # what failed before it was repeated

    def parse(self, output):
        self.output = output
        plan, seen, comment = None, 0, ""
        for line in output.splitlines():
            found = PLAN.match(line)
            if found and plan is None:
                plan = int(found.group(1))
                if plan == 0:
                    self._skip("all of it", found.group(2) or comment)
                continue
            found = LINE.match(line)
            if found:
                seen += 1
                self._take(found, comment)
                comment = ""
            elif line.startswith("#"):
                comment = line.lstrip("# ")
        if plan is None and not seen:
            self.failed.append("prints no test")
        elif plan is None:
            self.failed.append("prints no plan: did it end early?")
        elif plan != seen:
            self.failed.append(f"planned {plan} tests, ran {seen}")

    def _take(self, found, comment):
        bad, number, name = found.groups()
        directive = DIRECTIVE.search(name)
        name = DIRECTIVE.sub("", name) or f"test {number}"
        if directive and directive.group(1).lower() == "skip":
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

    def ended(self, status, timed_out):
        if timed_out:
            self.failed.append(f"still ran after {self.job.timeout_s:.0f} s")
        elif status and not self.failed:
            self.failed.append(f"ended with status {status}")

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


def stop_all():
    with _lock:
        for process in list(_running):
            _end_group(process)


def _log(job, output):
    os.makedirs(LOGS, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "-", job.title)
    with open(f"{LOGS}/{name}.log", "w", errors="replace") as file:
        file.write(output)


def run(job):
    result = Result(job)
    began = time.monotonic()
    env = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP",
           "LC_ALL": "C.UTF-8", **job.env}
    try:
        process = subprocess.Popen(
            job.words, env=env, cwd=job.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
    except OSError as error:
        result.failed.append(f"cannot start: {error}")
        return result
    with _lock:
        _running.add(process)
    timed_out = False
    try:
        output, _ = process.communicate(timeout=job.timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        _end_group(process)
        output, _ = process.communicate()
    with _lock:
        _running.discard(process)
    output = output.decode(errors="replace")
    result.seconds = time.monotonic() - began
    result.parse(output)
    result.ended(process.returncode, timed_out)
    _log(job, output)
    return result
