# SPDX-License-Identifier: MIT
"""boards/run: runs a command on an emulated board (see table.ini)."""
import quiet        # first
import contextlib
import errno
import os
import secrets
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import archive      # noqa: E402
import channels     # noqa: E402
import debian       # noqa: E402
import disk         # noqa: E402
import files        # noqa: E402
import image        # noqa: E402
import kernels      # noqa: E402
import model        # noqa: E402
import ownkernel    # noqa: E402
import program      # noqa: E402
import table        # noqa: E402
import terminal     # noqa: E402
import unpacked     # noqa: E402
from console import Console, Emulator, explain, run     # noqa: E402
from options import parse       # noqa: E402

# cryptomgr: its tests of itself are most of what a kernel computes to boot.
QUIET = ("rdinit=/init console={console} panic=-1 loglevel=8 "
         "cryptomgr.notests "
         "printk.devkmsg=on random.trust_bootloader=on "
         "rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60 {append}")

TIMEOUT_S = 120
MOST_INPUT = 1 << 30    # does not fit into any such board
FULL = 64 << 20         # of a temporary folder, whatever was removed since


def print_list():
    boards = table.read()
    for name in boards.sections():
        board = boards[name]
        print(f"{name:6} {board['arch']:6} {board['suites'].split()[0]:9} "
              f"{board['about']}")


