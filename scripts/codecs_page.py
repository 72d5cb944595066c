"""The page docs/codecs.md and its pictures, from the facts that measure_codecs.py gathered."""

import statistics
from pathlib import Path

from bar_picture import Bar, Panel, picture
from codec_quality import SUBJECTS, differences
from line_goodput import HEADING as GOODPUT_HEADING
from line_goodput import goodput_part
from page_of_parts import table

LOSSLESS = ("lz4", "zstd", "zlib", "zlib9", "planes")
LOSSY = ("fp16", "bf16", "int8", "int4", "topk", "sign", "powersgd")
LOSSY_HEAD = ["lossy", "bytes ÷ raw", "error, with feedback", "error, unbiased",
              "encode with feedback ÷ memcpy", "encode unbiased", "decode and add"]
AUTO_HEAD = ["link", "best fixed", "auto at first", "auto later", "over the best",
             "speed over none's", "met"]

INTRO = """# Codecs

How values become fewer bytes on their way, what each codec is worth on which line, and where none is best.
Written by `scripts/measure_codecs.py`; every ratio is of two things measured in turns in one run.

Lossless codecs change no bit of any result; each link chooses its own (`lossless = "auto"`). Lossy ones
are part of a job's plan, and off unless asked for: gradients are rounded at random, so that their mean
is right, and what an update loses is kept and added to the next one.
"""

CHOOSING = """## How to choose

- **Leave `lossless = "auto"`.** It sends things as they are while the line is fast, and begins to code where
  that saves time. It cannot change what is learnt.
- **Lossy codecs only where bytes are what you wait for**: on a fast line coding takes time, too, and there is
  little to win. Begin with `int8` both ways, a quarter of the bytes; go to fewer bits when steps are
  still long, and look at what is learnt above before you do.
- **Few bits: updates and gradients are not alike.** What an update loses is added to the next one. A gradient
  has no such memory: its code is right on average, and that of `topk` and `sign` is far off each time.
  Which of the two costs more is in the tables, for the length that was trained.
- **`"auto"` for lossy codecs** picks by the time a step takes, within `budget` (the share of the squared
  values that may be lost). What it picks depends on the line, so that two runs are not the same bits.
"""


# --- Cells and tables ------------------------------------------------------------------------------


def figure(value, form="{:.2f}"):
    return "–" if value is None else form.format(value)


def seconds_text(value):
    if value is None:
        return "–"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def bytes_text(value):
    return f"{value / 1e6:.1f} MB" if value >= 1e5 else f"{value / 1e3:.1f} kB"


def colour(plan, lossy):
    return "plain" if plan == "none" else "auto" if "auto" in plan else "lossy" if lossy else "lossless"


def measured_words(part):
    facts = part["measured"]
    return f"Measured on {facts['date']}, {facts['machine']}.\n"


def listed(words):
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


# --- Floats ----------------------------------------------------------------------------------------


class Rows:
    """The rows of `wide bench codec`, by what they are about."""

    def __init__(self, rows):
        self.by_place = {(r["model"], r["stage"], r["kind"], r["codec"], r["what"]): r
                         for r in rows if "codec" in r}
        self.goals = [row for row in rows if row["target"] is not None]
        self.models = list(dict.fromkeys(place[0] for place in self.by_place))
        self.arrays = list(dict.fromkeys(place[:3] for place in self.by_place))

    def value(self, array, codec, what):
        row = self.by_place.get((*array, codec, what))
        if row is None:
            return None
        return row["measured"] if row["ratio"] is None else row["ratio"]

    def median(self, codec, what, kind=None):
        values = [self.value(array, codec, what) for array in self.arrays
                  if kind is None or array[2] == kind]
        values = [value for value in values if value is not None]
        return statistics.median(values) if values else None


def goal_words(goal):
    # Facts from before rows said it: what is held against a bound is a size.
    at_most = goal["wanted"] == "at_most" if "wanted" in goal else "bound" in goal["against"]
    return [goal["name"], goal["against"], figure(goal["ratio"], "{:.3f}"),
            f"{'≤' if at_most else '≥'} {goal['target']:.2f}", figure(goal["limit"]),
            "**no**" if not goal["met"] else "yes, beyond the limit" if goal["beyond_limit"] else "yes"]


