# SPDX-License-Identifier: MIT
"""What compilers make of a source, for tests/mutate.

A fault in what only ARM programs have shows in no native test. One that leaves
the code as it was, on this machine and for each ARM, is none.
"""
import json
import os
import re
import shlex
import subprocess
import tempfile

DROPPED = re.compile(r"-(g\S*|MD)$")
WITH_A_WORD = ("-o", "-MQ", "-MF")


def _without_places(words):
    """A compiler's call without what depends on lines and columns."""
    kept, words = [], iter(words)
    for word in words:
        if word in WITH_A_WORD:
            next(words)
        elif not DROPPED.match(word):
            kept.append(word)
    return kept


class Compiled:
    """The sources of one build."""

    def __init__(self, tree, build):
        self.build, self.commands, self.before = build, {}, {}
        # {path: {how a compiler is called: one of the objects made so}}
        with open(build + "/compile_commands.json") as file:
            for one in json.load(file):
                path = os.path.relpath(os.path.realpath(os.path.join(
                    one["directory"], one["file"])), os.path.realpath(tree))
                words = tuple(_without_places(shlex.split(one["command"])))
                self.commands.setdefault(path, {}).setdefault(words, one)

    @staticmethod
    def _object(words, one):
        """The object file's bytes; None where it does not compile."""
        with tempfile.TemporaryDirectory() as work:
            done = subprocess.run([*words, "-w", "-O2", "-o", work + "/code"],
                                  cwd=one["directory"],
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
            if done.returncode:
                return None
            with open(work + "/code", "rb") as file:
                return file.read()

    def look(self, path):
        """Before a fault is put into a file."""
        if path in self.commands and path not in self.before:
            # what it includes may have to be made
            subprocess.run(["ninja", "-C", self.build, "--quiet",
                            *(one["output"] for one in
                              self.commands[path].values())], check=False,
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            self.before[path] = {
                words: self._object(words, one)
                for words, one in self.commands[path].items()}

    def is_same(self, path):
        """Whether it is as it was, also in the programs of tests that compile
        it in another way; a header is never known to be."""
        return (path in self.commands
                and all(self._object(words, one) == self.before[path][words]
                        for words, one in self.commands[path].items()))
