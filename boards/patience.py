# SPDX-License-Identifier: MIT
"""Time limits that a machine with more to do than cores does not shorten."""
import contextlib
import glob
import re
import time

MOST = 8        # times as long as it was given, however long it waited


def process_waited_s(pid):
    """Of a process's threads the one that waited longest for a core."""
    waited = [0]
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(path) as file:
                waited.append(int(file.read().split()[1]))
    return max(waited) / 1e9


def machine_waited_s():
    """How long somebody here waited for a core, since this machine began."""
    with contextlib.suppress(OSError, AttributeError):
        with open("/proc/pressure/cpu") as file:
            return int(re.search(r"some .*total=(\d+)", file.read())[1]) / 1e6
    return 0


class Limit:
    """Seconds from now on, less what waited_s() grows by."""

    def __init__(self, seconds, waited_s):
        self.seconds, self.waited_s = seconds, waited_s
        self.began, self.before = time.monotonic(), waited_s()

    def left_s(self):
        ran = time.monotonic() - self.began
        if ran < self.seconds:
            return self.seconds - ran
        waited = self.waited_s() - self.before
        return self.seconds - (ran - min(waited, ran * (1 - 1 / MOST)))
