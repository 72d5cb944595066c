#!/usr/bin/env python3
"""Runs clang-tidy over our own code, remembering what was clean.

    tidy.py BUILD_FOLDER [-j JOBS]      needs BUILD_FOLDER/compile_commands.json

Files that include libtorch are left out (a minute each), and so are tests. A file is checked again
only when it, one of our headers that it includes, its compile command or .clang-tidy changed: the
hash of all these names an empty file in build/tidy/.

Most of the time goes into reading headers, so neighbours are read as one: a file in build/tidy/ that
includes some of them. Where those do not get on (two have a constant of one name), or one of them
deserves a complaint, those that are named are tried again apart from the others, down to single files:
only these complain.
"""

import argparse
import concurrent.futures
import hashlib
import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLEAN = ROOT / "build" / "tidy"
LEFT_OUT = re.compile(r"src/wide/train/|_(test|bench|fuzz)\.cc$")
OUR_INCLUDE = re.compile(r'^\s*#\s*include\s*"(wide/[^"]+)"', re.MULTILINE)
# A file that is compiled once for each instruction set keeps to itself.
FOR_EACH_TARGET = "hwy/foreach_target.h"
GROUP_COUNT_MAX = 8

# clang 14 has coroutines under their old name; libstdc++ and Asio ask for the new one. Warnings
# that only g++ knows, or only clang has, are the compilers' business.
CLANG_FLAGS = [
    "-D__cpp_impl_coroutine=201902L",
    "-DASIO_HAS_CO_AWAIT",
    "-DASIO_HAS_STD_COROUTINE",
    "-Wno-unknown-warning-option",
    "-Wno-error",
]


class Source:
    """A file to check, how it is compiled, and the mark that says it was clean."""

    def __init__(self, path, command, known):
        self.path = path
        self.flags = flags_of(command)
        self.mark = CLEAN / fingerprint(path, command, known)
        self.alone = FOR_EACH_TARGET in path.read_text(encoding="utf-8")


def flags_of(command):
    """Of a compile command: all but the compiler, the file and what comes out."""
    words = shlex.split(command)
    words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    for option in ("-o", "-c"):
        at = words.index(option)
        del words[at:at + 2]
    return tuple(words)


def our_sources(build_folder):
    """(file, compile command) of everything to check."""
    for entry in json.loads((build_folder / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if not path.is_relative_to(ROOT / "src") or LEFT_OUT.search(path.as_posix()):
            continue
        if path.is_file() and "torch" not in entry["command"].replace(str(ROOT), ""):
            yield path, entry["command"]


def headers_of(path, known):
    """Our headers that `path` includes, directly or not; `known` remembers."""
    if path not in known:
        known[path] = set()  # also ends a circle
        for name in OUR_INCLUDE.findall(path.read_text(encoding="utf-8")):
            header = ROOT / "src" / name
            if header.is_file():
                known[path] |= {header} | headers_of(header, known)
    return known[path]


def fingerprint(path, command, known):
    digest = hashlib.sha256()
    digest.update(f"{command}\n{CLANG_FLAGS}\n".encode())
    for part in [ROOT / ".clang-tidy", path, *sorted(headers_of(path, known))]:
        digest.update(part.as_posix().encode())
        digest.update(part.read_bytes())
    return digest.hexdigest()


def groups_of(sources):
    """Neighbours that are compiled alike, some at a time."""
    groups, together = [], {}
    for source in sorted(sources, key=lambda source: source.path):
        key = (source.path.parent, source.flags)
        group = together.get(key)
        if source.alone or group is None or len(group) == GROUP_COUNT_MAX:
            group = []
            groups.append(group)
            if not source.alone:
                together[key] = group
        group.append(source)
    return groups


def file_for(group):
    """What clang-tidy reads: the file itself, or one that includes the group's."""
    if len(group) == 1:
        return group[0].path
    text = "".join(f'#include "{source.path}"\n' for source in group)
    path = CLEAN / f"group-{hashlib.sha256(text.encode()).hexdigest()[:16]}.cc"
    path.write_text(text)
    return path


def errors_in(output):
    return "\n".join(line for line in output.splitlines() if " error: " in line)


def check(group):
    """What clang-tidy complains of; files it is content with are remembered."""
    path = file_for(group)
    command = ["clang-tidy-14", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", str(path), "--",
               *group[0].flags, *CLANG_FLAGS]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if len(group) > 1:
        path.unlink(missing_ok=True)
    if result.returncode == 0:
        for source in group:
            source.mark.touch()
        return []
    if len(group) > 1:
        named = [source for source in group if f"{source.path}:" in errors_in(result.stdout)]
        others = [source for source in group if source not in named]
        if not named or not others:
            named, others = group[::2], group[1::2]
        return check(named) + check(others)
    return [result.stdout + (result.stderr if not result.stdout.strip() else "")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build_folder", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()

    CLEAN.mkdir(parents=True, exist_ok=True)
    known = {}
    sources = [Source(path, command, known)
               for path, command in our_sources(options.build_folder.resolve())]
    if not sources:
        sys.exit(f"tidy: {options.build_folder}/compile_commands.json names no file of ours")
    waiting = []
    for source in sources:
        if source.mark.exists():
            source.mark.touch()
        else:
            waiting.append(source)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
        complaints = sum(workers.map(check, groups_of(waiting)), [])
    print("\n".join(complaints), end="")
    forget_old_marks()
    if waiting:
        print(f"tidy: {len(waiting)} files checked, {len(complaints)} with complaints")
    return 1 if complaints else 0


def forget_old_marks(days=30):
    for mark in CLEAN.iterdir():
        if mark.stat().st_mtime < time.time() - days * 86400:
            mark.unlink()


if __name__ == "__main__":
    sys.exit(main())
