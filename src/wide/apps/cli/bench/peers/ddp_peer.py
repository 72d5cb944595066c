"""Trains a small network with PyTorch's DistributedDataParallel over Gloo, and says how it went.

    python3 ddp_peer.py        one setting per line on stdin (JSON), one answer per line on stdout

torch is imported once; the ranks of every setting are forked from here, as ten imports would take
longer than the training. Rank r lives in the network namespace `namespaces[r]`, if any are named.
What is measured begins when all ranks have made a few steps that do not count, and starts from the
weights that the setting names. Settings are those that suit DDP best: one thread per rank, one
bucket, gradients as views of it, a static graph, samples in memory.
"""

import ctypes
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from datetime import timedelta

import numpy
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

WARM_UP_STEPS = 5  # DDP arranges its bucket in the first, PowerSGD begins after the third
POWERSGD_START = 3
PATIENCE_SECONDS = 120  # for a rank to begin, and for one step of the slowest link
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def enter_namespace(name):
    with open(f"/run/netns/{name}", "rb") as file:
        if LIBC.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the network namespace {name}")


def sent_bytes(device):
    """By this network device, as the kernel counts them: with all headers."""
    with open("/proc/net/dev", encoding="ascii") as file:
        for line in file:
            name, _, numbers = line.partition(":")
            if name.strip() == device:
                return int(numbers.split()[8])
    return 0


def held_bytes(process):
    """Its proportional set size: a page that ten processes map counts a tenth for each."""
    with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
        return next((int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:")), 0)


def make_model(layers):
    parts = []
    for inputs, outputs in zip(layers, layers[1:]):
        parts += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def fill(model, weights):
    """From one flat array: weight and bias of each layer in turn."""
    with torch.no_grad():
        at = 0
        for parameter in model.parameters():
            parameter.copy_(weights[at:at + parameter.numel()].view_as(parameter))
            at += parameter.numel()


def add_hook(model, hook):
    if hook == "fp16":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    if hook == "powersgd":
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1, warm_start=True,
                                            start_powerSGD_iter=POWERSGD_START)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)


class Batches:
    """Every sample once an epoch, in an order that all ranks know; each takes its own part."""

    def __init__(self, setting, rank):
        self.samples = torch.from_numpy(numpy.load(setting["samples"], mmap_mode="c"))
        self.labels = torch.from_numpy(numpy.load(setting["labels"]).astype(numpy.int64))
        self.batch, self.ranks, self.rank = setting["batch"], setting["ranks"], rank
        self.generator = torch.Generator().manual_seed(1)
        self.order, self.at = None, 0

    def next(self):
        whole = self.batch * self.ranks
        if self.order is None or self.at + whole > len(self.order):
            self.order, self.at = torch.randperm(len(self.labels), generator=self.generator), 0
        begin = self.at + self.rank * self.batch
        self.at += whole
        rows = self.order[begin:begin + self.batch]
        return self.samples[rows], self.labels[rows]


class Rank:
    def __init__(self, setting, rank, last_step):
        self.setting, self.rank = setting, rank
        self.last_step = last_step  # shared: rank 0 writes it before it enters that step
        self.weights = torch.from_numpy(numpy.load(setting["weights"]))
        self.batches = Batches(setting, rank)
        plain = make_model(setting["layers"])
        fill(plain, self.weights)
        self.model = DistributedDataParallel(plain, gradient_as_bucket_view=True, bucket_cap_mb=64,
                                             broadcast_buffers=False, static_graph=True)
        add_hook(self.model, setting["hook"])
        self.optimizer = None
        self.loss = torch.nn.functional.cross_entropy

    def begin(self):
        fill(self.model.module, self.weights)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.setting["lr"])

    def step(self):
        samples, labels = self.batches.next()
        self.optimizer.zero_grad()
        loss = self.loss(self.model(samples), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def train(self):
        """Losses and times of all steps. Nobody ends a step before rank 0 has entered it, so what
        it wrote before is seen by all before the next."""
        losses, times, step = [], [], 0
        began = time.monotonic()
        until = began + self.setting["seconds"]
        while step <= self.last_step.value:
            if self.rank == 0 and time.monotonic() >= until:
                self.last_step.value = step
            losses.append(self.step())
            times.append(time.monotonic() - began)
            step += 1
        return losses, times


def run_rank(setting, rank, store, last_step, channel):
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if setting["namespaces"]:
        enter_namespace(setting["namespaces"][rank])
    os.environ["GLOO_SOCKET_IFNAME"] = setting["device"]
    torch.set_num_threads(1)
    if setting["pinned"]:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})
    dist.init_process_group("gloo", store=dist.FileStore(store, setting["ranks"]), rank=rank,
                            world_size=setting["ranks"],
                            timeout=timedelta(seconds=PATIENCE_SECONDS))
    mine = Rank(setting, rank, last_step)
    mine.begin()
    for _ in range(WARM_UP_STEPS):
        mine.step()
    mine.begin()
    dist.barrier()
    cpu, sent = time.process_time(), sent_bytes(setting["device"])
    losses, times = mine.train()
    cpu, sent = time.process_time() - cpu, sent_bytes(setting["device"]) - sent
    channel.send({"losses": losses, "times": times, "cpu_seconds": cpu, "sent_bytes": sent})
    channel.recv()  # our memory has been looked at
    dist.barrier()
    os._exit(0)


def curve_of(answers):
    """(step, seconds, loss): of every step, the mean over the ranks."""
    losses = numpy.mean([answer["losses"] for answer in answers], axis=0)
    times = answers[0]["times"]
    return [[at + 1, times[at], float(losses[at])] for at in range(len(losses))]


def answer_of(setting, answers, memory):
    alone = bool(setting["namespaces"])  # each rank has a device of its own
    return {"ranks": setting["ranks"], "hook": setting["hook"], "steps": len(answers[0]["times"]),
            "seconds": answers[0]["times"][-1], "curve": curve_of(answers),
            "cpu_seconds": sum(answer["cpu_seconds"] for answer in answers),
            "bytes": sum(answer["sent_bytes"] for answer in (answers if alone else answers[:1])),
            "memory_bytes": memory}


def collect(ranks, channels, seconds):
    until = time.monotonic() + seconds + PATIENCE_SECONDS
    answers = []
    for rank, (process, channel) in enumerate(zip(ranks, channels)):
        while not channel.poll(0.05):
            if process.exitcode is not None or time.monotonic() > until:
                raise RuntimeError(f"rank {rank} did not come to its end")
        answers.append(channel.recv())
    return answers


def train(setting):
    forking = multiprocessing.get_context("fork")
    last_step = forking.RawValue(ctypes.c_int64, 1 << 62)
    ranks, channels = [], []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for rank in range(setting["ranks"]):
                ours, theirs = forking.Pipe()
                process = forking.Process(target=run_rank, args=(
                    setting, rank, folder + "/store", last_step, theirs))
                process.start()
                theirs.close()
                ranks.append(process)
                channels.append(ours)
            answers = collect(ranks, channels, setting["seconds"])
            memory = sum(held_bytes(process.pid) for process in ranks) + held_bytes("self")
            for channel in channels:
                channel.send("go")
            for process in ranks:
                process.join(5)
            return answer_of(setting, answers, memory)
        finally:
            for process in ranks:
                process.kill()
                process.join()


def main():
    torch.set_num_threads(1)
    print(json.dumps({"torch": torch.__version__}), flush=True)
    for line in sys.stdin:
        try:
            answer = train(json.loads(line))
        except (EOFError, OSError, RuntimeError) as failure:
            answer = {"error": str(failure)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
