# SPDX-License-Identifier: MIT
"""Several programs' TAP, one after the other, as that of one.

Each line is passed on as it comes: a board may hang after a claim that failed.
"""
import re
import sys


def join(lines, out):
    planned, tests = 0, 0
    for line in lines:
        plan = re.fullmatch(rb"1\.\.(\d+)\r?\n?", line)
        if plan:
            planned += int(plan[1])
            continue
        test = re.match(rb"(?:not )?ok (\d+)", line)
        if test:
            tests += 1
            line = (line[:test.start(1)] + str(tests).encode()
                    + line[test.end(1):])
        out.write(line)
        out.flush()
    out.write(b"1..%d\n" % planned)
    out.flush()


if __name__ == "__main__":
    join(sys.stdin.buffer, sys.stdout.buffer)
