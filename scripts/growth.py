"""How the cost of a step grows: with the slots that share it, and with the parameters.

Every size is run once, however long that takes, and then in turn while there is time; medians. Of
each run the first step is not timed: it touches memory for the first time. Ten more are the least
that count; small models take many more, so that a run is not over in a blink. A model of 10^8
parameters takes seconds for a step: three timed ones must do. A size that cannot be run here is left
out, and that is said. A slope is the exponent of the best power law: 1 where cost grows in
proportion, 0 where it does not grow.
"""

import statistics
import time

from line_picture import slope
from whole_runs import RunFailed, train

ROUNDS = 3
SLOTS_SHARE = 0.3  # of the time; models of 10^7 and 10^8 parameters need most of it

# Timed steps of a run, by size.
SLOTS = {count: 40 for count in (1, 2, 4, 8, 16, 32, 64)}
PARAMETERS = {1e3: 2000, 1e4: 1000, 1e5: 300, 1e6: 40, 1e7: 10, 1e8: 3}


def slots_job(steps):
    """64 units a step, each long enough that handing them out is not all there is."""
    return f"""[job]
name = "slots"
[model]
kind = "mlp"
layers = [10, 64, 10]
[data]
kind = "synthetic"
[train]
batch = 256
units_per_step = 64
steps = {steps}
"""


def width(parameters):
    """Of the two hidden layers of 10 - w - w - 10: w² + 22 w + 10 parameters and their like."""
    return max(1, round(-11 + (121 + parameters - 10) ** 0.5))


def parameters_job(parameters, steps):
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
steps = {steps}
optimizer = "sgd"
lr = 0.001
[codec]
lossless = "none"
"""


def parameter_count(parameters):
    w = width(parameters)
    return 10 * w + w + w * w + w + 10 * w + 10


def step_seconds(rows, timed):
    """Of the steps behind the first, which always has a row, as has the last."""
    (first, began, _), (last, ended, _) = rows[0], rows[-1]
    if (first, last) != (0, timed):
        raise RunFailed(f"rows from step {first} to {last}, where 0 to {timed} were asked for")
    return (ended - began) / timed


class Sweep:
    """Runs of several sizes: what a step took, and how long such a run takes in all."""

    def __init__(self, steps_of):
        self.steps_of = steps_of
        self.spans = {size: [] for size in steps_of}
        self.costs = {}

    def add(self, size, span, cost):
        self.spans[size].append(span)
        self.costs[size] = max(cost, self.costs.get(size, 0.0))

    def points(self):
        return [(size, statistics.median(seen)) for size, seen in self.spans.items() if seen]

    def runs(self):
        """(size, timed steps of a run, runs)."""
        return [(size, self.steps_of[size], len(seen)) for size, seen in self.spans.items()]


def sweep(steps_of, until, run, say):
    """`run` takes a size and its timed steps, and gives the rows of that run."""
    found = Sweep(steps_of)
    for _ in range(ROUNDS):
        for size, timed in steps_of.items():
            began = time.monotonic()
            if found.spans[size] and began + found.costs[size] > until:
                continue
            try:
                span = step_seconds(run(size, timed), timed)
            except RunFailed as failed:
                say(f"{size:g}: {failed}")
                continue
            found.add(size, span, time.monotonic() - began)
            say(f"{size:g}: {1e3 * span:.3g} ms a step")
    return found


def measure_growth(options, seconds, say):
    began = time.monotonic()

    def run_slots(count, timed):
        return train(options.bin, slots_job(timed + 1), ["--nodes", 1, "--slots", count],
                     options.scratch)[1]

    def run_parameters(size, timed):
        return train(options.bin, parameters_job(size, timed + 1), ["--nodes", 1],
                     options.scratch)[1]

    slots = sweep(SLOTS, began + seconds * SLOTS_SHARE, run_slots, say)
    sizes = sweep(PARAMETERS, began + seconds, run_parameters, say)
    points = [(parameter_count(size), span) for size, span in sizes.points()]
    # Where a step is all overhead it costs the same whatever the model: the slope of the rest.
    large = [point for point in points if point[0] >= 9e5]
    return {"slots": slots.points(), "slots_slope": slope_or_nothing(slots.points()),
            "slots_runs": slots.runs(), "parameters": points,
            "parameters_slope": slope_or_nothing(large), "parameters_runs": sizes.runs()}


def slope_or_nothing(points):
    return slope(points) if len(points) > 1 else None
