#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns tables/*.events into C.

usage: gen_tables.py TABLES OUTPUT.c DEPFILE
       gen_tables.py --check TABLES
"""
import os
import sys

import perf_names
import tables as t


class Pool:
    """Strings one after another in one C array, each kept once."""

    def __init__(self, name):
        self.name, self.index, self.strings = name, {}, []

    def add(self, *parts):
        key = '\0'.join(parts)
        if key not in self.index:
            self.index[key] = len(self.strings)
            self.strings.append(key)
        return self.index[key]

    def sort(self):
        self.strings.sort(key=str.lower)
        self.index = {s: i for i, s in enumerate(self.strings)}

    def emit(self, out):
        if len(self.strings) > 0xffff:
            sys.exit(f'gen_tables: more than 65535 {self.name}')
        offset, offsets = 0, []
        out.append(f'const char upmu_{self.name}_pool[] =')
        for string in self.strings:
            offsets.append(offset)
            offset += len(string) + 1
            out.append('\t"' + c_text(string) + '\\0"')
        out.append('\t"";')
        out.append(f'const uint32_t upmu_{self.name}_at[] = {{')
        out.append('\t' + ', '.join(map(str, offsets + [offset])))
        out.append('};')
        out.append(f'const size_t upmu_{self.name}_count = '
                   f'{len(self.strings)};')


def c_text(string):
    return (string.replace('\\', '\\\\').replace('"', '\\"')
            .replace('\0', '\\0" "'))


def served_rows(table):
    """An unknown core is offered what is architectural, nothing more."""
    return [row for row in table.sorted_rows()
            if not (table.common and row.recommended)]


def c_name(table):
    return table.name.replace('-', '_')


def emit_core_arrays(out, table, pools):
    names, texts, sources = pools
    rows = served_rows(table)
    index = {row.name: i for i, row in enumerate(rows)}
    out.append(f'static const struct upmu_event_row rows_{c_name(table)}[] = {{')
    for row in rows:
        out.append('\t{ %#06x, %d, %d, %d },' % (
            row.code, names.index[row.name], texts.add(row.text, row.caveat),
            sources.add(row.source)))
    out.append('};')
    by_name = sorted(range(len(rows)), key=lambda i: names.index[rows[i].name])
    out.append(f'static const uint16_t by_name_{c_name(table)}[] = {{')
    out.append('\t' + ', '.join(map(str, by_name)))
    out.append('};')
    tried = [(perf_names.NUMBERS[name], index[row.name], *linux, own)
             for name in sorted(table.perf_rows, key=perf_names.NUMBERS.get)
             for row, linux, own in table.perf_rows[name]]
    out.append(f'static const struct upmu_perf_row perf_{c_name(table)}[] = {{')
    out += ['\t{ %d, %d, UPMU_LINUX(%d, %d), %d },' % one for one in tried]
    out += ['\t{ 0 },', '};']
    return index, len(rows), len(tried)


def emit_core(out, table, index, n_rows, n_perf_rows):
    name = c_name(table)
    manuals = ''.join(
        f'{i} \\"{title}\\"{" " + rev if rev else ""}\\n'
        for i, title, rev in table.manuals)
    notes = ''.join(c_text(note) + '\\n' for note in table.notes)
    filters = ' | '.join('UPMU_FILTER_' + f.upper()
                         for f in table.filters) or '0'
    out += [
        '\t{',
        f'\t\t.name = "{table.name}",',
        f'\t\t.title = "{c_text(table.title)}",',
        f'\t\t.also = "{" ".join(name for name, _ in table.also)}",',
        f'\t\t.perf = "{" ".join(table.perf)}",',
        f'\t\t.manuals = "{manuals}",',
        f'\t\t.notes = "{notes}",',
        f'\t\t.rows = rows_{name},',
        f'\t\t.by_name = by_name_{name},',
        f'\t\t.perf_rows = perf_{name},',
        f'\t\t.n_rows = {n_rows},',
        f'\t\t.n_perf_rows = {n_perf_rows},',
        '\t\t.defaults = { %s },' % ', '.join(
            str(index[table.defaults[key]]) for key in t.DEFAULTS),
        f'\t\t.arch = UPMU_ARCH_{table.arch.replace("arm", "").upper()},',
        f'\t\t.counters = {table.counters[0]},',
        f'\t\t.counters_most = {table.counters[1]},',
        f'\t\t.filters = {filters},',
        f'\t\t.is_common = {str(table.common).lower()},',
        '\t},',
    ]


def generate(tables):
    names, texts, sources = Pool('names'), Pool('texts'), Pool('sources')
    for table in tables:
        for row in served_rows(table):
            names.add(row.name)
    names.sort()
    out = ['/* SPDX-License-Identifier: MIT */',
           '/* Made by gen_tables.py; change tables/ instead. */',
           '#include "lib/events/tables.h"', '']
    cores = []
    for table in tables:
        index, n_rows, n_perf_rows = emit_core_arrays(
            out, table, (names, texts, sources))
        emit_core(cores, table, index, n_rows, n_perf_rows)
    out.append('const struct upmu_core upmu_cores[] = {')
    out += cores + ['\t{ .name = "" },', '};']
    out.append(f'const size_t upmu_core_count = {len(tables)};')
    midrs = sorted((i, p, n) for n, table in enumerate(tables)
                   for i, p, _ in table.midrs)
    out.append('const struct upmu_core_midr upmu_core_midrs[] = {')
    out += ['\t{ %#04x, %d, %#05x },' % (i, n, p) for i, p, n in midrs]
    out += ['\t{ 0, 0, 0 },', '};']
    out.append(f'const size_t upmu_core_midr_count = {len(midrs)};')
    for pool in (names, texts, sources):
        pool.emit(out)
    return '\n'.join(out) + '\n'


def main(args):
    try:
        if len(args) == 2 and args[0] == '--check':
            tables = t.read_all(args[1])
            rows = sum(len(table.rows) for table in tables)
            print(f'{len(tables)} tables, {rows} events: every rule holds')
            return 0
        if len(args) != 3:
            print(__doc__.strip(), file=sys.stderr)
            return 2
        tables = t.read_all(args[0])
    except t.TableError as error:
        print(error, file=sys.stderr)
        return 1
    with open(args[1], 'w', encoding='ascii') as file:
        file.write(generate(tables))
    # The folder itself: a file that comes or goes changes its time.
    inputs = [args[0]] + sorted({table.path for table in tables}) + [
        os.path.join(args[0], 'perf.maps'), t.__file__, perf_names.__file__]
    with open(args[2], 'w', encoding='ascii') as file:
        file.write(f'{args[1]}: ' + ' '.join(map(os.path.normpath, inputs))
                   + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
