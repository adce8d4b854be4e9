# SPDX-License-Identifier: MIT
"""on_terminal.py COMMAND... : COMMAND on a terminal of 24 lines and 90 columns.

Lines of standard input say what to do there, one after the other:
    wait TEXT    until it was printed since the last wait; 100 s at most
    type TEXT    with Python's escapes: \\x03 is Ctrl-C
Prints all that the terminal showed; exits with COMMAND's status.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

LIMIT_S = 100


def read(fd, until, seen):
    """What came behind the text; None at the end or after LIMIT_S.

    One look may bring the text and what the next one waits for: SEEN is what
    the last one left.
    """
    limit = time.monotonic() + LIMIT_S
    while until is None or until not in seen:
        if time.monotonic() > limit:
            print(f"on_terminal.py: {until!r} did not come")
            return None
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        if not data:
            return None
        seen += data
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return seen.partition(until)[2]


def main():
    child, fd = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
        # who started the tests may have it ignored (nohup): no hang-up then
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.execvp(sys.argv[1], sys.argv[1:])
    seen = b""
    for line in sys.stdin:
        what, _, text = line.rstrip("\n").partition(" ")
        text = text.encode().decode("unicode_escape").encode("latin-1")
        if what == "type":
            os.write(fd, text)
        else:
            seen = read(fd, text, seen)
            if seen is None:
                break
    read(fd, None, b"")
    os.close(fd)        # hangs up on a COMMAND that still runs
    status = os.waitpid(child, 0)[1]
    sys.exit(os.waitstatus_to_exitcode(status) & 0xff)


if __name__ == "__main__":
    main()
