#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""setup_random.py UPMU KILL_AT FIRST LAST: upmu setup in any order of events

For each seed from FIRST to LAST: boots on other cores and kernels, setups and
--undos, whole or killed, and a user's own lines and settings, on a machine
below $UPMU_ROOT whose commands are setup_undo.bats'. After each whole setup
the machine has to be usable, now and after a boot; after each whole --undo
there is nothing of setup's. What a kill leaves is looked at, not foretold.
"""
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(os.environ['UPMU_ROOT'])
ETC, KERNEL = ROOT / 'etc', ROOT / 'proc/sys/kernel'
PMUS = ROOT / 'sys/bus/event_source/devices'
MODULE, ADOPTED = ROOT / 'sys/module/upmu', ROOT / 'sys/devices/platform/upmu-pmu'
JOURNAL = ETC / 'upmu-setup.journal'
RULES, LOAD, ADOPT, SYSCTLS = FILES = [ETC / name for name in (
    'udev/rules.d/60-upmu.rules', 'modules-load.d/upmu.conf',
    'modprobe.d/upmu.conf', 'sysctl.d/60-upmu.conf')]
MARK = '# Written by `upmu setup`'
PARANOID, USER_ACCESS = 'kernel.perf_event_paranoid', 'kernel.perf_user_access'


class Kind(NamedTuple):
    pmu: str
    part: str
    paranoid: int          # what users may count with
    bare: bool = False     # perf has no PMU until the module adopts it
    opens: bool = False    # kernel.perf_user_access


KINDS = [Kind('armv7_cortex_a7', '0xc07', 2),
         Kind('armv7_cortex_a9', '0xc09', 1),
         Kind('armv7_cortex_a7', '0xc07', 2, bare=True),
         Kind('armv7_cortex_a9', '0xc09', 1, bare=True),
         Kind('armv8_pmuv3_0', '0xd08', 2),
         Kind('armv8_pmuv3_0', '0xd08', 2, opens=True)]


def value(name):
    file = KERNEL / name
    return int(file.read_text()) if file.exists() else None


def paranoid():
    return value('perf_event_paranoid')


def has_group():
    return 'upmu:' in (ETC / 'group').read_text()


def snapshot():
    return {str(path): path.read_bytes() if path.is_file() else None
            for path in sorted(ROOT.rglob('*'))}


def lines_of(file):
    return file.read_text().splitlines() if file.exists() else []


def is_foreign(file):
    return file.exists() and MARK not in file.read_text()


class Run:
    """One seed: the machine, and what has to be true of it."""

    def __init__(self, upmu, kill_at, seed):
        self.upmu, self.kill_at = upmu, kill_at
        self.random = random.Random(seed)
        self.done = []
        self.default = self.random.choice([3, 3, 4, 2, 1, -1])
        self.group = self.random.random() < 0.3
        self.users = {file: [] for file in FILES}
        self.former = self.former_access = None
        self.set_by_user = self.is_set_up = False
        self.make()

    def make(self):
        shutil.rmtree(ROOT, ignore_errors=True)
        for folder in [KERNEL, PMUS, MODULE.parent, ADOPTED.parent,
                       ETC / 'modprobe.d', *(file.parent for file in FILES)]:
            folder.mkdir(parents=True, exist_ok=True)
        (ETC / 'group').write_text(
            'root:x:0:\n' + 'upmu:x:55:\n' * self.group)
        self.boot(self.random.choice(KINDS))

    def boot(self, kind):
        self.kind = kind
        for folder in PMUS.iterdir():
            shutil.rmtree(folder)
        for folder in (MODULE, ADOPTED):
            shutil.rmtree(folder, ignore_errors=True)
        for file in KERNEL.iterdir():
            file.unlink()
        is_64 = kind.pmu.startswith('armv8')
        (KERNEL / 'arch').write_text('aarch64\n' if is_64 else 'armv7l\n')
        (KERNEL / 'perf_event_paranoid').write_text(f'{self.default}\n')
        if kind.opens:
            (KERNEL / 'perf_user_access').write_text('0\n')
        (ROOT / 'proc/cpuinfo').write_text(
            'processor : 0\nCPU implementer : 0x41\nCPU architecture: 7\n'
            f'CPU variant : 0x0\nCPU part : {kind.part}\nCPU revision : 0\n')
        (ROOT.parent / 'adopts').write_text(kind.pmu)
        if not kind.bare:
            (PMUS / kind.pmu).mkdir()
            (PMUS / kind.pmu / 'type').write_text('8\n')
            (PMUS / kind.pmu / 'cpus').write_text('0\n')
        self.read_files()

    def read_files(self):
        """What systemd does at boot with the files of setup."""
        for line in lines_of(SYSCTLS):
            name, _, number = line.partition(' = ')
            file = KERNEL / name.removeprefix('kernel.')
            if file.exists():
                file.write_text(number + '\n')
        if 'upmu' in lines_of(LOAD):
            subprocess.run(['modprobe', 'upmu'], check=True)

    def run(self, *words):
        command = [self.upmu, 'setup', '--yes', *words]
        if self.random.random() < 0.4:
            command[:0] = [self.kill_at, str(self.random.randint(1, 110))]
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                             stderr=subprocess.STDOUT, check=False)
        self.said = out.stdout
        self.done.append(f'{words} {out.returncode}')
        return out.returncode

    def is_in_the_way(self):
        """A file of the user's where setup has something to write."""
        wanted = [] if self.kind.opens else [RULES, LOAD]
        if self.kind.bare and not ADOPTED.exists():
            wanted.append(ADOPT)
        if self.kind.opens or paranoid() > self.kind.paranoid:
            wanted.append(SYSCTLS)
        return any(is_foreign(file) for file in wanted)

    def setup(self):
        before, refuses = snapshot(), self.is_in_the_way()
        was = paranoid()
        access = value('perf_user_access')
        status = self.run()
        if status == 1 and refuses:
            assert 'cannot write over' in self.said, self.said
            assert snapshot() == before, 'refused, but changed something'
            return
        assert status in (0, 137), f'status {status}: {self.said}'
        assert status or not refuses, 'wrote over the file of a user'
        self.remember(status, was, access)
        self.is_set_up = not status
        if not status:
            self.is_usable()
            self.again_changes_nothing()

    def remember(self, status, was, access):
        """The values of before the first setup, which --undo has to restore."""
        journal = lines_of(JOURNAL)
        recorded = [any(line.startswith(name + ' ') for line in journal)
                    for name in (PARANOID, USER_ACCESS)]
        if status == 0:
            assert paranoid() == min(was, self.kind.paranoid), \
                f'paranoid {was} became {paranoid()}'
            recorded = [was > self.kind.paranoid, self.kind.opens]
        if self.former is None and recorded[0]:
            self.former = was
        if self.former_access is None and recorded[1]:
            self.former_access = access

    def is_usable(self):
        assert self.set_by_user or paranoid() <= self.kind.paranoid, \
            f'paranoid {paranoid()}'
        if self.kind.opens:
            assert value('perf_user_access') == 1, 'no user access'
            return
        assert has_group() and MODULE.exists(), 'no group or no module'
        # beside a PMU that is adopted a file of the user's may have done it
        assert any(PMUS.iterdir()) or is_foreign(ADOPT), 'perf has no PMU'

    def again_changes_nothing(self):
        before = snapshot()
        for word in ('--dry-run', '--yes'):
            subprocess.run([self.upmu, 'setup', word], check=True,
                           stdout=subprocess.DEVNULL)
            assert snapshot() == before, f'a second setup {word} changes it'

    def undo(self):
        was, access = paranoid(), value('perf_user_access')
        status = self.run('--undo')
        assert status in (0, 137), f'status {status}: {self.said}'
        self.is_set_up = False
        if not status:
            self.is_undone(was, access)
        if not JOURNAL.exists():
            self.former = self.former_access = None

    def is_undone(self, was, access):
        if self.former is not None and was in (1, 2):
            was = self.former
        assert paranoid() == was, f'paranoid {paranoid()}, not {was}'
        if access == 1 and self.former_access is not None:
            access = self.former_access
        assert value('perf_user_access') == access, 'perf_user_access'
        assert has_group() == self.group, 'the group'
        assert not MODULE.exists(), 'the module'
        for file, lines in self.users.items():
            assert lines_of(file) == lines, f'{file}: {lines_of(file)}'
        there = {path for path in ETC.rglob('*') if path.is_file()}
        assert there == {ETC / 'group'} | {
            file for file, lines in self.users.items() if lines}, there

    def reboot(self):
        kept = self.is_set_up
        self.boot(self.kind)
        self.done.append('boot')
        if kept:
            self.is_usable()

    def move(self):
        self.boot(self.random.choice(KINDS))
        self.is_set_up = False
        self.done.append(f'on {self.kind}')

    def user_adds_a_line(self):
        file = self.random.choice(FILES)
        line = f'# mine {len(self.done)}'
        with open(file, 'a', encoding='utf8') as out:
            out.write(line + '\n')
        self.users[file].append(line)
        self.done.append(f'line in {file}')

    def user_takes_lines_back(self):
        file = self.random.choice(FILES)
        left = [line for line in lines_of(file)
                if line not in self.users[file]]
        if left:
            file.write_text('\n'.join(left) + '\n')
        elif file.exists():
            file.unlink()
        self.users[file] = []
        self.set_by_user = True
        self.done.append(f'lines out of {file}')

    def user_changes_a_setting(self):
        number = self.random.choice([0, -1])
        lines = lines_of(SYSCTLS)
        for i, line in enumerate(lines):
            if line.startswith(PARANOID) and line not in self.users[SYSCTLS]:
                lines[i] = f'{PARANOID} = {number}'
                self.users[SYSCTLS].insert(sum(
                    one in self.users[SYSCTLS] for one in lines[:i]), lines[i])
                SYSCTLS.write_text('\n'.join(lines) + '\n')
                self.set_by_user = True
                self.done.append(f'{lines[i]} in the file')
                return

    def user_sets_a_sysctl(self):
        number = self.random.choice([-1, 0, 3, 4])
        (KERNEL / 'perf_event_paranoid').write_text(f'{number}\n')
        self.set_by_user = True
        self.is_set_up = False
        self.done.append(f'{PARANOID} = {number} now')

    def steps(self):
        acts = [self.setup] * 8 + [self.undo] * 3 + [self.move] * 3 + [
            self.reboot] * 2 + [self.user_adds_a_line] * 2 + [
                self.user_takes_lines_back, self.user_changes_a_setting,
                self.user_sets_a_sysctl]
        for _ in range(self.random.randint(4, 14)):
            self.random.choice(acts)()
        for _ in range(200):
            self.undo()
            if self.done[-1].endswith(' 0'):
                break
        assert self.done[-1].endswith(' 0'), 'never undone'
        if not self.set_by_user:
            assert paranoid() == self.default, 'not as before'


def main():
    upmu, kill_at, first, last = sys.argv[1:]
    kills = wholes = 0
    for seed in range(int(first), int(last) + 1):
        run = Run(upmu, kill_at, seed)
        try:
            run.steps()
        except AssertionError as error:
            sys.exit(f'seed {seed}: {error}\n' + '\n'.join(run.done))
        kills += sum(one.endswith(' 137') for one in run.done)
        wholes += sum(one.endswith(' 0') for one in run.done)
    print(f'{kills} killed, {wholes} whole')
    if not kills or not wholes:
        sys.exit('nothing was tried')


if __name__ == '__main__':
    main()
