"""A page that is made of parts, each measured apart: the command line of scripts that write one.

With --facts FILE, what was measured is kept there part by part; parts that are not measured again are
taken from it, so that a long measurement can be made in pieces. --from-facts only writes the page.
"""

import argparse
import datetime
import json
import os
import re
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Part:
    share: float  # of the time
    measure: Callable  # (options, seconds, say) to facts


def machine():
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} cores, {model.group(1) if model else 'unknown processor'}"


def stamp():
    """Of a measurement that begins now. Two of one day differ by their time."""
    now = datetime.datetime.now()
    return {"date": now.date().isoformat(), "time": now.strftime("%H:%M:%S"), "machine": machine()}


def words(text):
    return [word for word in text.split(",") if word]


def table(head, rows, left=1):
    """In Markdown; the first columns are words, the others figures."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * left + "---:|" * (len(head) - left)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def parser_for(about, parts, seconds, page):
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--only", type=words, default=list(parts), help="parts, with commas between")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / page)
    parser.add_argument("--scratch", default=None, help="where runs are kept while they last")
    parser.add_argument("--facts", type=Path, help="keep what was measured here, as JSON")
    parser.add_argument("--from-facts", type=Path, help="only write the page, from these")
    return parser


def measure(parts, options, facts):
    began = time.monotonic()

    def say(what):
        print(f"== {what} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)

    options.earlier = facts
    whole = sum(parts[name].share for name in options.only)
    for name in options.only:
        say(name)
        start, told = time.monotonic(), stamp()
        facts[name] = parts[name].measure(options, options.seconds * parts[name].share / whole, say)
        facts[name]["measured"] = told | {"seconds": round(time.monotonic() - start)}
        if options.facts:
            options.facts.write_text(json.dumps(facts, indent=1) + "\n")
    say("done")


def run(parser, parts, write_page):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that namespaces and runs are ended
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    if unknown := set(options.only) - set(parts):
        parser.error(f"--only knows {', '.join(parts)}, not {', '.join(sorted(unknown))}")
    facts = {}
    if options.from_facts:
        facts = json.loads(options.from_facts.read_text())
    else:
        if options.facts and options.facts.exists():
            facts = json.loads(options.facts.read_text())
        measure(parts, options, facts)
    write_page(facts, options.out)
    print(f"wrote {options.out}")
