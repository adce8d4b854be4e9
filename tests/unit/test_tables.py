#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every rule of lib/events/FORMAT.md, on the tables and on broken ones."""
import os
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, 'lib', 'events', 'tables')
sys.path.insert(0, os.path.join(ROOT, 'lib', 'events'))

import tables as t  # noqa: E402
import gen_tables  # noqa: E402

# The cores that the project promises, common tables aside.
PROMISED = '''arm1136 arm1176 cortex-a5 cortex-a7 cortex-a8 cortex-a9 cortex-a12
cortex-a15 cortex-a17 cortex-a32 cortex-a35 cortex-a53 cortex-a55 cortex-a57
cortex-a72 cortex-a73 cortex-a75 cortex-a76 cortex-a78 cortex-a78ae cortex-a34
cortex-a65 cortex-a77 cortex-a510 cortex-a520 cortex-a710 cortex-a715
cortex-a720 cortex-x1 cortex-x2 cortex-x3 cortex-x4 neoverse-e1 neoverse-n1
neoverse-n2 neoverse-n3 neoverse-v1 neoverse-v2 neoverse-v3 ampere-1 ampere-1a emag
tsv110 thunderx2 a64fx olympus monaka cortex-a725 cortex-x925 c1-nano c1-pro
c1-premium c1-ultra apple-firestorm apple-icestorm apple-avalanche
apple-blizzard krait scorpion scorpion-mp thunderx exynos-m1 exynos-m3'''.split()

COMMON = '''# SPDX-License-Identifier: MIT
common common-armv8
title ARMv8 (common events)
arch armv8
counters 6
filters user kernel hyp
manual DDI0487 "Architecture Reference Manual" F.c
count 3
default cycles=cpu_cycles instructions=inst_retired stall=cpu_cycles
 l1d=l1d_cache l1d_miss=l1d_cache dtlb=l1d_cache tlb=l1d_cache
 branches=l1d_cache branch_misses=l1d_cache
event 0x04 l1d_cache | access to the L1 data cache | | D7.10
event 0x08 inst_retired | instruction executed | | D7.10
event 0x11 cpu_cycles | cycle of this core | | D7.10
recommended 0x40 l1d_cache_rd | read access to the L1 data cache | | K3.1
'''

CORE = '''# SPDX-License-Identifier: MIT
core cortex-z1
title Arm Cortex-Z1
midr 0x41 0xfff
arch armv8
counters 6
filters user kernel hyp
perf armv8_cortex_z1
manual DDI9999A "Technical Reference Manual" r0p0
count 5
default cycles=cpu_cycles instructions=inst_retired stall=z_stall
 l1d=l1d_cache l1d_miss=z_miss dtlb=l1d_cache tlb=l1d_cache
 branches=l1d_cache branch_misses=l1d_cache
perf-map z
common 0x04 0x08 0x11 | table 1
caveat 0x04 | counts twice on Sundays
event 0xc0 z_stall | cycle in which nothing happened | | table 2
event 0xc1 z_miss | access that missed | | table 2
'''

MAPS = '''# SPDX-License-Identifier: MIT
map z armv8_z
 cycles=0x11 bus-cycles=0x11 branch-misses=0x10
 branch-instructions=0x21,0x04,0x08@6.4
map own armv8_own
 branch-instructions=0x04
'''

# (claim, what is replaced in MAPS, by what, words of the refusal)
BROKEN_MAPS = [
    ('a_name_that_perf_does_not_know_is_refused', 'bus-cycles', 'buss-cycles',
     'GENERIC-NAME'),
    ('a_generic_name_twice_in_a_map_is_refused', 'bus-cycles', 'cycles',
     'twice'),
    ('a_kernel_without_its_minor_number_is_refused', '@6.4', '@6',
     'GENERIC-NAME'),
    ('a_map_without_its_array_is_refused', 'map z armv8_z', 'map z',
     'a map is'),
]

