# SPDX-License-Identifier: MIT
"""embed.py OUT NAME=FILE... : a C file that holds the files' bytes

The compiler's assembler reads them itself (.incbin): half a megabyte written
as numbers would take it seconds. NAME= without a file is empty.
"""
import os
import sys

TEXT = '''\
__asm__(".pushsection .rodata.{name},\\"a\\",%progbits\\n"
	".globl upmu_page_{name}\\n"
	"upmu_page_{name}:\\n"
{body}	".byte 0\\n"
	".popsection\\n");
extern const unsigned long upmu_page_{name}_size;
const unsigned long upmu_page_{name}_size = {size};
'''


def main():
    out, *pairs = sys.argv[1:]
    text = "/* made by tools/report/embed.py */\n"
    for pair in pairs:
        name, _, path = pair.partition("=")
        body, size = "", 0
        if path:
            size = os.path.getsize(path)
            full = os.path.abspath(path).replace("\\", r"\\\\")
            body = f'\t".incbin \\"{full}\\"\\n"\n'
        text += TEXT.format(name=name, body=body, size=size)
    with open(out, "w", encoding="utf-8") as file:
        file.write(text)


main()
