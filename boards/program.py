# SPDX-License-Identifier: MIT
"""What a program is, which board runs it, and the libraries it needs there.

program.py board FILE [BOARD] : print the board that runs FILE, or say on one
                                line why none does (with BOARD: why not it)
program.py here FILE MACHINE  : the same of this machine (uname -m)
"""
import quiet        # first
import mmap
import os
import struct
import sys

sys.dont_write_bytecode = True
import table                    # noqa: E402
from debian import Failure      # noqa: E402

ARM, AARCH64 = 40, 183
MACHINES = {3: "32-bit x86", 8: "MIPS", 20: "PowerPC", 21: "64-bit PowerPC",
            22: "S/390", ARM: "32-bit ARM", 62: "x86-64", AARCH64: "64-bit ARM",
            243: "RISC-V", 258: "LoongArch"}
# dynamic loader: its cross compiler's triplet and Debian architecture
LOADERS = {
    "/lib/ld-linux-armhf.so.3": ("arm-linux-gnueabihf", "armhf"),
    "/lib/ld-linux.so.3": ("arm-linux-gnueabi", "armel"),
    "/lib/ld-linux-aarch64.so.1": ("aarch64-linux-gnu", "arm64")}
PACKAGES = {"libstdc++.so.6": "libstdc++6", "libgomp.so.1": "libgomp1",
            "libatomic.so.1": "libatomic1", "libgfortran.so.5": "libgfortran5"}
# Loaded at run time by the C library itself, where a thread is cancelled.
BESIDE_LIBC = "libgcc_s.so.1"
BOARDS = {ARM: "a7", AARCH64: "a53"}

# Of these machines, but no kernel of ours runs it.
ODD = 0
ET_REL, ET_DYN, ET_CORE = 1, 3, 4
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29


class Elf:
    """The few facts of an ELF file that loading it depends on."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.is_wide = self.data[4] == 2
        self.order = "<" if self.data[5] == 1 else ">"
        self.kind, self.machine = self._at("HH", 16)
        self.entry, = self._at("Q" if self.is_wide else "I", 24)
        self.segments = list(self._segments())
        self.loader, self.needed, self.paths = None, [], []
        self._read_dynamic()

    def _at(self, form, offset):
        return struct.unpack_from(self.order + form, self.data, offset)

    def _segments(self):
        """(type, offset, address, size in the file)"""
        begin, = self._at("Q", 32) if self.is_wide else self._at("I", 28)
        size, count = self._at("HH", 54 if self.is_wide else 42)
        for at in range(begin, begin + size * count, size or 1):
            if self.is_wide:
                kind, _, offset, address, _, length = self._at("IIQQQQ", at)
            else:
                kind, offset, address, _, length = self._at("IIIII", at)
            yield kind, offset, address, length

    def _string(self, offset):
        end = self.data.find(b"\0", offset)
        return self.data[offset:end].decode(errors="surrogateescape")

    def _offset(self, address):
        for kind, offset, begin, length in self.segments:
            if kind == PT_LOAD and begin <= address < begin + length:
                return offset + address - begin
        raise ValueError("an address outside of the file")

    def _read_dynamic(self):
        entries = []
        form = "QQ" if self.is_wide else "II"
        for kind, offset, _, length in self.segments:
            if kind == PT_INTERP:
                self.loader = self._string(offset)
            if kind == PT_DYNAMIC:
                step = struct.calcsize("=" + form)
                entries = [self._at(form, at)
                           for at in range(offset, offset + length, step)]
        strings = [value for tag, value in entries if tag == DT_STRTAB]
        for tag, value in entries if strings else ():
            if tag == DT_NEEDED:
                self.needed.append(self._string(
                    self._offset(strings[0]) + value))
            elif tag in (DT_RPATH, DT_RUNPATH):
                self.paths += self._string(
                    self._offset(strings[0]) + value).split(":")


def read(path):
    """The file as ELF, or None where it is none."""
    try:
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                return None
        return Elf(path)
    except (ValueError, IndexError, OverflowError, struct.error):
        return None             # cut off, or a joke


def _is_alike(path, elf):
    other = read(path)
    return other and (other.machine, other.is_wide) == (elf.machine,
                                                        elf.is_wide)


def _folders(elf, triplet):
    """Where the libraries of a program are looked for, in order."""
    origin = os.path.dirname(os.path.abspath(elf.path))
    own = [path.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", origin)
           for path in elf.paths]
    given = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return [path for path in given + own if path] + [
        f"/usr/{triplet}/lib", f"/usr/lib/{triplet}", f"/lib/{triplet}"]


def _missing(elf, name, arch, folders):
    said = (f"'{elf.path}' needs the library {name}, which is not in "
            + ", ".join(folders))
    if name in PACKAGES:
        return Failure(f"{said}\nhint: apt-get install "
                       f"{PACKAGES[name]}-{arch}-cross")
    return Failure(f"{said}\nhint: LD_LIBRARY_PATH=FOLDER, or "
                   f"--file {name}:/lib/")


def _find(name, program, folders):
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and _is_alike(path, program):
            return path
    return None


def _closure(program, triplet, arch, brought):
    """{name: path} of all libraries that a program needs."""
    found = {}
    asked = [(program, name) for name in
             [os.path.basename(program.loader), *program.needed]]
    for elf, name in asked:         # which grows
        if name in found or f"/lib/{name}" in brought:
            continue
        folders = _folders(elf, triplet)
        found[name] = _find(name, program, folders)
        if not found[name]:
            raise _missing(elf, name, arch, folders)
        library = read(found[name])
        asked += [(library, more) for more in library.needed]
    if "libc.so.6" in found and BESIDE_LIBC not in found:
        beside = _find(BESIDE_LIBC, program, _folders(program, triplet))
        if beside:
            found[BESIDE_LIBC] = beside
    return found


def libraries(path, brought=()):
    """(host, guest) of what a dynamic program needs; brought: guest paths."""
    program = read(path)
    if (not program or not program.loader or program.loader in brought
            or program.machine not in BOARDS):
        return []
    if program.loader not in LOADERS:
        raise Failure(f"'{path}' needs the loader {program.loader}\n"
                      f"hint: --file LOADER:{program.loader}, or link it "
                      "with -static")
    found = _closure(program, *LOADERS[program.loader], brought)
    return [(host, f"/lib/{name}") for name, host in found.items()]


def _compiler(board):
    return {"armhf": "arm-linux-gnueabihf-gcc", "armel": "arm-linux-gnueabi-gcc",
            "arm64": "aarch64-linux-gnu-gcc"}[board["arch"]]


def _oddity(elf):
    """What sets an ARM program apart from those of Debian's kernels."""
    if elf.machine in BOARDS and elf.order == ">":
        return "big-endian "
    if elf.machine == AARCH64 and not elf.is_wide:
        return "ILP32 "
    return ""


