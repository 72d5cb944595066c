#!/usr/bin/env python3
"""Measures every codec on real floats, on real links and by what is learnt; writes docs/codecs.md.

    measure_codecs.py --bin build/release/bin --seconds 3600 [--only data,links,quality]
                      [--facts FILE] [--from-facts FILE]

    data      `wide bench codec`: how small, how exact, how fast beside memcpy
    links     four nodes over loopback, 1 Gbit/s, 100 Mbit/s and 10 Mbit/s (root: namespaces)
    quality   accuracy and loss after the same steps, with and without lossy codecs

With --facts FILE, what was measured is kept there part by part; parts that are not measured again
are taken from it, or else from the page as it is, so that a long measurement can be made in pieces.
--from-facts only writes the page.
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

from codec_links import measure_links
from codec_quality import measure_quality
from codecs_page import write_page

ROOT = Path(__file__).resolve().parent.parent
SHARES = {"data": 0.05, "links": 0.5, "quality": 0.45}  # of the time


def machine():
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} cores, {model.group(1) if model else 'unknown processor'}"


def measure_floats(options, seconds, _):
    done = subprocess.run([options.bin / "wide", "bench", "codec", "--json", "--log", "silent",
                           "--seconds", str(min(seconds, 120))], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


MEASURES = {"data": measure_floats, "links": measure_links, "quality": measure_quality}


def measure(options, facts):
    began = time.monotonic()

    def say(what):
        print(f"== {what} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)

    options.earlier = facts
    whole = sum(SHARES[part] for part in options.only)
    for part in options.only:
        say(part)
        seconds = options.seconds * SHARES[part] / whole
        facts[part] = MEASURES[part](options, seconds, say)
        facts[part]["measured"] = {"date": datetime.date.today().isoformat(),
                                   "machine": machine(), "seconds": round(seconds)}
        if options.facts:
            options.facts.write_text(json.dumps(facts, indent=1) + "\n")
    say("done")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", default="data,links,quality", help="parts, with commas between")
    parser.add_argument("--links", default="", help="such as loopback,100: only these links")
    parser.add_argument("--plans", default="", help="such as planes,int8: only these, and none")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "codecs.md")
    parser.add_argument("--scratch", default=None, help="where runs are kept while they last")
    parser.add_argument("--facts", type=Path, help="keep what was measured here, as JSON")
    parser.add_argument("--from-facts", type=Path, help="only write the page, from these")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    options.only = [part for part in options.only.split(",") if part]
    options.links = [link for link in options.links.split(",") if link]
    options.plans = [plan for plan in options.plans.split(",") if plan]
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
