# SPDX-License-Identifier: MIT
"""checkpatch.pl of Debian's linux-source; prints its path."""
import glob
import os
import shutil
import subprocess
import sys

from debian import Apt, Failure, native, obtain, unpack
from kernels import USERLAND_SUITE

FILES = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")


def _fill(folder):
    apt = Apt(USERLAND_SUITE, native())
    if not apt.fresh():
        apt.update()
    package = apt.depends("linux-source", r"linux-source-[\d.]+")
    unpack(apt.download(package), folder + "/package")
    archive = glob.glob(folder + "/package/usr/src/linux-source-*.tar.*")[0]
    subprocess.run(["tar", "-x", "-C", folder, "--strip-components=2",
                    "-f", archive, "--wildcards",
                    *("*/scripts/" + name for name in FILES)], check=True)
    shutil.rmtree(folder + "/package")


if __name__ == "__main__":
    try:
        print(os.path.join(obtain("checkpatch", _fill), FILES[0]))
    except Failure as failure:
        sys.exit(f"boards: {failure}")
