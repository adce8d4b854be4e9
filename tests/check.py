# SPDX-License-Identifier: MIT
"""./check: builds everything, runs every test, counts what TAP says."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TOP, "boards")]

import quiet        # noqa: E402, first
import argparse     # noqa: E402
import signal       # noqa: E402
import time         # noqa: E402

import debian       # noqa: E402
import layers       # noqa: E402
import schedule     # noqa: E402
import tap          # noqa: E402

USAGE = ("./check [--all | --debug-kernel | --upstream] [--yes] [--list] "
         "[--hardware] [--once] [LAYER | WORD]...\n"
         "       ./check release")

# Layers that emulate boards or wait for programs: a machine with more to do
# than CPUs can be too late for them. More failures than a few are no accident,
# and what tap.FAULTS names is none either.
REPEATED = ("boards", "cli", "docs")
REPEATED_AT_MOST = 8

ABOUT = """\
Builds and runs the tests and closes with what passed, failed and was
skipped. LAYER is one of: {}.
Further WORDs select the tests whose name holds one of them: './check boards
a7', './check unit event'. './check release' tries what a release is made of."""


def positive(text):
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"'{text}' is no number of programs")


def parse():
    parser = argparse.ArgumentParser(
        prog="./check", usage=USAGE, allow_abbrev=False,
        description=ABOUT.format(", ".join(layers.NAMES)))
    parser.add_argument("--all", action="store_true",
                        help="every board, every kernel, the long tests too")
    parser.add_argument("--debug-kernel", action="store_true",
                        help="run the module's tests alone, on kernels built "
                        "with KASAN, KCSAN, lockdep and kmemleak (minutes to "
                        "build)")
    parser.add_argument("--upstream", action="store_true",
                        help="run the tests of upstream/ alone, on a kernel "
                        "that is built with its patches (minutes to build)")
    parser.add_argument("--yes", action="store_true",
                        help="install missing packages without asking")
    parser.add_argument("--hardware", action="store_true",
                        help="on an ARM board, as root: the tests that need "
                             "no emulator, on this very machine")
    parser.add_argument("--list", action="store_true",
                        help="list the test programs, run none")
    parser.add_argument("--once", action="store_true",
                        help="do not repeat alone what has failed")
    parser.add_argument("--jobs", type=positive, metavar="N",
                        default=os.cpu_count() or 1,
                        help="test programs that run at the same time")
    parser.add_argument("words", nargs="*", metavar="LAYER|WORD")
    options = parser.parse_intermixed_args()
    options.layers = [w for w in options.words if w in layers.NAMES]
    alone = [f"--{one.replace('_', '-')}" for one in
             ("debug_kernel", "upstream", "hardware")
             if getattr(options, one)]
    for other in alone[1:] + [name for name in options.layers
                              if alone and name != "boards"]:
        parser.error(f"{alone[0]} runs tests of its own: not with {other}")
    if options.debug_kernel or options.upstream:
        options.layers = ["boards"]
    options.select = [w for w in options.words if w not in layers.NAMES]
    return options


def chosen(job, options):
    return not options.select or any(
        word in f"{job.layer} {job.name}" for word in options.select)


class Spent:
    """Where the time of a layer went."""

    def __init__(self):
        self.prepared_s = self.tests = self.ran_s = self.cpu_s = 0

    def add(self, result):
        self.tests += 1
        self.ran_s += result.seconds
        self.cpu_s += result.cpu_s

    def line(self, name):
        # What a test does not compute, it waits: for its board's clock, for a
        # core, for the disk.
        waited_s = max(self.ran_s - self.cpu_s, 0)
        return (f"# {name:10} {self.prepared_s:5.0f} s {self.tests:5} "
                f"{self.ran_s:7.0f} s {self.cpu_s:7.0f} s {waited_s:7.0f} s")


def collect(options, tell=True):
    """(tests to run, results of building them, {layer: Spent})."""
    jobs, results, spent = [], [], {}
    if options.hardware:
        jobs, results = layers.hardware()
        for result in results if tell else ():
            result.print(sys.stdout)
        return jobs, results, spent
    for name in options.layers or layers.NAMES:
        began = time.monotonic()
        found, said = layers.collect(name, options)
        for result in said if tell else ():
            result.print(sys.stdout)
        results += said
        jobs += [job for job in found if chosen(job, options)]
        spent[name] = Spent()
        spent[name].prepared_s = time.monotonic() - began
    return jobs, results, spent


