"""The page docs/performance.md and its pictures, from the facts that measure_performance.py gathered."""

import re
import statistics
from pathlib import Path

import line_picture
from bar_picture import Bar, Panel, picture
from line_picture import Line, short
from page_of_parts import table

BENCHES = ("seed", "peers", "rpc", "scale")
TIMED_STEPS_USUAL = 10  # in a run of growth.py; fewer are said

INTRO = """# Speed

What this machine makes of WIIIIIDE: ours beside the machine's own limit, beside the system of 2024, and beside
PyTorch DDP. Written by `make bench`, which anyone can repeat; every ratio is of two things measured in
turns in one run, and medians count. Runs have a ledger, their loss falls, and one node alone ends with the same
hash. How we got here, change by change, is in [speed.md](speed.md).
"""


TARGETS = """## Targets

Targets: medians of the rounds' ratios. Where units have 1,024 samples, batches/s still counts batches of 32
samples, as those of 2024 were: such a unit is 32 of them.

"""


# Why a target may be missed, by the row's name and what it is beside. The profiles are in speed.md.
REASONS = (
    (r"delay \d", "Slots alone never wait; those that train in steps wait for the slowest core and for the commit. "
     "What the waiting for each other costs alone stands under [the limit](#the-limit): cores that meet after "
     "every step. The rest is the commit, messages, and caches that each leaves cold for the next."),
    (r"cnn", "Hashing blocks, the pool (it reads the sum, writes the ledger, applies the update), and copies and sums between "
     "nodes take about six parts of a hundred of both cores; at each step's end one node waits for the other."),
    (r"DDP", "Thirty times DDP with pinned ranks is near, or above, what the slots compute alone (see "
     "[the limit](#the-limit)). Beside DDP as it comes (torchrun pins no ranks) we are short where our "
     "first rows are short, and by the first turns of ten nodes in a run of three seconds."),
    (r"requests", "The kernel's part is the same for both servers; what is left is checking, decoding, and answering "
     "frames, with no function above 1 %."),
)


# --- Cells and tables ------------------------------------------------------------------------------


def figure(value, form="{:.3g}"):
    if value is None:
        return "–"
    return f"{value:,.0f}" if isinstance(value, (int, float)) and abs(value) >= 1000 \
        else form.format(value)


def measured_words(part):
    told = part["measured"]
    return f"*{told['machine']}; {told['date']}; {told['seconds']} s.*"


def note_words(note):
    """Its further lines, if any, are a list below it."""
    first, *further = note.split("\n")
    return "".join([f"\n- {first}", *(f"\n  - {line.strip()}" for line in further)])


def notes(part):
    return "".join(map(note_words, part.get("notes", [])))


# --- Targets ---------------------------------------------------------------------------------------


def met_words(row):
    if row.get("met") is None:
        return "–"
    return "yes" if row["met"] else "**no**"


def target_words(row):
    sign = "≤" if row.get("wanted") == "at_most" else "≥"
    return f"{sign} {figure(row['target'])}"


def target_rows(facts):
    for name in BENCHES:
        for row in facts.get(name, {}).get("rows", []):
            if row.get("target") is None:
                continue
            yield [f"`{name}` {row['name']}", f"{figure(row['measured'])} {row['unit']}",
                   row.get("against") or "–", figure(row.get("ratio")), target_words(row),
                   figure(row.get("limit")), met_words(row)]


def reasons(facts):
    """For what was missed."""
    missed = [f"{row['name']} {row.get('against')}" for name in BENCHES
              for row in facts.get(name, {}).get("rows", []) if row.get("met") is False]
    told = [words for pattern, words in REASONS if any(re.search(pattern, name) for name in missed)]
    if not told:
        return ""
    return ("\n\nWhy not more, in short; the profiles are in [speed.md](speed.md#what-is-left):\n\n" +
            "\n".join(f"- {words}" for words in told))


def targets(facts):
    rows = list(target_rows(facts))
    if not rows:
        return ""
    return (TARGETS + table(["what", "measured", "against", "ratio", "target", "limit", "met"], rows) +
            reasons(facts))


