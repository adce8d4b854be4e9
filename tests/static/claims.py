# SPDX-License-Identifier: MIT
"""What tap.sh is for shell scripts: claims become lines of TAP."""
import time


def told(claims):
    """Print (claim, whether it holds) one by one; a program's status."""
    bad = number = 0
    for claim, good in claims:
        number += 1
        bad += not good
        print(f"{'ok' if good else 'not ok'} {number} - {claim}", flush=True)
    print(f"1..{number}")
    return 1 if bad else 0


def comes(act):
    """Whether something comes true before patience ends."""
    return any(act() or time.sleep(0.05) for _ in range(600))
