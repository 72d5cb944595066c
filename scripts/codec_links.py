"""Training over links of several rates: how long a step takes, and what travels for it.

Four nodes behind the pool's own link, an mlp of two million parameters, one unit for each node and
step. All plans train the same steps, one after another, round after round, until the time is up: later
gradients have more zeros and take fewer bytes, so only the same steps can be compared. Of each run the
second half counts, since "auto" needs a while; its first quarter is told as well.

The loss after so many steps is the same whatever the link, to the bit; so the number of steps to a
loss is counted apart, over several seeds, and the time to it on a link is that number of its own steps.
Links and plans that are not measured again keep the rows of earlier facts. Since "none" always is,
each row has what "none" took in its own measurement, and when and where that was: machines differ,
and so does one machine from day to day.
"""

import contextlib
import json
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from free_port import free_port
from page_of_parts import stamp
from shaped_link import NoNamespaces, shaped_link
from whole_runs import RunFailed, curve, train

NODES = 4
LAYERS = [784, 1024, 1024, 256, 10]
LONGEST_RUN = 600  # seconds
SLOWER_MOST = 3  # a run that takes so many times as long as "none" is stopped
TARGET_STEPS = 40  # what "none" reaches after so many steps is what all must reach
PATIENCE = 3  # a plan that needs so many times as many has not reached it
SMOOTHED = 15  # a batch's loss wobbles more than it falls in ten steps
STEP_SEEDS = (1, 2, 3)

# Mbit/s; steps of a run; share of the time: on a slow link even one step takes long.
LINKS = {"loopback": (None, 60, 0.1), "1 Gbit/s": (1000, 24, 0.1), "100 Mbit/s": (100, 8, 0.2),
         "10 Mbit/s": (10, 4, 0.6)}

LOSSLESS = {word: {"lossless": word} for word in
            ("none", "lz4", "zstd", "zlib", "zlib9", "planes", "auto")}
LOSSY = {word: {"gradient": word, "update": word, "lossless": "none"} for word in
         ("fp16", "bf16", "int8", "int4", "topk", "sign")}
LOSSY["powersgd"] = {"update": "powersgd", "lossless": "none"}
LOSSY["lossy auto"] = {"gradient": "auto", "update": "auto", "lossless": "none"}
PLANS = LOSSLESS | LOSSY


def job_text(plan, steps, seed=1, delay=0):
    codec = "\n".join(f'{key} = "{word}"' for key, word in plan.items())
    exact = "ledger" if plan.get("gradient") == "auto" else "bits"  # which refuses such a plan
    return f"""[job]
name = "links"
seed = {seed}
[model]
kind = "mlp"
layers = {LAYERS}
[data]
kind = "fashion-mnist"
ship = "local"
[train]
batch = 32
units_per_step = {NODES}
steps = {steps}
lr = 0.001
exact = "{exact}"
[strategy]
delay = {delay}
[codec]
{codec}
"""


def parameter_count():
    return sum(a * b + b for a, b in zip(LAYERS, LAYERS[1:]))


