# SPDX-License-Identifier: MIT
"""Reads tables/*.events into memory and checks every rule of FORMAT.md."""
import os
import re

import perf_names

DEFAULTS = ['cycles', 'instructions', 'stall', 'l1d', 'l1d_miss', 'dtlb',
            'tlb', 'branches', 'branch_misses']

SOFTWARE = ['cpu-clock', 'task-clock', 'page-faults', 'faults',
            'context-switches', 'cs', 'cpu-migrations', 'migrations',
            'minor-faults', 'major-faults', 'alignment-faults',
            'emulation-faults', 'dummy', 'bpf-output', 'cgroup-switches']

ARCHS = ['armv6', 'armv7', 'armv8', 'apple']
FILTERS = ['user', 'kernel', 'hyp']
NAME_MAX, TEXT_MAX, CAVEAT_MAX = 47, 160, 240
NAME = re.compile(r'[a-z][a-z0-9_]*\Z')
CORE_NAME = re.compile(r'[a-z][a-z0-9-]*\Z')
RAW_NAME = re.compile(r'r[0-9a-f]+\Z')


class TableError(Exception):
    """A rule is broken; str() is FILE:LINE: reason."""


class Row:
    """One event: an own row, or one that a core took from the common file."""

    def __init__(self, code, name, text, caveat, source, where, recommended):
        self.code, self.name, self.text = code, name, text
        self.caveat, self.source = caveat, source
        self.where, self.recommended = where, recommended
        self.own = True

    def taken(self, source, where):
        row = Row(self.code, self.name, self.text, self.caveat,
                  source, where, self.recommended)
        row.own = False
        return row


class Table:
    """One core, or what an architecture defines."""

    def __init__(self, path):
        self.path = path
        self.name = self.title = self.arch = None
        self.common = False
        self.midrs, self.perf, self.manuals, self.notes = [], [], [], []
        self.also, self.perf_maps = [], []
        self.counters = self.filters = self.count = None
        self.rows = {}
        self.defaults, self.perf_rows = {}, {}
        self.takes, self.caveats = [], []
        self.place = {}

    def sorted_rows(self):
        return [self.rows[code] for code in sorted(self.rows)]


def fail(where, reason):
    raise TableError(f'{where}: {reason}')


def statements(path):
    """Yields (where, text), continuation lines joined."""
    with open(path, 'rb') as file:
        raw = file.read()
    try:
        lines = raw.decode('ascii').split('\n')
    except UnicodeDecodeError as error:
        line = raw[:error.start].count(b'\n') + 1
        fail(f'{path}:{line}', 'not ASCII')
    if lines[0] != '# SPDX-License-Identifier: MIT':
        fail(f'{path}:1', 'the first line is not the SPDX line')
    start, text = 0, ''
    for number, line in enumerate(lines + [''], 1):
        if line.startswith('#'):
            continue
        if line[:1] in (' ', '\t') and line.strip():
            if not text:
                fail(f'{path}:{number}', 'continues no statement')
            text += ' ' + line.strip()
            continue
        if text:
            yield f'{path}:{start}', text
        start, text = number, line.strip()


def number(where, text, most=0xffff):
    if not re.match(r'0x[0-9a-f]+\Z', text):
        fail(where, f"'{text}' is not a code such as 0x1d")
    value = int(text, 16)
    if value > most:
        fail(where, f"'{text}' is above {most:#x}")
    return value


def sentence(where, what, text, longest):
    if len(text) > longest:
        fail(where, f'{what} has {len(text)} characters, at most {longest}')
    if '"' in text and text.count('"') % 2:
        fail(where, f'{what} has an odd quote')
    if text.endswith('.') and not text.endswith('etc.'):
        fail(where, f'{what} ends in a full stop')
    if '  ' in text:
        fail(where, f'{what} has a double blank')


def pairs(where, text, into):
    for pair in text.split():
        key, equals, value = pair.partition('=')
        if not equals or not value:
            fail(where, f"'{pair}' is not NAME=EVENT")
        if key in into:
            fail(where, f"'{key}' is given twice")
        into[key] = value