def beyond_words(goals):
    beyond = [goal for goal in goals if goal["beyond_limit"]]
    if not beyond:
        return ""
    speeds = " and ".join(sorted({f"{goal['memcpy']:.1f} GB/s" for goal in beyond if "memcpy" in goal}))
    return f"""
A ratio beyond its limit is no feat. The limits count bytes that go to and from memory, and presume that
memcpy moves as many of them in a second as a codec does; here it moved fewer ({speeds} of floats
copied). So the yardstick is short on this machine, and the ratio flatters: take such a goal as not
measured well, rather than as met.
"""


def floats_part(facts):
    rows = Rows(facts["rows"])
    sizes = [[", ".join(array)] + [figure(rows.value(array, codec, "size"), "{:.3f}")
                                   for codec in LOSSLESS]
             + [figure(rows.value(array, "planes", "bound"), "{:.3f}")] for array in rows.arrays]
    lossless = [[codec, figure(rows.median(codec, "size"), "{:.3f}"),
                 figure(rows.median(codec, "encode"), "{:.3f}"),
                 figure(rows.median(codec, "decode"), "{:.3f}")] for codec in LOSSLESS]
    gradient = next((array[2] for array in rows.arrays if "gradient" in array[2]), "gradient")
    lossy = [[codec] + [figure(rows.median(codec, what, gradient), form) for what, form in
                        (("size", "{:.3f}"), ("feedback-error", "{:.2g}"),
                         ("unbiased-error", "{:.2g}"), ("feedback", "{:.2f}"),
                         ("unbiased", "{:.2f}"), ("add", "{:.2f}"))] for codec in LOSSY]
    notes = "".join(f"- {note}\n" for note in facts["notes"] if "--json" not in note)
    return f"""## On the floats of training

{measured_words(facts)}
`wide bench codec` trains small jobs, takes the last gradient and the weights early, halfway and late, and
codes them. Medians over all arrays:

{table(["lossless", "bytes ÷ raw", "encode ÷ memcpy", "decode ÷ memcpy"], lossless)}

The squared error is a share of the squared values; 1 would be as bad as sending nothing, and unbiased
codes of few bits go beyond it: only their mean over many is right. Medians over the gradients:

{table(LOSSY_HEAD, lossy)}

{table(["goal", "against", "ratio", "target", "limit", "met"], [goal_words(goal) for goal in rows.goals])}
{beyond_words(rows.goals)}
![Bytes over raw bytes of late gradients](pictures/codecs-sizes.svg)

<details><summary>Bytes ÷ raw, array by array</summary>

{table(["array", *LOSSLESS, "planes ÷ order-0 bound"], sizes)}

</details>
{notes}"""


def sizes_picture(facts):
    rows = Rows(facts["rows"])
    panels = []
    for array in rows.arrays:
        if array[1] in ("early", "middle") or array[2] == "weights":
            continue
        bars = []
        for codec in (*LOSSLESS, *LOSSY):
            size = rows.value(array, codec, "size")
            if size:
                bars.append(Bar(codec, size, colour(codec, codec in LOSSY), f"{size:.3f}"))
        panels.append(Panel(", ".join(array), bars))
    return picture("Bytes sent, over the raw bytes (log scale)", panels, log=True)


# --- Links -----------------------------------------------------------------------------------------


def by_link(facts):
    links = {}
    for row in facts["rows"]:
        links.setdefault(row["link"], []).append(row)
    return links


def all_measured_words(facts):
    """Every day and machine that a row is of: some may have been measured again, and others not."""
    dates = {}
    for row in facts["rows"]:
        told = row.get("measured") or facts["measured"]
        dates.setdefault(told["machine"], set()).add(told["date"])
    if not dates:
        return measured_words(facts)
    places = [f"{listed(sorted(days))}, {machine}" for machine, days in dates.items()]
    return f"Measured on {'; and on '.join(places)}.\n"


def row_of(plan, plans):
    return next((row for row in plans if row["plan"] == plan), None)


def none_of(row, plans):
    """Seconds of a step with none, of the row's own measurement; old rows do not say which it is."""
    if "none_seconds" in row:
        return row["none_seconds"]
    none = row_of("none", plans)
    return none["step_seconds"] if none else None


def over_none(row, plans):
    none = none_of(row, plans)
    return row["step_seconds"] / none if none and row["step_seconds"] else None


def of_one_measurement(row, other):
    return row.get("measured") == other.get("measured")


