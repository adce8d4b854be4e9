# SPDX-License-Identifier: MIT
"""Parts of Debian's linux-source: python3 boards/linux_source.py [SUITE]

Prints the folder that holds checkpatch.pl and the drivers of the CPUs' PMUs.
"""
import glob
import shutil
import sys

from debian import Apt, Failure, command, native, obtain, untar
from kernels import USERLAND_SUITE, resolve

PARTS = ("scripts/checkpatch.pl", "scripts/spelling.txt",
         "scripts/const_structs.checkpatch", "drivers/perf/arm_*.c",
         "drivers/perf/apple_m1_cpu_pmu.c", "include/linux/perf/arm_pmuv3.h",
         "arch/arm/kernel/perf_event_v*.c", "arch/arm64/kernel/perf_event.c",
         "arch/arm64/include/asm/perf_event.h",
         # what the patches of upstream/ change
         "MAINTAINERS", "arch/arm/Kconfig", "drivers/perf/Kconfig",
         "arch/arm/include/asm/mmu*.h", "arch/arm/include/asm/perf_event.h",
         "Documentation/arm/index.rst", "Documentation/arch/arm/index.rst",
         "Documentation/admin-guide/sysctl/kernel.rst",
         "tools/lib/perf/mmap.c", "tools/lib/perf/tests/test-evsel.c",
         "tools/perf/tests/mmap-basic.c")


def folder(suite=USERLAND_SUITE):
    """Where they lie; fetches some 150 MB the first time."""
    suite = resolve(suite, "arm64")     # the boards' newest

    def fill(work):
        apt = Apt(suite, native())
        apt.ready()
        package = apt.depends("linux-source", r"linux-source-[\d.]+")
        apt.fetch(package, work + "/package")
        archive = glob.glob(work + "/package/usr/src/linux-source-*.tar.*")[0]
        untar(package, work, ["*/" + part for part in PARTS],
              "--strip-components=1", "-f", archive)
        shutil.rmtree(work + "/package")
        if not glob.glob(work + "/drivers/perf/arm_pmu.c"):
            raise Failure(f"{package} of {apt.name} holds no drivers/perf")

    return obtain(f"linux-sources/{suite}", fill)


if __name__ == "__main__":
    sys.exit(command("boards", lambda: print(folder(*sys.argv[1:2]))))
