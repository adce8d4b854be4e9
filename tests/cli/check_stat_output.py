#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_stat_output.py json|csv|compare|merge FILE: does it keep docs/schema?

Knows as much of JSON Schema as docs/schema/stat.schema.json uses; an unknown
keyword there is an error, so that no part of the contract goes unchecked.
"""
import csv
import json
import re
import sys
from pathlib import Path

SCHEMA = Path(__file__).resolve().parents[2] / 'docs' / 'schema'
TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool,
         'null': type(None)}


def is_type(value, name):
    if name in ('integer', 'number'):
        kinds = int if name == 'integer' else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check_type(value, wanted):
    names = wanted if isinstance(wanted, list) else [wanted]
    return any(is_type(value, name) for name in names)


def check_object(value, schema, where):
    properties = schema.get('properties', {})
    for key in schema.get('required', []):
        if key not in value:
            yield f'{where}: no key {key!r}'
    for key, part in value.items():
        if key in properties:
            yield from check(part, properties[key], f'{where}.{key}')
        elif schema.get('additionalProperties') is False:
            yield f'{where}: unknown key {key!r}'


def check(value, schema, where='report'):
    for word, wanted in schema.items():
        bad = False
        if word == 'type':
            bad = not check_type(value, wanted)
        elif word == 'const':
            bad = value != wanted
        elif word == 'enum':
            bad = value not in wanted
        elif word == 'minimum':
            bad = value is not None and value < wanted
        elif word == 'maximum':
            bad = value is not None and value > wanted
        elif word == 'minItems':
            bad = len(value) < wanted
        elif word == 'items':
            for i, part in enumerate(value):
                yield from check(part, wanted, f'{where}[{i}]')
        elif word == 'properties':
            yield from check_object(value, schema, where)
        elif word not in ('$schema', '$comment', 'title', 'description',
                          'required', 'additionalProperties'):
            raise SystemExit(f'schema: unknown keyword {word!r}')
        if bad:
            yield f'{where}: {value!r} breaks {word} {wanted!r}'


def check_compare(text):
    return check_json(text, 'compare')


def check_merge(text):
    return check_json(text, 'merge')


def check_json(text, name='stat'):
    schema = json.loads((SCHEMA / f'{name}.schema.json').read_text())
    try:
        reports = [json.loads(text)]
    except json.JSONDecodeError:
        reports = [json.loads(line) for line in text.splitlines()]
    if not reports:
        yield 'no report'
    for report in reports:
        yield from check(report, schema)


def check_csv(text):
    contract = json.loads((SCHEMA / 'stat-csv.json').read_text())
    rows = list(csv.reader(text.splitlines()))
    columns = contract['columns']
    if not rows:
        yield 'no row'
        return
    more = len(rows[0]) - len(columns)
    is_timed = re.fullmatch('interval_s|[0-9]+\\.[0-9]{9}', rows[0][0])
    if more == 2 or (more == 1 and not is_timed):
        columns = [contract['place']] + columns
    if more == 2 or (more == 1 and is_timed):
        columns = [contract['interval']] + columns
    names = [column['name'] for column in columns]
    if 'value' in rows[0]:
        if rows.pop(0) != names:
            yield f'the header is not {names}'
    for number, row in enumerate(rows, 1):
        if len(row) != len(columns):
            yield f'row {number}: {len(row)} columns, not {len(columns)}'
        for cell, column in zip(row, columns):
            if not re.fullmatch(column['pattern'], cell):
                yield f"row {number}: {column['name']} is {cell!r}"


def main():
    kind, path = sys.argv[1:]
    checks = {'json': check_json, 'csv': check_csv, 'compare': check_compare,
              'merge': check_merge}
    faults = list(checks[kind](Path(path).read_text()))
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))


main()
