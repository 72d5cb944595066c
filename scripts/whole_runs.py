"""`wide train` and `wide bench` for scripts that measure."""

import json
import resource
import subprocess
import tempfile
from pathlib import Path


class RunFailed(Exception):
    """With what the program said."""


def bench(bin_folder, name, seconds):
    """What it reports as JSON."""
    done = subprocess.run([bin_folder / "wide", "bench", name, "--json", "--log", "silent",
                           "--seconds", f"{seconds:.1f}"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RunFailed(f"wide bench {name}: {done.stdout}")
    return json.loads(done.stdout)


def train(bin_folder, job, flags, scratch=None):
    """(summary, rows of (step, training seconds, loss)); the run folder is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="wide-run-", dir=scratch) as folder:
        file, out = Path(folder) / "job.toml", Path(folder) / "run"
        file.write_text(job)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([bin_folder / "wide", "train", file, "--out", out, "--json", "--log",
                               "silent", *map(str, flags)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise RunFailed(failure_words(done))
        summary = json.loads(done.stdout)
        summary["cpu_seconds"] = (after.ru_utime + after.ru_stime - before.ru_utime
                                  - before.ru_stime)
        return summary, curve(out)


def failure_words(done):
    """Code and detail of the error that it told as JSON; without one, the end of all that it said."""
    try:
        error = json.loads(done.stdout)["error"]
        return f"{error['code']} {error['detail']}"
    except (ValueError, KeyError, TypeError):
        return (done.stdout[-500:] + done.stderr[-500:]).strip() or f"ended with {done.returncode}"


def step_rows(out):
    """The rows of a run folder that tell of a step: at most one in 0.1 s, the first and the last."""
    try:
        lines = (out / "metrics.jsonl").read_text().split("\n")[:-1]  # the last may be half written
    except FileNotFoundError:  # no step is over yet
        return []
    return [row for row in map(json.loads, lines) if "elapsed" in row]


def curve(out):
    return [(row["step"], row["elapsed"], row["loss"]) for row in step_rows(out)]
