# SPDX-License-Identifier: MIT
"""The model of a board's core (boards/model), which counts the events that
the emulator does not: its plugin, its settings, what the guest is told."""
import configparser
import glob
import os
import re
import subprocess
import sys
import tempfile

from debian import Failure
from table import escaped

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = os.path.join(HERE, "../lib/events/tables")
RAM = {"virt": 0x40000000}
CACHES = ("l1i", "l1d", "l2")
NUMBERS = ("itlb", "dtlb", "tlb", "branches")
INST_RETIRED = 0x08
# Of the ARM1176's own PMU: cycles by the emulator's clock, instructions by
# -icount.
EXACT = {"arm1176": ("0xff", "0x07")}


def _table(core):
    """What lib/events says of it, in a file of its own or its family's."""
    for path in glob.glob(TABLES + "/*.events"):
        with open(path, encoding="ascii") as file:
            found = re.search(rf"^core {core}\n(?:(?!core ).*\n?)*",
                              file.read(), re.M)
        if found:
            return found.group().replace("\n ", " ")
    raise Failure(f"no core '{core}' in lib/events/tables")


def codes(core):
    """The events that the core has, by its table in lib/events."""
    text = _table(core)
    found = set()
    for line in re.findall(r"^common ([^|\n]*)", text, re.M):
        for word in line.split():
            first, _, last = word.partition("-")
            found.update(range(int(first, 16), int(last or first, 16) + 1))
    found.update(int(code, 16) for code in
                 re.findall(r"^event (0x[0-9a-f]+) ", text, re.M))
    return sorted(found)


def cache_numbers(text):
    """Size, ways and line of "32 KiB, 4 ways, 64"."""
    size, ways, line = re.fullmatch(r"(\d+) KiB, (\d+) ways, (\d+)",
                                    text).groups()
    return f"{int(size) * 1024} {ways} {line}"


def shape(core, about, is_exact, is_unlike):
    """What the plugin has to know of a core (model/settings.h)."""
    lines = [f"{cache} {cache_numbers(about[cache])}"
             for cache in CACHES if cache in about]
    lines += [f"{name} {about[name].replace(',', '')}"
              for name in NUMBERS if name in about]
    lines += ["own " + event.strip()
              for event in about.get("own", "").split(",") if event]
    if core == "arm1176":
        lines.append(core)
    if about.get("allocate") == "read":
        lines.append("read-allocate")
    if is_unlike:
        lines.append("identity " + about["identity"])
    # with -icount the emulator itself counts instructions
    lines.append("events " + " ".join(
        f"{code:#x}" for code in codes(core)
        if code != INST_RETIRED or not is_exact))
    return "\n".join(lines) + "\n"


def geometry(about):
    """In words, for people."""
    caches = [f"{cache.upper()} {about[cache].rsplit(',', 1)[0]}"
              for cache in CACHES if cache in about]
    main = about["tlb"].split(",")[0]
    return ", ".join(caches + [f"TLB {main} entries"])


def _cores():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(os.path.join(HERE, "cores.ini"))
    return parser


def check(board):
    """Refuses a board whose core cores.ini does not have."""
    for name in board["model"].split():
        if name not in _cores():
            raise Failure(f"no core '{name}' in boards/cores.ini")


class Model:
    """Of one boot; does nothing where table.ini names no core."""

    def __init__(self, board):
        self.names = board["model"].split()
        self.cores = _cores()
        self.events, self.reason = {}, ""   # events: of each core
        if not self.names:
            return
        build = subprocess.run([os.path.join(HERE, "model/build")],
                               stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE)
        if build.returncode:
            raise Failure("boards/model cannot be built")
        self.plugin = escaped(build.stdout.strip())
        machine = board["qemu"].split()[2].split(",")[0]
        self.text = f"ram {RAM.get(machine, 0):#x}\n"
        self.text += "".join(f"hidden {cpu}\n"
                             for cpu in board["hidden"].split())
        if board["perfmon"]:
            self.text += f"perfmon {board['perfmon']}\n"
        for number, name in enumerate(self.names):
            self.text += f"core {number}\n" + shape(
                name, self.cores[name], "-icount" in board["qemu"],
                self.is_unlike())

    def is_unlike(self):
        """Are there cores of more than one kind?"""
        return len(set(self.names)) > 1

    def settings(self):
        """What the plugin reads, as an open file without a name."""
        file = tempfile.TemporaryFile("w+", encoding="ascii")
        file.write(self.text)
        file.flush()
        return file

    def look(self, call, words, folder):
        """Starts the emulator with `words`, which make it end at once, with
        the plugin, which looks whether it knows this emulator."""
        if not self.names:
            call(*words)
            return
        answer = os.path.join(folder, "answer")
        settings = os.path.join(folder, "settings")
        with open(settings, "w", encoding="ascii") as file:
            file.write(self.text)
        try:
            call(*words, *self.run(escaped(settings),
                                   f",answer={escaped(answer)}"))
            with open(answer, encoding="ascii") as file:
                lines = file.read().splitlines()
        except (Failure, OSError):
            lines = ["refused the emulator does not load the model"]
            call(*words)
        word, _, rest = lines[0].partition(" ")
        if word == "refused":
            self.reason = rest
            return
        self.events = {name: line.split()[1:]
                       for name, line in zip(self.names, lines)}

    def run(self, settings, more=""):
        """Words for the emulator; settings: the name of that file."""
        wrong = os.environ.get("UPMU_MODEL_WRONG")
        more += f",wrong={wrong}" if wrong else ""
        return ["-plugin", f"{self.plugin},settings={settings}{more}"]

    def tell(self, call, tree):
        """Tells the guest in its device tree, in a property for each kind of
        core that is called as its table in lib/events: title, geometry, codes
        of what it counts; call(*words) runs a program."""
        if not self.names:
            return
        top = "/upmu-model"

        def put(name, *values):
            call("fdtput", "-t", "s", tree, top, name, *values)

        call("fdtput", "-cp", tree, top)
        put("compatible", "upmu,model")
        if self.reason:
            if self.is_unlike():
                print("boards/run: all CPUs say that they are of one kind: "
                      + self.reason, file=sys.stderr)
            put("refused", self.reason)
        for name in dict.fromkeys(self.names):
            about, texts = self.cores[name], []
            if self.events:
                exact = EXACT.get(name, ())
                modelled = [code for code in self.events[name]
                            if code not in exact]
                texts = [geometry(about)] + [
                    " ".join(code[2:] for code in codes)
                    for codes in (modelled, exact)]
            put(name, about["title"], *texts)
