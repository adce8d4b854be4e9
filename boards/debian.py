# SPDX-License-Identifier: MIT
"""Debian packages of any suite and architecture, unpacked into the cache.

apt runs with a state directory of ours: the machine's own apt and dpkg are
read (mirror, proxies, keys), never changed, and root is not needed.
"""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time

from store import (DAY_S, Failure, NoFile, NoSuite, Offline, cache,
                   cache_for_make, call, command, in_a_hurry, lock, obtain,
                   progress, see_room, told, write)

__all__ = ["Apt", "DAY_S", "Failure", "INDEX_LIFE_S", "NoFile", "NoSuite",
           "Offline", "cache", "cache_for_make", "call", "command", "mirror",
           "native", "obtain", "progress", "untar", "write"]

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
INDEX_LIFE_S = 14 * DAY_S
# A mirror that renews an index serves both halves for a minute or two.
PAUSES_S = (0, 10, 30, 60)


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
    return call("dpkg", "--print-architecture").strip()


# What of the machine's apt configuration is about reaching a mirror.
REACHING = re.compile(r"Acquire::(?:https?|ftp|tor)::(?!Timeout)|"
                      r"Acquire::ForceIPv[46] ")


def _reaching():
    return "".join(line + "\n" for line in
                   call("apt-config", "dump").splitlines()
                   if REACHING.match(line) and not line.endswith(' "";'))


# For what is there already: a mirror that says nothing is asked for 10 s or so
# (apt waits three times, the resolver for each server and domain).
HURRY_S = 3
# One that drips, or redirects for ever, is told from a slow line by what has
# come since the last look.
LOOK_S, SLOWEST = 60, 4 << 10       # bytes a second


def _sizes(folders):
    """{path: bytes} of all files there."""
    found = {}
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    file = os.path.join(path, name)
                    found[file] = os.stat(file).st_size
    return found


def _grown(before, sizes):
    """Bytes that came; what is gone, or was begun anew, takes none away."""
    grown = 0
    for path, size in sizes.items():
        old = before.get(path, 0)
        grown += size - old if size >= old else size
    return grown


def _patience():
    """How long apt waits for an answer."""
    if not in_a_hurry():
        return "-o", "Acquire::Retries=3"
    return ("-o", "Acquire::Retries=0",
            "-o", f"Acquire::http::Timeout={HURRY_S}",
            "-o", f"Acquire::https::Timeout={HURRY_S}")


def _text(path):
    with contextlib.suppress(OSError), open(path) as file:
        return file.read()
    return None


AWAY = re.compile(r"Could not resolve|Temporary failure resolving|"
                  r"Could not connect|Unable to connect|Cannot initiate the "
                  r"connection|[Nn]etwork is unreachable|timed out")
# The same where trying again did not help: a server that accepts and says
# nothing, one in trouble, a proxy, the page of a network that one logs in to.
NO_USE = re.compile(r"Connection failed|^ +(?:407|50[0234]|511)  |"
                    r"does the network require authentication", re.M)


# Each server has words of its own for 404, or none; file: and copy: say these.
NOT_THERE = re.compile(r" 404  |File not found|Failed to stat - stat \(2: ")
# A package that was replaced since its index was read.
GONE = re.compile(NOT_THERE.pattern + r"|E: Unable to locate package ")


def _raise_if_away(said, pattern=AWAY):
    if pattern.search(said):
        raise Offline(f"the Debian mirror {mirror()} cannot be reached:\n"
                      f"{said.strip()}")


