# SPDX-License-Identifier: MIT
"""The cache: folders that are there whole or not at all.

What is made is made beside its place, under a lock, and put there in one act,
so that whoever is killed, or finds the disk full, leaves nothing half-made.
"""
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time

import quiet

DAY_S = 24 * 3600
# For so long after a mirror did not answer, what is cached does.
OFFLINE_S = 3600
NO_SUITE = 77       # exit status of our programs; automake's for a skip


class Failure(Exception):
    """What the user is told, without a traceback."""


class NoSuite(Failure):
    """The mirror does not have this suite for this architecture."""


class NoFile(NoSuite):
    """The mirror does not have, for now, what its own index names."""


class Offline(Failure):
    """The mirror cannot be reached."""


def cache():
    given = os.environ.get("UPMU_CACHE")
    if given:
        # what is started from here has another folder, maybe
        given = os.environ["UPMU_CACHE"] = os.path.abspath(given)
        return given
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):     # its specification: then it is none
        home = os.path.expanduser("~/.cache")
    if not os.path.isabs(home):     # of a user that nobody knows
        raise Failure("there is no home folder for a cache\n"
                      "hint: UPMU_CACHE=FOLDER")
    return os.path.join(home, "upmu")


def cache_for_make():
    """The same for what is built with what lies there."""
    if re.search(r"[\s:]", cache()):
        raise Failure(f"make can't build with what lies in '{cache()}'\nhint: "
                      "UPMU_CACHE=FOLDER, one without spaces and colons")
    return cache()


def command(name, act):
    """Runs a program of ours; its exit status. No traceback reaches a user."""
    quiet.begin()
    try:
        act()
        return 0
    except NoSuite as failure:
        print(f"{name}: {failure}", file=sys.stderr)
        return NO_SUITE
    except (Failure, OSError) as failure:
        print(f"{name}: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _refused(reason):
    return Failure(f"{reason}\nhint: the cache is '{cache()}'; "
                   "UPMU_CACHE=FOLDER moves it")


@contextlib.contextmanager
def told():
    """Turns what the system refuses into words for the user."""
    try:
        yield
    except OSError as error:
        where = f": '{error.filename}'" if error.filename else ""
        raise _refused(f"{error.strerror}{where}") from error


def see_room(said):
    """Raises Failure where a program that failed in the cache had no room."""
    full = re.search(r"No space left on device|Disk quota exceeded|"
                     r"You don't have enough free space in .*", said)
    if full:
        raise _refused(full[0])


def write(path, text):
    """A whole file or none, whatever happens meanwhile."""
    work = f"{path}.{os.getpid()}.new"
    with open(work, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(work, path)


def call(*words, **options):
    """What a program prints; Failure with that where it fails."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, **options)
    except FileNotFoundError:
        raise Failure(f"'{words[0]}' is not installed") from None
    if done.returncode:
        tail = "\n".join(done.stdout.strip().splitlines()[-30:])
        raise Failure(f"'{' '.join(words)}' failed:\n{tail}")
    return done.stdout


def progress(text):
    """One line that overwrites itself on a terminal, nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()


@contextlib.contextmanager
def lock(name):
    folder = os.path.join(cache(), "locks")
    with told():
        os.makedirs(folder, exist_ok=True)
        file = open(os.path.join(folder, name), "w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another one that fetches {name}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file


# Set while something is made anew that there is already, if older: for that
# nobody waits long.
_hurried = False


@contextlib.contextmanager
def _hurry(wanted):
    global _hurried
    _hurried = wanted
    try:
        yield
    finally:
        _hurried = False


def in_a_hurry():
    return _hurried


def _offline_note():
    return os.path.join(cache(), "offline")


def _tell_offline():
    if os.environ.get("UPMU_TOLD_OFFLINE"):
        return      # also by what has started us
    os.environ["UPMU_TOLD_OFFLINE"] = "1"
    print("upmu: the Debian mirror cannot be reached; what is cached will do",
          file=sys.stderr)


def _offline():
    """Whether the mirror was away a short time ago; told once."""
    with contextlib.suppress(OSError):
        if abs(time.time() - os.stat(_offline_note()).st_mtime) < OFFLINE_S:
            _tell_offline()
            return True
    return False


def _remove_others(home):
    """What killed processes left behind, and what is long replaced."""
    folder, name = os.path.split(home)
    current = os.path.realpath(home)
    for other in os.listdir(folder):
        path = os.path.join(folder, other)
        if path == current or not other.startswith((name + "@", name + ".")):
            continue
        with contextlib.suppress(OSError):
            age_s = time.time() - os.stat(path + "/.replaced").st_mtime
            if age_s < DAY_S:
                continue    # a board that was started before may read it
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def _put_in_place(work, home):
    """Let `home` lead to `work` from one instant to the next."""
    if os.path.isdir(home) and not os.path.islink(home):
        os.rename(home, f"{home}.{os.getpid()}")    # as 0.1.0 made them
    old = os.path.realpath(home)
    os.symlink(os.path.basename(work), work + ".link")
    os.replace(work + ".link", home)
    if old != home:
        with contextlib.suppress(OSError):
            open(old + "/.replaced", "w").close()


def _make(home, fill):
    work = f"{home}@{time.time_ns():x}"
    os.makedirs(work)
    try:
        fill(work)
        # a disk that is full may tell so only now
        call("sync", "-f", work)
        write(os.path.join(work, ".complete"), "")
        _put_in_place(work, home)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _usable(home, life_s, unwanted=None):
    try:
        age_s = time.time() - os.stat(home + "/.complete").st_mtime
    except OSError:
        return False
    return (os.path.realpath(home) != unwanted and
            (life_s is None or age_s < life_s))


def _keep_old(name, failure):
    if not isinstance(failure, Offline):
        print(f"upmu: keeping the old {name}: "
              f"{str(failure).splitlines()[0].rstrip(':')}", file=sys.stderr)
        return
    with contextlib.suppress(OSError):
        write(_offline_note(), "")
    _tell_offline()


def _renew(name, home, fill, life_s, unwanted):
    with lock(name.replace("/", "-")):
        if _usable(home, life_s, unwanted):
            return
        old = not unwanted and _usable(home, None)  # that one may do
        if old and _offline():
            return
        with told(), _hurry(old):
            os.makedirs(os.path.dirname(home), exist_ok=True)
            _remove_others(home)
            _make(home, fill)


def obtain(name, fill, life_s=None, unwanted=None):
    """The folder `name` of the cache; `fill(folder)` makes it if need be.

    Past life_s, or where it is still the `unwanted` one that obtain() gave, it
    is made anew; where that fails, the old one is kept. It is made beside its
    place and put there whole. Who has got a folder can go on reading it when
    it is renewed.
    """
    home = os.path.join(cache(), name)
    if not _usable(home, life_s, unwanted):
        try:
            _renew(name, home, fill, life_s, unwanted)
        except Failure as failure:
            if not _usable(home, None):
                raise
            _keep_old(name, failure)
        progress("")
    return home if life_s is None else os.path.realpath(home)
