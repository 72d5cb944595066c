"""What a delay costs and brings: steps and seconds to a loss, with weights 0, 1 and 2 updates old.

Paired seeds, the runs in turn, as many seeds as there is time for: a run of a few rows tells
nothing. The loss to reach is what the run without delay has halfway. A loss is the median of the
rows of a fixed number of steps, so that one lucky batch decides nothing, and that a run with
quicker steps, of which fewer have a row, is not judged by a longer stretch of its curve.
"""

import statistics

from whole_runs import train

DELAYS = (0, 1, 2)
SEEDS = (1, 2, 3)
RUN_SECONDS_LEAST = 2.5
START_SECONDS = 1.5  # of a run: its processes, its samples, its last evaluation

SUBJECTS = {
    # name: nodes, steps that a loss is taken over (some seven rows on two cores), job
    "tiny, 10 nodes": (10, 1000, """[model]
kind = "mlp"
layers = [10, 20, 10]
[data]
kind = "synthetic"
samples = 1024
features = 10
classes = 10
[train]
batch = 32
units_per_step = 10
seconds = 2
optimizer = "adam"
lr = 0.01
exact = "bits"
"""),
    "Fashion-MNIST cnn, 2 nodes": (2, 60, """[model]
kind = "cnn"
channels = [16, 32]
hidden = 64
[data]
kind = "fashion-mnist"
[train]
batch = 32
units_per_step = 4
seconds = 2
optimizer = "adamw"
lr = 0.001
exact = "bits"
"""),
}


def job_text(body, seed, delay):
    return f'[job]\nname = "delay"\nseed = {seed}\n{body}[strategy]\ndelay = {delay}\n'


def smooth(rows, window):
    """(step, seconds, median loss of the `window` steps that end there), where so many are done."""
    return [(step, seconds, statistics.median(loss for at, _, loss in rows[:i + 1]
                                              if at > step - window))
            for i, (step, seconds, _) in enumerate(rows) if step + 1 >= window]


def reach(rows, window, loss):
    """(steps, seconds) to it, or nothing."""
    found = next((row for row in smooth(rows, window) if row[2] <= loss), None)
    return (found[0] + 1, found[1]) if found else (None, None)


def halfway_loss(rows, window):
    """After half of the steps, or as soon behind them as a loss can be told."""
    seen = smooth(rows, window)
    if not seen:
        raise RuntimeError(f"a run of {rows[-1][0] + 1} steps is shorter than the {window} that a "
                           "loss is taken over")
    return next(loss for step, _, loss in seen if step >= rows[-1][0] / 2)


def one_seed(options, subject, seed, length):
    nodes, window, body = subject
    curves = {}
    for delay in DELAYS:
        summary, rows = train(options.bin, job_text(body, seed, delay),
                              ["--nodes", nodes, "--seconds", f"{length:.2f}"], options.scratch)
        curves[delay] = (summary["batches_per_second"], rows)
    loss = halfway_loss(curves[0][1], window)
    return [{"seed": seed, "delay": delay, "loss": loss, "batches_per_second": speed,
             "steps": reach(rows, window, loss)[0], "seconds": reach(rows, window, loss)[1]}
            for delay, (speed, rows) in curves.items()]


def seeds_and_length(seconds):
    """As many seeds as leave runs long enough, one at the least; what is over makes runs longer."""
    runs = len(SUBJECTS) * len(DELAYS)
    fitting = int(seconds / (runs * (RUN_SECONDS_LEAST + START_SECONDS)))
    seeds = SEEDS[:max(1, fitting)]
    return seeds, max(RUN_SECONDS_LEAST, seconds / (runs * len(seeds)) - START_SECONDS)


def measure_delay(options, seconds, say):
    seeds, length = seeds_and_length(seconds)
    found = {}
    for name, subject in SUBJECTS.items():
        found[name] = []
        for seed in seeds:
            found[name] += one_seed(options, subject, seed, length)
            say(f"delay, {name}, seed {seed}")
    return {"subjects": found, "length": length,
            "loss_steps": {name: window for name, (_, window, _) in SUBJECTS.items()}}