def best_fixed(auto, plans):
    """(plan, seconds) of the best that was measured with auto, and words where the best was not."""
    fixed = [row for row in plans if not row["lossy"] and row["plan"] != "auto"
             and over_none(row, plans)]
    spans = {row["plan"]: row["step_seconds"] for row in fixed if of_one_measurement(row, auto)}
    spans["none"] = none_of(auto, plans)
    plan = min(spans, key=spans.get)
    # Only what it took over its own none's can be held against another measurement's.
    best = min(fixed, key=lambda row: over_none(row, plans), default=auto)
    better = over_none(best, plans) < spans[plan] / spans["none"]
    if of_one_measurement(best, auto) or not better:
        return plan, spans[plan], ""
    return plan, spans[plan], (f"; of another measurement: {best['plan']}, "
                               f"{over_none(best, plans):.2f} of its none's")


def auto_row(name, auto, plans):
    best, seconds, elsewhere = best_fixed(auto, plans)
    over_best, speed = auto["step_seconds"] / seconds, 1 / over_none(auto, plans)
    good = over_best <= 1.05 and speed >= 0.98
    return [name, f"{best}, {seconds_text(seconds)}{elsewhere}",
            seconds_text(auto["first_step_seconds"]), seconds_text(auto["step_seconds"]),
            f"{over_best:.2f}", f"{speed:.2f}", "yes" if good else "**no**"]


def auto_rows(links):
    """auto beside the best fixed lossless codec, and beside none."""
    autos = {name: row_of("auto", plans) for name, plans in links.items()}
    return [auto_row(name, auto, links[name]) for name, auto in autos.items()
            if auto and over_none(auto, links[name])]


def losers(links):
    """Where a codec made steps longer than sending things as they are."""
    lines = []
    for name, plans in links.items():
        ratios = [(over_none(row, plans), row["plan"]) for row in plans]
        slower = [(ratio, plan) for ratio, plan in ratios if ratio and ratio > 1.02]
        if slower:
            words = ", ".join(f"{plan} ({ratio:.2f}×)" for ratio, plan in sorted(slower, reverse=True))
            lines.append(f"- {name}: a step takes longer with {words}.")
        else:
            lines.append(f"- {name}: no codec made a step longer.")
    return "\n".join(lines)


def quickest(links):
    """For each link, what reached the loss soonest."""
    lines = []
    for name, plans in links.items():
        reached = [row for row in plans if row.get("seconds_to_loss")]
        none = row_of("none", reached)
        if not none:
            continue
        best = min(reached, key=lambda row: row["seconds_to_loss"])
        apart = "" if of_one_measurement(best, none) else ", in another measurement"
        lines.append(f"- {name}: {best['plan']}, {seconds_text(best['seconds_to_loss'])}; none needs "
                     f"{seconds_text(none['seconds_to_loss'])}{apart}.")
    return "\n".join(lines) or "- not measured"


def link_table(plans):
    rows = []
    for row in plans:
        rows.append([row["plan"], seconds_text(row["step_seconds"]), str(row["spans"]),
                     figure(over_none(row, plans)), bytes_text(row["bytes_per_step"]),
                     figure(row["steps_to_loss"], "{:.1f}"), seconds_text(row.get("seconds_to_loss"))])
    return table(["codec", "a step", "timed", "over none's", "bytes per step", "steps to the loss",
                  "time to the loss"], rows)


def links_part(facts):
    links = by_link(facts)
    tables = "\n\n".join(f"### {name}\n\n{link_table(plans)}" for name, plans in links.items())
    skipped = f"\n{facts['skipped']}.\n" if "skipped" in facts else ""
    steps = facts.get("steps")
    goal = (f"about {statistics.mean(steps['targets']):.2f}; {steps['seeds']} seeds, means" if steps
            else "not measured")
    return f"""## On links

{all_measured_words(facts)}
{facts['nodes']} nodes behind the pool's own link, an mlp of {facts['parameters']:,} parameters, one unit of 32
samples for each node and step; the link shaped by a token bucket, both ways. All of it shares one machine:
coding takes processor time from training, as it would not with a machine for each node. Steps: medians of
the second half of each run. Bytes: of whole runs, joining and leaving included.
The loss to reach ({goal}) is what `none` reaches after {facts['target_steps']} steps.
{skipped}
![Time of a step on each link](pictures/codecs-links.svg)

{tables}

`auto` ought to take at most 1.05 of the best fixed codec's time, and never less than 0.98 of `none`'s speed.
That is judged by its later steps; the first quarter of its run, when it knows little, stands beside them:

{table(AUTO_HEAD, auto_rows(links))}

What reached the loss soonest:

{quickest(links)}

## Where compression loses

{losers(links)}
"""