def limits(facts):
    part = facts.get("limit")
    if not part:
        return ""
    rows = [[row["name"], f"{figure(row['measured'], '{:.4g}')} {row['unit']}"]
            for row in part["rows"]]
    return (f"## The limit\n\nWhat the machine can do with no network and nobody to wait for. "
            f"{measured_words(part)}\n\n" + table(["limit", "measured"], rows) + notes(part))


# --- 2024 ------------------------------------------------------------------------------------------


def range_words(nodes, name, form):
    values = [node[name] for node in nodes]
    return f"{form.format(min(values))} to {form.format(max(values))}" if values else "–"


def report_of_2024(summary):
    nodes = summary["nodes"]
    shares = [node["share"] for node in nodes] or [1]
    rows = [
        ["batches", figure(summary["batches"]), "24,373"],
        ["seconds", f"{summary['seconds']:.1f}", "30"],
        ["batches/s", figure(summary["batches_per_second"]), "812"],
        ["network", f"{summary['network_bytes_per_second'] / 1e6:.1f} MB/s", "4.11 MB/s"],
        ["network time per node", range_words(nodes, "network_seconds", "{:.2f} s"),
         "12.8 s to 14.0 s"],
        ["compression time per node", range_words(nodes, "encode_seconds", "{:.2f} s"),
         "0.16 s to 0.23 s"],
        ["compression ratio", f"{summary['compression_ratio']:.2f}", "1.30"],
        ["memory", f"{summary['memory_bytes_peak'] / 1e6:.0f} MB", "767 MB"],
        ["epochs", figure(summary["epochs"]), "not published"],
        ["smallest over largest share", f"{min(shares) / max(shares):.2f}", "“even”"],
        ["loss, first to last", f"{summary['loss_first']:.3f} to {summary['loss_last']:.3f}",
         "2.33 to 2.33: it never trained"],
    ]
    each = [[node["name"], figure(node["units"]), f"{100 * node['share']:.1f} %",
             figure(node["samples_per_second"]), f"{node['network_seconds']:.2f}",
             f"{node['encode_seconds']:.2f}", f"{node['compression_ratio']:.2f}",
             f"{node['loss_mean']:.4f}"] for node in nodes]
    return (table(["", "ours", "2024"], rows) + "\n\n" +
            table(["node", "batches", "share", "samples/s", "network s", "compression s", "ratio",
                   "mean loss"], each))


def rounds_words(row):
    """Each round's own ratio to the slots alone: how far they lie apart."""
    alone = row.get("rounds")
    return f"{min(alone):.2f} to {max(alone):.2f}" if alone else "–"


def speed_rows(part):
    for row in part["rows"]:
        if "slots_alone" in row:
            yield [row["name"], figure(row["measured"]), figure(row["slots_alone"]),
                   f"{row['efficiency']:.3f}", rounds_words(row), figure(row["steps"]),
                   f"{row['loss_first']:.3f} to {row['loss_last']:.3f}",
                   f"`{row['weights_sha256'][:12]}`"]


def technique_rows(part):
    return [row for row in part["rows"] if "technique" in row]


def technique_table(rows):
    return table(["technique", "batches/s", "change", "noise"],
                 [[row["technique"], figure(row["measured"]), f"{100 * (row['ratio'] - 1):+.1f} %",
                   f"± {100 * row['noise']:.1f} %"] for row in rows])


def technique_picture(rows):
    bars = []
    for row in rows:
        change = 100 * (row["ratio"] - 1)
        colour = "plain" if abs(change) <= 100 * row["noise"] else "auto" if change > 0 else "lossy"
        bars.append(Bar(row["technique"].replace("socket buffers of", "buffers"), change, colour,
                        f"{change:+.1f} %"))
    return picture("What each technique of 2024 changes today, in batches/s", [Panel("", bars)])