class Reader:
    """Fills a Table; one method per statement."""

    def __init__(self, path):
        self.table = Table(path)

    def take(self, where, word, rest):
        method = getattr(self, 'on_' + word.replace('-', '_'), None)
        if not method:
            fail(where, f"unknown statement '{word}'")
        if word not in ('core', 'common') and not self.table.name:
            fail(where, "'core NAME' has to come first")
        if word in ('title', 'arch', 'counters', 'filters', 'count') and \
           word in self.table.place:
            fail(where, f"'{word}' is given twice")
        self.table.place.setdefault(word, where)
        method(where, rest.strip())

    def head(self, where, name, common):
        if not CORE_NAME.match(name):
            fail(where, f"'{name}' is not a core's name")
        family = os.path.basename(self.table.path).removesuffix('.events')
        if name != family and (common or not name.startswith(family)):
            fail(where, f"'{name}' is not the file's name, nor begins with it")
        self.table.name, self.table.common = name, common

    def on_core(self, where, rest):
        self.head(where, rest, False)

    def on_common(self, where, rest):
        if not self.table.name:
            self.head(where, rest, True)
            return
        if self.table.common:
            fail(where, 'a common file takes nothing')
        codes, _, source = rest.partition('|')
        for word in codes.split():
            first, dash, last = word.partition('-')
            low = number(where, first)
            high = number(where, last) if dash else low
            if high < low:
                fail(where, f"'{word}' runs backwards")
            self.table.takes.append((low, high, source.strip(), where))
        if not codes.split():
            fail(where, "'common' names no code")

    def on_title(self, where, rest):
        self.table.title = rest or fail(where, 'empty title')

    def on_midr(self, where, rest):
        words = rest.split()
        if len(words) != 2:
            fail(where, "'midr' wants IMPLEMENTER PART")
        self.table.midrs.append((number(where, words[0], 0xff),
                                 number(where, words[1], 0xfff), where))

    def on_also(self, where, rest):
        name, *midr = rest.split() or ['']
        if not CORE_NAME.match(name) or len(midr) not in (0, 2):
            fail(where, "'also' wants NAME or NAME IMPLEMENTER PART")
        if midr:
            self.on_midr(where, ' '.join(midr))
        self.table.also.append((name, where))

    def on_arch(self, where, rest):
        if rest not in ARCHS:
            fail(where, f"'{rest}' is none of {' '.join(ARCHS)}")
        self.table.arch = rest

    def on_counters(self, where, rest):
        words = rest.split()
        if not 1 <= len(words) <= 2 or not all(w.isdigit() for w in words):
            fail(where, "'counters' wants N or N MOST")
        low, high = int(words[0]), int(words[-1])
        if not 1 <= low <= high <= 31:
            fail(where, 'a PMU has 1 to 31 event counters')
        self.table.counters = (low, high)

    def on_filters(self, where, rest):
        for word in rest.split():
            if word not in FILTERS:
                fail(where, f"'{word}' is none of {' '.join(FILTERS)}")
        self.table.filters = rest.split()

    def on_perf(self, where, rest):
        self.table.perf += rest.split() or fail(where, 'no PMU name')

    def on_manual(self, where, rest):
        match = re.match(r'(\S+) "([^"]+)"(?: (\S.*))?\Z', rest)
        if not match:
            fail(where, "'manual' wants ID \"TITLE\" REVISION")
        self.table.manuals.append(
            (match.group(1), match.group(2), match.group(3) or ''))

    def on_note(self, where, rest):
        if not rest:
            fail(where, 'empty note')
        sentence(where, 'note', rest, CAVEAT_MAX)
        self.table.notes.append(rest)

    def on_count(self, where, rest):
        if not rest.isdigit():
            fail(where, f"'{rest}' is not a count")
        self.table.count = int(rest)

    def on_default(self, where, rest):
        pairs(where, rest, self.table.defaults)

    def on_perf_map(self, where, rest):
        self.table.perf_maps += rest.split() or fail(where, 'no map')

    def on_caveat(self, where, rest):
        code, bar, text = rest.partition('|')
        if not bar or not text.strip():
            fail(where, "'caveat' wants CODE | TEXT")
        sentence(where, 'caveat', text.strip(), CAVEAT_MAX)
        self.table.caveats.append((number(where, code.strip()), text.strip(),
                                   where))

    def row(self, where, rest, recommended):
        fields = [field.strip() for field in rest.split('|')]
        head = fields[0].split()
        if len(fields) != 4 or len(head) != 2:
            fail(where, 'an event wants CODE NAME | TEXT | CAVEAT | SOURCE')
        most = 0xffff if self.table.arch == 'armv8' else 0xff
        if not self.table.arch:
            fail(where, "'arch' has to come before the events")
        row = Row(number(where, head[0], most), head[1], fields[1], fields[2],
                  fields[3], where, recommended)
        check_name(where, row.name)
        if not row.text:
            fail(where, f"'{row.name}' has no description")
        sentence(where, 'description', row.text, TEXT_MAX)
        sentence(where, 'caveat', row.caveat, CAVEAT_MAX)
        if row.code in self.table.rows:
            fail(where, f'code {row.code:#04x} is given twice')
        self.table.rows[row.code] = row

    def on_event(self, where, rest):
        self.row(where, rest, False)

    def on_recommended(self, where, rest):
        if not self.table.common:
            fail(where, "'recommended' is for common files")
        self.row(where, rest, True)


