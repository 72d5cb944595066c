"""How much of a line's rate is ours, while the line is what everybody waits for.

The same four nodes and mlp as for codecs on links, sent as they are. Without a delay gradients go up, then
updates go down: for each direction, the bytes of our messages over what the line could have carried in the
time in which that direction was busy. Headers of Ethernet, IP and TCP take 4.4 % of it. With a delay of two
steps both directions are busy all the time, and each one's acknowledgements wait behind the other's data.
"""

import subprocess
import threading
import time
from pathlib import Path

from codec_links import LINKS, LONGEST_RUN, chosen_links, job_text, measure_run
from page_of_parts import stamp, table
from shaped_link import NoNamespaces, shaped_link

TARGET, LIMIT = 0.93, 0.956
BOTH_WAYS = 2  # steps of delay
LOOK_EVERY_BITS = 2e6  # that the line carries: a packet of 64 kB must not fill the time between looks
# Not 1 Gbit/s: while a direction rests, its bucket fills with what that line carries in 10 ms.
STEPS = {"100 Mbit/s": 12, "10 Mbit/s": 3}

HEADING = "## How much of a line is used"


class BusyTime:
    """For how long each direction of a device has moved bytes, while the `with` lasts."""

    def __init__(self, device, megabits):
        self.look_every = LOOK_EVERY_BITS / (megabits * 1e6)
        folder = Path("/sys/class/net") / device / "statistics"
        self.counters = {way: folder / f"{way}_bytes" for way in ("tx", "rx")}
        self.looks = {way: [self.read(way)] for way in self.counters}
        self.over = threading.Event()
        self.watcher = threading.Thread(target=self.watch)

    def read(self, way):
        return int(self.counters[way].read_text())

    def watch(self):
        while not self.over.wait(self.look_every):
            for way, looks in self.looks.items():
                looks.append(self.read(way))

    def __enter__(self):
        self.watcher.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.watcher.join()


def busy_share(looks, megabits, seconds):
    """Of the looks, those between which more went by than acknowledgements would be."""
    least = megabits * 1e6 / 8 * seconds / len(looks) / 4
    return sum(b - a > least for a, b in zip(looks, looks[1:])) / max(1, len(looks) - 1)


def one_way(summary, looks, megabits, seconds):
    """The worse of both ways. `seconds`: for how long was looked."""
    moved = {"tx": summary["bytes_sent"], "rx": summary["bytes_received"]}
    return min(moved[way] * 8 / (busy_share(looks[way], megabits, seconds) * seconds)
               for way in moved) / (megabits * 1e6)


def both_ways(summary, megabits):
    moved = max(summary["bytes_sent"], summary["bytes_received"])
    return moved * 8 / summary["seconds"] / (megabits * 1e6)


def measure_line(options, name, say):
    megabits, steps = LINKS[name][0], STEPS[name]
    plan = {"lossless": "none"}
    found = {"link": name, "steps": steps, "both_ways": None, "measured": stamp()}
    with shaped_link(megabits) as link:
        say(f"goodput, {name}")
        began = time.monotonic()
        with BusyTime(link.device, megabits) as busy:
            _, summary = measure_run(options, link, job_text(plan, steps), LONGEST_RUN)
        found["one_way"] = one_way(summary, busy.looks, megabits, time.monotonic() - began)
        if steps >= 3 * BOTH_WAYS:  # fewer are over before anything goes down
            text = job_text(plan, steps, delay=BOTH_WAYS)
            found["both_ways"] = both_ways(measure_run(options, link, text, LONGEST_RUN)[1], megabits)
    return found


def measure_goodput(options, _, say):
    found = {row["link"]: row for row in options.earlier.get("goodput", {}).get("rows", [])}
    facts = {}
    for name in chosen_links(options):
        try:
            found |= {name: measure_line(options, name, say)} if name in STEPS else {}
        except NoNamespaces as reason:
            facts["skipped"] = f"shaped links were left out: {reason}"
        except (RuntimeError, ValueError, subprocess.TimeoutExpired) as failure:
            say(f"goodput, {name}: {failure}")
    return facts | {"rows": [found[name] for name in STEPS if name in found]}


def goodput_part(facts, measured):
    rows = [[row["link"], str(row["steps"]), f"{row['one_way']:.3f}", f"≥ {TARGET}", f"{LIMIT}",
             "yes" if row["one_way"] >= TARGET else "**no**",
             f"{row['both_ways']:.3f}" if row["both_ways"] else "–"] for row in facts["rows"]]
    skipped = f"\n{facts['skipped']}.\n" if "skipped" in facts else ""
    head = ["line", "steps", "one way at a time", "target", "limit", "met", "both ways at once"]
    return f"""{HEADING}

{measured}
The same nodes and model, nothing coded: bytes of our messages over what the line could have carried while
that direction was busy, the worse of the two. Headers take 4.4 %. With `delay = {BOTH_WAYS}` both directions are
busy at once, over all of the run; there, acknowledgements wait behind data.
{skipped}
{table(head, rows)}
"""