# (claim, what is replaced in CORE, by what, words of the refusal)
BROKEN = [
    ('a_core_without_the_spdx_line_is_refused', '# SPDX', '# XSPD', 'SPDX'),
    ('a_name_other_than_the_files_is_refused', 'core cortex-z1',
     'core cortex-z2', "file's name"),
    ('a_duplicate_code_is_refused', 'event 0xc1', 'event 0xc0', 'twice'),
    ('a_duplicate_name_is_refused', 'z_miss |', 'z_stall |', 'also'),
    ('an_upper_case_name_is_refused', 'z_miss |', 'Z_MISS |', 'mnemonic'),
    ('an_empty_description_is_refused', 'access that missed', '',
     'no description'),
    ('a_missing_bar_is_refused', 'missed | |', 'missed |', 'CODE NAME'),
    ('a_full_stop_is_refused', 'missed |', 'missed. |', 'full stop'),
    ('a_description_longer_than_a_line_is_refused', 'access that missed',
     'x' * 161, 'at most 160'),
    ('a_name_that_disagrees_with_the_architecture_is_refused',
     'event 0xc1 z_miss', 'event 0x08 z_miss',
     "is 'inst_retired' in the architecture"),
    ('a_code_that_disagrees_with_the_architecture_is_refused',
     'event 0xc1 z_miss', 'event 0xc1 inst_retired', 'not 0xc1'),
    ('a_missing_default_is_refused', ' stall=z_stall', '',
     "default 'stall' is missing"),
    ('a_default_that_maps_to_no_event_is_refused', 'l1d_miss=z_miss',
     'l1d_miss=z_mist', "no event 'z_mist'"),
    ('an_unknown_default_is_refused', ' stall=z_stall',
     ' stall=z_stall stahl=z_stall', 'nine defaults'),
    ('a_map_that_is_not_there_is_refused', 'perf-map z', 'perf-map y',
     "no map 'y'"),
    ('a_variant_with_another_cores_name_is_refused', 'perf-map z',
     'perf-map z\nalso common-armv8', "common-armv8's name"),
    ('a_variant_with_half_a_midr_is_refused', 'perf-map z',
     'perf-map z\nalso cortex-z2 0x41', 'IMPLEMENTER PART'),
    ('a_core_without_a_midr_is_refused', 'midr 0x41 0xfff\n', '',
     "'midr' is missing"),
    ('a_core_without_a_manual_is_refused',
     'manual DDI9999A "Technical Reference Manual" r0p0\n', '',
     "'manual' is missing"),
    ('a_wrong_count_is_refused', 'count 5', 'count 6', 'the table has 5'),
    ('a_core_without_cycles_is_refused', 'common 0x04 0x08 0x11 | table 1',
     'common 0x04 0x08\nevent 0xc2 z_cycles | cycle | |',
     "has no 'cpu_cycles'"),
    ('a_common_code_that_is_not_there_is_refused', 'common 0x04',
     'common 0x05', 'no code 0x05'),
    ('a_caveat_for_no_row_is_refused', 'caveat 0x04', 'caveat 0x05',
     'no row'),
    ('a_name_like_a_raw_code_is_refused', 'event 0xc1 z_miss',
     'event 0xc1 rabba', 'raw code'),
    ('a_name_that_perf_uses_is_refused', 'event 0xc1 z_miss',
     'event 0xc1 cycles', 'generic name'),
    ('an_unknown_filter_is_refused', 'filters user', 'filters users',
     "'users'"),
    ('more_counters_than_a_pmu_can_have_are_refused', 'counters 6',
     'counters 32', '1 to 31'),
    ('an_unknown_statement_is_refused', 'counters 6', 'countres 6',
     "unknown statement 'countres'"),
    ('text_beyond_ascii_is_refused', 'missed', 'mi\u00dfed', 'not ASCII'),
    ('a_recommended_row_in_a_core_is_refused', 'event 0xc1',
     'recommended 0xc1', 'common files'),
]


class Tap:
    """Counts and prints results."""

    def __init__(self):
        self.n, self.failed = 0, 0

    def result(self, good, claim, why=''):
        self.n += 1
        print(f"{'ok' if good else 'not ok'} {self.n} - {claim}")
        if not good:
            self.failed += 1
            for line in str(why).splitlines():
                print('# ' + line)


def read(files):
    """Tables of a folder with these files; the error's text if refused."""
    folder = tempfile.mkdtemp()
    try:
        for name, text in files.items():
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(text.encode('utf-8'))
        return t.read_all(folder), ''
    except t.TableError as error:
        return None, str(error)
    finally:
        shutil.rmtree(folder)


