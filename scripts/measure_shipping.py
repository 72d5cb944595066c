#!/usr/bin/python3
"""How fast samples travel, and how soon a newcomer is of use.

    scripts/measure_shipping.py [BIN_FOLDER]          (root: it makes network namespaces)

    fetch    a node without samples fetches 256 MiB of text before its first unit, over loopback and
             over a link that is shaped to 100 Mbit/s, as a share of what the line can do
    join     from `wide join` in an empty folder to the first committed step, on Fashion-MNIST
    crowd    batches per second of a training node, alone and while eight newcomers fetch

Prints one JSON object. Everything it makes is gone at the end.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from shaped_link import shaped_link
from whole_runs import step_rows

BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin").resolve()
NODE_BIN = BIN if (BIN / "wide-stub-node").exists() else pathlib.Path("build/dev/bin").resolve()
TEXT_BYTES = 256 << 20
STARTED = []


def job_text(path, **train):
    lines = "\n".join(f"{key} = {value}" for key, value in train.items())
    return f"""[job]
name = "ship"
[model]
kind = "gpt"
layers = 1
heads = 1
width = 8
context = 64
[data]
kind = "text"
path = "{path}"
[train]
{lines}
"""


class Pool:
    def __init__(self, folder, job, host="127.0.0.1"):
        self.out = folder / f"run{time.monotonic_ns()}"
        file = folder / "job.toml"
        file.write_text(job)
        self.process = start(
            [BIN / "wide", "pool", file, "--listen", f"{host}:0", "--insecure", "--out", self.out,
             "--log", "verbose"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def seen(self, text, patience=300):
        """The moment at which the pool has said `text`."""
        until = time.monotonic() + patience
        for line in self.process.stderr:
            if text in line:
                return time.monotonic()
            if time.monotonic() > until:
                break
        raise SystemExit(f"the pool never said: {text}")

    def rows(self):
        """(step, the pool's own clock when it was over)."""
        return [(row["step"], row["seconds"]) for row in step_rows(self.out)]

    def end(self):
        self.process.kill()
        self.process.wait()


def start(*arguments, **options):
    STARTED.append(subprocess.Popen(*arguments, **options))
    return STARTED[-1]


def stub(url, cache, inside=(), flags=()):
    return start(
        [*inside, NODE_BIN / "wide-stub-node", "--connect", url.removeprefix("wide://"), "--cache",
         cache, "--read-samples", "--quiet", *flags], stderr=subprocess.DEVNULL)


def fetch_seconds(folder, text, host="127.0.0.1", inside=()):
    # The first unit has samples in every chunk, and nobody trains before it is here.
    pool = Pool(folder, job_text(text, batch=100000, units_per_step=1, steps=1000), host)
    cache = folder / "cache"
    node = stub(pool.url, cache, inside)
    began = pool.seen("samples asked for")
    span = pool.seen("node joined") - began
    node.kill()
    node.wait()
    pool.end()
    shutil.rmtree(cache)
    return span


def join_seconds(folder):
    job = """[job]
name = "join"
[model]
kind = "mlp"
layers = [784, 32, 10]
[data]
kind = "fashion-mnist"
[train]
units_per_step = 1
steps = 100000000
"""
    pool = Pool(folder, job)
    empty = folder / "empty"
    empty.mkdir()
    # The usual place of the samples is hidden from the node: it must fetch them.
    began = time.monotonic()
    node = start(
        ["/usr/bin/unshare", "--mount", "/bin/sh", "-c",
         f"mount -t tmpfs none /usr/share/datasets && cd {empty} && exec {BIN}/wide join {pool.url} "
         "--slots 1"], env={"HOME": str(empty), "PATH": "/usr/bin:/bin"},
        stderr=subprocess.DEVNULL)
    while not pool.rows():
        time.sleep(0.005)
    span = time.monotonic() - began
    node.kill()
    node.wait()
    pool.end()
    shutil.rmtree(empty)
    return span


def rate(rows):
    """Steps per second from the first of these rows to the last: a row comes only every 0.1 s, so
    that the edges of a window would count up to that much too little or too much."""
    if len(rows) < 2:
        raise SystemExit(f"too few steps to tell a rate: {len(rows)} rows in metrics.jsonl")
    (first, began), (last, ended) = rows[0], rows[-1]
    return (last - first) / (ended - began)


def steps_per_second(pool, seconds):
    before = len(pool.rows())
    time.sleep(seconds)
    return rate(pool.rows()[before:])


def crowd_ratio(folder, text, rounds=5, seconds=3):
    """Steps per second with newcomers over without, in turns."""
    pool = Pool(folder, job_text(text, batch=32, units_per_step=4, steps=100000000))
    trainer = stub(pool.url, folder / "trainer", flags=["--data", str(text), "--delay-us", "2000"])
    pool.seen("node joined")
    time.sleep(2)
    ratios = []
    for round_number in range(rounds):
        alone = steps_per_second(pool, seconds)
        # Newcomers that fetch and hardly compute: one unit takes them five seconds.
        crowd = [stub(pool.url, folder / f"crowd{round_number}-{i}", flags=["--delay-us", "5000000"])
                 for i in range(8)]
        ratios.append(steps_per_second(pool, seconds) / alone)
        for newcomer in crowd:
            newcomer.kill()
            newcomer.wait()
        for i in range(8):
            shutil.rmtree(folder / f"crowd{round_number}-{i}", ignore_errors=True)
        time.sleep(1)
    trainer.kill()
    trainer.wait()
    pool.end()
    return statistics.median(ratios), ratios


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wide-shipping-"))
    try:
        text = folder / "text.bin"
        text.write_bytes(os.urandom(1 << 20) * (TEXT_BYTES >> 20))
        with open(text, "r+b") as file:  # no two chunks are the same
            for i in range(TEXT_BYTES >> 20):
                file.seek(i << 20)
                file.write(i.to_bytes(8, "little"))
        report = {"bytes": TEXT_BYTES}
        spans = [fetch_seconds(folder, text) for _ in range(3)]
        report["loopback_bytes_per_second"] = TEXT_BYTES / statistics.median(spans)
        with shaped_link(100) as link:
            span = fetch_seconds(folder, text, link.host, link.inside)
        report["shaped_100mbit_share_of_line"] = TEXT_BYTES * 8 / span / 100e6
        spans = [join_seconds(folder) for _ in range(3)]
        report["join_to_first_step_seconds"] = statistics.median(spans)
        report["crowd_ratio"], report["crowd_ratios"] = crowd_ratio(folder, text)
        print(json.dumps(report, indent=2))
    finally:
        for process in STARTED:
            process.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
