"""What a delay costs and brings: steps and seconds to a loss, with weights 0, 1 and 2 updates old.

Paired seeds, the runs in turn. The loss to reach is what the run without delay has halfway: the
median of nine neighbouring rows of its curve, so that one lucky batch decides nothing.
"""

import statistics

from whole_runs import train

DELAYS = (0, 1, 2)
SEEDS = (1, 2, 3)

SUBJECTS = {
    "tiny, 10 nodes": (10, """[model]
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
    "Fashion-MNIST cnn, 2 nodes": (2, """[model]
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


def smooth(rows):
    return [(step, seconds, statistics.median(row[2] for row in rows[max(0, i - 8):i + 1]))
            for i, (step, seconds, _) in enumerate(rows)]


def reach(rows, loss):
    """(steps, seconds) to it, or nothing."""
    found = next((row for row in smooth(rows) if row[2] <= loss), None)
    return (found[0] + 1, found[1]) if found else (None, None)


def one_seed(options, nodes, body, seed, length):
    curves = {}
    for delay in DELAYS:
        summary, rows = train(options.bin, job_text(body, seed, delay),
                              ["--nodes", nodes, "--seconds", f"{length:.2f}"], options.scratch)
        curves[delay] = (summary["batches_per_second"], rows)
    plain = smooth(curves[0][1])
    loss = plain[len(plain) // 2][2]
    return [{"seed": seed, "delay": delay, "loss": loss, "batches_per_second": speed,
             "steps": reach(rows, loss)[0], "seconds": reach(rows, loss)[1]}
            for delay, (speed, rows) in curves.items()]


def measure_delay(options, seconds, say):
    length = max(1.0, seconds / (len(SUBJECTS) * len(SEEDS) * len(DELAYS)) - 1.5)
    found = {}
    for name, (nodes, body) in SUBJECTS.items():
        found[name] = []
        for seed in SEEDS:
            found[name] += one_seed(options, nodes, body, seed, length)
            say(f"delay, {name}, seed {seed}")
    return {"subjects": found, "length": length}
