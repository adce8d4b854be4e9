# SPDX-License-Identifier: MIT
"""embed.py OUT NAME=FILE... : a C file that holds the files' bytes

What stands behind NAME=FILE without a name goes into the same bytes.

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
    out, *words = sys.argv[1:]
    text = "/* made by tools/report/embed.py */\n"
    paths = {}
    for word in words:
        if word.partition("=")[0].isidentifier():
            name, _, word = word.partition("=")
            paths[name] = []
        paths[name] += [os.path.abspath(word)] if word else []
    for name, files in paths.items():
        size = sum(map(os.path.getsize, files))
        full = [path.replace("\\", r"\\\\") for path in files]
        body = "".join(f'\t".incbin \\"{path}\\"\\n"\n' for path in full)
        text += TEXT.format(name=name, body=body, size=size)
    with open(out, "w", encoding="utf-8") as file:
        file.write(text)


main()
