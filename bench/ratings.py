#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the models of ratings: how well they predict real ratings, and what they cost on generated ones.

Quality: DATA/ratings/{jester5k.tsv,movietweetings-100k.dat}.zst, 90 % to train on and 10 % to test,
several folds averaged; movielens-small.csv and the five published folds of DATA/ratings/ml-100k if they are
there (movielens_small.py makes the one). Known: the same with title, year and genres of the films, and feat2vec
with the rating as its target. Clicks: DATA/ratings/msweb.tsv.zst, MovieTweetings and MovieLens without their
ratings, Jester's jokes rated above 5. Neighbours: near of these, at users that were not trained on; see
neighbours.py. Cost: files of
bench_make_ratings, made like MovieLens at three sizes; the cost of an epoch is the CPU time of a long run
less that of a short one, one thread. With --libmf LIBMF runs beside mf, through libmf.py.
"""
import argparse
import csv
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

import neighbours as measure

PARTS = ("quality", "known", "clicks", "neighbours", "movielens", "speed", "recommend")
MODELS = ("als", "mf", "bmf", "svp", "softimpute", "nmf")
TWINS = {"5M": (5_000_000, 35_000, 8_000), "10M": (10_000_000, 69_878, 10_677),
         "20M": (20_000_000, 138_493, 26_744)}


class Bench:
    def __init__(self, options):
        self.kith = options.build / "kith"
        self.make = options.build / "bench_make_ratings"
        self.out = options.out / "ratings"
        self.data = options.data
        self.library = options.libmf
        self.rows, self.expected = [], []
        self.out.mkdir(parents=True, exist_ok=True)

    def run(self, *args):
        """Runs kith; its JSON, wall and CPU seconds, peak memory in MB."""
        start = time.monotonic()
        with subprocess.Popen([self.kith, *map(str, args), "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as process:
            text = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"bench: kith {' '.join(map(str, args))} failed")
        return (json.loads(text) if text.strip() else None, time.monotonic() - start,
                usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)

    def libmf(self, *args):
        """What libmf.py measures, or nothing."""
        if not self.library:
            return None
        script = pathlib.Path(__file__).with_name("libmf.py")
        run = subprocess.run([sys.executable, script, self.library, *map(str, args)], check=True,
                             stdout=subprocess.PIPE, text=True)
        return json.loads(run.stdout)

    def say(self, what, figures):
        self.rows.append((what, figures))
        print(f"bench: {what}: {figures}", flush=True)

    def expect(self, what, measured, at_least=None, at_most=None):
        met = (at_least is None or measured >= at_least) and (at_most is None or measured <= at_most)
        bound = f">= {at_least}" if at_least is not None else f"<= {at_most}"
        self.expected.append((what, bound, f"{measured:.4g}", "met" if met else "**not met**"))

    def unpacked(self, name):
        path = self.out / name
        if not path.exists():
            with open(path, "wb") as out:
                subprocess.run(["zstd", "-dc", self.data / "ratings" / f"{name}.zst"], stdout=out, check=True)
        return path

    def small(self):
        """MovieLens' small file, in a list; none if it is not there."""
        path = self.data / "ratings" / "movielens-small.csv"
        if not path.exists():
            print(f"bench: no {path}: it is left out; movielens_small.py makes it", flush=True)
        return [path] if path.exists() else []

    def twin(self, size, implicit=False):
        ratings, users, items = TWINS[size]
        path = self.out / f"twin-{size}{'-implicit' if implicit else ''}.csv"
        if not path.exists():
            extra = ["implicit"] if implicit else []
            with open(path, "wb") as out:
                subprocess.run([self.make, *map(str, (ratings, users, items)), *extra], stdout=out, check=True)
        return path


def split(bench, path, seed):
    """Nine tenths and one tenth of a file's lines."""
    dice = random.Random(seed)
    parts = [bench.out / f"{path.stem}.train{path.suffix}", bench.out / f"{path.stem}.test{path.suffix}"]
    with open(path, encoding="utf-8") as lines, open(parts[0], "w", encoding="utf-8") as train, \
            open(parts[1], "w", encoding="utf-8") as test:
        for line in lines:
            (test if dice.random() < 0.1 else train).write(line)
    return parts


