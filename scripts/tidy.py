#!/usr/bin/env python3
"""Runs clang-tidy over our own code, remembering what was clean.

    tidy.py BUILD_FOLDER [-j JOBS]      needs BUILD_FOLDER/compile_commands.json

Files that include libtorch are left out (a minute each), and so are tests. A file is checked again
only when it, one of our headers that it includes, its compile command or .clang-tidy changed: the
hash of all these names an empty file in build/tidy/.
"""

import argparse
import concurrent.futures
import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLEAN = ROOT / "build" / "tidy"
LEFT_OUT = re.compile(r"src/wide/train/|_(test|bench|fuzz)\.cc$")
OUR_INCLUDE = re.compile(r'^\s*#\s*include\s*"(wide/[^"]+)"', re.MULTILINE)

# clang 14 has coroutines under their old name; libstdc++ and Asio ask for the new one. Warnings
# that only g++ knows, or only clang has, are the compilers' business.
CLANG_FLAGS = [
    "-D__cpp_impl_coroutine=201902L",
    "-DASIO_HAS_CO_AWAIT",
    "-DASIO_HAS_STD_COROUTINE",
    "-Wno-unknown-warning-option",
    "-Wno-error",
]


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


def run_tidy(build_folder, path, mark):
    """What clang-tidy complains of; empty, and remembered, where it is content."""
    flags = [f"--extra-arg={flag}" for flag in CLANG_FLAGS]
    command = ["clang-tidy-14", "--quiet", "-p", str(build_folder), *flags, str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        mark.touch()
        return ""
    return result.stdout + (result.stderr if not result.stdout.strip() else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build_folder", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()

    CLEAN.mkdir(parents=True, exist_ok=True)
    build_folder, known, waiting = options.build_folder.resolve(), {}, []
    found = list(our_sources(build_folder))
    if not found:
        sys.exit(f"tidy: {build_folder}/compile_commands.json names no file of ours")
    for path, command in found:
        mark = CLEAN / fingerprint(path, command, known)
        if mark.exists():
            mark.touch()
        else:
            waiting.append((path, mark))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
        complaints = list(workers.map(lambda job: run_tidy(build_folder, *job), waiting))
    print("\n".join(filter(None, complaints)), end="")
    forget_old_marks()
    if waiting:
        print(f"tidy: {len(waiting)} files checked, {sum(map(bool, complaints))} with complaints")
    return 1 if any(complaints) else 0


def forget_old_marks(days=30):
    for mark in CLEAN.iterdir():
        if mark.stat().st_mtime < time.time() - days * 86400:
            mark.unlink()


if __name__ == "__main__":
    sys.exit(main())