def links_picture(facts):
    panels = []
    for name, plans in by_link(facts).items():
        panels.append(Panel(name, [Bar(row["plan"], row["step_seconds"],
                                       colour(row["plan"], row["lossy"]),
                                       seconds_text(row["step_seconds"]))
                                   for row in plans if row["step_seconds"]]))
    return picture("Time of a step (log scale)", panels, log=True)


# --- Quality ---------------------------------------------------------------------------------------

QUALITY_WORDS = {
    "fashion": ("Fashion-MNIST, examples/fashion.toml: accuracy in per cent", "points"),
    "gpt": ("A small GPT on the Jargon File: loss on held-out text, nats per byte; less is better",
            "nats"),
}


def quality_table(name, subject):
    unit = QUALITY_WORDS[name][1]
    rows = []
    for found in differences(subject, SUBJECTS[name][4]):
        changes = found["differences"]
        mean = statistics.mean(changes) if changes else None
        rows.append([found["plan"], figure(found["mean"], "{:.3f}"), figure(mean, "{:+.3f}"),
                     ", ".join(f"{change:+.3f}" for change in changes) or "–"])
    return table(["codec", "mean", f"to none, {unit}", "seed by seed"], rows)


def quality_part(facts):
    parts = [f"## What is learnt\n\n{measured_words(facts)}",
             f"The same steps, the same seeds, only the codec differs. {facts.get('stopped', '')}\n",
             "![Difference to training without lossy codecs](pictures/codecs-quality.svg)\n"]
    for name, (words, _) in QUALITY_WORDS.items():
        if name not in facts:
            continue
        subject = facts[name]
        short = "" if subject["whole"] else " Shortened: a try-out, not a result."
        failed = [f"{row['plan']}, seed {row['seed']}: {row['error']}" for row in subject["rows"]
                  if row["error"]]
        parts.append(f"### {words}\n\nTrained with `{subject['length']}`.{short}\n")
        parts.append(quality_table(name, subject) + "\n")
        parts += [f"- {line}" for line in failed]
    return "\n".join(parts)


def quality_picture(facts):
    panels = []
    for name, (words, unit) in QUALITY_WORDS.items():
        if name not in facts:
            continue
        found = differences(facts[name], SUBJECTS[name][4])
        # To the right is better in both: a lower loss counts as a gain.
        sign = 1 if name == "fashion" else -1
        widest = max((abs(statistics.mean(f["differences"])) for f in found if f["differences"]),
                     default=0) or 1
        bars = []
        for one in found:
            if not one["differences"] or one["plan"] == "none":
                continue
            mean = statistics.mean(one["differences"])
            bars.append(Bar(one["plan"], sign * mean / widest, "lossy", f"{mean:+.3f} {unit}"))
        panels.append(Panel(words.split(":")[0], bars))
    return picture("Difference to no lossy codec; to the right is better", panels)


# --- All of it -------------------------------------------------------------------------------------

PARTS = {"data": (floats_part, "sizes", sizes_picture),
         "links": (links_part, "links", links_picture),
         "goodput": (lambda facts: goodput_part(facts, all_measured_words(facts)), None, None),
         "quality": (quality_part, "quality", quality_picture)}


HEADINGS = {"data": "## On the floats of training", "links": "## On links",
            "goodput": GOODPUT_HEADING, "quality": "## What is learnt"}


def as_it_was(out, name):
    """The part as the page has it now, or a word that there is none."""
    old = Path(out).read_text() if Path(out).exists() else ""
    begin = old.find(HEADINGS[name])
    ends = [old.find(mark, begin + 1) for mark in [*HEADINGS.values(), "## How to choose"]]
    if begin < 0 or not any(end > begin for end in ends):
        return f"{HEADINGS[name]}\n\n*Not measured this time: {name}.*\n"
    return old[begin:min(end for end in ends if end > begin)].rstrip("\n") + "\n"


def write_page(facts, out):
    pictures = Path(out).parent / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    parts = [INTRO]
    for name, (words, file, draw) in PARTS.items():
        if name in facts:
            parts.append(words(facts[name]))
            if file:
                (pictures / f"codecs-{file}.svg").write_text(draw(facts[name]))
        else:
            parts.append(as_it_was(out, name))
    Path(out).write_text("\n".join(parts + [CHOOSING]))