def quality(bench, seeds, budget):
    files = [(bench.unpacked("jester5k.tsv"), (0.97, None)), (bench.unpacked("movietweetings-100k.dat"), (None, 1.54))]
    for path, bounds in files + [(path, (1.005, None)) for path in bench.small()]:
        name = path.name
        for model in MODELS:
            runs = [bench.run("eval", model, path, "--split", "random", "--test", 0.1, "--seed", seed)
                    for seed in range(1, seeds + 1)]
            rmse = statistics.mean(r[0]["rmse"] for r in runs)
            biases = statistics.mean(r[0]["baselines"]["biases"]["rmse"] for r in runs)
            bench.say(f"{name}, {model}, defaults",
                      f"RMSE {rmse:.4f} (biases only {biases:.4f}), {statistics.mean(r[1] for r in runs):.1f} s, "
                      f"{statistics.mean(r[2] for r in runs):.1f} CPU s; {seeds} splits")
            if bounds[0]:
                bench.expect(f"{name}, {model}: RMSE / biases only", rmse / biases, at_most=bounds[0])
            else:
                bench.expect(f"{name}, {model}: RMSE", rmse, at_most=bounds[1])
    train, test = split(bench, bench.unpacked("jester5k.tsv"), 1)
    peer = bench.libmf(train, "--test", test, "--k", 32, "--penalty", 0.2)
    if peer:
        bench.say("jester5k.tsv, LIBMF, 32 factors, penalty .2, 50 epochs", f"RMSE {peer['rmse']:.4f}; the split that follows")
    # In units of biases only, because splits differ: 3.99, 4.05 and 4.00 where these have 4.298.
    for model, bound in (("mf", 0.928), ("als", 0.942), ("bmf", 0.931)):
        best = bench.run("tune", model, train, "--budget", budget)[0]["best"]["settings"]
        flags = [word for key, value in best.items() for word in (f"--{key}", value)]
        bench.run("train", model, train, "-o", bench.out / "tuned.kith", *flags)
        result = bench.run("eval", bench.out / "tuned.kith", test)[0]
        biases = result["baselines"]["biases"]["rmse"]
        bench.say(f"jester5k.tsv, {model}, after tune --budget {budget}",
                  f"RMSE {result['rmse']:.4f} (biases only {biases:.4f}) with {best}; one split")
        bench.expect(f"jester5k.tsv, {model}, tuned: RMSE / biases only", result["rmse"] / biases, at_most=bound)


def film_tables(bench):
    """A table of ratings (user, film, rating) and one of films (film, title, year, genres) of each source."""
    out = []
    for path in bench.small():
        films = path.with_name("movielens-small-films.csv")
        if films.exists():
            out.append(("movielens-small.csv", path, films))
    ratings, films = bench.out / "movietweetings.csv", bench.out / "movietweetings-films.csv"
    with open(films, "w", encoding="utf-8", newline="") as to:
        table = csv.writer(to)
        table.writerow(["film", "title", "year", "genres"])
        for line in bench.unpacked("movietweetings-movies.dat").read_text(encoding="utf-8").splitlines():
            film, title, genres = line.split("::")
            year = re.search(r" \((\d{4})\)$", title)
            table.writerow([film, title[:year.start()] if year else title, year[1] if year else "", genres])
    rows = (line.split("::") for line in bench.unpacked("movietweetings-100k.dat").read_text().splitlines())
    ratings.write_text("user,film,rating\n" + "".join(f"{u},{f},{r}\n" for u, f, r, _ in rows), encoding="utf-8")
    return [*out, ("movietweetings-100k.dat", ratings, films)]


def of_target(bench, ratings, films, columns, seed):
    """The RMSE of feat2vec with the rating as its target, and its CPU seconds."""
    with open(films, encoding="utf-8", newline="") as lines:
        known = {row["film"]: [row[c] for c in columns] for row in csv.DictReader(lines)}
    dice = random.Random(seed)
    parts = [bench.out / "target-train.csv", bench.out / "target-test.csv"]
    with open(ratings, encoding="utf-8", newline="") as lines, open(parts[0], "w", encoding="utf-8") as train, \
            open(parts[1], "w", encoding="utf-8") as test:
        tables = [csv.writer(train), csv.writer(test)]
        for table in tables:
            table.writerow(["user", "film", "rating", *columns])
        for row in csv.DictReader(lines):
            tables[dice.random() < 0.1].writerow([row["user"], row["film"], row["rating"],
                                                  *known.get(row["film"], [""] * len(columns))])
    types = "user=category,film=category,rating=number" + (",genres=set" if "genres" in columns else "")
    model = bench.out / "target.kith"
    cpu = bench.run("train", "feat2vec", parts[0], "--target", "rating", "--types", types, "-o", model)[2]
    return bench.run("eval", model, parts[1])[0]["rmse"], cpu


