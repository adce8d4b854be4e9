#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""colours.py PAGE: how far apart its colours are for those who see them least

A line for each palette (light, dark) and kind of sight: the least distance of
two colours (CIE 1976, L*a*b*), and of which. Sights are those of G. M. Machado,
M. M. Oliveira, L. A. F. Fernandes, IEEE Trans. Vis. Comput. Graph. 15, 2009,
1291-1298, severity 1. The status is 1 where two are nearer than 10.
"""
import itertools
import math
import re
import sys

SIGHTS = {
    'normal': ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    'no red cones': ((0.152286, 1.052583, -0.204868),
                     (0.114503, 0.786281, 0.099216),
                     (-0.003882, -0.048116, 1.051998)),
    'no green cones': ((0.367322, 0.860646, -0.227968),
                       (0.280085, 0.672501, 0.047413),
                       (-0.011820, 0.042940, 0.968881)),
    'no blue cones': ((1.255528, -0.076749, -0.178779),
                      (-0.078411, 0.930809, 0.147602),
                      (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722),
          (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.089)
LEAST = 10


def linear(colour):
    for at in (0, 2, 4):
        part = int(colour[at:at + 2], 16) / 255
        yield part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def times(matrix, vector):
    return [sum(a * x for a, x in zip(row, vector)) for row in matrix]


def lab(rgb):
    part = [max(x, 0) / white for x, white in zip(times(TO_XYZ, rgb), WHITE)]
    x, y, z = (p ** (1 / 3) if p > 0.008856 else 7.787 * p + 16 / 116
               for p in part)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def main():
    found = re.findall(r'--c(\d): #([0-9a-f]{6});', open(sys.argv[1]).read())
    half = len(found) // 2
    palettes = {'light': found[:half], 'dark': found[half:]}
    near = half < 6 or [n for n, _ in found[:half]] != [
        n for n, _ in found[half:]]
    for name, palette in palettes.items():
        for sight, matrix in SIGHTS.items():
            seen = {n: lab(times(matrix, list(linear(colour))))
                    for n, colour in palette}
            apart, pair = min((math.dist(seen[a], seen[b]), (a, b))
                              for a, b in itertools.combinations(seen, 2))
            print(f'{name}, {sight}: {apart:.1f} (c{pair[0]}, c{pair[1]})')
            near = near or apart < LEAST
    return near


sys.exit(main())