def _refuse_no_program(path, elf, name):
    if elf.kind == ET_REL:
        raise Failure(f"'{path}' is an object file for {name}, "
                      "not linked yet")
    if elf.kind == ET_CORE:
        raise Failure(f"'{path}' is a core dump of a program for {name}")
    # A static PIE has no loader either, but it begins somewhere.
    if elf.kind == ET_DYN and not elf.loader and not elf.entry:
        raise Failure(f"'{path}' is a shared library for {name}, no program")


def what(path):
    """(machine, words for it); machine is None for a script."""
    if not os.path.exists(path):
        raise Failure(f"no such file: '{path}'")
    if not os.path.isfile(path):
        raise Failure(f"'{path}' is no program but a folder or device")
    elf = read(path)
    if elf:
        name = MACHINES.get(elf.machine, f"ELF machine {elf.machine}")
        _refuse_no_program(path, elf, name)
        odd = _oddity(elf)
        return (ODD if odd else elf.machine), f"a program for {odd}{name}"
    with open(path, "rb") as file:
        if file.read(2) != b"#!":
            raise Failure(f"'{path}' is neither an ELF program nor a script "
                          "that begins with #!")
    return None, "a script"


def board_for(path, name):
    machine, words = what(path)
    if name is None and machine is not None and machine not in BOARDS:
        board = table.find("a7")
        are = ("no board runs that" if machine == ODD else
               "boards are ARM machines")
        raise Failure(f"'{path}' is {words}; {are}: compile it with "
                      f"{_compiler(board)}, or ./run its source")
    name = name or BOARDS.get(machine, "a7")
    board = table.find(name)
    # A 64-bit kernel runs 32-bit programs too, but with pages of 16 KiB.
    able = {"arm64": (ARM, AARCH64)}.get(board["arch"], (ARM,))
    if table.kernel_arch(board) == "arm64-16k":
        able = (AARCH64,)
    if machine is not None and machine not in able:
        raise Failure(f"'{path}' is {words}, which board {name} does not "
                      f"run: compile it with {_compiler(board)}, or ./run "
                      "its source")
    if not os.access(path, os.X_OK):
        raise Failure(f"'{path}' may not be executed: chmod +x it")
    return name


def here(path, machine):
    kind, words = what(path)
    able = (ARM, AARCH64) if machine == "aarch64" else (ARM,)
    if kind is not None and kind not in able:
        raise Failure(f"'{path}' is {words}, which this machine ({machine}) "
                      "does not run: compile it here, or ./run its source")


def main():
    try:
        if sys.argv[1] == "here":
            here(*sys.argv[2:])
        else:
            print(board_for(sys.argv[2], (sys.argv[3:] or [None])[0] or None))
    except Failure as failure:
        sys.exit(f"run: {failure}")


if __name__ == "__main__":
    main()
