# SPDX-License-Identifier: MIT
"""./check: builds everything, runs every test, counts what TAP says."""
import argparse
import concurrent.futures
import os
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TOP, "boards")]

import layers       # noqa: E402
import tap          # noqa: E402

USAGE = ("./check [--all | --debug-kernel] [--yes] [--list] [--hardware] "
         "[--once] [LAYER | WORD]...")

# Layers that emulate boards or wait for programs: a machine with more to do
# than CPUs can be too late for them. More failures than a few are no accident.
REPEATED = ("boards", "cli", "docs")
REPEATED_AT_MOST = 8

ABOUT = """\
Builds and runs the tests and closes with what passed, failed and was
skipped. LAYER is one of: {}.
Further WORDs select the tests whose name holds one of them: './check boards
a7', './check unit events'."""


def parse():
    parser = argparse.ArgumentParser(
        prog="./check", usage=USAGE,
        description=ABOUT.format(", ".join(layers.NAMES)))
    parser.add_argument("--all", action="store_true",
                        help="every board, every kernel, the long tests too")
    parser.add_argument("--debug-kernel", action="store_true",
                        help="run the module's tests alone, on a kernel built "
                        "with KASAN, lockdep and kmemleak (minutes to build)")
    parser.add_argument("--yes", action="store_true",
                        help="install missing packages without asking")
    parser.add_argument("--hardware", action="store_true",
                        help="on an ARM board, as root: the tests that need "
                             "no emulator, on this very machine")
    parser.add_argument("--list", action="store_true",
                        help="list the test programs, run none")
    parser.add_argument("--once", action="store_true",
                        help="do not repeat alone what has failed")
    parser.add_argument("--jobs", type=int, metavar="N",
                        default=os.cpu_count() or 1,
                        help="test programs that run at the same time")
    parser.add_argument("words", nargs="*", metavar="LAYER|WORD")
    options = parser.parse_args()
    options.layers = [w for w in options.words if w in layers.NAMES]
    if options.debug_kernel:
        options.layers = ["boards"]
    options.select = [w for w in options.words if w not in layers.NAMES]
    return options


def chosen(job, options):
    return not options.select or any(
        word in f"{job.layer} {job.name}" for word in options.select)


def collect(options):
    """The test programs to run, and the results of building them."""
    jobs, results = [], []
    if options.hardware:
        jobs, results = layers.hardware()
        for result in results:
            result.print(sys.stdout)
        return jobs, results
    for name in options.layers or layers.NAMES:
        began = time.monotonic()
        found, said = layers.collect(name, options)
        for result in said:
            result.print(sys.stdout)
            results.append(result)
        jobs += [job for job in found if chosen(job, options)]
        spent = time.monotonic() - began
        if spent > 1:
            print(f"# {name}: prepared in {spent:.0f} s", flush=True)
    return jobs, results


def run(jobs, count):
    results = []
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        running = [pool.submit(tap.run, job) for job in jobs]
        try:
            for done in concurrent.futures.as_completed(running):
                results.append(done.result())
                results[-1].print(sys.stdout)
        except BaseException:
            for one in running:
                one.cancel()
            tap.stop_all()
            raise
    return results


def again(results):
    """Runs what failed on a busy machine once more, alone; keeps both."""
    late = [result for result in results
            if result.failed and result.job.words
            and result.job.layer in REPEATED]
    if len(late) > REPEATED_AT_MOST:
        return results
    for first in late:
        print(f"{first.job.title}: once more, alone", flush=True)
        second, = run([first.job], 1)
        second.flaky = first.failed
        results[results.index(first)] = second
    return results


def summary(results, spent):
    passed = sum(result.passed for result in results)
    failed = sum(len(result.failed) for result in results)
    skipped = sum(len(result.skipped) for result in results)
    print()
    for result in results:
        for name, reason in result.skipped:
            print(f"skipped: {result.job.title}: {name}: {reason}")
    for result in results:
        if not result.failed:
            for name in result.flaky:
                print(f"passed alone only: {result.job.title}: {name}")
    for result in results:
        for name in result.failed:
            print(f"failed: {result.job.title}: {name}")
    print(f"# {spent // 60:.0f} min {spent % 60:.0f} s")
    print(f"{passed} passed, {failed} failed"
          + (f", {skipped} skipped" if skipped else ""))
    return failed


def main():
    options = parse()
    if options.all:
        os.environ["UPMU_ALL"] = "1"    # scripts have a longer form too
    os.chdir(TOP)
    began = time.monotonic()
    try:
        jobs, results = collect(options)
        if options.list:
            for job in jobs:
                print(f"{job.layer:10} {job.name}")
            return 0
        if not jobs and not results:
            print("./check: nothing is called "
                  + " or ".join(options.words), file=sys.stderr)
            return 2
        results += run(jobs, options.jobs)
        if not options.once:
            results = again(results)
    except KeyboardInterrupt:
        print("./check: interrupted", file=sys.stderr)
        return 130
    return 1 if summary(results, time.monotonic() - began) else 0


if __name__ == "__main__":
    sys.exit(main())
