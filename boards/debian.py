# SPDX-License-Identifier: MIT
"""Debian packages of any suite and architecture, unpacked into the cache.

apt runs with a state directory of ours: the machine's own apt and dpkg are
read (mirror, proxies, keys), never changed, and root is not needed.
"""
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
INDEX_LIFE_S = 14 * 24 * 3600
# A mirror that renews an index serves both halves for a minute or two.
PAUSES_S = (0, 10, 30, 60)


class Failure(Exception):
    """What the user is told, without a traceback."""


class NoSuite(Failure):
    """The mirror does not have this suite for this architecture."""


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("UPMU_CACHE") or os.path.join(home, "upmu")


def progress(text):
    """One line that overwrites itself on a terminal, nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()


@contextlib.contextmanager
def lock(name):
    folder = os.path.join(cache(), "locks")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another one that fetches {name}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def mirror():
    """The first Debian site that this machine's apt uses."""
    try:
        lines = subprocess.run(
            ["apt-get", "indextargets", "--format",
             "$(ORIGIN) $(LABEL) $(REPO_URI)", "Created-By: Packages"],
            stdout=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failure(f"cannot ask apt for the Debian mirror: {error}")
    for line in lines.splitlines():
        words = line.rsplit(" ", 1)
        if words[0] == "Debian Debian":
            return words[1]
    raise Failure("apt knows no Debian mirror yet\nhint: apt-get update")


def native():
    return subprocess.run(["dpkg", "--print-architecture"], text=True,
                          stdout=subprocess.PIPE, check=True).stdout.strip()


class Apt:
    """apt for one suite and one architecture, with state of its own."""

    def __init__(self, suite, arch, kind="deb"):
        self.name = f"{suite}-{arch}" if kind == "deb" else f"{suite}-source"
        self.suite, self.arch, self.kind = suite, arch, kind
        self.home = os.path.join(cache(), "apt", self.name)
        self.env = dict(os.environ, LC_ALL="C",
                        APT_CONFIG=os.path.join(self.home, "apt.conf"))
        self.stamp = os.path.join(self.home, "updated")

    def _write_config(self):
        # Check-Valid-Until: a mirror that lags behind, or a frozen one, gives
        # an old kernel, which does for an emulated board; signatures hold.
        for folder in ("lists/partial", "archives/partial", "etc/none"):
            os.makedirs(os.path.join(self.home, folder), exist_ok=True)
        key = f"[signed-by={KEYRING}] " if os.path.exists(KEYRING) else ""
        with open(os.path.join(self.home, "etc/sources.list"), "w") as file:
            file.write(f"{self.kind} {key}{mirror()} {self.suite} main\n")
        open(os.path.join(self.home, "status"), "a").close()
        home = self.home
        with open(os.path.join(home, "apt.conf"), "w") as file:
            file.write(f'''Dir::State "{home}";
Dir::State::lists "{home}/lists";
Dir::State::status "{home}/status";
Dir::Cache "{home}";
Dir::Etc::SourceList "{home}/etc/sources.list";
Dir::Etc::SourceParts "{home}/etc/none";
Dir::Etc::Preferences "{home}/etc/none/none";
Dir::Etc::PreferencesParts "{home}/etc/none";
APT::Architecture "{self.arch}";
APT::Architectures {{ "{self.arch}"; }};
APT::Update::Post-Invoke-Success "";
APT::Update::Post-Invoke "";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::PDiffs "false";
Acquire::Retries "3";
Acquire::Check-Valid-Until "false";
''')

    def _apt(self, *words, **options):
        return subprocess.run(words, env=self.env, text=True,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, **options)

    def ask(self, *words):
        """What an apt program says, with the state of this suite."""
        return self._apt(*words)

    def fresh(self):
        with contextlib.suppress(OSError):
            return time.time() - os.stat(self.stamp).st_mtime < INDEX_LIFE_S
        return False

    def update(self):
        """Fetch the index. Retries while the mirror renews its own."""
        self._write_config()
        for pause in PAUSES_S:
            if pause:
                progress(f"{self.name}: the mirror renews its index, "
                         f"again in {pause} s")
                time.sleep(pause)
            progress(f"{self.name}: fetching the package index")
            done = self._apt("apt-get", "update", "-q", "--error-on=any")
            if done.returncode == 0:
                open(self.stamp, "w").close()
                return
            if re.search(r"404|does not have a Release file", done.stdout):
                raise NoSuite(f"the mirror has no {self.suite} for "
                              f"{self.arch}")
            if not re.search(r"unexpected size|[Hh]ash [Ss]um mismatch|"
                             r"Mirror sync|Failed to fetch", done.stdout):
                break
        if os.path.exists(self.stamp):
            print(f"upmu: {self.name}: keeping the old package index, "
                  "renewing it failed", file=sys.stderr)
            os.utime(self.stamp)
            return
        raise Failure(f"cannot fetch the index of {self.suite} for "
                      f"{self.arch}:\n{done.stdout.strip()}")

    def field(self, package, field):
        done = self._apt("apt-cache", "show", "--no-all-versions", package)
        found = re.search(rf"^{field}: (.*)$", done.stdout, re.M)
        if not found:
            raise NoSuite(f"{self.name} has no package {package}")
        return found.group(1)

    def depends(self, package, pattern):
        """The package that a metapackage stands for."""
        text = self.field(package, "Depends")
        found = re.search(rf"(?:^|, ){pattern}", text)
        if not found:
            raise Failure(f"{package} of {self.name} depends on {text}, "
                          f"nothing like {pattern}")
        return found.group(0).lstrip(", ")

    def download(self, package):
        """Fetch one package; the path of its file."""
        folder = os.path.join(self.home, "archives")
        progress(f"{self.name}: fetching {package}")
        for attempt in range(3):
            done = self._apt("apt-get", "download", "-q", package,
                             cwd=folder)
            found = [name for name in os.listdir(folder)
                     if name.startswith(package + "_")
                     and name.endswith(".deb")]
            if done.returncode == 0 and found:
                return os.path.join(folder, found[0])
            if attempt == 0:    # the index may name a version since replaced
                self.update()
        raise Failure(f"cannot fetch {package} of {self.name}:\n"
                      f"{done.stdout.strip()}")

    def source(self, package, folder):
        """Fetch a source package's original archive; its path."""
        progress(f"{self.name}: fetching the source of {package}")
        done = self._apt("apt-get", "source", "-q", "--download-only",
                         "--tar-only", package, cwd=folder)
        for name in os.listdir(folder):
            if ".orig.tar." in name and not name.endswith(".asc"):
                return os.path.join(folder, name)
        raise Failure(f"cannot fetch the source of {package}:\n"
                      f"{done.stdout.strip()}")


def unpack(deb, folder, patterns=()):
    """Unpack a package, or only the members that match, and drop the file."""
    os.makedirs(folder, exist_ok=True)
    words = ["tar", "-x", "-C", folder]
    if patterns:
        words += ["--wildcards", *patterns]
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb],
                          stdout=subprocess.PIPE) as source:
        done = subprocess.run(words, stdin=source.stdout, text=True,
                              stderr=subprocess.PIPE)
    # A pattern without a match is tar's status 2; callers look for files.
    if source.returncode or (done.returncode and not patterns):
        raise Failure(f"cannot unpack {deb}: {done.stderr}")
    os.unlink(deb)


def obtain(name, fill, life_s=None):
    """The folder `name` of the cache; `fill(folder)` makes it if need be.

    Past life_s it is made anew, and kept as it is where that fails.
    """
    home = os.path.join(cache(), name)
    stamp = os.path.join(home, ".complete")

    def usable():
        try:
            age = time.time() - os.stat(stamp).st_mtime
        except OSError:
            return False
        return life_s is None or age < life_s

    if usable():
        return home
    with lock(name.replace("/", "-")):
        if usable():
            return home
        work = f"{home}.new"
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        try:
            fill(work)
        except Failure as failure:
            shutil.rmtree(work, ignore_errors=True)
            if not os.path.exists(stamp):
                raise
            print(f"upmu: keeping the old {name}: {failure}",
                  file=sys.stderr)
            os.utime(stamp)
            return home
        open(os.path.join(work, ".complete"), "w").close()
        # Another board may run from the old one: its files stay open.
        shutil.rmtree(home, ignore_errors=True)
        os.rename(work, home)
        progress("")
    return home
