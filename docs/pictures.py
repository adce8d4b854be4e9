# SPDX-License-Identifier: MIT
"""Pictures of the pages, drawn from what their blocks show.

A line below a block that docs/refresh keeps,

    <!-- bars: FILE.svg: TITLE: PATTERN || PATTERN... -->

draws a bar for each match in the block: the last group of the pattern is the
number, the others are the label. The file is made from the page alone, so that
a check can tell whether it is that page's.
"""
import re
from html import escape

MARK = re.compile(r'^<!-- bars: (\S+\.svg): ([^:]+): (.*) -->$')
WIDTH, LEFT, RIGHT, TOP, ROW = 720, 230, 130, 44, 28
# Okabe and Ito's: told apart by those who see colours differently.
COLOURS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7')
STYLE = ('text{font:14px sans-serif;fill:#222}.t{font-weight:bold}'
         'line{stroke:#888}'
         '@media(prefers-color-scheme:dark){text{fill:#ddd}}')


def rows_of(block, patterns):
    """[(label, number)] in the order of their first words' appearance."""
    rows = []
    for pattern in patterns.split(' || '):
        for match in re.finditer(pattern, '\n'.join(block), re.MULTILINE):
            *label, number = match.groups()
            rows.append((' '.join(label), int(number.replace(',', ''))))
    firsts = list(dict.fromkeys(label.split()[0] for label, _ in rows))
    return sorted(rows, key=lambda row: firsts.index(row[0].split()[0]))


def bars(title, rows):
    most = max(number for _, number in rows)
    firsts = list(dict.fromkeys(label.split()[0] for label, _ in rows))
    height = TOP + ROW * len(rows) + 12
    told = '; '.join(f'{label} {number:,}' for label, number in rows)
    out = ['<?xml version="1.0" encoding="UTF-8"?>',
           '<!-- SPDX-License-Identifier: MIT -->',
           f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
           f'{height}" width="{WIDTH}" height="{height}" role="img" '
           f'aria-label="{escape(title)}: {escape(told)}">',
           f'<title>{escape(title)}</title>',
           f'<style>{STYLE}</style>',
           f'<text class="t" x="12" y="24">{escape(title)}</text>']
    for place, (label, number) in enumerate(rows):
        y = TOP + ROW * place
        wide = max(1, round((WIDTH - LEFT - RIGHT) * number / most))
        colour = COLOURS[firsts.index(label.split()[0]) % len(COLOURS)]
        out += [f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end">'
                f'{escape(label)}</text>',
                f'<rect x="{LEFT}" y="{y}" width="{wide}" height="{ROW - 8}" '
                f'fill="{colour}"/>',
                f'<text x="{LEFT + wide + 6}" y="{y + 16}">{number:,}</text>']
    out += [f'<line x1="{LEFT}" y1="{TOP - 6}" x2="{LEFT}" '
            f'y2="{height - 8}"/>', '</svg>']
    return '\n'.join(out) + '\n'


def of_page(lines):
    """(file name, SVG) of each picture that a page asks for."""
    block, fence = [], False
    for line in lines:
        match = MARK.match(line) if not fence else None
        if match:
            name, title, patterns = match.groups()
            rows = rows_of(block, patterns)
            if not rows:
                raise SystemExit(f'{name}: no number in the block above')
            yield name, bars(title, rows)
        if line.startswith('```'):
            fence = not fence
            if fence:
                block = []
        elif fence:
            block.append(line)