def check_refusals(tap):
    good = {'common-armv8.events': COMMON, 'cortex-z1.events': CORE,
            'perf.maps': MAPS}
    tables, why = read(good)
    tap.result(tables is not None, 'a_right_table_is_taken', why)
    for claim, old, new, words in BROKEN:
        assert old in CORE, claim
        tables, why = read({**good, 'cortex-z1.events':
                            CORE.replace(old, new, 1)})
        tap.result(tables is None and words in why, claim,
                   why or 'was taken')
    for claim, old, new, words in BROKEN_MAPS:
        assert old in MAPS, claim
        tables, why = read({**good, 'perf.maps': MAPS.replace(old, new, 1)})
        tap.result(tables is None and words in why, claim,
                   why or 'was taken')
    twin = CORE.replace('cortex-z1', 'cortex-z2').replace('cortex_z1', 'z2')
    tables, why = read({**good, 'cortex-z2.events': twin})
    tap.result(tables is None and 'same MIDR' in why,
               'two_cores_with_one_midr_are_refused', why)
    twin = CORE.replace('cortex-z1', 'cortex-z2').replace('0xfff', '0xffe')
    tables, why = read({**good, 'cortex-z2.events': twin})
    tap.result(tables is None and 'PMU name' in why,
               'two_cores_with_one_pmu_name_are_refused', why)
    check_families(tap, twin.replace('cortex_z1', 'cortex_z2'))


def check_families(tap, twin):
    """Cores in one file, whose name each begins with."""
    rest = {'common-armv8.events': COMMON, 'perf.maps': MAPS}
    apart, why = read({**rest, 'cortex-z1.events': CORE,
                       'cortex-z2.events': twin})
    tap.result(apart is not None, 'each_core_may_have_a_file', why)
    joined, why = read({**rest, 'cortex-z.events': CORE + twin})
    tap.result(joined is not None and apart is not None and
               [(x.name, [m[:2] for m in x.midrs], sorted(x.rows))
                for x in joined] ==
               [(x.name, [m[:2] for m in x.midrs], sorted(x.rows))
                for x in apart], 'or_a_family_has_one', why)
    _, why = read({**rest, 'cortex-y.events': CORE + twin})
    tap.result("file's name" in why, 'another_familys_is_refused', why)
    _, why = read({**rest, 'cortex-z.events': CORE + CORE})
    tap.result("'cortex-z1' is there twice" in why,
               'a_core_twice_is_refused', why)
    _, why = read({**rest, 'cortex-z.events':
                   CORE + twin.replace('count 5\n', '')})
    line = CORE.count('\n') + 2
    tap.result(f"cortex-z.events:{line}: 'count' is missing" in why,
               'what_is_missing_is_told_by_the_cores_line', why)
    _, why = read({**rest, 'common.events': COMMON,
                   'cortex-z1.events': CORE})
    tap.result("file's name" in why, 'a_common_table_has_its_own', why)


def check_meaning(tap):
    core = CORE.replace('perf-map z', 'perf-map z own')
    tables, why = read({'common-armv8.events': COMMON,
                        'cortex-z1.events': core, 'perf.maps': MAPS})
    core = tables[-1]
    row = core.rows[0x04]
    tap.result(row.caveat == 'counts twice on Sundays' and
               row.source == 'table 1', 'a_taken_row_has_its_own_caveat', why)
    tap.result(tables[0].rows[0x04].caveat == '',
               'a_caveat_stays_with_its_core')
    tried = [(row.name, linux, own) for row, linux, own
             in core.perf_rows['branch-instructions']]
    tap.result(tried == [('l1d_cache', (0, 0), False),
                         ('inst_retired', (6, 4), False),
                         ('l1d_cache', (0, 0), True)],
               'perf_tries_the_codes_that_a_core_has_in_the_drivers_order',
               tried)
    tap.result('branch-misses' not in core.perf_rows,
               'a_generic_name_for_an_event_that_is_not_there_has_no_row')
    tap.result([r.code for r in gen_tables.served_rows(tables[0])] ==
               [0x04, 0x08, 0x11],
               'an_unknown_core_is_not_offered_recommended_events')


def main():
    tap = Tap()
    check_refusals(tap)
    check_meaning(tap)
    try:
        tables = t.read_all(FOLDER)
        tap.result(True, 'every_rule_holds_for_every_table')
    except t.TableError as error:
        tap.result(False, 'every_rule_holds_for_every_table', error)
        tables = []
    names = [table.name for table in tables]
    for name in PROMISED + ['common-armv7', 'common-armv8']:
        tap.result(name in names,
                   f"{name.replace('-', '_')}_has_a_table", 'missing')
    print(f'1..{tap.n}')
    return 1 if tap.failed else 0


if __name__ == '__main__':
    sys.exit(main())