class Apt:
    """apt for one suite and one architecture, with state of its own.

    One process at a time uses that state: each method that runs apt locks it.
    """

    def __init__(self, suite, arch, kind="deb"):
        self.name = f"{suite}-{arch}" if kind == "deb" else f"{suite}-source"
        self.suite, self.arch, self.kind = suite, arch, kind
        self.home = os.path.join(cache(), "apt", self.name)
        # One that is killed leaves its temporary files.
        self.temporary = os.path.join(self.home, "tmp")
        self.env = dict(os.environ, LC_ALL="C", TMPDIR=self.temporary,
                        APT_CONFIG=os.path.join(self.home, "apt.conf"))
        self.stamp = os.path.join(self.home, "updated")

    @contextlib.contextmanager
    def _lock(self):
        with lock(f"apt-{self.name}") as self.held:
            yield

    def _config(self):
        """{file: text}"""
        # Check-Valid-Until: a mirror that lags behind, or a frozen one, gives
        # an old kernel, which does for an emulated board; signatures hold.
        # Dir::Etc::Main and Parts: of the machine's own settings (hooks, a
        # default release) only those that reach the mirror are ours too.
        key = f"[signed-by={KEYRING}] " if os.path.exists(KEYRING) else ""
        source = f"{self.kind} {key}{mirror()} {self.suite} main\n"
        home = self.home
        return {home + "/etc/sources.list": source,
                home + "/apt.conf": f'''Dir::State "{home}";
Dir::State::lists "{home}/lists";
Dir::State::status "{home}/status";
Dir::Cache "{home}";
Dir::Etc::Main "{home}/etc/none/none";
Dir::Etc::Parts "{home}/etc/none";
Dir::Etc::SourceList "{home}/etc/sources.list";
Dir::Etc::SourceParts "{home}/etc/none";
Dir::Etc::Preferences "{home}/etc/none/none";
Dir::Etc::PreferencesParts "{home}/etc/none";
APT::Architecture "{self.arch}";
APT::Architectures {{ "{self.arch}"; }};
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::PDiffs "false";
Acquire::Check-Valid-Until "false";
Acquire::http::Timeout "10";
Acquire::https::Timeout "10";
{_reaching()}'''}

    def _write_config(self):
        for folder in ("lists/partial", "archives/partial", "etc/none"):
            os.makedirs(os.path.join(self.home, folder), exist_ok=True)
        open(os.path.join(self.home, "status"), "a").close()
        for path, text in self._config().items():
            if _text(path) != text:
                # Of another mirror there is no index until it is fetched.
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.stamp)
                write(path, text)

    def _is_configured(self):
        """Whether the machine's mirror and proxy are what they were."""
        try:
            wanted = self._config()
        except Failure:
            return True     # told where something is to be fetched
        return all(_text(path) == text for path, text in wanted.items())

    @staticmethod
    def _resolver():
        if not in_a_hurry():
            return {}
        return {"RES_OPTIONS": f"timeout:{HURRY_S} attempts:1"}

    def _apt(self, *words, **options):
        shutil.rmtree(self.temporary, ignore_errors=True)
        os.makedirs(self.temporary)
        try:
            # It has the lock too, as it may live on where we are killed.
            with subprocess.Popen(words, text=True,
                                  env={**self.env, **self._resolver()},
                                  pass_fds=[self.held.fileno()],
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, errors="replace",
                                  stderr=subprocess.STDOUT,
                                  **options) as process:
                said = self._follow(process, options.get("cwd", self.home))
            if process.returncode:
                see_room(said)
            return subprocess.CompletedProcess(words, process.returncode, said)
        except FileNotFoundError:
            raise Failure(f"'{words[0]}' is not installed: kernels and "
                          "programs of boards come from a Debian mirror"
                          ) from None

    def _follow(self, process, folder):
        """What it says; in a hurry only while enough arrives."""
        folders = {self.home, folder}
        hurries = in_a_hurry() and process.args[0] == "apt-get"
        sizes = _sizes(folders) if hurries else {}
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.communicate(
                        timeout=LOOK_S if hurries else None)[0]
                before, sizes = sizes, _sizes(folders)
                if _grown(before, sizes) < LOOK_S * SLOWEST:
                    raise Offline(f"the Debian mirror {mirror()} is too slow")
        except BaseException:
            process.kill()
            raise

    def ask(self, *words):
        """What an apt program says, with the state of this suite."""
        with self._lock():
            return self._apt(*words)

    def _younger(self, age_s):
        with contextlib.suppress(OSError):
            return time.time() - os.stat(self.stamp).st_mtime < age_s
        return False

    def ready(self, age_s=INDEX_LIFE_S):
        """See that there is an index, not older than that if possible."""
        with told(), self._lock():
            if not (self._younger(age_s) and self._is_configured()):
                self._update()

    def _update(self):
        """Fetch the index. Retries while the mirror renews its own."""
        self._write_config()
        for pause in PAUSES_S[:1] if in_a_hurry() else PAUSES_S:
            if pause:
                progress(f"{self.name}: the mirror renews its index, "
                         f"again in {pause} s")
                time.sleep(pause)
            progress(f"{self.name}: fetching the package index")
            done = self._apt("apt-get", "update", "-q", "--error-on=any",
                             *_patience())
            if done.returncode == 0:
                write(self.stamp, "")
                return
            # An index file that is not found is one that is being renewed.
            if (NOT_THERE.search(done.stdout) and
                    re.search(r"(does not have|no longer has) a Release file",
                              done.stdout)):
                raise NoSuite(f"the mirror has no {self.suite} for "
                              f"{self.arch}")
            _raise_if_away(done.stdout)
            if not re.search(r"unexpected size|[Hh]ash [Ss]um mismatch|"
                             r"Mirror sync|Failed to fetch", done.stdout):
                break
        _raise_if_away(done.stdout, NO_USE)
        raise Failure(f"cannot fetch the index of {self.suite} for "
                      f"{self.arch}:\n{done.stdout.strip()}")

    def field(self, package, field):
        done = self.ask("apt-cache", "show", "--no-all-versions", package)
        found = re.search(rf"^{field}: (.*)$", done.stdout, re.M)
        if found:
            return found.group(1)
        if "No packages found" in done.stdout:
            raise NoSuite(f"{self.name} has no package {package}")
        raise Failure(f"apt-cache cannot read the index of {self.name}:\n"
                      f"{done.stdout.strip()}")

    def depends(self, package, pattern):
        """The package that a metapackage stands for."""
        text = self.field(package, "Depends")
        found = re.search(rf"(?:^|, ){pattern}", text)
        if not found:
            raise Failure(f"{package} of {self.name} depends on {text}, "
                          f"nothing like {pattern}")
        return found.group(0).lstrip(", ")

    def _download(self, package, folder):
        """Fetch one package into a folder; the path of its file."""
        progress(f"{self.name}: fetching {package}")
        for attempt in range(3):
            done = self._apt("apt-get", "download", "-q", *_patience(),
                             package, cwd=folder)
            found = [name for name in os.listdir(folder)
                     if name.endswith(".deb")]
            if done.returncode == 0 and found:
                return os.path.join(folder, found[0])
            _raise_if_away(done.stdout)
            if attempt == 0:    # the index may name a version since replaced
                self._update()
        _raise_if_away(done.stdout, NO_USE)
        if GONE.search(done.stdout):
            raise NoFile(f"the mirror has no file of {package} of "
                         f"{self.name}, which its index names")
        raise Failure(f"cannot fetch {package} of {self.name}:\n"
                      f"{done.stdout.strip()}")

    def fetch(self, package, folder, patterns=()):
        """Unpack a package, or only the members that match, in a folder."""
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".deb-") as work:
            with self._lock():
                deb = self._download(package, work)
            unpack(deb, folder, patterns)

    def source(self, package, folder, part="orig"):
        """Fetch an archive of a source package, "orig" or "debian"; its path.
        """
        progress(f"{self.name}: fetching the source of {package}")
        with self._lock():
            done = self._apt("apt-get", "source", "-q", "--download-only",
                             {"orig": "--tar-only",
                              "debian": "--diff-only"}[part],
                             package, cwd=folder)
        for name in os.listdir(folder):
            if (f".{part}.tar." in name and not name.endswith(".asc")
                    and done.returncode == 0):
                return os.path.join(folder, name)
        _raise_if_away(done.stdout)
        raise Failure(f"cannot fetch the source of {package}:\n"
                      f"{done.stdout.strip()}")


# All that tar may complain of where only some members are wanted.
NO_MATCH = re.compile(r"tar: .*: Not found in archive|"
                      r"tar: Exiting with failure status due to previous "
                      r"errors|")


def untar(name, folder, patterns, *words, **options):
    """tar's members that match; one without a match is no failure."""
    if patterns:
        words += ("--wildcards", *patterns)
    done = subprocess.run(["tar", "-x", "-C", folder, *words], text=True,
                          stderr=subprocess.PIPE, errors="replace",
                          env=dict(os.environ, LC_ALL="C"), **options)
    wrong = [line for line in done.stderr.splitlines()
             if not NO_MATCH.fullmatch(line)]
    if done.returncode:
        see_room(done.stderr)
    if wrong or (done.returncode and not patterns):
        raise Failure(f"cannot unpack {name}:\n" + "\n".join(wrong[:5]))


def unpack(deb, folder, patterns=()):
    """Unpack a package, or only the members that match."""
    name = os.path.basename(deb)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb],
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as source:
        untar(name, folder, patterns, stdin=source.stdout)
    if source.returncode:
        raise Failure(f"cannot unpack {name}: dpkg-deb cannot read it")