def known(bench, seeds):
    """Ratings where something is known of the films, by models of ratings and by one of tables."""
    for name, ratings, films in film_tables(bench):
        for model in ("als", "mf", "bmf"):
            runs = [bench.run("eval", model, ratings, "--item-table", films, "--seed", seed)
                    for seed in range(1, seeds + 1)]
            rmse = statistics.mean(r[0]["rmse"] for r in runs)
            biases = statistics.mean(r[0]["baselines"]["biases"]["rmse"] for r in runs)
            bench.say(f"{name}, {model}, with title, year and genres", f"RMSE {rmse:.4f} (biases only {biases:.4f}), "
                      f"{statistics.mean(r[2] for r in runs):.1f} CPU s; {seeds} splits")
            bench.expect(f"{name}, {model}, with columns: RMSE / biases only", rmse / biases, at_most=1)
        for columns in ([], ["year", "genres"]):
            runs = [of_target(bench, ratings, films, columns, seed) for seed in range(1, seeds + 1)]
            rmse, cpu = (statistics.mean(column) for column in zip(*runs))
            bench.say(f"{name}, feat2vec --target rating, from {', '.join(['user', 'film', *columns])}",
                      f"RMSE {rmse:.4f}, {cpu:.1f} CPU s; {seeds} splits")


def liked(bench):
    """Jester's jokes rated above 5, as pairs of user and joke."""
    path = bench.out / "jester-above-5.tsv"
    with open(bench.unpacked("jester5k.tsv"), encoding="utf-8") as lines, open(path, "w", encoding="utf-8") as out:
        for line in lines:
            user, joke, rating = line.split()
            if float(rating) > 5:
                out.write(f"{user}\t{joke}\n")
    return path


def clicks(bench, seeds):
    """Who chose what, without ratings: of what is hidden, how much ten recommendations find."""
    files = [(bench.unpacked("msweb.tsv"), 0.70), (bench.unpacked("movietweetings-100k.dat"), None)]
    files += [(path, None) for path in (liked(bench), *bench.small())]
    for path, bound in files:
        for model in ("als", "mf"):
            runs = [bench.run("eval", model, path, "--rating", "none", "--seed", seed) for seed in range(1, seeds + 1)]
            own, popular = ([statistics.mean((r[0] if who is None else r[0]["baselines"][who])[what] for r in runs)
                             for what in ("recall", "ndcg")] for who in (None, "popularity"))
            bench.say(f"{path.name} as interactions, {model}, defaults",
                      f"recall@10 {own[0]:.4f}, NDCG@10 {own[1]:.4f} (popularity {popular[0]:.4f}, {popular[1]:.4f}), "
                      f"{statistics.mean(r[2] for r in runs):.1f} CPU s; {seeds} splits")
            if model == "als":
                bench.expect(f"{path.name}, als: recall@10 / popularity's", own[0] / popular[0], at_least=1)
                if bound:
                    bench.expect(f"{path.name}, als: recall@10", own[0], at_least=bound)


