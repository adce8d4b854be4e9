# SPDX-License-Identifier: MIT
"""perf's generic names: their numbers, and perf.maps: which events they are."""
import os
import re

# In the order of enum perf_hw_id.
HARDWARE = [['cycles', 'cpu-cycles'], ['instructions'], ['cache-references'],
            ['cache-misses'], ['branch-instructions', 'branches'],
            ['branch-misses'], ['bus-cycles'],
            ['stalled-cycles-frontend', 'idle-cycles-frontend'],
            ['stalled-cycles-backend', 'idle-cycles-backend'], ['ref-cycles']]
# In the orders of enum perf_hw_cache_id, _op_id and _op_result_id.
CACHES = ['L1-dcache', 'L1-icache', 'LLC', 'dTLB', 'iTLB', 'branch', 'node']
KINDS = ['loads', 'load-misses', 'stores', 'store-misses', 'prefetches',
         'prefetch-misses']
CHOICE = r'0x[0-9a-f]+(?:@\d+\.\d+)?'
FIRST_CACHE = 16    # as UPMU_GENERIC_FIRST_CACHE of generic.h

NUMBERS = {names[0]: n for n, names in enumerate(HARDWARE)}
for _c, _cache in enumerate(CACHES):
    for _k, _kind in enumerate(KINDS):
        NUMBERS[f'{_cache}-{_kind}'] = FIRST_CACHE + _c * len(KINDS) + _k
ALL = set(NUMBERS) | {name for names in HARDWARE for name in names}


def _read_choice(text):
    code, _, linux = text.partition('@')
    return int(code, 16), tuple(map(int, linux.split('.'))) if linux else (0, 0)


def _read_map(where, words, fail):
    codes = {}
    for word in words:
        match = re.match(rf'([\w-]+)=({CHOICE}(?:,{CHOICE})*)\Z', word)
        if not match or match.group(1) not in NUMBERS:
            fail(where, f"'{word}' is not GENERIC-NAME=CODE[@LINUX][,...]")
        if match.group(1) in codes:
            fail(where, f"'{match.group(1)}' is given twice")
        codes[match.group(1)] = [_read_choice(choice) for choice
                                 in match.group(2).split(',')]
    return codes


def read_maps(path, fail):
    """{map: {generic name: [(code, first Linux), ...]}} (FORMAT.md)."""
    maps, words, where = {}, [], ''
    if not os.path.exists(path):
        return maps
    with open(path, encoding='ascii') as file:
        lines = file.read().split('\n')
    for number, line in enumerate(lines + ['map'], 1):
        if line.startswith('#') or not line.strip():
            continue
        if line.startswith(' '):
            words += line.split()
            continue
        if words:
            if len(words) < 3 or words[0] != 'map' or words[1] in maps \
                    or '=' in words[2]:
                fail(where, "a map is 'map NAME ARRAY GENERIC-NAME=CODE...'")
            maps[words[1]] = _read_map(where, words[3:], fail)
        words, where = line.split(), f'{path}:{number}'
    return maps
