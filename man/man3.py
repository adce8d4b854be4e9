#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Man pages of section 3 from the contract in include/upmu.h.

man3.py HEADER... COUNT FOLDER VERSION : one page for each function, and
upmu.3 from the comment at the header's head. The header is the one place where
the contract is written; a function without one is an error.
"""
import os
import re
import sys

COMMENT = re.compile(r"/\*\*\n(.*?)\*/\n(.*?)(?:;|\n\{)", re.S)
ITEM = re.compile(r"^  (-E[A-Z0-9]+(?:, -E[A-Z0-9]+)*)\s*(.*)$")
PARAMETER = re.compile(r"^@(\w+): (.*)$")

PAGE = """.\\" SPDX-License-Identifier: MIT
.TH {title} 3 "" "upmu {version}" "Library of upmu"
.SH NAME
{name} \\- {summary}
.SH SYNOPSIS
.nf
.B #include <upmu.h>
.PP
.BI "{prototype}"
.fi
.PP
Link with \\fI\\-lupmu\\fP.
{sections}.SH SEE ALSO
{see_also}
"""


def escape(text):
    """What troff would take for its own; names in bold, arguments italic."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text)
    text = re.sub(r"\b(upmu_\w+)\(\)", r"\\fB\1\\fP(3)", text)
    text = re.sub(r"@(\w+)", r"\\fI\1\\fP", text)
    if text.startswith((".", "'")):
        text = "\\&" + text
    return text


def strip(comment):
    """The comment's lines without their stars."""
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.split("\n")]
    return lines[:-1] if lines and not lines[-1].strip() else lines


def paragraphs(lines):
    """Text with .PP between paragraphs."""
    text = "\n".join(lines).strip("\n")
    parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    return "\n.PP\n".join(
        "\n".join(escape(line.strip()) for line in part.split("\n"))
        for part in parts)


class Contract:
    """One function's comment, taken apart."""

    def __init__(self, comment, prototype):
        lines = strip(comment)
        head = re.match(r"(\w+) - (.*)$", lines[0])
        if not head:
            raise SystemExit(f"man3.py: no 'name - summary': {lines[0]!r}")
        self.name, self.summary = head.groups()
        self.prototype = " ".join(prototype.replace("UPMU_API ", "").split())
        self.parameters, self.text, self.errors = [], [], []
        self.returns = ""
        self._sort(lines[1:])

    def _sort(self, lines):
        """Parameters first, then text; errors are indented by two."""
        into = None
        for line in lines:
            parameter, item = PARAMETER.match(line), ITEM.match(line)
            if parameter and not self.text:
                into = [parameter.group(1), parameter.group(2)]
                self.parameters.append(into)
            elif item:
                into = [item.group(1), item.group(2)]
                self.errors.append(into)
            elif line.startswith("   ") and into:
                into[1] = (into[1] + " " + line.strip()).strip()
            else:
                into = None
                self.text.append(line)
        self._find_returns()

    def _find_returns(self):
        """From "Returns" to the end of its paragraph."""
        text = "\n".join(self.text)
        match = re.search(r"Returns .*?(?=\n\s*\n|\Z)", text, re.S)
        if match:
            self.returns = match.group(0).rstrip()
            text = text[:match.start()] + text[match.end():]
        self.text = text.split("\n")
        self.returns = re.sub(r",? or$", " or one of the errors below, each "
                              "as a negative number.", self.returns)


def sections(contract):
    out = ""
    if contract.parameters or any(line.strip() for line in contract.text):
        out += ".SH DESCRIPTION\n"
    for name, text in contract.parameters:
        out += f".TP\n.I {name}\n{escape(text)}\n"
    body = paragraphs(contract.text)
    if body:
        out += (".PP\n" if contract.parameters else "") + body + "\n"
    if contract.returns:
        out += ".SH RETURN VALUE\n" + paragraphs(
            contract.returns.split("\n")) + "\n"
    if contract.errors:
        out += ".SH ERRORS\nOn an error what a call fills stays as it was"
        if "leaves upmu_explain() as" not in " ".join(contract.text):
            out += ", and \\fBupmu_explain\\fP(3) tells the reason"
        out += ".\n"
    for names, text in contract.errors:
        out += f".TP\n.B {names.replace('-', '')}\n{escape(text)}\n"
    return out


def write_function(folder, contract, names, version):
    page = PAGE.format(
        title=contract.name.upper(), name=contract.name, version=version,
        summary=escape(contract.summary),
        prototype=contract.prototype.replace("\\", "\\e") + ";",
        sections=sections(contract),
        see_also=", ".join(f"\\fB{n}\\fP(3)" for n in neighbours(
            contract.name, names)))
    with open(os.path.join(folder, contract.name + ".3"), "w",
              encoding="utf-8") as file:
        file.write(page)


def neighbours(name, names):
    """upmu(3), and those before and after it in the header."""
    at = names.index(name)
    near = names[max(0, at - 2):at] + names[at + 1:at + 3]
    return ["upmu"] + near


def write_overview(folder, header, contracts, version):
    head = re.search(r"/\*\*\n(.*?)\*/", header, re.S).group(1)
    lines = strip(head)
    summary = lines[0].split(" - ", 1)[1]
    out = (f'.\\" SPDX-License-Identifier: MIT\n.TH UPMU 3 "" "upmu {version}" '
           f'"Library of upmu"\n.SH NAME\nupmu \\- {escape(summary)}\n'
           ".SH SYNOPSIS\n.B #include <upmu.h>\n.PP\n"
           "Link with \\fI\\-lupmu\\fP.\n.SH DESCRIPTION\n")
    out += paragraphs(lines[1:]) + "\n.SH FUNCTIONS\n"
    for contract in contracts:
        out += (f".TP\n\\fB{contract.name}\\fP(3)\n"
                f"{escape(contract.summary)}\n")
    out += ".SH SEE ALSO\n\\fBupmu\\fP(1), \\fBupmu\\fP(4)\n"
    with open(os.path.join(folder, "upmu.3"), "w", encoding="utf-8") as file:
        file.write(out)


def functions(text):
    for comment, after in COMMENT.findall(text):
        if "(" in after and not after.lstrip().startswith(("struct upmu_region;",
                                                          "enum", "#")):
            if re.match(r"\s*\*?\s*(\w+) - ", comment) and not re.match(
                    r" \* (struct|enum) ", comment):
                yield Contract(comment, after)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    *headers, count = map(read, sys.argv[1:-2])
    folder, version = sys.argv[-2:]
    header = "".join(headers)
    contracts = list(functions(header))
    contracts += [c for c in functions(count) if c.name == "upmu_count"]
    for contract in contracts:
        contract.prototype = re.sub(
            r"static inline (__attribute__\(\(always_inline\)\) )?", "static "
            "inline ", contract.prototype)
    os.makedirs(folder, exist_ok=True)
    names = [contract.name for contract in contracts]
    for contract in contracts:
        write_function(folder, contract, names, version)
    write_overview(folder, header, contracts, version)


main()
