#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_samples.py FOLDER [INTERVALS]: JSON as upmu writes it, made up

One file for each thing that upmu report draws, with names that would break a
page that took them for markup. Seeded: the same each time.
"""
import json
import random
import sys
from pathlib import Path

EVIL = '<script>alert("x")</script>&<img src=x onerror=alert(1)>'
random.seed(1)


def event(name, value, low=None, high=None, **more):
    out = {'event': name, 'state': 'counted', 'unit': 'events',
           'value': value, 'counted': int(value), 'running_ns': 10 ** 9,
           'enabled_ns': 10 ** 9, 'running_percent': 100.0,
           'estimated': low is not None, **more}
    if low is not None:
        out.update(estimate=value, low_95=low, high_95=high, slices=40,
                   running_percent=25.0)
    return out


def stat(**more):
    return {'upmu_stat': 1, 'version': '0.1.0', 'command': ['./a', EVIL],
            'runs': 1, 'elapsed_s': 1.5, 'user_s': 1.4, 'sys_s': 0.1,
            'metrics': [{'metric': 'ipc', 'value': 0.8, 'unit': '',
                         'event': 'instructions'}],
            'user_only': False, **more}


def estimates():
    return stat(events=[
        event('cycles', 2e9, role='cycles'),
        event('instructions', 1.6e9, role='instructions'),
        event('l1d_cache_refill', 3e6, 2.7e6, 3.4e6),
        event('br_mis_pred', 1e6, 0.95e6, 1.06e6),
        event('l1d_tlb_refill', 5e4, 4e4, None),
        {'event': 'dtlb_walk', 'state': 'not supported', 'unit': 'events'}],
        multiplexing={'sets': 3, 'slices': 120, 'slice_ms': 4.0,
                      'switching_percent': 0.4, 'passes': False},
        reason='dtlb_walk: this core has no such event')


def rank(number):
    return stat(cpus=str(number), events=[
        event('cycles', 1e9 * (1 + 0.2 * number)),
        event('instructions', 1e9 - 1e8 * number),
        event('l1d_cache_refill', 1e6 * (number + 1) ** 2)])


def clusters():
    return stat(machine={'host': 'a', 'kernel': '6.12', 'cores': [
        'cortex-a53', 'cortex-a72']}, events=[
            event('cortex-a53/cycles/', 4e8, core='cortex-a53'),
            event('cortex-a72/cycles/', 1e9, core='cortex-a72')])


def intervals(count):
    for i in range(count):
        slow = count * 0.3 < i < count * 0.6
        cycles = 1e6 * (1 + 0.02 * random.gauss(0, 1))
        refills = 3e3 * (6 if slow else 1) * random.uniform(0.8, 1.2)
        yield stat(interval_s=0.001 * (i + 1), events=[
            event('cycles', cycles, role='cycles'),
            event('instructions', cycles * (0.4 if slow else 1.2),
                  role='instructions'),
            event('l1d_cache_refill', refills, 0.7 * refills,
                  1.4 * refills),
            {'event': 'dtlb_walk', 'state': 'not supported',
             'unit': 'events'}])


def places(**more):
    """stat -a -A: rows of each CPU, in one report."""
    rows = []
    for cpu in range(4):
        rows.append(event('cycles', 1e9 / (cpu + 1), place=f'CPU{cpu}'))
        rows.append(event('instructions', 5e8 * (cpu + 1),
                          place=f'CPU{cpu}'))
    return stat(**{'cpus': 'all', 'events': rows, 'metrics': [
        {'metric': 'ipc', 'value': 0.5 * (cpu + 1) ** 2, 'unit': '',
         'event': 'instructions', 'place': f'CPU{cpu}'}
        for cpu in range(4)], **more})


def cell(mean, percent=None, verdict=None):
    values = [mean * (1 + 0.01 * random.gauss(0, 1)) for _ in range(10)]
    out = {'counted': 10, 'mean': mean, 'low_95': 0.99 * mean,
           'high_95': 1.01 * mean, 'deviation': 0.01 * mean,
           'median': mean, 'min': min(values), 'max': max(values),
           'values': values, 'outliers': [7]}
    if verdict:
        out['change'] = {
            'difference': 1.0, 'percent': percent,
            'percent_low_95': percent - 1, 'percent_high_95': percent + 1,
            'p_of_all': 0.002, 'exact': False, 'verdict': verdict}
    return out


def compare():
    commands = [{'name': name, 'command': [name], 'runs': 10, 'failed': 0,
                 'status': [0] * 10} for name in ('./a', EVIL, './c')]
    events = []
    for name, unit, base in (('elapsed', 's', 0.4), ('max_rss', 'kB', 2000),
                             ('instructions', 'events', 5e8)):
        events.append({'event': name, 'unit': unit, 'commands': [
            cell(base), cell(0.8 * base, -20, 'less'),
            cell(1.001 * base, 0.1, 'no difference seen')]})
    events.append({'event': 'cycles', 'unit': 'events',
                   'state': '<not supported>',
                   'commands': [{'counted': 0}] * 3})
    return {'upmu_compare': 1, 'version': '0.1.0', 'paired': True,
            'interrupted': False, 'emulated': False, 'estimated': False,
            'user_only': False, 'commands': commands, 'events': events,
            'conditions': []}


def regions():
    def one(name, calls, total, **more):
        return {'region': name, 'calls': calls, **more, 'events': [
            {'event': kind, 'unit': 'events', 'total': int(total * factor),
             'mean': total * factor / calls, 'min': 1,
             'max': int(total * factor / calls * 2), 'overhead': 10}
            for kind, factor in (('cycles', 1), ('instructions', 0.7))]}
    return {'source': 'page', 'running': 1.0, 'regions': [
        one('solve', 1, 10_000_000), one('solve/assemble', 10, 6_000_000),
        one('solve/assemble/' + EVIL, 1000, 2_500_000),
        one('solve/factor', 10, 3_000_000),
        one('inner', 40, 1_000_000, parent='solve/factor'),
        one('write', 1, 2_000_000)]}


def main():
    folder = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    folder.mkdir(exist_ok=True)
    for name, report in (('estimates', estimates()), ('compare', compare()),
                         ('regions', regions()), ('clusters', clusters()),
                         ('cpu0', rank(0)),
                         ('cpu1', rank(1)), ('cpu2', rank(2))):
        (folder / f'{name}.json').write_text(json.dumps(report, indent=1))
    more = folder / 'places'
    more.mkdir(exist_ok=True)
    (more / 'once.json').write_text(json.dumps(places(), indent=1))
    with (more / 'over-time.json').open('w') as file:
        for i in range(1, 21):
            file.write(json.dumps(places(interval_s=0.1 * i)) + '\n')
    with (folder / 'intervals.json').open('w') as file:
        for report in intervals(count):
            file.write(json.dumps(report) + '\n')


main()
