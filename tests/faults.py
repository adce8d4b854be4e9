# SPDX-License-Identifier: MIT
"""The small faults that tests/mutate puts into C sources, one at a time."""
import collections
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ACCEPTED = "tests/mutants.accepted"

# What is not code: kept, so that places stay the same, but never changed.
HIDDEN = re.compile(r"/\*(?s:.*?)\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|"
                    r"'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:.*\\\n)*.*", re.M)
# name, what is changed, into what
FAULTS = [
    ("less", r"(?<![<-])<(?![<=])", ["<=", ">="]),
    ("more", r"(?<![->])>(?![>=])", [">=", "<="]),
    ("less_same", r"(?<!<)<=", ["<"]),
    ("more_same", r"(?<!>)>=", [">"]),
    ("same", r"==", ["!="]),
    ("other", r"!=", ["=="]),
    ("and", r"&&", ["||"]),
    ("or", r"\|\|", ["&&"]),
    ("plus", r"(?<= )\+(?= )", ["-"]),
    ("minus", r"(?<=[\w)\]] )-(?= )", ["+"]),
    ("assign_more", r"\+=", ["-="]),
    ("bit_and", r"(?<= )&(?= )", ["|"]),
    ("bit_or", r"(?<= )\|(?= )", ["&"]),
    ("left", r"<<(?!=)", [">>"]),
    ("not", r"(?<=[( ])!(?=[\w(])", [""]),
    ("number", r"(?<![\w.])[1-9]\d*(?![\w.])", ["{+1}", "{-1}"]),
    ("condition", r"(?<=\bif )\(", ["(!", "(1 || ", "(0 && "]),
    ("true", r"\btrue\b", ["false"]),
    ("false", r"\bfalse\b", ["true"]),
    ("errno", r"return -E\w+;", ["return 0;"]),
    ("call", r"(?<=\n)\t+\w+\([^;{}]*\);(?=\n)", ["\t;"]),
    ("break", r"\bbreak;", [";"]),
    ("continue", r"\bcontinue;", [";"]),
]

Mutant = collections.namedtuple("Mutant", "path line at end old new")


_folder = TOP


def read_from(folder):
    """From now on: a copy, which stays whatever becomes of the tree."""
    global _folder
    _folder = folder


def read(path):
    with open(os.path.join(_folder, path)) as file:
        return file.read()


def _changed(old, new):
    if new in ("{+1}", "{-1}"):
        return str(int(old) + (1 if new == "{+1}" else -1))
    return new


def _balanced(text, at):
    """Where the parenthesis that opens at `at` is closed."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place
    return None


def put_in(text, mutant):
    """The file with its fault."""
    if mutant.new.startswith("(") and mutant.old == "(":
        end = _balanced(text, mutant.at)
        inside = text[mutant.at + 1:end]
        return (text[:mutant.at] + mutant.new + "(" + inside + "))"
                + text[end + 1:])
    return text[:mutant.at] + mutant.new + text[mutant.end:]


def mutants_of(path, lines=None):
    """All of a file, or of some of its lines."""
    text = read(path)
    code = HIDDEN.sub(lambda found: re.sub(r"[^\n]", "\0", found.group(0)),
                      text)
    for _, pattern, news in FAULTS:
        for found in re.finditer(pattern, code):
            if found.start() and "\0" in found.group(0):
                continue
            line = text.count("\n", 0, found.start()) + 1
            if lines is not None and line not in lines:
                continue
            for new in news:
                yield Mutant(path, line, found.start(), found.end(),
                             found.group(0), _changed(found.group(0), new))


def key(mutant):
    """What a mutant is called in the list: it outlives moved lines."""
    text = read(mutant.path)
    lines = [line.strip() for line in text.splitlines()]
    line = text.splitlines()[mutant.line - 1]
    column = mutant.at - text.rfind("\n", 0, mutant.at) - 1
    indent = len(line) - len(line.lstrip())
    name = (f"{mutant.path}: {line.strip()} @{column - indent} "
            f"{mutant.old.strip()} -> {mutant.new.strip()}")
    alike = lines.count(line.strip())
    if alike == 1:
        return name
    # what is nothing in one of them may be a fault in the next
    number = lines[:mutant.line].count(line.strip())
    return f"{name} ({number} of {alike})"


def accepted():
    """{key: reason} of tests/mutants.accepted."""
    found, name = {}, ""
    for line in read(ACCEPTED).splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("\t"):
            found[name] = line.strip()
        elif line:
            name = line
            found[name] = ""
    return found