class Run:
    """A pool and its nodes over a link. Leaving the `with` ends them."""

    def __init__(self, bin_folder, link, text, scratch):
        self.folder = tempfile.TemporaryDirectory(prefix="wide-codecs-", dir=scratch)
        path = Path(self.folder.name)
        self.out = path / "run"
        job = path / "job.toml"
        job.write_text(text)
        address = f"{link.host}:{free_port(link.host)}"
        self.pool = subprocess.Popen(
            [bin_folder / "wide", "pool", job, "--listen", address, "--insecure", "--out", self.out,
             "--json", "--log", "silent"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.nodes = []
        self.wait_for(address)
        for number in range(NODES):
            self.nodes.append(subprocess.Popen(
                [*link.inside, bin_folder / "wide", "join", f"wide://{address}", "--slots", "1",
                 "--name", f"n{number + 1}", "--log", "silent"], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def wait_for(self, address):
        host, port = address.split(":")
        until = time.monotonic() + 20
        while time.monotonic() < until and self.pool.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
                return
            time.sleep(0.05)
        self.end()
        raise RuntimeError(f"the pool does not listen on {address}")

    def summary(self, seconds_most):
        """When all steps are done, or as many as were in that time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.pool.wait(seconds_most)
        if self.pool.poll() is None:
            self.pool.send_signal(signal.SIGINT)
        said, _ = self.pool.communicate(timeout=60)
        return json.loads(said[said.index("{"):])

    def end(self):
        for process in [self.pool, *self.nodes]:
            process.kill()
            process.wait()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def step_spans(rows):
    """Seconds per step, between one row and the next."""
    return [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(rows, rows[1:]) if b[0] > a[0]]


def smooth(rows):
    """(step, mean loss of the rows that end there)."""
    return [(rows[i][0], statistics.mean(row[2] for row in rows[max(0, i + 1 - SMOOTHED):i + 1]))
            for i in range(len(rows))]


def steps_to(rows, target):
    return next((step + 1 for step, loss in smooth(rows) if loss <= target), None)


def measure_run(options, link, text, seconds_most):
    with Run(options.bin, link, text, options.scratch) as run:
        summary = run.summary(seconds_most)
        return curve(run.out), summary


class Figures:
    """What the rounds of one plan on one link gave, so far."""

    def __init__(self):
        self.spans, self.first_spans, self.rows = [], [], []
        self.bytes, self.steps, self.encode = 0, 0, 0.0

    def add(self, rows, summary):
        spans = step_spans(rows)
        self.first_spans += spans[:max(1, len(spans) // 4)]
        self.spans += spans[len(spans) // 2:]  # nothing is learnt about the line any more, one hopes
        self.rows = max(self.rows, rows, key=len)
        self.steps += summary["steps"]
        self.bytes += summary["bytes_sent"] + summary["bytes_received"]
        self.encode += summary.get("encode_seconds", 0)

    def facts(self):
        steps = max(self.steps, 1)
        return {"step_seconds": statistics.median(self.spans) if self.spans else None,
                "first_step_seconds": statistics.median(self.first_spans or [0]) or None,
                "steps": self.steps, "spans": len(self.spans), "bytes_per_step": self.bytes / steps,
                "encode_seconds_per_step": self.encode / steps}


def chosen_plans(options):
    return {plan: words for plan, words in PLANS.items() if plan == "none" or not options.plans
            or plan in options.plans}


def chosen_links(options):
    return {name: link for name, link in LINKS.items()
            if not options.links or name.split()[0] in options.links}


def measure_link(options, name, until, say):
    """All plans in turn, round after round; every plan at least once."""
    megabits, steps, _ = LINKS[name]
    plans = chosen_plans(options)
    figures = {plan: Figures() for plan in plans}
    rounds, round_seconds, none_seconds = 0, 0.0, LONGEST_RUN
    with shaped_link(megabits) as link:
        while rounds == 0 or time.monotonic() + round_seconds < until:
            began = time.monotonic()
            for plan, words in plans.items():
                say(f"{name}, {plan}")
                run_began = time.monotonic()
                try:
                    found = measure_run(options, link, job_text(words, steps),
                                        SLOWER_MOST * none_seconds)
                except (RuntimeError, ValueError, subprocess.TimeoutExpired) as failure:
                    say(f"{name}, {plan}: {failure}")
                    continue
                figures[plan].add(*found)
                if plan == "none":
                    none_seconds = time.monotonic() - run_began
            rounds += 1
            round_seconds = time.monotonic() - began
    return {"rounds": rounds, "figures": figures}


def count_steps(options, say):
    """How many steps each plan needs to what "none" has reached after TARGET_STEPS, seed by seed.

    One node alone: the bits are the same, and its steps take long enough that each has its row."""
    plans = [plan for plan in chosen_plans(options) if plan in LOSSY]
    counts = {plan: [] for plan in ["none", *plans]}
    targets = []
    for seed in STEP_SEEDS:
        rows = curve_of(options, "none", seed, TARGET_STEPS + 1)
        targets.append([loss for step, loss in smooth(rows) if step < TARGET_STEPS][-1])
        counts["none"].append(steps_to(rows, targets[-1]))
        for plan in plans:
            rows = curve_of(options, plan, seed, PATIENCE * TARGET_STEPS)
            counts[plan].append(steps_to(rows, targets[-1]))
        say(f"steps to the loss, seed {seed}: " + ", ".join(f"{plan} {found[-1]}"
                                                            for plan, found in counts.items()))
    return {"seeds": len(STEP_SEEDS), "targets": targets, "counts": counts}


def curve_of(options, plan, seed, steps):
    rows = train(options.bin, job_text(PLANS[plan], steps, seed), ["--nodes", 1], options.scratch)[1]
    check_every_step(rows, f"{plan}, seed {seed}")
    return rows


def check_every_step(rows, whose):
    """A mean over SMOOTHED rows is one over as many steps only where no step is without a row."""
    gap = next(((a[0], b[0]) for a, b in zip(rows, rows[1:]) if b[0] != a[0] + 1), None)
    if gap:
        raise RunFailed(f"steps to the loss, {whose}: metrics.jsonl has a row of step {gap[0]} and "
                        f"then of {gap[1]}. A row comes at most every 0.1 s, and this machine's steps "
                        "are quicker: LAYERS must be larger here for steps to be counted")


def steps_needed(steps, plan):
    """The mean over the seeds; nothing where one of them did not get there."""
    counts = steps["counts"].get(counted_as(plan))
    return statistics.mean(counts) if counts and None not in counts else None


def link_rows(name, found, measured):
    none_seconds = found["figures"]["none"].facts()["step_seconds"]
    return [{"link": name, "plan": plan, "lossy": plan in LOSSY, "rounds": found["rounds"],
             **figure.facts(), "none_seconds": none_seconds, "measured": measured,
             "steps_to_loss": None} for plan, figure in found["figures"].items()]


def counted_as(plan):
    """Lossless codecs change no bit, and so no loss."""
    return "none" if plan in LOSSLESS else plan


def with_steps(row, steps):
    """As it was only where its plan was not counted again: it may not get there any more."""
    again = counted_as(row["plan"]) in steps["counts"]
    needed = steps_needed(steps, row["plan"]) if again else row["steps_to_loss"]
    there = needed and row["step_seconds"]
    return row | {"steps_to_loss": needed,
                  "seconds_to_loss": needed * row["step_seconds"] if there else None}


def of_its_own_measurement(earlier):
    """The rows of earlier facts; those from before rows had these fields get them from the whole."""
    nones = {row["link"]: row["step_seconds"] for row in earlier.get("rows", [])
             if row["plan"] == "none"}
    whole = {key: earlier["measured"][key] for key in ("date", "machine")} if earlier else None
    return [{"none_seconds": nones.get(row["link"]), "measured": whole} | row
            for row in earlier.get("rows", [])]


def merged(earlier, rows):
    """What was not measured again stays."""
    new = {(row["link"], row["plan"]): row for row in rows}
    kept = [new.pop((row["link"], row["plan"]), row) for row in of_its_own_measurement(earlier)]
    order = {place: i for i, place in enumerate((link, plan) for link in LINKS for plan in PLANS)}
    return sorted(kept + list(new.values()), key=lambda row: order[(row["link"], row["plan"])])


def measure_links(options, seconds, say):
    links, measured = chosen_links(options), stamp()
    whole = sum(share for *_, share in links.values())
    steps = count_steps(options, say)
    began = time.monotonic()
    facts = {"nodes": NODES, "layers": LAYERS, "parameters": parameter_count(),
             "target_steps": TARGET_STEPS, "steps": steps}
    rows, spent = [], 0.0
    for name, (*_, share) in links.items():
        spent += share
        until = began + seconds * spent / whole
        try:
            found = measure_link(options, name, until, say)
        except NoNamespaces as reason:
            facts["skipped"] = f"shaped links were left out: {reason}"
            break
        rows += link_rows(name, found, measured)
    rows = merged(options.earlier.get("links", {}), rows)
    return facts | {"rows": [with_steps(row, steps) for row in rows]}
