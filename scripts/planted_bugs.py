#!/usr/bin/env python3
"""Plants each defect of tests/planted, one at a time, and demands that it is caught.

    planted_bugs.py [--seeds N] [--only WORD] [--out FILE]
    planted_bugs.py --check        only whether every patch still fits the code

A patch is a line that says what is wrong, an empty line, and a diff of a line or two. In a copy of
the tree (build/planted) each is applied, the simulator and the unit tests are built and run, and at
least one of them must fail. What the simulator alone catches is said as well: it sees the whole,
and knows nothing of how a part is written. Exits 1 where a defect goes unnoticed, or where the
tests fail with no defect planted.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "planted"
TREE = PLACE / "tree"
BUILD = PLACE / "build"
UNIT_TESTS = ["wire_test", "engine_test", "store_test", "history_test"]
SIM_SECONDS_MAX = 240
UNIT_SECONDS_MAX = 120


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)


def copy_tree():
    """Only what differs, so that little is built anew."""
    listed = run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT).stdout.splitlines()
    names = [name for name in listed if not name.startswith("docs/")]
    wanted = {TREE / name for name in names}
    for stale in [path for path in TREE.rglob("*") if path.is_file() and path not in wanted]:
        stale.unlink()
    for name in names:
        source, target = ROOT / name, TREE / name
        if not source.exists():
            continue
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def configure():
    # No -Werror: a planted defect may leave something unused.
    done = run(["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DWIDE_TORCH=OFF",
                "-DCMAKE_CXX_COMPILER=clang++-16",
                "-DWIDE_FAILPOINTS=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g0"])
    if done.returncode != 0:
        sys.exit(f"cannot configure:\n{done.stdout}")


def build():
    done = run(["ninja", "-C", BUILD, "wide", *UNIT_TESTS])
    if done.returncode != 0:
        sys.exit(f"cannot build:\n{done.stdout[-4000:]}")


def simulate(seeds):
    """What the simulator has to say against it, or an empty text."""
    command = [BUILD / "bin" / "wide", "sim", "--seeds", f"1..{seeds}", "--json"]
    try:
        done = run(command, timeout=SIM_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return "it did not come to an end"
    if done.returncode == 0:
        return ""
    found = re.search(r"wide sim --seeds (\d+)\.\.", done.stdout)
    if found:
        return f"seed {found.group(1)}"
    lines = done.stdout.strip().splitlines()
    # Where this copy lies says nothing to a reader of the report.
    return lines[-1].replace(f"{TREE}/", "") if lines else f"exit code {done.returncode}"


def unit_tests():
    for test in UNIT_TESTS:
        try:
            done = run([BUILD / "bin" / test, "--gtest_brief=1"], timeout=UNIT_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return f"{test} did not come to an end"
        if done.returncode != 0:
            # A comma stands behind the name where the test has a parameter.
            failed = re.search(r"\[  FAILED  \] ([^\s,]+)", done.stdout)
            return failed.group(1) if failed else f"{test}: exit code {done.returncode}"
    return ""


def apply(patch, *flags):
    # Not a repository of its own: paths in the patch are taken from here.
    done = run(["git", "apply", "--directory", str(TREE.relative_to(ROOT)), *flags, patch],
               cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{patch.name} does not apply:\n{done.stdout}")


def check(patches):
    stale = [patch.name for patch in patches
             if run(["git", "apply", "--check", patch], cwd=ROOT).returncode != 0]
    sys.exit(f"these do not fit the code any more: {', '.join(stale)}" if stale else 0)


def try_one(patch, seeds):
    apply(patch)
    try:
        build()
        return simulate(seeds), unit_tests()
    finally:
        apply(patch, "--reverse")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=400, help="simulated runs against each")
    parser.add_argument("--only", default="", help="those whose name has this word")
    parser.add_argument("--out", type=Path, help="write what came out there, as JSON")
    parser.add_argument("--check", action="store_true", help="only whether every patch fits")
    options = parser.parse_args()
    patches = sorted(p for p in (ROOT / "tests" / "planted").glob("*.patch")
                     if options.only in p.name)
    if options.check:
        check(patches)
    copy_tree()
    configure()
    build()
    if innocent := simulate(options.seeds) or unit_tests():
        sys.exit(f"with nothing planted the tests fail: {innocent}")

    rows = []
    for patch in patches:
        began = time.monotonic()
        by_sim, by_unit = try_one(patch, options.seeds)
        title = patch.read_text().splitlines()[0]
        rows.append({"name": patch.stem, "defect": title, "simulator": by_sim, "unit_tests": by_unit})
        verdict = "caught" if by_sim or by_unit else "MISSED"
        print(f"{verdict}  {patch.stem:<34} simulator: {by_sim or '-':<24} unit tests: {by_unit or '-'}"
              f"  ({time.monotonic() - began:.0f} s)", flush=True)
    build()
    caught = sum(1 for row in rows if row["simulator"] or row["unit_tests"])
    by_sim = sum(1 for row in rows if row["simulator"])
    print(f"{caught} of {len(rows)} caught, {by_sim} of them by the simulator")
    if options.out:
        options.out.write_text(json.dumps({"planted": len(rows), "caught": caught,
                                           "by_simulator": by_sim, "rows": rows}, indent=2) + "\n")
    sys.exit(0 if caught == len(rows) else 1)


if __name__ == "__main__":
    main()
