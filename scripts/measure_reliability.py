#!/usr/bin/env python3
"""Tries to break runs for a while, and writes docs/reliability.md from what came out.

    measure_reliability.py --bin build/dev/bin --seconds 3600 [--seed N] [--out FILE]
                           [--facts FILE [--only PARTS]]

Simulated runs, kills of real processes, restarts of a pool with 100 MB of state, training under
churn, planted defects: each gets its share of the time. A part that finds a fault makes the script
exit 1; the report says so, too. With little time the long parts are left out, and that is said.
With --only some parts are measured again, and the others taken from the facts of an earlier run.
"""

import argparse
import datetime
import json
import math
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from free_port import free_port
from page_of_parts import ROOT, machine

BIG_JOB = """
[job]
name = "big"
[model]
kind = "mlp"
layers = [10, 2900, 2900, 10]
[data]
kind = "synthetic"
[train]
batch = 8
units_per_step = 2
steps = 1000000
"""

CHURN_JOB = """
[job]
name = "churn"
[model]
kind = "mlp"
layers = [10, 64, 10]
[data]
kind = "synthetic"
[train]
batch = 8
units_per_step = 64
steps = 1000000
"""


class Crew:
    """A pool and its stub nodes: started, killed and started again."""

    def __init__(self, bin_folder, folder, job, nodes, node_flags=(), pool_flags=()):
        self.bin, self.folder, self.run = bin_folder, Path(folder), Path(folder) / "run"
        self.job = self.folder / "job.toml"
        self.job.write_text(job)
        self.address = f"127.0.0.1:{free_port()}"
        self.node_flags, self.pool_flags = list(node_flags), list(pool_flags)
        self.log = open(self.folder / "pool.err", "ab")
        self.pool, self.nodes, self.born = None, [], 0
        self.open()
        self.wait_for_ledger()
        for _ in range(nodes):
            self.add_node()

    def open(self, resume=False):
        command = [self.bin / "wide", "pool", self.job, "--out", self.run, "--listen", self.address,
                   "--log", "verbose", *self.pool_flags, *(["--resume"] if resume else [])]
        self.pool = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=self.log)

    def add_node(self):
        self.born += 1
        command = [self.bin / "wide-stub-node", "--connect", self.address, "--name", f"n{self.born}",
                   *self.node_flags]
        self.nodes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def kill_node(self, dice):
        victim = self.nodes.pop(dice.randrange(len(self.nodes)))
        victim.kill()
        victim.wait()

    def kill_pool(self):
        self.pool.kill()
        self.pool.wait()

    def last_record_bytes(self):
        """Of the newest segment: pruning makes older ones smaller meanwhile."""
        newest = max((self.run / "ledger").glob("*.log"), default=None)
        return (newest.name, newest.stat().st_size) if newest else ("", 0)

    def wait_for_ledger(self):
        until = time.monotonic() + 20
        while not (self.run / "ledger").is_dir() and time.monotonic() < until:
            time.sleep(0.01)

    def step(self):
        done = subprocess.run([self.bin / "wide", "status", f"wide://{self.address}", "--json"],
                              capture_output=True, text=True, check=False, timeout=30)
        return json.loads(done.stdout)["step"] if done.returncode == 0 else None

    def end(self):
        for process in [self.pool, *self.nodes]:
            process.kill()
            process.wait()
        self.log.close()

    def said(self):
        return (self.folder / "pool.err").read_text(errors="replace")


