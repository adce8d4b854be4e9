# SPDX-License-Identifier: MIT
"""gen_boards.py OUT BOARDS-FOLDER: which emulated boards have a core, and
which of its events their model counts, as C (boards.h)."""
import configparser
import re
import sys

TEXT = '''\
	{{ "{core}", "{exact}", "{others}",
	  {{ {codes} }} }},
'''
# The codes of the sums that a model makes stand first in lines of a table.
SUMS = r"^\t\{ (0x[0-9a-f]+),\s"


def codes_of(folder, core):
    name = "arm1176.c" if core == "arm1176" else "events.c"
    with open(f"{folder}/model/{name}", encoding="ascii") as file:
        return {int(code, 16) for code in re.findall(SUMS, file.read(), re.M)}


def read_boards(folder):
    """{core: (boards that count exactly, others)}"""
    table = configparser.ConfigParser(interpolation=None)
    with open(folder + "/table.ini", encoding="ascii") as file:
        table.read_file(file)
    cores = {}
    for board in table.sections():
        for core in dict.fromkeys(table[board]["model"].split()):
            is_exact = "-icount" in table[board]["qemu"]
            cores.setdefault(core, ([], []))[not is_exact].append(board)
    return cores


def main():
    out, folder = sys.argv[1:]
    text = ('/* made by tools/list/gen_boards.py */\n#include "list/list.h"\n\n'
            "const struct list_boards list_boards[] = {\n")
    for core, (exact, others) in sorted(read_boards(folder).items()):
        codes = codes_of(folder, core)
        if len(codes) < 10:
            raise SystemExit(f"{folder}/model tells no events of {core}")
        cells = [sum(1 << bit for bit in range(8) if 8 * at + bit in codes)
                 for at in range(32)]
        text += TEXT.format(core=core, exact=" ".join(exact),
                            others=" ".join(others),
                            codes=", ".join(f"{cell:#04x}" for cell in cells))
    text += "\t{ 0 },\n};\n"
    with open(out, "w", encoding="ascii") as file:
        file.write(text)


main()