def near(bench, model, items):
    """The neighbours that kith near gives each of these items."""
    queries = bench.out / "queries.txt"
    queries.write_text("".join(f"item={i}\n" for i in items), encoding="utf-8")
    run = subprocess.run([bench.kith, "near", model, "--queries", queries, "--top", str(measure.TOP), "--json"],
                         check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    return {i: [n["id"] for n in answer["neighbours"]] for i, answer in zip(items, answers, strict=True)}


def neighbours(bench, seeds):
    """Who chose what: do those who chose an item choose its neighbours, too?"""
    # The bounds stand a little below what als was measured to have: .0496, .0549, .3276, .347.
    files = [("msweb.tsv", None, 0.048), ("movietweetings-100k.dat", None, 0.053), ("jester5k.tsv", 5, 0.32)]
    files = [(bench.unpacked(name), above, bound) for name, above, bound in files]
    files += [(small, None, 0.33) for small in bench.small()]
    for path, above, bound in files:
        pairs = measure.interactions(path, above)
        found = {}
        for seed in range(1, seeds + 1):
            train, test = measure.split(pairs, seed)
            score = measure.Measure(train, test)
            table, model = bench.out / "neighbours.csv", bench.out / "neighbours.kith"
            table.write_text("user,item\n" + "".join(f"{u},{i}\n" for u, i in train), encoding="utf-8")
            lists = {"the most popular": score.popular(), "chosen together": score.together()}
            for name in ("als", "mf"):
                bench.run("train", name, table, "-o", model)
                lists[name] = near(bench, model, score.items)
            for name, each in lists.items():
                found.setdefault(name, []).append(score(each))
        means = {name: [statistics.mean(column) for column in zip(*runs)] for name, runs in found.items()}
        for name, (correlation, both, lift) in means.items():
            bench.say(f"{path.name}, neighbours, {name}",
                      f"correlation {correlation:.4f}, both {both:.4f}, lift {lift:.1f}; {seeds} splits of users")
        bench.expect(f"{path.name}, als: correlation with neighbours", means["als"][0], at_least=bound)


def movielens(bench):
    """The five published folds of MovieLens-100K, with the defaults."""
    folder = bench.data / "ratings" / "ml-100k"
    if not folder.is_dir():
        print(f"bench: no {folder}: MovieLens-100K is left out", flush=True)
        return
    folds = [(folder / f"u{k}.base", folder / f"u{k}.test") for k in range(1, 6)]
    biases = 0
    for model in MODELS:
        errors, seconds = [], []
        for train, test in folds:
            _, _, cpu, _ = bench.run("train", model, train, "-o", bench.out / "fold.kith")
            result = bench.run("eval", bench.out / "fold.kith", test)[0]
            errors.append(result["rmse"])
            seconds.append(cpu)
            biases += result["baselines"]["biases"]["rmse"] / len(folds) / len(MODELS)
        rmse = statistics.mean(errors)
        bench.say(f"MovieLens-100K, u1 to u5, {model}, defaults",
                  f"RMSE {rmse:.4f} ({', '.join(f'{e:.4f}' for e in errors)}), {statistics.mean(seconds):.1f} CPU s")
        if model in ("mf", "als", "bmf"):
            bench.expect(f"MovieLens-100K, {model}: RMSE", rmse, at_most=0.897 if model == "bmf" else 0.911)
    bench.say("MovieLens-100K, u1 to u5, biases only", f"RMSE {biases:.4f}")
    peers = [bench.libmf(train, "--test", test, "--k", 128, "--iterations", 100, "--eta", 0.05) for train, test in folds]
    if bench.library:
        bench.say("MovieLens-100K, u1 to u5, LIBMF, 128 factors, penalty .1, 100 epochs",
                  f"RMSE {statistics.mean(p['rmse'] for p in peers):.4f}")


def per_epoch(bench, model, path, flags, epochs=(2, 6)):
    """CPU seconds of one epoch, the peak memory and the ratings."""
    times, peak, ratings = [], 0, 0
    for n in epochs:
        result, _, cpu, memory = bench.run("train", model, path, "-o", bench.out / "speed.kith", "--threads", 1,
                                           "--holdout", 0, "--early-stop", 0, "--epochs", n, *flags)
        times.append(cpu)
        peak, ratings = max(peak, memory), result["ratings"]
    return (times[1] - times[0]) / (epochs[1] - epochs[0]), peak, ratings


def speed(bench, sizes):
    for size in sizes:
        path = bench.twin(size)
        megabytes = path.stat().st_size / 1e6
        _, _, cpu, _ = bench.run("train", "mf", path, "-o", bench.out / "speed.kith", "--threads", 1, "--holdout", 0,
                                 "--early-stop", 0, "--epochs", 1, "--dim", 1)
        bench.say(f"twin {size}, reading and one epoch of dim 1", f"{megabytes:.0f} MB, {cpu:.1f} CPU s, "
                  f"at least {megabytes / cpu:.0f} MB/s per core")
        if size == sizes[-1]:
            bench.expect("reading, MB/s per core", megabytes / cpu, at_least=60)
        plain = ["--no-choices"]  # the solver alone; what else is known is measured beside it
        for model, dim, bound, flags in (("mf", 64, 40, []), ("mf", 128, 20, []), ("als", 64, 20, plain),
                                         ("als", 128, 8, plain), ("als", 64, 8, ["--choices"])):
            seconds, peak, ratings = per_epoch(bench, model, path, ["--dim", dim, *flags])
            halves = 2 if model == "als" else 1  # a sweep of als sees every rating from both sides
            rate = halves * ratings / seconds / 1e6
            _, users, items = TWINS[size]
            factors = (users + items) * (dim + 18) * 4 / 1e6
            triples = ratings * 12 / 1e6
            bench.say(f"twin {size}, {' '.join([model, *flags])}, dim {dim}",
                      f"{rate:.1f} M {'observations of a half-sweep' if halves == 2 else 'ratings'}/s per core, "
                      f"{seconds:.2f} CPU s an epoch; peak {peak:.0f} MB (triples {triples:.0f}, factors {factors:.0f})")
            peer = bench.libmf(path, "--k", dim) if model == "mf" else None
            if peer:
                bench.say(f"twin {size}, LIBMF, dim {dim}, beside mf",
                          f"{peer['rate'] / 1e6:.1f} M ratings/s; mf is {rate * 1e6 / peer['rate']:.1f} times as fast")
            if size == sizes[-1]:
                bench.expect(f"{model}, dim {dim}: M/s per core", rate, at_least=bound)
                bench.expect(f"{model}, dim {dim}: (peak - factors) / triples", (peak - factors) / triples, at_most=2.2)
    path = bench.twin(sizes[0], implicit=True)
    for dim in (64, 128):
        seconds, _, ratings = per_epoch(bench, "als", path, ["--dim", dim])
        bench.say(f"twin {sizes[0]}, als, implicit, dim {dim}",
                  f"{2 * ratings / seconds / 1e6:.1f} M observations of a half-sweep/s per core")


def recommend(bench):
    users, items = 40_000, 20_000
    path = bench.out / "recommend.csv"
    if not path.exists():
        with open(path, "wb") as out:
            subprocess.run([bench.make, "2000000", str(users), str(items)], stdout=out, check=True)
    model = bench.out / "recommend.kith"
    bench.run("train", "als", path, "-o", model, "--dim", 128, "--epochs", 1, "--holdout", 0, "--early-stop", 0)
    rates = []
    for _ in range(3):
        start = time.monotonic()
        subprocess.run([bench.kith, "recommend", model, "--all", "--threads", "1", "-o", bench.out / "recs.csv"],
                       check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        rates.append(users / (time.monotonic() - start))
    rate = statistics.median(rates)
    bench.say("recommend 10 of 20,000 items to each of 40,000 users, dim 128",
              f"{rate:.0f} users/s on one core, loading and writing included")
    bench.expect("recommend: users/s", rate, at_least=3000)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--seeds", type=int, default=3, help="splits that are averaged")
    parser.add_argument("--budget", type=int, default=60, help="seconds for each search")
    parser.add_argument("--libmf", type=pathlib.Path, help="LIBMF's shared library, to measure beside mf")
    parser.add_argument("--sizes", default="5M,10M,20M")
    options = parser.parse_args()
    bench = Bench(options)
    wanted = options.only or PARTS
    if "quality" in wanted:
        quality(bench, options.seeds, options.budget)
    if "known" in wanted:
        known(bench, options.seeds)
    if "clicks" in wanted:
        clicks(bench, options.seeds)
    if "neighbours" in wanted:
        neighbours(bench, options.seeds)
    if "movielens" in wanted:
        movielens(bench)
    if "speed" in wanted:
        speed(bench, options.sizes.split(","))
    if "recommend" in wanted:
        recommend(bench)
    lines = ["| what | measured |", "|---|---|", *(f"| {what} | {figures} |" for what, figures in bench.rows), "",
             "| expected | bound | measured | |", "|---|---|---|---|",
             *("| " + " | ".join(row) + " |" for row in bench.expected)]
    (bench.out / "ratings.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
