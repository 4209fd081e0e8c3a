#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers at the edge: of every setting, and in the data.

usage: extremes.py --kith PATH [--count N] [--seed S] [--all]

Every numeric setting of every model takes its least and its greatest value, and refuses what lies
beyond with a sentence that names it. Data of one row, of equal, huge, tiny or very uneven numbers
end in a sentence, or in a finite model that the program can read and ask, whose loss is not far
above where it began. Cases are drawn from all of them; --count 0 runs every one.
"""
import itertools
import json
import math
import random
import re

import campaign
import kith

ODD = ["0", "-1", "1e-300", "1e300", "nan", "inf", "-inf", "5e-324", "0.5"]
# A last loss beyond so many times the first one has run away. That of bmf is of one draw, and
# with few ratings draws lie far apart.
RISE, RISE_OF_DRAWS = 3, 30
SLIGHT = 1e-3  # what is nearly zero is noise


def ratings(values, users=4, items=4):
    pairs = itertools.islice(itertools.product(range(users), range(items)), len(values))
    return "user,item,rating\n" + "".join(f"u{u},i{i},{v}\n" for (u, i), v in zip(pairs, values))


def table(values):
    return "kind,size\n" + "".join(f"{'ab'[i % 2]},{v}\n" for i, v in enumerate(values))


NUMBERS = {
    "plain": [1, 5, 2, 4, 3, 1, 5, 2, 2, 4, 1, 5],
    "one": [3],
    "one item": [1, 5, 2, 4, 3, 1],
    "one user": [1, 5, 2, 4, 3, 1],
    "constant": [3] * 12,
    "zero": [0] * 12,
    "huge": ["1e300", "-1e300", "2e300", "5e299"] * 3,
    "greatest": ["1e308", "-1e308", "1.7e308", "1e308"] * 3,
    "float's": ["1e38", "3e38", "-3e38", "1e39"] * 3,
    "large": ["1e18", "2e19", "-1e18", "1e20"] * 3,
    "tiny": ["1e-300", "2e-300", "-1e-300", "5e-324"] * 3,
    "small": ["1e-30", "3e-30", "2e-30", "4e-38"] * 3,
    "one huge": ["1e300"] + [1, 2, 3, 4, 5] * 2,
    "one large": ["1e12"] + [1, 2, 3, 4, 5] * 2,
    "close": ["1e15", "1000000000000001", "1e15", "1000000000000002"] * 3,
    "counts": [0, 1, 1, 2, 1, 0, 1, 100000, 1, 3, 1, 1],
}
TEXTS = {
    "plain": "a b c d\nb a d c\na c b d\n" * 5,
    "one": "a\n",
    "two": "a b\n",
    "constant": "a a a a\n" * 5,
    "one huge": "a " * 5000 + "b\n",
}


def data_of(kind, name):
    if kind in ("text", "documents"):
        return TEXTS[name]
    if kind == "labelled":
        return "".join(f"__label__{'xyz'[k % 3]} {line}\n"
                       for k, line in enumerate(TEXTS[name].splitlines() * 2))
    values = NUMBERS[name]
    if kind == "table":
        return table(values)
    return ratings(values, *{"one item": (12, 1), "one user": (1, 12)}.get(name, (4, 4)))


def around(setting):
    """Values and whether they are allowed: at the limits, beyond them, and odd ones."""
    step = 1 if setting.type == "int" else None
    for limit, way in ((setting.low, -1), (setting.high, 1)):
        if math.isfinite(limit):
            yield f"{limit:.17g}", True
            beyond = limit + way * (step or max(abs(limit) * 1e-6, 1e-9))
            yield f"{beyond:.17g}", False
    for text in ODD:
        value = float(text)
        whole = setting.type != "int" or abs(value) < 2**53 and value == int(value)
        yield text, math.isfinite(value) and whole and setting.low <= value <= setting.high


def cases(run, kinds):
    """What to try: a model, its data, flags, and whether they are allowed; None: not known."""
    for model, kind in kinds.items():
        run.write("d", data_of(kind, "plain"))
        known = campaign.settings(run, model)
        for s in known:
            if s.type not in ("int", "number"):
                continue
            campaign.find_range(run, model, "d", s)
            for value, allowed in around(s):
                yield model, kind, "plain", [f"--{s.name}", value], allowed
        choices = [[]] + [[f"--{s.name}", c] for s in known if "|" in s.type
                          for c in s.type.split("|")]
        choices += [["--implicit"], ["--deterministic"]] if kind == "ratings" else []
        choices += [["--target", "size"], ["--target", "kind"]] if kind == "table" else []
        for name in TEXTS if kind in ("text", "labelled", "documents") else NUMBERS:
            for flags in choices:
                yield model, kind, name, flags, None


def ask(run, kind):
    """The model answers, with finite numbers; a sentence will do where there is nothing to say."""
    told = run.run("info", "m.kith", "--json")
    if told and told.code != kith.DONE:
        return run.fail(f"a model that cannot be read: {told.error}")
    if kind == "ratings":
        asked = [["predict", "m.kith", "user=u0", "item=i0", "--json"],
                 ["recommend", "m.kith", "u0", "--include-seen", "--json"],
                 ["recommend", "m.kith", "--rated", "i0=3", "--include-seen", "--json"]]
    elif kind == "table":
        asked = [["predict", "m.kith", "--target", "size", "kind=a", "--json"],
                 ["predict", "m.kith", "--target", "kind", "size=1e300", "--json"],
                 ["score", "m.kith", "d", "--json"], ["embed", "m.kith", "kind=b", "--json"]]
    elif kind == "labelled":
        asked = [["predict", "m.kith", "a b", "--json"], ["eval", "m.kith", "d", "--json"]]
    else:
        asked = [["near", "m.kith", "a", "--json"]]
    for question in asked:
        run.run(*question)
    return None


def check_loss(run, trained, model):
    """The last loss beside that of the first epoch; of two runs, the second may measure another."""
    losses = []
    for epoch, loss in re.findall(r"epoch +(\d+)/\d+ +loss (\S+)", trained.err):
        losses = [*losses, float(loss)] if epoch != "1" else [float(loss)]
    last = trained.json["loss"]
    if last is None:
        run.fail("exit 0 without a loss")
    elif losses and last > (RISE_OF_DRAWS if model == "bmf" else RISE) * abs(losses[0]) + SLIGHT:
        run.fail(f"done with a loss of {last:.4g} that began at {losses[0]:.4g}")


def one_case(run, model, kind, name, flags, allowed):
    run.write("d", data_of(kind, name))
    few = ["--min-count", "1"] if kind == "text" and "--min-count" not in flags else []
    types = ["--types", "size=number"] if kind == "table" else []
    trained = run.run("train", model, "d", "-o", "m.kith", *few, *types, "--threads", "1", *flags,
                      "--json")
    if trained is None:
        return
    if allowed is False and trained.code != kith.BAD_USAGE:
        run.fail(f"{flags[0]} beyond its range is taken")
    elif allowed is False and flags[0][2:] not in trained.error:
        run.fail(f"the sentence does not name {flags[0]}: {trained.error}")
    elif allowed and trained.code == kith.BAD_USAGE and "must be" in trained.error:
        run.fail(f"{flags[0]} within its range is refused: {trained.error}")
    if trained.code != kith.DONE:
        if (run.folder / "m.kith").exists():
            run.fail("refused, and a file was left")
        return
    check_loss(run, trained, model)
    ask(run, kind)


def main():
    run = campaign.Campaign(__doc__, 40)
    every = list(cases(run, campaign.models(run)))
    random.Random(run.options.seed).shuffle(every)
    for case in every[:run.options.count or None]:
        run.begin(f"extremes.py, of {len(every)} cases: {json.dumps(case)}")
        one_case(run, *case)
    run.finish()


if __name__ == "__main__":
    main()
