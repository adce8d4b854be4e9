# SPDX-License-Identifier: MIT
"""The device tree of a board whose CPUs are unlike cores.

The emulator's own tree, as text, gets a PMU for each kind of core. All of them
share PPI 7, so the interrupt controller (GICv3) parts that interrupt by the
CPUs that it belongs to: each interrupt of the tree then has a fourth cell, 0
or a partition (Linux, arm,gic-v3.yaml).
"""
import re
import subprocess

from debian import Failure

PPI, PMU_IRQ, LEVEL_HIGH = 1, 7, 4
PARTITION = 0xa000      # the first of our phandles; the emulator's end at 80xx


def _dtc(source, target, data):
    done = subprocess.run(["dtc", "-q", "-I", source, "-O", target],
                          input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode:
        raise Failure(f"dtc failed:\n{done.stderr.decode().strip()}")
    return done.stdout


def _replace(pattern, new, text, what):
    text, found = re.subn(pattern, new, text, count=1,
                          flags=re.MULTILINE | re.DOTALL)
    if not found:
        raise Failure(f"the emulator's device tree has no {what}")
    return text


def _without(text, node):
    """The tree without that child of its root, if it has it."""
    return re.sub(rf"\n\t{node}(@[0-9a-f]+)? \{{\n(.*?\n)??\t\}};\n", "\n", text,
                  flags=re.DOTALL)


def _fourth_cells(text):
    def widen(found):
        cells = found.group(1).split()
        return "interrupts = <{}>".format(" ".join(
            " ".join(cells[at:at + 3] + ["0x00"])
            for at in range(0, len(cells), 3)))

    return re.sub(r"\binterrupts = <([^>]*)>", widen, text)


def _handles(text, cores):
    """The phandle of each CPU."""
    found = re.findall(r"\n\t\tcpu@[0-9a-f]+ \{\n\t\t\tphandle = <(\w+)>;",
                       text)
    if len(found) != len(cores):
        raise Failure(f"{len(cores)} cores for the {len(found)} CPUs in the "
                      "emulator's device tree")
    return found


def _controller(text, kinds, handles):
    """A partition for each kind of core, and who belongs to it."""
    text = _replace(r"(\tintc@[0-9a-f]+ \{.*?#interrupt-cells = )<0x03>",
                    r"\1<0x04>", text, "interrupt controller")
    parts = "".join(
        f"p{n} {{ affinity = <{' '.join(handles[cpu] for cpu in cpus)}>; "
        f"phandle = <{PARTITION + n}>; }};\n"
        for n, cpus in enumerate(kinds.values()))
    return _replace(r"(\tintc@[0-9a-f]+ \{.*?\n)(\t\};)",
                    rf"\1ppi-partitions {{\n{parts}}};\n\2", text,
                    "interrupt controller")


def _map(kinds, handles):
    """A cluster for each kind."""
    return "".join(
        f"cluster{n} {{\n" + "".join(
            f"core{at} {{ cpu = <{handles[cpu]}>; }};\n"
            for at, cpu in enumerate(cpus)) + "};\n"
        for n, cpus in enumerate(kinds.values()))


def edit(text, cores):
    """The text of a tree with a core's name for each CPU."""
    kinds = {}
    for cpu, core in enumerate(cores):
        kinds.setdefault(core, []).append(cpu)
    # the map of the PCI host's interrupts is not for four cells
    for node in "pmu", "pcie":
        text = _without(text, node)
    handles = _handles(text, cores)
    text = _controller(_fourth_cells(text), kinds, handles)
    text = _replace(r"\n\t\tcpu-map \{\n.*?\n\t\t\};\n",
                    f"\ncpu-map {{\n{_map(kinds, handles)}}};\n", text,
                    "cpu-map")
    for cpu, core in enumerate(cores):
        text = _replace(rf"(\n\t\tcpu@{cpu:x} \{{[^}}]*compatible = )[^;]*;",
                        rf'\1"arm,{core}";', text, f"CPU {cpu}")
    nodes = "".join(
        f'pmu-{core} {{ compatible = "arm,{core}-pmu"; interrupts = '
        f"<{PPI} {PMU_IRQ} {LEVEL_HIGH} {PARTITION + n}>; }};\n"
        for n, core in enumerate(kinds))
    return _replace(r"\n\};\n*\Z", f"\n{nodes}}};\n", text, "end")


def unlike(path, cores):
    with open(path, "rb") as file:
        text = _dtc("dtb", "dts", file.read()).decode()
    with open(path, "wb") as file:
        file.write(_dtc("dts", "dtb", edit(text, cores).encode()))
