# SPDX-License-Identifier: MIT
"""Runs jobs side by side, as many as cores and memory allow."""
import concurrent.futures
import contextlib
import json
import os
import sys
import time

import tap

WAITED_S = 60           # without a result: then it is told what runs
KEPT_MIB = 1024         # for all else on this machine


def _number(path):
    with contextlib.suppress(OSError, ValueError):
        with open(path) as file:
            return int(file.read())
    return None             # "max", or not there


def memory_mib():
    """What jobs may take together: free now, and allowed to this group."""
    with open("/proc/meminfo") as file:
        free = dict(line.split(":") for line in file)["MemAvailable"]
    free = int(free.split()[0]) // 1024
    limit = _number("/sys/fs/cgroup/memory.max")
    used = _number("/sys/fs/cgroup/memory.current")
    if limit and used is not None:
        free = min(free, (limit - used) // 2**20)
    return max(free - KEPT_MIB, 0)


def _times_path():
    return os.path.join(tap.LOGS, "seconds.json")


def known_times():
    """Seconds that each job took when it ran last on this machine."""
    # whatever somebody has made of the file: then the order is worse
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
        with open(_times_path()) as file:
            return {name: float(seconds)
                    for name, seconds in json.load(file).items()}
    return {}


def keep_times(results):
    times = known_times()
    times.update({one.job.title: round(one.seconds, 1)
                  for one in results if one.job.words})
    new = f"{_times_path()}.{os.getpid()}.new"
    with contextlib.suppress(OSError):      # then the next order is worse
        os.makedirs(tap.LOGS, exist_ok=True)
        with open(new, "w") as file:
            json.dump(times, file, indent=0, sort_keys=True)
        os.replace(new, _times_path())


def longest_first(jobs):
    """Layer by layer, so that no long one is left alone at the end."""
    times, layers = known_times(), [job.layer for job in jobs]
    return sorted(jobs, key=lambda job: (
        layers.index(job.layer), -times.get(job.title, job.timeout_s)))


class Schedule:
    def __init__(self, jobs, cores, room_mib):
        self.waiting, self.running = longest_first(jobs), {}
        self.cores, self.room_mib = cores, room_mib

    def _fits(self, job):
        # where nothing runs, nothing will become free either
        return not self.running or job.memory_mib <= self.room_mib

    def start(self, pool):
        while len(self.running) < self.cores:
            job = next(filter(self._fits, self.waiting), None)
            if not job:
                return
            self.waiting.remove(job)
            self.room_mib -= job.memory_mib
            self.running[pool.submit(tap.run, job)] = (job, time.monotonic())

    def done(self):
        """Results since the last call; waits for one, and tells for what."""
        ended, _ = concurrent.futures.wait(
            self.running, WAITED_S, concurrent.futures.FIRST_COMPLETED)
        if not ended:
            self._tell()
        for future in ended:
            job, _ = self.running.pop(future)
            self.room_mib += job.memory_mib
            yield future.result()

    def _tell(self):
        now = time.monotonic()
        names = ", ".join(f"{job.title} ({now - began:.0f} s)"
                          for job, began in self.running.values())
        print(f"# waiting for: {names}; {len(self.waiting)} more to run",
              flush=True)


@contextlib.contextmanager
def threads(count):
    """A pool of threads. What they have started ends when we are interrupted:
    a signal comes to the main thread alone, which would wait for them."""
    with concurrent.futures.ThreadPoolExecutor(max(count, 1)) as pool:
        try:
            yield pool
        except BaseException:
            tap.stop_all()
            raise


def run(jobs, cores):
    """The results of all jobs, printed as they come."""
    results, schedule = [], Schedule(jobs, cores, memory_mib())
    with threads(cores) as pool:
        while schedule.waiting or schedule.running:
            schedule.start(pool)
            for result in schedule.done():
                results.append(result)
                result.print(sys.stdout)
    keep_times(results)
    return results


def alone(job):
    """The result of a job that runs once more, with nothing beside it."""
    with threads(1) as pool:
        return pool.submit(tap.run, job, again=True).result()