def build(board, kernel_arch, suite):
    """What is built from this tree, as (host path, guest path)."""
    arch = board["arch"]
    subprocess.run([os.path.join(HERE, "build"), arch], check=True,
                   stdin=subprocess.DEVNULL, stdout=sys.stderr)
    # After packages were asked for, as it may fetch for minutes; here, as what
    # is told of the mirror is told once by us and what we start.
    kernels.headers(suite, kernel_arch)
    subprocess.run([os.path.join(HERE, "kmod"), kernel_arch, suite],
                   check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def built(board, kernel_arch, release):
    found = []
    programs = os.path.join(TOP, "build", board["arch"], "board")
    if os.path.isdir(programs):
        found.append((programs, "upmu"))
    module = os.path.join(TOP, "build/kmod", f"{kernel_arch}-{release}",
                          "upmu.ko")
    if os.path.exists(module):
        found.append((module, "upmu/upmu.ko"))
        peek = os.path.join(os.path.dirname(module), "upmu_peek.ko")
        if os.path.exists(peek):
            found.append((peek, "upmu/upmu_peek.ko"))
    return found


def shell_line(command):
    """Words are run as they are; a single one is a line for the shell."""
    if not command:
        return "exec sh -l\n"
    return (command[0] if len(command) == 1
            else shlex.join(command)) + "\n"


class Interrupted(Exception):
    """A signal ended us; the argument is its number."""


SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def interrupt(number, _frame):
    for other in SIGNALS:       # the first one is enough
        signal.signal(other, signal.SIG_IGN)
    raise Interrupted(number)


def prepare(options):
    """The board as the options want it, and the suite of its kernel."""
    board = table.find(options.name, options.set)
    model.check(board)
    kernel_arch = table.kernel_arch(board)
    suite = options.kernel or board["suites"].split()[0]
    if not (suite in board["suites"].split() or
            ownkernel.has(suite, kernel_arch)):
        raise debian.Failure(f"board {options.name} has no kernel suite "
                             f"'{suite}'; it has {board['suites']}")
    if options.memory:
        files.set_memory(board, options.name, options.memory)
    return board, kernel_arch, kernels.resolve(suite, kernel_arch)


def libraries(pairs):
    """What the programs among the files need, which nobody has to name."""
    found = {}
    guests = [guest for _, guest in pairs]
    for host, _ in pairs:
        if not os.path.isdir(host):
            found.update((guest, host) for host, guest in
                         program.libraries(host, guests))
            continue
        for _, path, state in archive.walk(host):
            if stat.S_ISREG(state.st_mode) and state.st_mode & 0o111:
                with contextlib.suppress(debian.Failure):
                    found.update((guest, host) for host, guest in
                                 program.libraries(path, guests))
    return [(host, guest) for guest, host in found.items()]


def copies(options, board, own, pairs):
    """What travels to the board beside our own; whether it comes as a disk."""
    taken = files.size(pairs)
    by_disk = board["channel"] == "virtio" and (
        taken > files.DISK_FROM or bool(pairs and options.disk))
    files.check_room(board, options.name, files.size(own), taken, by_disk)
    owner = image.USER if options.user else 0
    return [(host, guest, owner) for host, guest in pairs], by_disk


def spooled_input():
    """Standard input whole, for a board that no channel leads into."""
    spool = tempfile.TemporaryFile()
    while not os.isatty(0) and spool.tell() < MOST_INPUT:
        data = os.read(0, archive.CHUNK)
        if not data:
            break
        spool.write(data)
    spool.flush()
    return spool


def settings(options, command, board, token, wanted, by_disk, has_input):
    """What /init reads: names of files in /board and their text."""
    line = (f"token={token} channel={board['channel']} end={board['end']} "
            f"user={'user' if options.user else ''} "
            f"system={1 if options.disk else ''} "
            f"disk={1 if by_disk else ''} gets={len(wanted)} "
            f"input={1 if has_input else ''} "
            f"shell={options.name if options.shell else ''}\n")
    if options.shell:
        line += terminal.settings() + "\n"
    texts = {"settings": line, "command": shell_line(command)}
    if options.before:
        texts["before"] = options.before + "\n"
    for number, one in enumerate(wanted):
        texts[f"get{number}"] = one.guest
    return texts


@contextlib.contextmanager
def folder():
    """A temporary one whose keeper removes it when we end, killed or not."""
    keeper = subprocess.Popen(
        ["sh", "-c", 'work=$(mktemp -d -t upmu-board-XXXXXX) && '
         'echo "$work" && read -r end; rm -rf "$work"'],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        start_new_session=True)
    with keeper:
        work = keeper.stdout.readline().strip()
        if not work:
            raise debian.Failure("no temporary folder can be made")
        yield work


def device_tree(board, kernel, core):
    """An open file that no name leads to: nothing to clean up."""
    with folder() as work:
        path = os.path.join(work, "tree")
        image.device_tree(path, board, kernel, core)
        return open(path, "rb")


class Boot:
    """One start of a board."""

    def __init__(self, options, command):
        self.options = options
        self.board, self.kernel_arch, self.suite = prepare(options)
        self.token = secrets.token_hex(8)
        self.wanted = files.wanted(options.get)
        self.has_input = not terminal.is_empty()
        self.pairs = list(files.specified(options.file))
        if (self.has_input and self.board["channel"] != "virtio"
                and not options.shell):
            self.spool = spooled_input()
            self.pairs.append((f"/dev/fd/{self.spool.fileno()}",
                               "/board/input"))
        copies(options, self.board, [], self.pairs)     # before all else
        self.disk = options.disk and disk.Disk(options.disk, self.board,
                                               self.suite)
        self.command = command
        self.open = []      # files that the emulator is to have

    def _emulator_file(self, file):
        self.open.append(file)
        return f"/dev/fd/{file.fileno()}"

    def _disk(self, modules, roots):
        """The emulator's options for a disk; adds what reads it."""
        if not (self.disk or self.options.attach):
            return []
        modules += disk.MODULES
        if self.options.attach:
            roots.append(os.path.dirname(self.options.attach))
            return disk.attached(self.options.attach)
        roots.append(self.disk.folder)
        return self.disk.words()

    def _images(self, kernel, busybox):
        """The emulator's options for what it loads."""
        ours = [] if self.disk else built(
            self.board, self.kernel_arch,
            kernels.release(self.suite, self.kernel_arch))
        own = [(host, guest, None) for host, guest in ours]
        # The cross compilers' libraries are there once something was built.
        more, by_disk = copies(self.options, self.board, ours,
                               self.pairs + libraries(self.pairs))
        for host, guest, _ in more if self.options.verbose else ():
            print(f"boards/run: '{host}' is {guest} on the board",
                  file=sys.stderr)
        ramdisk, modules, roots = tempfile.TemporaryFile(), [], [kernel]
        words = self._disk(modules, roots)
        texts = settings(self.options, self.command, self.board, self.token,
                         self.wanted, by_disk, self.has_input)
        if by_disk:
            spool = tempfile.TemporaryFile()
            image.disk(spool, more)
            modules.append("virtio_blk")
            words += ["-blockdev", "driver=file,node-name=files,read-only=on,"
                      f"locking=off,filename={self._emulator_file(spool)}",
                      "-device", "virtio-blk-device,drive=files,serial=files"]
        else:
            own += more
        image.initramfs(ramdisk, self.board, busybox, HERE, texts,
                        self.options.user, roots, modules, own)
        core = model.Model(self.board)
        tree = device_tree(self.board, kernel, core)
        if core.events:
            words += core.run(self._emulator_file(core.settings()))
        return ["-kernel", unpacked.image(kernel, self.board["memory_at"]),
                "-initrd", self._emulator_file(ramdisk),
                "-dtb", self._emulator_file(tree), *words]

    def words(self):
        """How the emulator is called, but for its channels."""
        if not (self.options.no_build or self.disk):
            # first, as that may have to take a newer kernel
            build(self.board, self.kernel_arch, self.suite)
        kernel = kernels.kernel(self.suite, self.kernel_arch)
        busybox = kernels.busybox(self.board["arch"])
        return self.board["qemu"].split() + [
            "-display", "none", "-monitor", "none", "-nic", "none",
            "-no-reboot", *self._images(kernel, busybox), "-append",
            QUIET.format(console=self.board["console"],
                         append=self.board["append"]) +
            (disk.append(self.board) if self.disk else "")]

    def limit_s(self):
        if self.options.timeout is None and self.options.shell:
            return None
        return ((self.options.timeout or
                 (disk.TIMEOUT_S if self.disk else TIMEOUT_S)) *
                ownkernel.slower(self.suite))

    def run(self):
        """The command's status, or 125 for a board at fault."""
        options = self.options
        words = self.words()
        log = open(options.console, "wb") if options.console else None
        console = Console(self.token, log)
        lines = channels.Channels(self.board, self.token, console,
                                  options.shell, self.has_input,
                                  [one.spool for one in self.wanted])
        keyboard = terminal.Input(lines.input, options.shell)
        if options.shell:
            terminal.greet(options.name, options.user)
        emulator = Emulator(self.board, options.name, words + lines.words,
                            lines.theirs +
                            [file.fileno() for file in self.open])
        try:
            fault = run(emulator, console, lines, keyboard, options.shell,
                        self.limit_s())
        except BrokenPipeError:     # of whoever reads what the command says
            fault = console.said()
            if not fault:
                return 141
        if fault:
            explain(options.name, fault, emulator, console)
        return self._deliver(125 if fault else console.status)

    def _deliver(self, status):
        for one in self.wanted:
            wrong = one.deliver(self.token)
            if wrong:
                print(f"boards/run: --get: {wrong}", file=sys.stderr)
                status = status or 125
            elif self.options.verbose:
                print(f"boards/run: the board's {one.guest} is "
                      f"'{one.host}'", file=sys.stderr)
        return status


def hint_where_it_is_full(folder):
    if shutil.disk_usage(folder).free < FULL:
        print(f"hint: the temporary folder is '{folder}'; TMPDIR=FOLDER "
              "moves it", file=sys.stderr)


def main():
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        options, command = quiet.flushed(parse, sys.argv[1:])
        if options.yes:
            os.environ["UPMU_YES"] = "1"
        if options.list:
            print_list()
            sys.stdout.flush()
            return 0
        return Boot(options, command).run()
    except debian.Failure as failure:
        print(f"boards/run: {failure}", file=sys.stderr)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except subprocess.CalledProcessError as error:
        print(f"boards/run: '{' '.join(error.cmd)}' failed",
              file=sys.stderr)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"boards/run: {error}", file=sys.stderr)
        if error.errno == errno.ENOSPC:
            hint_where_it_is_full(tempfile.gettempdir())
    except Interrupted as interrupted:
        signal.signal(interrupted.args[0], signal.SIG_DFL)
        os.kill(os.getpid(), interrupted.args[0])
    return 125


sys.exit(main())
