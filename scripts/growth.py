"""How the cost of a step grows: with the slots that share it, and with the parameters.

Every size is run in turn, round after round; medians. A slope is the exponent of the best power
law: 1 where cost grows in proportion, 0 where it does not grow.
"""

import statistics

from line_picture import slope
from whole_runs import RunFailed, train

ROUNDS = 3
SLOTS = (1, 2, 4, 8, 16, 32, 64)
PARAMETERS = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8)


def slots_job():
    """64 units a step, each long enough that handing them out is not all there is."""
    return """[job]
name = "slots"
[model]
kind = "mlp"
layers = [10, 64, 10]
[data]
kind = "synthetic"
[train]
batch = 256
units_per_step = 64
seconds = 2
"""


def width(parameters):
    """Of the two hidden layers of 10 - w - w - 10: w² + 22 w + 10 parameters and their like."""
    return max(1, round(-11 + (121 + parameters - 10) ** 0.5))


def parameters_job(parameters):
    return f"""[job]
name = "parameters"
[model]
kind = "mlp"
layers = [10, {width(parameters)}, {width(parameters)}, 10]
[data]
kind = "synthetic"
[train]
batch = 8
units_per_step = 2
seconds = 2
optimizer = "sgd"
lr = 0.001
[codec]
lossless = "none"
"""


def parameter_count(parameters):
    w = width(parameters)
    return 10 * w + w + w * w + w + 10 * w + 10


def step_seconds(options, job, flags):
    summary, _ = train(options.bin, job, flags, options.scratch)
    return summary["seconds"] / max(1, summary["steps"])


def sweep(options, say, name, sizes, run):
    spans = {size: [] for size in sizes}
    for number in range(ROUNDS):
        for size in sizes:
            try:
                spans[size].append(run(size))
            except RunFailed as failed:
                say(f"{name} {size:g}: {failed}")
        say(f"{name}, round {number + 1} of {ROUNDS}")
    return [(size, statistics.median(seen)) for size, seen in spans.items() if seen]


def measure_growth(options, seconds, say):
    brief = max(0.3, seconds / (ROUNDS * (len(SLOTS) + len(PARAMETERS))) - 1.5)
    slots = sweep(options, say, "slots", SLOTS, lambda count: step_seconds(
        options, slots_job(), ["--nodes", 1, "--slots", count, "--seconds", f"{brief:.2f}"]))
    sizes = sweep(options, say, "parameters", PARAMETERS, lambda size: step_seconds(
        options, parameters_job(size), ["--nodes", 1, "--seconds", f"{brief:.2f}"]))
    sizes = [(parameter_count(size), span) for size, span in sizes]
    # Where a step is all overhead it costs the same whatever the model: the slope of the rest.
    large = [point for point in sizes if point[0] >= 9e5]
    return {"slots": slots, "slots_slope": slope(slots), "parameters": sizes,
            "parameters_slope": slope(large)}