def check_name(where, name):
    if not NAME.match(name) or len(name) > NAME_MAX:
        fail(where, f"'{name}' is not a lower-case mnemonic of at most "
             f'{NAME_MAX} characters')
    if name in perf_names.ALL or name in SOFTWARE:
        fail(where, f"'{name}' is perf's generic name")
    if RAW_NAME.match(name):
        fail(where, f"'{name}' reads like a raw code")


def take_common(table, common):
    """Adds the rows that `common` lines ask for; own rows win."""
    for low, high, source, where in table.takes:
        if not common:
            fail(where, f'there is no common table for {table.arch}')
        for code in range(low, high + 1):
            if code not in common.rows:
                fail(where, f'{common.name} has no code {code:#04x}')
            row = table.rows.get(code)
            if row and not row.own:
                fail(where, f'code {code:#04x} is taken twice')
            if not row:
                row = common.rows[code]
                # Without a place in the core's manual: the architecture's.
                place = source or f'{common.manuals[0][0]} {row.source}'
                table.rows[code] = row.taken(place.strip(), where)
    for code, text, where in table.caveats:
        row = table.rows.get(code)
        if not row or row.own:
            fail(where, f'code {code:#04x} is no row taken by common')
        row.caveat = text


def check_architecture(table, common):
    """A code of the architecture keeps the architecture's name."""
    if not common:
        return
    by_name = {row.name: row for row in common.rows.values()
               if not row.recommended}
    for row in table.rows.values():
        arch = common.rows.get(row.code)
        if arch and not arch.recommended and arch.name != row.name:
            fail(row.where, f"code {row.code:#04x} is '{arch.name}' in the "
                 f"architecture, not '{row.name}'")
        # Cores older than the architecture's 0x8000 events used some of their
        # mnemonics for codes of their own (Cortex-A55: stall_frontend_tlb).
        named = by_name.get(row.name)
        if named and named.code < 0x8000 and named.code != row.code \
                and row.name != 'cpu_cycles':
            fail(row.where, f"'{row.name}' is {named.code:#04x} in the "
                 f'architecture, not {row.code:#04x}')