def seed(facts, pictures):
    part = facts.get("seed")
    if not part:
        return ""
    text = (f"## The experiment of 2024\n\nTen nodes, batches of 32, a network of 430 parameters. "
            f"{measured_words(part)}\n")
    whole = next((row for row in part["rows"] if "summary" in row), None)
    if whole:
        text += "\n" + report_of_2024(whole["summary"]) + "\n"
    text += "\nBeside what the same slots compute alone, measured in turns with each run:\n\n" + table(
        ["run", "batches/s", "slots alone", "of it", "rounds", "steps", "loss", "weights"],
        list(speed_rows(part))) + "\n"
    rows = technique_rows(part)
    if rows:
        pictures["techniques.svg"] = technique_picture(rows)
        text += ("\n### What its techniques buy today\n\nThe same run with one thing changed, beside "
                 "the run as it is: medians of pairs of the same round. Half of all pairs lie within the "
                 "noise; what changes less (grey) changes nothing that can be seen.\n\n"
                 "![techniques](pictures/techniques.svg)\n\n" + technique_table(rows) + "\n")
    return text + notes(part)


# --- Others ----------------------------------------------------------------------------------------


def plain_rows(part):
    return [[row["name"], f"{figure(row['measured'])} {row['unit']}", row.get("against") or "–",
             figure(row.get("ratio"))] for row in part["rows"]]


def bench_section(facts, name, title, words):
    part = facts.get(name)
    if not part:
        return ""
    return (f"## {title}\n\n{words} {measured_words(part)}\n\n" +
            table(["what", "measured", "against", "ratio"], plain_rows(part)) + "\n" + notes(part))


# --- Delay and growth ------------------------------------------------------------------------------


def ratio_of(rows, delay, name):
    """Median over the seeds of its value over that without delay."""
    plain = {row["seed"]: row[name] for row in rows if row["delay"] == 0}
    ratios = [row[name] / plain[row["seed"]] for row in rows
              if row["delay"] == delay and row[name] and plain.get(row["seed"])]
    return statistics.median(ratios) if ratios else None


def loss_words(part):
    windows = part.get("loss_steps")
    if not windows:
        return ""
    told = ", ".join(f"{steps:,} ({name})" for name, steps in windows.items())
    return f"A loss is the median of what was noted in so many steps: {told}. "


def delay(facts):
    part = facts.get("delay")
    if not part:
        return ""
    rows = []
    for name, found in part["subjects"].items():
        for late in sorted({row["delay"] for row in found}):
            rows.append([name, str(late)] + [figure(ratio_of(found, late, key), "{:.2f}") for key in
                                             ("batches_per_second", "steps", "seconds")])
    seeds = len({row["seed"] for found in part["subjects"].values() for row in found})
    return (f"## Delay\n\nSteps on weights that are some updates old overlap; the loss needs more of "
            f"them. Against no delay, medians over {seeds} paired seed{'s' if seeds != 1 else ''}, runs "
            f"of {part['length']:.1f} s: speed, steps to the loss that the run without delay has halfway, "
            f"and the time to it. {loss_words(part)}{measured_words(part)}\n\n" +
            table(["task", "delay", "batches/s", "steps to the loss", "time to the loss"], rows))


def runs_words(runs):
    """How much each size was run, and what was left out; old facts do not say."""
    if not runs:
        return ""
    done = ", ".join(f"{short(size)}: {count} × {steps:,}" for size, steps, count in runs if count)
    absent = ", ".join(short(size) for size, _, count in runs if not count)
    return f" Runs × timed steps, by size: {done}." + (f" Left out: {absent}." if absent else "")


def few_words(part):
    few = [(size, steps) for size, steps, count in part.get("parameters_runs", []) if count
           and steps < TIMED_STEPS_USUAL]
    return "".join(f" A step with {short(size)} parameters takes so long that only {steps} were timed in "
                   "a run." for size, steps in few)


def growth(facts, pictures):
    part = facts.get("growth")
    if not part:
        return ""
    pictures["slots.svg"] = line_picture.picture(
        "A step of 64 units against slots", "slots of one node", "ms per step",
        [Line("step", "lossless", [(x, 1e3 * y) for x, y in part["slots"]])])
    pictures["parameters.svg"] = line_picture.picture(
        "A step against parameters", "parameters", "ms per step",
        [Line("step", "lossless", [(x, 1e3 * y) for x, y in part["parameters"]])])
    slots, parameters = runs_words(part.get("slots_runs")), runs_words(part.get("parameters_runs"))
    how = "Medians of runs; the first step of each is not timed. " if "slots_runs" in part else ""
    return (f"## How cost grows\n\n{how}{measured_words(part)}\n\n"
            f"Slots: exponent {figure(part['slots_slope'], '{:.2f}')} (0: more slots than cores cost "
            f"nothing; below 0: they help).{slots}\n\n![slots](pictures/slots.svg)\n\n"
            f"Parameters: exponent {figure(part['parameters_slope'], '{:.2f}')} from a million on (1: in "
            f"proportion).{parameters}{few_words(part)}\n\n![parameters](pictures/parameters.svg)\n")


