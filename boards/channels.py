# SPDX-License-Identifier: MIT
"""What leads into a board and out of it: the emulator's options, our ends.

A board with virtio has a port for each; a board with a second serial line has
that line for the command's output and for what --get brings, one after the
other, each ended by a line with the token.
"""
import contextlib
import os
import socket


def _pass_on(fd):
    def take(data):
        while data:
            data = data[os.write(fd, data):]
    return take


class Sections:
    """Splits a serial line's bytes at lines that hold nothing but the token."""

    def __init__(self, token, takers):
        self.mark, self.takers = token.encode() + b"\n", list(takers)
        self.held = b""

    def take(self, data):
        self.held += data
        while len(self.takers) > 1:
            at = self.held.find(self.mark)
            if at < 0:
                # what might be the beginning of the mark waits
                keep = max(0, len(self.held) - len(self.mark) + 1)
                self.takers[0](self.held[:keep])
                self.held = self.held[keep:]
                return
            self.takers.pop(0)(self.held[:at])
            self.held = self.held[at + len(self.mark):]
        self.takers[0](self.held)
        self.held = b""


class Channels:
    def __init__(self, board, token, console, is_shell, has_input, spools):
        self.words = []
        self.readers = {}       # our ends: what takes the data
        self.theirs = []        # the emulator's ends
        self.input = None       # our socket of its input
        self._chardev("console", self._output(console.feed))
        self.words += ["-serial", "chardev:console"]
        if board["channel"] == "virtio":
            self._virtio(is_shell, has_input, spools)
        else:
            self._serial(token, is_shell, spools)

    def _output(self, take):
        reader, writer = os.pipe()
        self.readers[reader] = take
        self.theirs.append(writer)
        return writer

    def _both_ways(self, name):
        """A socket, which alone takes input from a descriptor; our end."""
        ours, theirs = socket.socketpair()
        self.input = ours
        self.theirs.append(theirs.detach())
        self.words += ["-chardev", f"socket,id={name},fd={self.theirs[-1]}"]
        return ours

    def _terminal(self, name, take):
        """Our end carries the output too; it stays open as long as we."""
        self.readers[self._both_ways(name).fileno()] = take

    def _chardev(self, name, fd):
        self.words += ["-chardev", f"file,id={name},path=/dev/fd/{fd}"]

    def _port(self, kind, name):
        self.words += ["-device", f"{kind},chardev={name},name=upmu.{name}"]

    def _virtio(self, is_shell, has_input, spools):
        self.words += ["-device", "virtio-serial-device"]
        if is_shell:
            self._terminal("tty", _pass_on(1))
            self._port("virtconsole", "tty")
        else:
            self._chardev("out", self._output(_pass_on(1)))
            self._chardev("err", self._output(_pass_on(2)))
            self._port("virtserialport", "out")
            self._port("virtserialport", "err")
        if has_input and not is_shell:
            self._both_ways("in")
            self._port("virtserialport", "in")
        for number, spool in enumerate(spools):
            # its own descriptor, as ours stays open
            fd = os.dup(spool.fileno())
            self.theirs.append(fd)
            self._chardev(f"get{number}", fd)
            self._port("virtserialport", f"get{number}")

    def _serial(self, token, is_shell, spools):
        takers = [lambda data: None, _pass_on(1)]
        takers += [spool.write for spool in spools]
        take = Sections(token, takers).take
        if is_shell:
            self._terminal("out", take)
        else:
            self._chardev("out", self._output(take))
        self.words += ["-serial", "chardev:out"]

    def started(self):
        """The emulator has its ends: close ours of them."""
        for fd in self.theirs:
            os.close(fd)
        self.theirs = []

    def drain(self):
        """What is still in the pipes after the emulator ended."""
        for reader, take in self.readers.items():
            with contextlib.suppress(ConnectionResetError):
                while data := os.read(reader, 65536):
                    take(data)