def tell_unknown(options, jobs, results):
    """Tells those of the words that select no test; whether there are any."""
    if any(result.failed for result in results):
        return False        # of what cannot be built nobody knows the tests
    there = jobs + [result.job for result in results
                    if result.job.layer != "build"]
    missing = [word for word in options.select
               if not any(word in f"{job.layer} {job.name}" for job in there)]
    if missing or not (there or results or options.list):
        print("./check: no test is called "
              + " or ".join(f"'{word}'" for word in missing)
              + "\nhint: ./check --list", file=sys.stderr)
        return True
    return False


def is_misspelt(options):
    """The same before minutes of building; told by a list of all tests."""
    if options.list or not options.select:
        return False
    with layers.listing():
        jobs, results, _ = collect(options, tell=False)
    return tell_unknown(options, jobs, results)


def again(results):
    """Runs what failed on a busy machine once more, alone; keeps both logs."""
    late = [result for result in results
            if result.failed and result.job.words and not result.fault
            and result.job.layer in REPEATED]
    if len(late) > REPEATED_AT_MOST:
        return results
    for first in late:
        print(f"{first.job.title}: once more, alone", flush=True)
        second = schedule.alone(first.job)
        second.print(sys.stdout)
        second.flaky = {name: first.said_of(name) for name in first.failed}
        results[results.index(first)] = second
    return results


def tell_times(spent, results):
    for result in results:
        if result.job.layer in spent and result.job.words:
            spent[result.job.layer].add(result)
    print(f"# {'layer':10} prepared tests     they ran   computed    waited")
    for name, one in spent.items():
        print(one.line(name))


def tell_failures(results):
    """What failed, and how many passed only when they were alone."""
    alone = 0
    for result in results:
        if not result.failed and result.flaky:
            alone += 1
            for name, said in result.flaky.items():
                print(f"passed alone only: {result.job.title}: {name}: "
                      f"{result.job.log()}")
                print("".join(f"    {line}\n" for line in said), end="")
    for result in results:
        for name in result.failed:
            print(f"failed: {result.job.title}: {name}")
        if result.failed and result.fault not in ("", *result.failed):
            print(f"fault: {result.job.title}: {result.fault}")
        if result.failed and result.job.words:
            print(f"log: {result.job.log(bool(result.flaky))}")
    if alone:
        print(f"# {alone} passed alone only: each is a defect to be found")


def summary(results, spent, seconds):
    passed = sum(result.passed for result in results)
    failed = sum(len(result.failed) for result in results)
    skipped = sum(len(result.skipped) for result in results)
    print()
    for result in results:
        for name, reason in result.skipped:
            print(f"skipped: {result.job.title}: {name}: {reason}")
    tell_times(spent, results)
    tell_failures(results)
    print(f"# {seconds // 60:.0f} min {seconds % 60:.0f} s")
    print(f"{passed} passed, {failed} failed"
          + (f", {skipped} skipped" if skipped else ""))
    return failed


class Interrupted(Exception):
    """A signal ended us; the argument is its number."""


def interrupt(number, _frame):
    for other in tap.ENDS:
        signal.signal(other, signal.SIG_IGN)    # the first one is enough
    raise Interrupted(number)


def act(options):
    """Does what was asked for; the status to end with."""
    began = time.monotonic()
    if is_misspelt(options):
        return 2
    jobs, results, spent = collect(options)
    if tell_unknown(options, jobs, results):
        return 2
    if options.list:
        for job in jobs:
            print(f"{job.layer:10} {job.name}")
        return 1 if any(result.failed for result in results) else 0
    with tap.sweep():
        results += schedule.run(jobs, options.jobs)
        if not options.once:
            results = again(results)
    return 1 if summary(results, spent, time.monotonic() - began) else 0


def run():
    options = quiet.flushed(parse)
    layers.only_listed = options.list
    tap.end_by(interrupt)
    if options.all:
        os.environ["UPMU_ALL"] = "1"    # scripts have a longer form too
    os.chdir(TOP)
    return quiet.flushed(act, options)


def main():
    try:
        return run()
    except debian.Failure as failure:
        print(f"./check: {failure}", file=sys.stderr)
        return 1
    except Interrupted as interrupted:
        print("./check: interrupted", file=sys.stderr)
        return 128 + interrupted.args[0]
    except BrokenPipeError:     # as of "./check --list | head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:    # of its output, for one
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"./check: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