def simulate(options, seconds):
    """As many seeds as fit, in rounds, from where the seed says."""
    until = time.monotonic() + seconds
    first, size = options.seed * 10_000_000 + 1, 500
    total = {"seeds": 0, "steps": 0, "real_seconds": 0.0, "simulated_seconds": 0.0, "faults": {},
             "violations": [], "first_seed": first}
    while time.monotonic() < until:
        command = [options.bin / "wide", "sim", "--seeds", f"{first}..{first + size - 1}", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            report = json.loads(done.stdout)
        except json.JSONDecodeError:
            total["violations"].append(f"wide sim --seeds {first}..{first + size - 1}: it ended with "
                                       f"{done.returncode}")
            return total
        for key in ("seeds", "steps", "real_seconds", "simulated_seconds"):
            total[key] += report[key]
        for kind, count in report["faults"].items():
            total["faults"][kind] = total["faults"].get(kind, 0) + count
        total["violations"] += report["violations"]
        first += size
        span = max(report["real_seconds"], 1e-3)
        size = max(100, min(20000, int(size * 20 / span)))  # rounds of about 20 s
    return total


def kills(options, seconds):
    """The harness itself, for as long as it is told, and what it says that it did."""
    began = time.monotonic()
    environment = dict(os.environ, WIDE_SOAK_SECONDS=str(int(seconds)),
                       WIDE_SOAK_SEED=str(options.seed))
    done = subprocess.run([options.bin / "kill_soak_test"], env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    counts = {"seconds": time.monotonic() - began,
              "failed": "" if done.returncode == 0 else done.stdout[-2000:]}
    said = re.search(r"(\d+) runs, (\d+) node kills, (\d+) pool kills", done.stdout)
    if said:
        counts |= dict(zip(("runs", "node_kills", "pool_kills"), map(int, said.groups())))
    return counts


def nearest_rank(values, share):
    """The least of them that at least such a share does not exceed: no value that nobody saw."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def restarts(options, count):
    """From starting the pool again to its first new commit, 100 MB of state."""
    dice, spans = random.Random(options.seed), []
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        crew = Crew(options.bin, folder, BIG_JOB, 2)
        try:
            time.sleep(8)
            for _ in range(count):
                time.sleep(dice.uniform(2, 5))
                crew.kill_pool()
                before, began = crew.last_record_bytes(), time.monotonic()
                crew.open(resume=True)
                while crew.last_record_bytes() <= before and time.monotonic() < began + 30:
                    time.sleep(0.002)
                while crew.last_record_bytes()[1] < before[1] + 30_000_000 \
                        and crew.last_record_bytes()[0] == before[0] \
                        and time.monotonic() < began + 30:
                    time.sleep(0.002)
                spans.append(time.monotonic() - began)
            stood = [int(us) for us in re.findall(r"training_stood_us=(\d+)", crew.said())]
        finally:
            crew.end()
    return {"count": count, "p50": statistics.median(spans), "p99": nearest_rank(spans, 0.99),
            "most": max(spans), "checkpoints": len(stood),
            "stood_ms_most": max(stood, default=0) / 1000,
            "stood_ms_p50": statistics.median(stood) / 1000 if stood else 0}


def churn(options, rounds, span):
    """Steps per second with one kill every 15 s, over those without, in turns in one run."""
    dice, rates = random.Random(options.seed), {"calm": [], "killed": []}
    with tempfile.TemporaryDirectory() as folder:
        crew = Crew(options.bin, folder, CHURN_JOB, 8, ["--delay-us", "10000"])
        try:
            time.sleep(3)
            for turn in range(2 * rounds):
                kind = "killed" if turn % 2 else "calm"
                begin_step, began = crew.step(), time.monotonic()
                next_kill = began + 7.5
                while time.monotonic() < began + span:
                    if kind == "killed" and time.monotonic() >= next_kill:
                        crew.kill_node(dice)
                        crew.add_node()
                        next_kill += 15
                    time.sleep(0.02)
                rates[kind].append((crew.step() - begin_step) / (time.monotonic() - began))
        finally:
            crew.end()
    calm, killed = statistics.median(rates["calm"]), statistics.median(rates["killed"])
    return {"rounds": rounds, "span": span, "calm": calm, "killed": killed, "ratio": killed / calm}


def reissues(options):
    """How soon a dead node's leases are free, from the harness's own tests."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        done = subprocess.run([options.bin / "fault_run_test", "--gtest_filter=*Leases*",
                               f"--gtest_output=json:{out}"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        found = {"failed": "" if done.returncode == 0 else done.stdout[-1500:]}
        for suite in json.loads(out.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                spans = [int(value) for key, value in test.items() if key.endswith("milliseconds")]
                if spans:
                    found["cut" if "Cut" in test["name"] else "killed"] = spans[0]
        return found


def planted(options):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "planted.json"
        done = subprocess.run([sys.executable, ROOT / "scripts" / "planted_bugs.py", "--out", out],
                              check=False)
        found = json.loads(out.read_text()) if out.exists() else {"planted": 0, "caught": 0,
                                                                  "by_simulator": 0, "rows": []}
        found["failed"] = done.returncode != 0
        return found


PARTS = ("planted", "reissues", "restarts", "churn", "kills", "simulation")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "dev" / "bin")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "reliability.md")
    parser.add_argument("--scratch", default=None, help="a folder on the disk to be measured")
    parser.add_argument("--planted", type=Path, help="what planted_bugs.py --out wrote, if it ran")
    parser.add_argument("--facts", type=Path, help="also as JSON")
    parser.add_argument("--only", default="", help=f"of {','.join(PARTS)}: the rest from --facts")
    parser.add_argument("--from-facts", type=Path, help="only write the page, from these")
    options = parser.parse_args()
    options.only = [part for part in options.only.split(",") if part]
    if unknown := set(options.only) - set(PARTS):
        parser.error(f"--only knows {', '.join(PARTS)}, not {', '.join(sorted(unknown))}")
    if options.only and not (options.facts and options.facts.exists()):
        parser.error("--only needs --facts of an earlier run")
    if options.from_facts:
        facts = json.loads(options.from_facts.read_text())
    else:
        facts = measure(options)
        if options.facts:
            options.facts.write_text(json.dumps(facts, indent=2) + "\n")
    from reliability_page import page, faults_found
    options.out.write_text(page(facts))
    found = faults_found(facts)
    for fault in found:
        print(f"FAULT {fault}", file=sys.stderr)
    print(f"wrote {options.out}")
    sys.exit(1 if found else 0)


def measure(options):
    options.bin = options.bin.resolve()
    began = time.monotonic()
    facts = json.loads(options.facts.read_text()) if options.only else {
        "seed": options.seed, "seconds": options.seconds}
    facts |= {"date": datetime.date.today().isoformat(), "machine": machine()}
    long = options.seconds >= 1500

    def left(share):
        return max(20.0, options.seconds - (time.monotonic() - began)) * share

    def measure_part(part, what, measurement):
        if options.only and part not in options.only:
            return
        print(f"== {what} ({time.monotonic() - began:.0f} s)", flush=True)
        facts[part] = measurement()

    if options.planted:
        facts["planted"] = json.loads(options.planted.read_text())
    elif long or "planted" in options.only:
        measure_part("planted", "planted defects", lambda: planted(options))
    measure_part("reissues", "dead nodes' leases", lambda: reissues(options))
    measure_part("restarts", "restarts with 100 MB of state",
                 lambda: restarts(options, 40 if long else 8))
    measure_part("churn", "training with a kill every 15 s",
                 lambda: churn(options, 3 if long else 1, 60 if long else 30))
    measure_part("kills", "kills of real processes", lambda: kills(options, left(0.45)))
    measure_part("simulation", "simulated runs", lambda: simulate(options, left(1)))
    print(f"== done ({time.monotonic() - began:.0f} s)", flush=True)
    return facts


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
