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

BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin").resolve()
NODE_BIN = BIN if (BIN / "wide-stub-node").exists() else pathlib.Path("build/dev/bin").resolve()
TEXT_BYTES = 256 << 20
STARTED = []
NAMESPACE = f"wideship{os.getpid() % 10000}"


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

    def steps(self):
        try:
            rows = (self.out / "metrics.jsonl").read_text().split("\n")[:-1]
        except FileNotFoundError:  # no step is over yet
            return 0
        rows = [json.loads(row) for row in rows]
        return max((row["step"] for row in rows if "loss" in row), default=0)

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


def ip(*words):
    subprocess.run(["/usr/sbin/ip", *words], check=True)


def shaped_link(megabits):
    ip("netns", "add", NAMESPACE)
    ip("link", "add", "wideship0", "type", "veth", "peer", "name", "wideship1", "netns", NAMESPACE)
    ip("addr", "add", "10.214.77.1/24", "dev", "wideship0")
    ip("link", "set", "wideship0", "up")
    ip("-n", NAMESPACE, "addr", "add", "10.214.77.2/24", "dev", "wideship1")
    ip("-n", NAMESPACE, "link", "set", "wideship1", "up")
    subprocess.run(["/usr/sbin/tc", "qdisc", "add", "dev", "wideship0", "root", "tbf", "rate",
                    f"{megabits}mbit", "burst", "64kb", "latency", "50ms"], check=True)
    return ["/usr/sbin/ip", "netns", "exec", NAMESPACE]


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
    while pool.steps() == 0:
        time.sleep(0.005)
    span = time.monotonic() - began
    node.kill()
    node.wait()
    pool.end()
    shutil.rmtree(empty)
    return span


def steps_per_second(pool, seconds):
    before, began = pool.steps(), time.monotonic()
    time.sleep(seconds)
    return (pool.steps() - before) / (time.monotonic() - began)


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
        inside = shaped_link(100)
        spans = [fetch_seconds(folder, text, "10.214.77.1", inside)]
        report["shaped_100mbit_share_of_line"] = TEXT_BYTES * 8 / statistics.median(spans) / 100e6
        spans = [join_seconds(folder) for _ in range(3)]
        report["join_to_first_step_seconds"] = statistics.median(spans)
        report["crowd_ratio"], report["crowd_ratios"] = crowd_ratio(folder, text)
        print(json.dumps(report, indent=2))
    finally:
        for process in STARTED:
            process.kill()
        subprocess.run(["/usr/sbin/ip", "netns", "del", NAMESPACE], stderr=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
