#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""printed.py UPMU [--renew]: each command prints what it printed.

tests/fixtures/printed/commands.txt has commands, each behind "$ ", with all
that they printed below. "on BOARD" asks as if this were that board; the files
are those of samples(). --renew writes it anew; read what git then shows.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(os.path.dirname(HERE), "fixtures")
PRINTED = os.path.join(FIXTURES, "printed/commands.txt")

ON = """#!/bin/sh
[ -d boards/"$1" ] || {fixtures}/unpack boards "$1"
UPMU_ROOT=boards/$1
export UPMU_ROOT
shift
exec "$@"
"""


def cell(values):
    mean = sum(values) / len(values)
    return {"mean": mean, "values": values}


def compared(seed, runs, factors, **more):
    """As upmu compare -j writes: three events, of which one never differs."""
    drawn = random.Random(seed)
    rows = []
    for name, unit, about in (("cycles", "events", 1e6),
                              ("page-faults", "events", 100),
                              ("task-clock", "s", 0.5)):
        spread = 0 if name == "page-faults" else 0.02
        rows.append({"event": name, "unit": unit, "commands": [
            cell([about * factor * (1 + spread * drawn.uniform(-1, 1))
                  * (1.6 if run == 3 and spread else 1)
                  for run in range(runs)]) for factor in factors]})
    return {"upmu_compare": 1, "paired": True, "events": rows,
            "commands": [{"name": f"command {n}", "runs": runs}
                         for n in range(len(factors))], **more}


def samples():
    files = {"two.json": compared(1, 12, (1, 1.1)),
             "like.json": compared(2, 12, (1, 1)),
             "three.json": compared(3, 20, (1, 0.9, 1.001)),
             "few.json": compared(4, 2, (1, 2)),
             "one.json": compared(5, 1, (1, 2)),
             "empty.json": {}, "list.json": []}
    for name, root in files.items():
        with open(name, "w") as file:
            json.dump(root, file)
    with open("broken.json", "w") as file:
        file.write('{"upmu_compare": 1')
    subprocess.run([sys.executable, f"{HERE}/merge_samples.py", "ranks", "4"],
                   check=True)


def run(command):
    done = subprocess.run(["sh", "-c", command], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace",
                          timeout=60,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC",
                               "PATH": f"{os.getcwd()}/bin:/usr/bin:/bin"})
    said = re.sub(r'"version": "[^"]*"', '"version": "#"', done.stdout)
    said = said.replace(os.getcwd(), "HERE")
    # the last digits are the processor's own
    said = re.sub(r"\d+\.\d{7,}", lambda one: f"{float(one[0]):.6g}", said)
    if said and not said.endswith("\n"):
        said += "\n(no newline)\n"
    return said + f"status {done.returncode}\n" * bool(done.returncode)


def sections():
    """(command, what it printed)."""
    with open(PRINTED) as file:
        text = file.read()
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, said = part.partition("\n")
        yield command, said


def begin(upmu, folder):
    os.chdir(folder)
    os.mkdir("bin")
    os.mkdir("boards")
    os.symlink(upmu, "bin/upmu")
    with open("bin/on", "w") as file:
        file.write(ON.format(fixtures=FIXTURES))
    os.chmod("bin/on", 0o755)
    samples()


def main():
    with tempfile.TemporaryDirectory() as folder:
        begin(os.path.abspath(sys.argv[1]), folder)
        now = [(command, was, run(command)) for command, was in sections()]
        os.chdir("/")
    if sys.argv[2:] == ["--renew"]:
        with open(PRINTED, "w") as file:
            file.writelines(f"$ {command}\n{said}"
                            for command, _, said in now)
        return 0
    differ = [one for one in now if one[1] != one[2]]
    for command, was, said in differ:
        print(f"$ {command}\n--- it was\n{was}--- it is\n{said}")
    print(f"{len(now)} commands, {len(differ)} print something else")
    return 1 if differ or len(now) < 50 else 0


sys.exit(main())