def check_complete(table):
    path = table.place.get('core', table.path)
    for what in ('title', 'arch', 'counters', 'filters', 'count'):
        if getattr(table, what) is None:
            fail(path, f"'{what}' is missing")
    if not table.manuals:
        fail(path, "'manual' is missing")
    if table.common and 'midr' in table.place:
        fail(path, "a common file has no MIDR but those of 'also'")
    if not table.common and not table.midrs:
        fail(path, "'midr' is missing")
    rows = [r for r in table.rows.values()
            if not (table.common and r.recommended)]
    if len(rows) != table.count:
        fail(table.place['count'],
             f'says {table.count}, the table has {len(rows)}')
    names = {}
    for row in table.rows.values():
        if row.name in names:
            fail(row.where, f"'{row.name}' is also {names[row.name]:#04x}")
        names[row.name] = row.code
    if 'cpu_cycles' not in names:
        fail(path, "has no 'cpu_cycles'")


def check_defaults(table):
    names = {row.name for row in table.rows.values()
             if not (table.common and row.recommended)}
    where = table.place.get('default', table.path)
    for key in DEFAULTS:
        if key not in table.defaults:
            fail(where, f"default '{key}' is missing")
    for key, name in table.defaults.items():
        if key not in DEFAULTS:
            fail(where, f"'{key}' is none of the nine defaults")
        if name not in names:
            fail(where, f"default {key}: no event '{name}'")


def check_perf_maps(table, maps):
    """perf's generic name -> what the driver tries for it, in its order.

    Each is a row, the first Linux that does so, and whether the map is the
    core's own: a PMU that is called armv8_pmuv3 has the first map alone.
    """
    names = {row.name: row for row in table.rows.values()}
    for place, name in enumerate(table.perf_maps):
        if name not in maps:
            fail(table.place['perf-map'], f"there is no map '{name}'")
        for generic, choices in maps[name].items():
            served = [(table.rows[code], linux, place > 0)
                      for code, linux in choices if code in table.rows
                      and not (table.common and table.rows[code].recommended)]
            if generic == 'cycles':     # 0xff of ARMv7 is no event's number
                served = [(names['cpu_cycles'], (0, 0), False)]
            if served:
                table.perf_rows.setdefault(generic, []).extend(served)


def check_between(tables):
    """What only shows when all cores are seen together."""
    midrs, perf = {}, {}
    known = {table.name: table.name for table in tables}
    if len(known) < len(tables):
        names = [table.name for table in tables]
        fail(*next((table.place['core'], f"'{table.name}' is there twice")
                   for table in tables if names.count(table.name) > 1))
    for table in tables:
        for name, where in table.also:
            other = known.setdefault(name, table.name)
            if other != table.name or name == table.name:
                fail(where, f"'{name}' is {other}'s name")
        for implementer, part, where in table.midrs:
            other = midrs.setdefault((implementer, part), table.name)
            if other != table.name:
                fail(where, f'{other} has the same MIDR')
        if len({m[:2] for m in table.midrs}) != len(table.midrs):
            fail(table.path, 'a MIDR is given twice')
        for name in table.perf:
            other = perf.setdefault(name, table.name)
            if other != table.name:
                fail(table.place['perf'], f"'{name}' is {other}'s PMU name")


def read_file(path):
    """A table for each core of a family; each begins with its name."""
    readers = []
    for where, text in statements(path):
        word, _, rest = text.partition(' ')
        if word == 'core' or not readers:
            readers.append(Reader(path))
        readers[-1].take(where, word, rest)
    if not readers:
        fail(path, 'is empty')
    return [reader.table for reader in readers]


def read_all(folder):
    """Returns all tables by name, common ones first; raises TableError."""
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder)
                   if name.endswith('.events'))
    maps = perf_names.read_maps(os.path.join(folder, 'perf.maps'), fail)
    tables = [table for path in paths for table in read_file(path)]
    commons = {t.arch: t for t in tables if t.common}
    tables.sort(key=lambda t: (not t.common, t.name))
    for table in tables:
        common = None if table.common else commons.get(table.arch)
        take_common(table, common)
        check_architecture(table, common)
        check_complete(table)
        check_defaults(table)
        check_perf_maps(table, maps)
    check_between(tables)
    return tables
