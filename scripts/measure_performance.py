#!/usr/bin/env python3
"""Measures this machine, ours beside its limits and beside others; writes docs/performance.md.

    measure_performance.py --bin build/release/bin [--seconds 720] [--only limit,seed,…]
                           [--facts FILE] [--from-facts FILE]

    limit    `wide bench limit`: what the machine could do with no network
    seed     `wide bench seed`: the experiment of 2024
    peers    `wide bench peers`: PyTorch DDP over Gloo
    rpc      `wide bench rpc`: small requests beside a bare epoll server
    scale    `wide bench scale`: up to 10,000 connections
    delay    what a delay costs in steps and brings in time
    growth   the cost of a step against slots and against parameters

With --facts FILE, what was measured is kept there part by part; parts that are not measured again
are taken from it. --from-facts only writes the page.
"""

import argparse
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from delay_cost import measure_delay
from growth import measure_growth
from performance_page import write_page

ROOT = Path(__file__).resolve().parent.parent

# Of the whole time.
SHARES = {"limit": 0.05, "seed": 0.55, "peers": 0.17, "rpc": 0.03, "scale": 0.08, "delay": 0.06,
          "growth": 0.06}
SEED_LENGTH = 40.0  # all that `wide bench seed` does takes so many times its --seconds


def machine():
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} cores, {model.group(1) if model else 'unknown processor'}"


def bench(name):
    def run(options, seconds, _):
        length = seconds / SEED_LENGTH if name == "seed" else seconds
        done = subprocess.run([options.bin / "wide", "bench", name, "--json", "--log", "silent",
                               "--seconds", f"{length:.1f}"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"wide bench {name}: {done.stdout}")
        return json.loads(done.stdout)
    return run


MEASURES = {name: bench(name) for name in ("limit", "seed", "peers", "rpc", "scale")}
MEASURES |= {"delay": measure_delay, "growth": measure_growth}


def measure(options, facts):
    began = time.monotonic()

    def say(what):
        print(f"== {what} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)

    for part in options.only:
        say(part)
        start = time.monotonic()
        facts[part] = MEASURES[part](options, options.seconds * SHARES[part], say)
        facts[part]["measured"] = {"date": datetime.date.today().isoformat(), "machine": machine(),
                                   "seconds": round(time.monotonic() - start)}
        if options.facts:
            options.facts.write_text(json.dumps(facts, indent=1) + "\n")
    say("done")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--seconds", type=float, default=720)
    parser.add_argument("--only", default=",".join(MEASURES), help="parts, with commas between")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "performance.md")
    parser.add_argument("--scratch", default=None, help="where runs are kept while they last")
    parser.add_argument("--facts", type=Path, help="keep what was measured here, as JSON")
    parser.add_argument("--from-facts", type=Path, help="only write the page, from these")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    options.only = [part for part in options.only.split(",") if part]
    if unknown := set(options.only) - set(MEASURES):
        parser.error(f"--only knows {', '.join(MEASURES)}, not {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse()
    if options.from_facts:
        facts = json.loads(options.from_facts.read_text())
    else:
        known = options.facts and options.facts.exists()
        facts = json.loads(options.facts.read_text()) if known else {}
        measure(options, facts)
    write_page(facts, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that namespaces and runs are ended
    main()
