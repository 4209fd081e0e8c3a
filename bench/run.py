#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed, memory and quality of word vectors, side by side with Debian's fasttext, in one go.

What is timed is the whole program from start to end (CPU of all its threads, wall time, peak
memory, from the kernel), and what is scored are the vectors of that very run. See README.md.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

from cases import CASES, PEERS, Case, Expect

SCORED = ("WS-353-ALL", "MEN-TR-3k", "SIMLEX-999", "RW-STANFORD")


def timed(command, log):
    """Runs a command to its end; CPU and wall seconds, peak memory, standard output."""
    with open(log, "wb") as err:
        began = os.times().elapsed
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=err)
        out = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        wall = os.times().elapsed - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))}\nended with {process.returncode}; see "
                 f"{log}\n" + pathlib.Path(log).read_text(errors="replace")[-2000:])
    return {"cpu": usage.ru_utime + usage.ru_stime, "wall": wall,
            "peak_mb": usage.ru_maxrss * 1024 / 1e6}, out


def metadata(path):
    """What a file of Kith's says of itself."""
    with open(path, "rb") as file:
        return json.loads(file.read(int.from_bytes(file.read(8), "little")))["__metadata__"]


def told(command):
    """The JSON that a command prints."""
    return json.loads(subprocess.run(list(map(str, command)), check=True, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


class Bench:
    def __init__(self, args):
        self.args = args
        self.kith = args.build / "kith"
        self.out = args.out
        self.out.mkdir(parents=True, exist_ok=True)
        words = args.data / "words"
        self.words = words if words.is_dir() else args.data
        self.corpus = self.plain_corpus()
        self.peak = told([args.build / "bench_peak"])
        self.results = {}  # case name -> figures
        self.reused = {}
        self.counts = self.out / "wiki8.counts"
        if args.reuse_peer:
            old = json.loads(args.reuse_peer.read_text())
            self.reused = {n: r for n, r in old["results"].items() if n.startswith(PEERS)}

    def plain_corpus(self):
        """The corpus as plain text: fasttext reads nothing else."""
        plain = self.words / "wiki8.txt"
        packed = self.words / "wiki8.txt.zst"
        if plain.exists():
            return plain
        if not packed.exists():
            sys.exit(f"bench: {plain}(.zst) is not there; bench/README.md says what DATA holds")
        plain = self.out / "wiki8.txt"
        if not plain.exists():
            subprocess.run(["zstd", "-dqf", packed, "-o", str(plain) + ".part"], check=True)
            os.rename(str(plain) + ".part", plain)
        return plain

    # --- one case ---

    def run_case(self, case: Case):
        if case.name in self.reused:
            self.results[case.name] = dict(self.reused[case.name], reused=True)
            return
        runs = [getattr(self, "run_" + case.tool)(case) for _ in range(self.args.repeat)]
        # The median run as a whole, so that speed and quality belong together.
        runs.sort(key=lambda r: r["cpu"])
        self.results[case.name] = runs[(len(runs) - 1) // 2]
        if len(runs) > 1:
            self.results[case.name]["cpu_of_all_runs"] = [round(r["cpu"], 2) for r in runs]
            self.results[case.name]["wall"] = statistics.median(r["wall"] for r in runs)

    def run_read(self, _):
        return told([self.args.build / "bench_read_corpus", self.out, self.corpus])

    def run_fasttext(self, case):
        stem = self.out / case.name
        figures, _ = timed(["fasttext", *case.args, "-input", self.corpus, "-output", stem],
                           self.out / f"{case.name}.log")
        model = self.out / f"{case.name}.kith"
        subprocess.run([self.kith, "import", f"{stem}.vec", "-o", model], check=True,
                       stderr=subprocess.DEVNULL)
        for end in (".vec", ".bin"):
            pathlib.Path(f"{stem}{end}").unlink(missing_ok=True)
        return figures | self.score(model)

    def run_kith(self, case):
        model = self.out / f"{case.name}.kith"
        command = [self.kith, "train", case.model, self.corpus, "-o", model, *case.args, "--json",
                   "--checkpoint-every", "0"]
        figures, out = timed(command, self.out / f"{case.name}.log")
        summary = json.loads(out)
        facts = told([self.kith, "info", model, "--json"])["facts"]
        figures |= {"summary": summary, "facts": facts}
        if "cells_per_second" in summary:
            figures["m_cells"] = summary["cells_per_second"] / 1e6
        else:
            self.add_rates(figures, case)
        return figures | self.score(model)

    def run_count(self, case):
        figures, _ = timed([self.kith, "count", self.corpus, "-o", self.counts, *case.args, "--json"],
                           self.out / f"{case.name}.log")
        words = int(metadata(self.counts)["corpus.words"])
        figures["m_words_per_cpu"] = words / figures["cpu"] / 1e6
        return figures

    def run_sklearn(self, case):
        """The decomposition alone: reading the counts and making the matrix are left out."""
        if not self.counts.exists():
            self.run_count(Case("count", "", "count", ["--window", "10"]))
        script = pathlib.Path(__file__).parent / "sklearn_pmi.py"
        figures, out = timed([sys.executable, script, self.counts, *case.args],
                             self.out / f"{case.name}.log")
        return figures | json.loads(out)

    def add_rates(self, figures, case):
        """Words per second, and arithmetic per second beside what the core can do."""
        summary, facts = figures["summary"], figures["facts"]
        seconds = summary["training_seconds"]
        figures["words_per_second"] = int(facts["words_seen"]) / seconds
        # A window stands around each word that subsampling left.
        figures["kept_words_per_second"] = int(facts["windows"]) / seconds
        if "skipgram" in case.args:
            # For each pair of centre and context, the true word and the negatives take a dot
            # product and two updates: 3 multiply-adds = 6 operations a dimension.
            targets = 1 + int(value_after(case.args, "--negatives"))
            flops = 6 * case.dim * int(facts["pairs"]) * targets
            # Per second of CPU that training took, so of one core, whoever else uses the machine.
            cpu = summary["cpu_seconds"] * seconds / summary["seconds"]
            figures["gflops"] = flops / summary.get("training_cpu_seconds", cpu) / 1e9
            figures["peak_share"] = figures["gflops"] / self.peak["gflops"]

    def score(self, model):
        """Scores by the protocol of the expected figures."""
        scores = {}
        files = [self.words / "questions-words.txt"] + [self.words / f"EN-{n}.txt" for n in SCORED]
        for path in files:
            if not path.exists():
                continue
            answer = told([self.kith, "eval", model, path, "--restrict", "30000", "--json"])
            if "accuracy" in answer:
                scores["analogies"] = 100 * answer["accuracy"]
            else:
                scores[path.stem.removeprefix("EN-")] = answer["spearman"]
        if self.args.gensim:
            scores["gensim"] = self.score_by_gensim(model)
        return scores

    def score_by_gensim(self, model):
        """The same scores from another program, to keep ours honest."""
        vectors = self.out / "gensim.bin"
        subprocess.run([self.kith, "export", model, "--to", "word2vec-bin", "-o", vectors],
                       check=True)
        scores = told([sys.executable, pathlib.Path(__file__).parent / "score_gensim.py", vectors,
                       self.words])
        vectors.unlink()
        return scores

    # --- the report ---

    def figure(self, case, expect: Expect):
        """The figure that is judged, or None if something for it was not measured."""
        ours = self.results.get(case.name, {}).get(expect.figure)
        if expect.to is None or ours is None:
            return ours
        theirs = self.results.get(expect.to, {}).get(expect.figure)
        if theirs is None:
            return None
        return theirs / ours if expect.inverse else ours / theirs

    def judge(self, case):
        for expect in case.expects:
            value = self.figure(case, expect)
            low, high = expect.at_least, expect.at_most
            met = None
            if value is not None:
                met = (low is None or value >= low) and (high is None or value <= high)
            yield {"case": case.name, "what": expect.label, "value": value, "met": met,
                   "bound": f">= {low:g}" if low is not None else f"<= {high:g}"}

    def report(self, cases):
        judged = [j for case in cases for j in self.judge(case)]
        lines = [f"# Benchmark of {datetime.date.today()}", "",
                 f"{cpu_name()}, {os.cpu_count()} cores; one core does at most "
                 f"{self.peak['gflops']:.0f} GFLOP/s ({self.peak['target']}). Corpus: "
                 f"{self.corpus.name}, {self.corpus.stat().st_size / 1e6:.0f} MB. "
                 f"Runs per case: {self.args.repeat}.", ""]
        if self.reused:
            lines += [f"Times of fasttext are **reused** from {self.args.reuse_peer}, not measured "
                      "beside the others: ratios hold only if the machine was as fast then.", ""]
        lines += self.run_table(cases) + [""] + expectation_table(judged)
        text = "\n".join(lines) + "\n"
        (self.out / "results.md").write_text(text)
        (self.out / "results.json").write_text(json.dumps(
            {"date": str(datetime.date.today()), "cpu": cpu_name(), "peak": self.peak,
             "repeat": self.args.repeat, "reused_peer": str(self.args.reuse_peer or ""),
             "results": self.results, "expectations": judged}, indent=1) + "\n")
        print("\n" + text)
        print(f"bench: written to {self.out / 'results.md'} and {self.out / 'results.json'}")

    def run_table(self, cases):
        head = ["case", "CPU s", "wall s", "peak MB", "M words/s", "after subsampling",
                "GFLOP/s per core", "of peak", "analogies", *SCORED]
        rows = []
        for case in cases:
            r = self.results.get(case.name)
            if r is None:
                continue
            name = case.what + (" (reused)" if r.get("reused") else "")
            rows.append([name, show(r.get("cpu"), 1), show(r.get("wall"), 1),
                         show(r.get("peak_mb"), 0), show(r.get("words_per_second"), 2, 1e-6),
                         show(r.get("kept_words_per_second"), 2, 1e-6), show(r.get("gflops"), 1),
                         show(r.get("peak_share"), 0, 100, " %"), show(r.get("analogies"), 1),
                         *(show(r.get(n), 3) for n in SCORED)])
        return table(head, rows)


def expectation_table(judged):
    words = {True: "met", False: "**not met**", None: "not measured"}
    return table(["case", "expectation", "bound", "measured", ""],
                 [[j["case"], j["what"], j["bound"], show(j["value"], 3), words[j["met"]]]
                  for j in judged])


def table(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return out + ["| " + " | ".join(row) + " |" for row in rows]


def show(value, digits, scale=1, unit=""):
    return "" if value is None else f"{value * scale:.{digits}f}{unit}"


def value_after(args, flag):
    return args[args.index(flag) + 1]


def cpu_name():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    found = re.search(r"model name\s*: (.*)", text)
    return found.group(1) if found else os.uname().machine


def chosen(args):
    cases = [c for c in CASES if not args.only or any(o in c.name for o in args.only)]
    if args.only:  # and what they are compared with
        wanted = {c.name for c in cases} | {e.to for c in cases for e in c.expects if e.to}
        cases = [c for c in CASES if c.name in wanted]
    if args.quick:
        cases = [c for c in cases if c.tool not in PEERS]
    if not cases:
        sys.exit(f"bench: no such case; there are {', '.join(c.name for c in CASES)}")
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path, required=True, help="see bench/README.md")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--quick", action="store_true", help="kith only; no ratios to fasttext")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="report the median run")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="cases whose name contains this, and those they are compared with")
    parser.add_argument("--gensim", action="store_true", help="score with gensim as well")
    parser.add_argument("--reuse-peer", type=pathlib.Path, metavar="results.json",
                        help="take fasttext's figures from an earlier run; the table says so")
    args = parser.parse_args()
    if args.repeat < 1:
        parser.error("--repeat must be at least 1")
    args.build, args.out = args.build.resolve(), args.out.resolve()
    cases = chosen(args)
    if not args.quick and not shutil.which("fasttext"):
        sys.exit("bench: fasttext is not installed; tools/setup.sh bench installs it")
    bench = Bench(args)
    for case in cases:
        print(f"bench: {case.name}: {case.what}", flush=True)
        bench.run_case(case)
        r = bench.results[case.name]
        print(f"bench:   {r['cpu']:.1f} CPU s, {r['wall']:.1f} s"
              + (" (reused)" if r.get("reused") else ""), flush=True)
    bench.report(cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
