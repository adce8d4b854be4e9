#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What libupmu exports is what its header promises and its manual explains.

test_abi.py MAP HEADER... LIBRARY MAN3 VERSION
"""
import os
import re
import subprocess
import sys

MAP, *HEADERS, LIBRARY, MAN3, VERSION = sys.argv[1:]
results = []


def claim(name, problems):
    problems = sorted(problems)
    results.append((name, problems))
    print(f"{'not ' if problems else ''}ok {len(results)} - {name}")
    for problem in problems:
        print(f"# {problem}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def exported(library):
    """Names that a program can link to, with their version."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                         capture_output=True, text=True).stdout
    names = [line.split()[-1] for line in out.splitlines()]
    return {name for name in names if not name.startswith("UPMU_")}


header = "".join(map(read, HEADERS))
declared = set(re.findall(r"^UPMU_API [\w *]*?(\w+)\(", header, re.M))
mapped = set(re.findall(r"^\t(\w+);", read(MAP), re.M))
symbols = exported(LIBRARY)
pages = {name[:-2] for name in os.listdir(MAN3) if name.endswith(".3")}

claim("the_map_names_what_the_header_declares", declared ^ mapped)
claim("the_library_exports_what_the_map_names",
      {name.split("@")[0] for name in symbols} ^ mapped)
claim("each_export_has_its_version",
      {name for name in symbols if not name.endswith("@@UPMU_0.1")})
claim("there_is_something_exported", set() if len(symbols) > 20 else {"few"})
claim("each_export_has_a_man_page", declared - pages)


def page(name):
    return read(os.path.join(MAN3, name + ".3"))


def returns_error(name):
    if name == "upmu_watch_fd":     # a descriptor, always
        return False
    return re.search(rf"^UPMU_API int {name}\(", header, re.M)


claim("each_function_that_can_fail_has_its_errors_in_the_manual",
      {name for name in declared & pages
       if returns_error(name) and ".SH ERRORS" not in page(name)})
claim("each_page_tells_what_is_returned",
      {name for name in declared & pages
       if not re.search(rf"^UPMU_API void {name}\(", header, re.M)
       and ".SH RETURN VALUE" not in page(name)})


def parameters(name):
    """Names of the parameters, the function pointer's own included."""
    prototype = re.search(rf"^UPMU_API [^;]*?\b{name}\((.*?)\);", header,
                          re.M | re.S).group(1)
    prototype = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", prototype)
    return {re.search(r"(\w+)\W*$", part).group(1)
            for part in prototype.split(",")} - {"void"}


claim("each_parameter_is_explained",
      {f"{name}: {parameter}" for name in declared & pages
       for parameter in parameters(name)
       if f".I {parameter}\n" not in page(name)})
claim("the_names_of_all_exports_begin_with_upmu",
      {name for name in symbols if not name.startswith("upmu_")})


def dynamic(library):
    return subprocess.run(["readelf", "-d", library], check=True,
                          capture_output=True, text=True).stdout


claim("the_library_stays_in_memory",
      set() if "NODELETE" in dynamic(LIBRARY) else {"no DF_1_NODELETE"})
claim("the_soname_has_the_abi_version",
      set() if "[libupmu.so.0]" in dynamic(LIBRARY) else {"soname"})

pc = os.path.join(os.path.dirname(LIBRARY), "..", "meson-private",
                  "libupmu.pc")
text = read(pc)
claim("pkg_config_tells_version_and_library",
      set() if f"Version: {VERSION}" in text and "-lupmu" in text
      and "Requires" not in text else {text})
claim("the_header_has_the_version_of_the_release",
      {VERSION} - {".".join(re.findall(r"^#define UPMU_VERSION_\w+ (\d+)",
                                       header, re.M))})
# An instrumented library needs its sanitizers besides.
claim("the_library_needs_libc_alone",
      set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic(LIBRARY))) -
      {"libc.so.6"} -
      set(re.findall(r"ld-linux[\w.-]*|lib[atu]\w*san\.so[.\d]*",
                     dynamic(LIBRARY))))

print(f"1..{len(results)}")
sys.exit(any(problems for _, problems in results))