def contest_rows(part):
    """Each contestant once for each place: (place, who, its figures, ours over it)."""
    found = {}
    for row in part["rows"]:
        place, _, codec = row["name"].removesuffix(": batches/s").partition(" ranks")
        ours = f"ours{codec}"
        found.setdefault((f"{place} ranks", ours), (row["ours"], None))
        if "theirs" in row:
            found.setdefault((f"{place} ranks", row["against"]),
                             (row["theirs"], row["ratio"] if not codec else None))
    for (place, who), (figures, ratio) in found.items():
        yield place, who, figures, ratio


def peer_cells(place, who, found, ratio):
    return [place, who, figure(found["steps"]), figure(found["steps_per_second"]), figure(found["batches_per_second"]),
            figure(found["samples_per_second"]), figure(found["seconds_to_loss"]),
            figure(found["bytes_per_step"] / 1e3), figure(found["cpu_seconds_per_step"] * 1e3),
            figure(found["memory_bytes"] / 1e6), figure(ratio)]


def peers_picture(part):
    panels = {}
    for place, who, found, _ in contest_rows(part):
        name = who.replace("DDP + Gloo, ", "DDP ").replace("plain, ranks pinned", "pinned")
        panels.setdefault(place, []).append(
            Bar(name, found["batches_per_second"], "auto" if who.startswith("ours") else "plain",
                figure(found["batches_per_second"])))
    return picture("Batches per second (log scale)",
                   [Panel(place, bars) for place, bars in panels.items()], log=True)


def peers(facts, pictures):
    part = facts.get("peers")
    if not part:
        return ""
    pictures["peers.svg"] = peers_picture(part)
    rows = [peer_cells(*row) for row in contest_rows(part)]
    return (f"## PyTorch DDP over Gloo\n\nThe same model, samples, first weights and batch. "
            f"{measured_words(part)}\n\n![peers](pictures/peers.svg)\n\n" +
            table(["where", "who", "steps in a run", "steps/s", "batches/s", "samples/s", "s to the loss", "KB per step",
                   "CPU ms per step", "MB", "ours ÷ it"], rows, left=2) + "\n" + notes(part))


def rpc(facts):
    return bench_section(facts, "rpc", "Small requests", "64 bytes there and back, one in flight per "
                         "connection, against a bare epoll server that only echoes.")


def scale_picture(part):
    lines = [Line(row["name"].removeprefix("slope/pool CPU "), colour,
                  [(x, 1e6 * y) for x, y in row["points"]])
             for row, colour in zip((row for row in part["rows"] if "points" in row),
                                    ("lossless", "lossy", "auto", "plain"))]
    return line_picture.picture("The pool's cost against connections", "connections", "µs of CPU",
                                lines)


def scale(facts, pictures):
    part = facts.get("scale")
    if not part:
        return ""
    pictures["connections.svg"] = scale_picture(part)
    return bench_section(facts, "scale", "Connections", "Up to 10,000 of them at one pool, idle and at "
                         "work. A slope is the exponent of cost against connections: 0 where it does not "
                         "grow, 1 where it grows in proportion.\n\n"
                         "![connections](pictures/connections.svg)\n\n")


def write_page(facts, out):
    pictures = {}
    sections = [INTRO, targets(facts), limits(facts), seed(facts, pictures),
                peers(facts, pictures), rpc(facts), scale(facts, pictures), delay(facts),
                growth(facts, pictures)]
    folder = Path(out).parent / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pictures.items():
        (folder / name).write_text(text)
    Path(out).write_text("\n\n".join(part.strip() for part in sections if part) + "\n")
