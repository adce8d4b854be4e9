# SPDX-License-Identifier: MIT
"""Kernels of 32-bit ARM as they are once they have unpacked themselves.

An emulated core takes seconds for what the host does in half a one. What comes
out is Debian's own kernel, byte by byte, in a U-Boot image that tells the
emulator where it goes (image.h of U-Boot).
"""
import contextlib
import glob
import hashlib
import lzma
import os
import re
import struct
import zlib

from debian import Failure, obtain

XZ = re.compile(rb"\xfd7zXZ\0")
LEAST = 1 << 20         # other streams in it are short
# TEXT_OFFSET of arch/arm/Makefile; of those that are set the last one holds.
OFFSET = 0x8000
OFFSETS = (("PM_H1940", 0x108000), ("ARCH_REALTEK", 0x108000),
           ("SA1111", 0x208000), ("ARCH_IPQ40XX", 0x208000),
           ("ARCH_MSM8X60", 0x208000), ("ARCH_MSM8960", 0x208000),
           ("ARCH_QCOM_RESERVE_SMEM", 0x208000), ("ARCH_MESON", 0x208000),
           ("ARCH_AXXIA", 0x308000))
MAGIC, LINUX, ARM, KERNEL, PLAIN = 0x27051956, 5, 2, 2, 0


def _unpack(packed):
    for found in XZ.finditer(packed):
        stream = lzma.LZMADecompressor()
        with contextlib.suppress(lzma.LZMAError):
            plain = stream.decompress(packed[found.start():])
            if stream.eof and len(plain) > LEAST:
                return plain
    return None


def _offset(folder):
    """Where it wants to be from the beginning of memory, or None."""
    for path in glob.glob(folder + "/boot/config-*"):
        with open(path) as file:
            config = set(file.read().splitlines())
        return [OFFSET, *(offset for name, offset in OFFSETS
                          if f"CONFIG_{name}=y" in config)][-1]
    return None


def _image(plain, address):
    def header(own_sum):
        return struct.pack(">7I4B32s", MAGIC, own_sum, 0, len(plain), address,
                           address, zlib.crc32(plain), LINUX, ARM, KERNEL,
                           PLAIN, b"upmu")
    return header(zlib.crc32(header(0))) + plain


def image(folder, memory_at):
    """What the emulator is to load of a kernel; memory_at: as in table.ini."""
    packed = os.path.join(folder, "vmlinuz")
    offset = _offset(folder)
    if not memory_at or offset is None:
        return packed
    with open(packed, "rb") as file:
        data = file.read()
    address = int(memory_at, 16) + offset

    def fill(made):
        plain = _unpack(data)
        if not plain:
            raise Failure("no xz in it")
        with open(made + "/image", "wb") as file:
            file.write(_image(plain, address))

    # slower, and no reason to fail: it unpacks itself, as on any board
    with contextlib.suppress(Failure, OSError):
        mark = hashlib.sha256(data + address.to_bytes(4, "big")).hexdigest()
        return obtain(f"unpacked/{mark[:16]}", fill) + "/image"
    return packed
