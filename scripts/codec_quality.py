"""What lossy codecs cost in quality: the same steps, the same seeds, only the codec differs."""

import statistics
import time

from page_of_parts import ROOT, machine
from whole_runs import RunFailed, train

SEEDS = (1, 2, 3)
WHOLE_SECONDS = 3600  # with so much time all of it is trained to its usual length

PLANS = {"none": {}}
PLANS |= {f"{word}, both ways": {"gradient": word, "update": word} for word in
          ("fp16", "bf16", "int8", "int4")}
PLANS |= {f"{word}, updates": {"update": word} for word in ("topk", "sign", "powersgd")}
PLANS |= {f"{word}, gradients": {"gradient": word} for word in ("topk", "sign")}

GPT_JOB = """[job]
name = "small-gpt"
[model]
kind = "gpt"
layers = 2
heads = 4
width = 64
context = 64
[data]
kind = "text"
path = "/usr/share/doc/jargon-text/jargon.txt.gz"
[train]
batch = 8
units_per_step = 4
steps = 400
optimizer = "adamw"
lr = 0.002
schedule = "cosine"
warmup_steps = 20
clip_norm = 1.0
[eval]
fraction = 0.02
"""


def fashion_job():
    return (ROOT / "examples" / "fashion.toml").read_text()


SUBJECTS = {
    # name: job, length at full time, the flag that sets it, what counts, points per one of it
    "fashion": (fashion_job, 2.0, "--epochs", "accuracy", 100),
    "gpt": (lambda: GPT_JOB, 400, "--steps", "eval_loss", 1),
}


def trained(options, text, seed, length):
    """The summary; of a run that failed, why. A codec under which training diverges is a result."""
    try:
        return train(options.bin, text, ["--nodes", 2, "--seed", seed, *length], options.scratch)[0]
    except RunFailed as failed:
        return {"error": str(failed)}


def length_words(name, share):
    _, whole, flag, _, _ = SUBJECTS[name]
    length = whole * share
    return [flag, f"{max(length, 0.02):.4g}" if flag == "--epochs" else str(max(5, int(length)))]


def measure_seed(options, name, subject, seed, say):
    make_job, _, _, figure, _ = SUBJECTS[name]
    for plan, codec in PLANS.items():
        say(f"{name}, seed {seed}, {plan}")
        section = "".join(f'{key} = "{word}"\n' for key, word in codec.items())
        summary = trained(options, make_job() + "\n[codec]\n" + section, seed,
                          subject["length"].split())
        subject["rows"].append({"seed": seed, "plan": plan, "figure": summary.get(figure),
                                "loss_last": summary.get("loss_last"),
                                "error": summary.get("error")})


def differences(subject, points):
    """Per plan: mean, and every seed's difference to "none" of the same seed."""
    rows = {(row["plan"], row["seed"]): row["figure"] for row in subject["rows"]}
    found = []
    for plan in PLANS:
        pairs = [(rows.get((plan, seed)), rows.get(("none", seed))) for seed in SEEDS]
        pairs = [(ours, none) for ours, none in pairs if ours is not None and none is not None]
        if not pairs:
            found.append({"plan": plan, "mean": None, "differences": []})
            continue
        found.append({"plan": plan, "mean": statistics.mean(ours for ours, _ in pairs) * points,
                      "differences": [(ours - none) * points for ours, none in pairs]})
    return found


def begun(options, facts):
    """What an earlier one of the same length, on this machine, had no time for is gone on with."""
    earlier = options.earlier.get("quality", {})
    same = all(earlier.get(name, {}).get("length") == facts[name]["length"] for name in SUBJECTS)
    if "stopped" not in earlier or not same or earlier["measured"]["machine"] != machine():
        return facts
    return {name: earlier[name] for name in SUBJECTS}


def measure_quality(options, seconds, say):
    """Seed by seed, all plans of each, while there is time for another; one in any case."""
    share = min(1.0, seconds / WHOLE_SECONDS)
    began = time.monotonic()
    facts = {name: {"length": " ".join(length_words(name, share)), "whole": share == 1.0, "rows": []}
             for name in SUBJECTS}
    facts = begun(options, facts)
    done = {row["seed"] for name in SUBJECTS for row in facts[name]["rows"]}
    for count, seed in enumerate(seed for seed in SEEDS if seed not in done):
        spent = time.monotonic() - began
        if count and spent + spent / count > seconds:
            facts["stopped"] = f"There was time for {count + len(done)} of {len(SEEDS)} seeds."
            break
        for name in SUBJECTS:
            measure_seed(options, name, facts[name], seed, say)
    return facts
