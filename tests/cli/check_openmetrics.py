#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_openmetrics.py FILE [FORMER]: may Prometheus read it, and go on?

The rules of the text format 0.0.4 and of OpenMetrics's names that our files
are to keep. With FORMER no counter may have fallen since that file.
"""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
UNITS = re.compile(r"_(ms|us|ns|sec|min|milliseconds|percent)(_|$)")


class Bad(Exception):
    pass


def check_family(name, kind):
    if (kind == "counter") != name.endswith("_total"):
        raise Bad(f"{name}: a {kind}")
    if not name.startswith("upmu_") or "__" in name or UNITS.search(name):
        raise Bad(f"{name}: no name of ours")


def read(path):
    """{series: value} of the counters; Bad where a rule is broken."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not text.endswith("\n"):
        raise Bad("the last line has no end")
    seen, kinds, helped, family = {}, {}, set(), None
    for line in text.splitlines():
        words = line.split(" ", 3)
        if words[:2] == ["#", "HELP"] and words[3:]:
            if words[2] in helped:
                raise Bad(f"{words[2]}: HELP twice")
            helped.add(words[2])
        elif words[:2] == ["#", "TYPE"]:
            family = words[2]
            if family in kinds or family not in helped:
                raise Bad(f"{family}: parted, or without HELP")
            check_family(family, words[3])
            kinds[family] = words[3]
        else:
            found = SAMPLE.fullmatch(line)
            if not found or found[1] != family:
                raise Bad(f"no sample of {family}: {line}")
            series = f"{found[1]}{{{found[2] or ''}}}"
            if series in seen:
                raise Bad(f"{series}: twice")
            seen[series] = float(found[3])
            if not 0 <= seen[series] < float("inf"):
                raise Bad(line)
    return {key: value for key, value in seen.items()
            if kinds[key.partition("{")[0]] == "counter"}


def main():
    now = read(sys.argv[1])
    for series, value in read(sys.argv[2]).items() if sys.argv[2:] else ():
        if now.get(series, -1) < value:
            raise Bad(f"{series}: fell from {value}")
    if not now:
        raise Bad("no counters")


if __name__ == "__main__":
    try:
        main()
    except Bad as bad:
        sys.exit(f"{sys.argv[1]}: {bad}")
