# SPDX-License-Identifier: MIT
"""Pictures of the pages, drawn from what their blocks show.

A line below a block that docs/refresh keeps,

    <!-- bars: FILE.svg: TITLE: PATTERN || PATTERN... -->

draws from each match in the block; groups are words and numbers:

    bars    a bar for each match: the last group is its length
    nested  the first match is the whole, the others lie inside it, in order
    window  two numbers: what lies between two reads, and what reading costs
    steps   begin, set, length, x, y: y over time, one colour for each set
    fit     the same: y over x of set A, and the line that fits it

The file is made from the page alone, so that a check can tell whether it is
that page's.
"""
import re
from html import escape

MARK = re.compile(r'^<!-- (bars|nested|window|steps|fit): (\S+\.svg): '
                  r'([^:]+): (.*) -->$')
WIDTH, LEFT, RIGHT, TOP, ROW = 720, 230, 130, 44, 28
HIGH = 200  # of a plot
# Okabe and Ito's: told apart by those who see colours differently.
COLOURS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7')
STYLE = ('text{font:14px sans-serif;fill:#222}.t{font-weight:bold}'
         '.w{fill:#fff}line,polyline{stroke:#888;fill:none}'
         '@media(prefers-color-scheme:dark){text{fill:#ddd}}')


def rows_of(block, patterns):
    """[(label, number)] in the order of their first words' appearance."""
    rows = []
    for pattern in patterns.split(' || '):
        for match in re.finditer(pattern, '\n'.join(block), re.MULTILINE):
            *label, number = match.groups()
            rows.append((' '.join(label), float(number.replace(',', ''))))
    firsts = list(dict.fromkeys(label.split()[0] for label, _ in rows))
    return sorted(rows, key=lambda row: firsts.index(row[0].split()[0]))


def told(rows):
    return '; '.join(f'{label} {number:,.10g}' for label, number in rows)


def text(x, y, words, anchor='start', kind=''):
    kind = kind and f' class="{kind}"'
    return (f'<text{kind} x="{x:g}" y="{y:g}" text-anchor="{anchor}">'
            f'{escape(words)}</text>')


def rect(x, y, wide, high, colour, words=''):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" '
            f'height="{high:.1f}" fill="{colour}">'
            f'<title>{escape(words)}</title></rect>')


def line(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def picture(title, told_as, height, body):
    """The file: title and description are what a screen reader says."""
    return '\n'.join([
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!-- SPDX-License-Identifier: MIT -->',
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
        f'{height}" width="{WIDTH}" height="{height}" role="img" '
        f'aria-labelledby="t d">',
        f'<title id="t">{escape(title)}</title>',
        f'<desc id="d">{escape(told_as)}</desc>',
        f'<style>{STYLE}</style>',
        text(12, 24, title, kind='t'), *body, '</svg>']) + '\n'


def bars(title, block, patterns):
    rows = rows_of(block, patterns)
    most = max(number for _, number in rows)
    firsts = list(dict.fromkeys(label.split()[0] for label, _ in rows))
    height = TOP + ROW * len(rows) + 12
    body = []
    for place, (label, number) in enumerate(rows):
        y = TOP + ROW * place
        wide = max(1, round((WIDTH - LEFT - RIGHT) * number / most))
        colour = COLOURS[firsts.index(label.split()[0]) % len(COLOURS)]
        body += [text(LEFT - 8, y + 16, label, 'end'),
                 rect(LEFT, y, wide, ROW - 8, colour, label),
                 text(LEFT + wide + 6, y + 16, f'{number:,.10g}')]
    body.append(line(LEFT, TOP - 6, LEFT, height - 8))
    return picture(title, told(rows), height, body)


def nested(title, block, patterns):
    (whole, total), *parts = rows = rows_of(block, patterns)
    scale = (WIDTH - 24) / total
    height = TOP + 2 * ROW + 2 * ROW * len(parts)
    body = [rect(12, TOP, total * scale, ROW - 2, COLOURS[0], whole),
            text(20, TOP + 18, f'{whole} {total:,.10g}', kind='w')]
    x = 12
    for place, (label, number) in enumerate(parts):
        wide, y = number * scale, TOP + 2 * ROW + ROW * place
        body += [rect(x, TOP + ROW, wide, ROW - 2,
                      COLOURS[1 + place % 3], label),
                 line(x + wide / 2, TOP + 2 * ROW - 2, x + wide / 2, y + 6),
                 text(min(x + wide / 2, WIDTH - 120), y + 20,
                      f'{label} {number:,.10g}')]
        x += wide
    own = total - sum(number for _, number in parts)
    body.append(text(12, height - 12, f'{whole} itself: {own:,.10g}'))
    return picture(title, told(rows), height, body)


def window(title, block, patterns):
    rows = rows_of(block, patterns)
    (work, worth), (cost, spent) = rows
    scale = (WIDTH - 160) / (worth + spent)
    left, middle = 60, 60 + spent * scale
    right, y = left + (worth + spent) * scale, TOP + ROW
    body = [rect(left, y, middle - left, ROW, COLOURS[1], cost),
            rect(middle, y, right - middle, ROW, COLOURS[0], work),
            line(left, TOP, left, y + 2 * ROW),
            line(right, TOP, right, y + 2 * ROW),
            text(left, TOP - 2, 'first read', 'middle'),
            text(right, TOP - 2, 'second read', 'middle'),
            text(left + 4, y + 2 * ROW - 8, f'{cost} {spent:,.10g}'),
            text((middle + right) / 2, y + 19, f'{work} {worth:,.10g}',
                 'middle', 'w'),
            text((left + right) / 2, y + 3 * ROW,
                 f'the window: {worth + spent:,.10g}', 'middle')]
    return picture(title, told(rows), TOP + 5 * ROW, body)


def slices_of(block, pattern):
    for match in re.finditer(pattern, '\n'.join(block), re.MULTILINE):
        begin, name, length, x, y = match.groups()
        yield float(begin), name, float(length), float(x), float(y)


def axes(scale, most):
    """A frame, and what its top stands for."""
    return [line(60, TOP + HIGH, WIDTH - 12, TOP + HIGH),
            line(60, TOP, 60, TOP + HIGH),
            text(54, TOP + HIGH - most * scale + 5, f'{most:.3g}', 'end'),
            text(54, TOP + HIGH + 5, '0', 'end')]


def steps(title, block, pattern):
    rows = list(slices_of(block, pattern))
    first, last = rows[0][0], rows[-1][0] + rows[-1][2]
    names = sorted({name for _, name, *_ in rows})
    most = max(y for *_, y in rows)
    across, scale = (WIDTH - 72) / (last - first), HIGH / most
    body = axes(scale, most)
    for begin, name, length, _, y in rows:
        x = 60 + (begin - first) * across
        body += [rect(x, TOP + HIGH - y * scale, length * across - 1,
                      y * scale, COLOURS[names.index(name) % 4],
                      f'set {name}, {begin:g} ms: {y:g}'),
                 text(x + length * across / 2, TOP + HIGH + 16, name,
                      'middle')]
    body.append(text(WIDTH - 12, TOP + HIGH + 34,
                     f'{first:g} to {last:g} ms; the letter is the set whose '
                     'turn it is', 'end'))
    seen = '; '.join(f'{begin:g} ms set {name} {y:g}'
                     for begin, name, _, _, y in rows)
    return picture(title, seen, TOP + HIGH + 46, body)


def line_of(points):
    """Least squares: y = a + b x."""
    n = len(points)
    x0, y0 = (sum(p[i] for p in points) / n for i in (0, 1))
    slope = (sum((x - x0) * (y - y0) for x, y in points)
             / sum((x - x0) ** 2 for x, _ in points))
    return y0 - slope * x0, slope


def fit(title, block, pattern):
    points = [(x, y) for _, name, _, x, y in slices_of(block, pattern)
              if name == 'A']
    a, b = line_of(points)
    right = max(x for x, _ in points) * 1.1
    most = max(y for _, y in points) * 1.1
    across, scale = (WIDTH - 72) / right, HIGH / most
    ends = [(x, a + b * x) for x in (min(x for x, _ in points) * .8, right)]
    body = axes(scale, most) + [
        line(60 + ends[0][0] * across, TOP + HIGH - ends[0][1] * scale,
             60 + ends[1][0] * across, TOP + HIGH - ends[1][1] * scale)]
    body += [f'<circle cx="{60 + x * across:.1f}" '
             f'cy="{TOP + HIGH - y * scale:.1f}" r="5" fill="{COLOURS[0]}">'
             f'<title>{x:g}: {y:g}</title></circle>' for x, y in points]
    body.append(text(WIDTH - 12, TOP + HIGH + 20,
                     f'0 to {right:.3g} instructions per cycle; '
                     f'line: {a:.1f} {b:+.1f} x', 'end'))
    seen = f'line {a:.1f} {b:+.1f} x; ' + '; '.join(
        f'at {x:g} {y:g}' for x, y in points)
    return picture(title, seen, TOP + HIGH + 34, body)


DRAW = {'bars': bars, 'nested': nested, 'window': window, 'steps': steps,
        'fit': fit}


def of_page(lines):
    """(file name, SVG) of each picture that a page asks for."""
    block, fence = [], False
    for row in lines:
        match = MARK.match(row) if not fence else None
        if match:
            kind, name, title, patterns = match.groups()
            try:
                yield name, DRAW[kind](title, block, patterns)
            except (IndexError, ValueError) as error:
                raise SystemExit(f'{name}: not in the block above: {error}')
        if row.startswith('```'):
            fence = not fence
            if fence:
                block = []
        elif fence:
            block.append(row)
