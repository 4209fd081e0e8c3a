# SPDX-License-Identifier: Apache-2.0
"""What is measured, and what is expected of it. A case without an expectation is not a case.

Expectations are of the same run that was timed: its CPU time against a peer's in this very run of
the benchmark, its own scores, its own memory.
"""
from dataclasses import dataclass, field

# The same settings for everybody. fasttext needs ten threads or more, whatever the machine: it
# initialises a tenth of its table per thread, and leaves the rest at zero.
SAME = {"window": 5, "negatives": 5, "sample": "1e-4", "min-count": 5, "epochs": 5}


def fasttext(command, dim, shortest=0, longest=0):
    return [command, "-dim", str(dim), "-ws", str(SAME["window"]), "-neg", str(SAME["negatives"]),
            "-t", SAME["sample"], "-minCount", str(SAME["min-count"]),
            "-epoch", str(SAME["epochs"]), "-minn", str(shortest), "-maxn", str(longest),
            "-loss", "ns",
            "-lr", "0.05", "-thread", "10"]


def kith(objective, dim, threads, *more):
    flags = [x for name, value in SAME.items() for x in (f"--{name}", str(value))]
    return ["--objective", objective, "--dim", str(dim), "--threads", str(threads), *flags, *more]


PEERS = ("fasttext", "sklearn")


@dataclass
class Expect:
    """`figure` of the run (divided by that of the case `to`, upside down if `inverse`) against a
    bound."""
    label: str
    figure: str
    at_least: float | None = None
    at_most: float | None = None
    to: str | None = None  # another case, measured in the same run
    inverse: bool = False  # the other's figure divided by ours: how many times less we take


@dataclass
class Case:
    name: str
    what: str
    tool: str  # "fasttext", "sklearn", "kith", "count" or "read"
    args: list[str] = field(default_factory=list)
    dim: int = 0
    expects: list[Expect] = field(default_factory=list)
    model: str = "word2vec"


def times_less_cpu(than, bound):
    return Expect(f"CPU: times less than {than}", "cpu", at_least=bound, to=than, inverse=True)


# The quality that any seed must reach at dim 100 with five epochs.
QUALITY = [Expect("analogies within 30,000 words", "analogies", at_least=39),
           Expect("WS353", "WS-353-ALL", at_least=0.67),
           Expect("MEN", "MEN-TR-3k", at_least=0.64),
           Expect("SimLex", "SIMLEX-999", at_least=0.30)]
MEMORY = Expect("peak memory, MB", "peak_mb", at_most=250)

CASES = [
    Case("reading", "reading and counting plain text, one thread", "read",
         expects=[Expect("MB/s per core", "mb_per_cpu_second", at_least=80)]),
    Case("fasttext-skipgram-100", "fasttext skipgram, dim 100", "fasttext",
         fasttext("skipgram", 100), 100),
    Case("skipgram-100", "kith skip-gram, dim 100, one thread", "kith",
         kith("skipgram", 100, 1), 100,
         [times_less_cpu("fasttext-skipgram-100", 20), *QUALITY, MEMORY]),
    Case("skipgram-100-two", "the same, two threads", "kith", kith("skipgram", 100, 2), 100,
         [Expect("wall time: times faster than one thread", "wall", at_least=1.8, to="skipgram-100",
                 inverse=True), *QUALITY, MEMORY]),
    Case("skipgram-100-deterministic", "the same, the same bits for any number of threads", "kith",
         kith("skipgram", 100, 2, "--deterministic"), 100,
         [Expect("CPU: times that of the default mode", "cpu", at_most=3, to="skipgram-100-two"),
          Expect("analogies: share of the default mode's", "analogies", at_least=0.97,
                 to="skipgram-100-two"), *QUALITY]),
    Case("fasttext-skipgram-300", "fasttext skipgram, dim 300", "fasttext",
         fasttext("skipgram", 300), 300),
    Case("skipgram-300", "kith skip-gram, dim 300, one thread", "kith",
         kith("skipgram", 300, 1), 300,
         [times_less_cpu("fasttext-skipgram-300", 12)]),
    Case("fasttext-parts-100", "fasttext skipgram with n-grams 3 to 6, dim 100", "fasttext",
         fasttext("skipgram", 100, 3, 6), 100),
    Case("parts-100", "kith fasttext, the same, one thread", "kith",
         ["--dim", "100", "--threads", "1"], 100,
         [times_less_cpu("fasttext-parts-100", 8),
          Expect("analogies within 30,000 words", "analogies", at_least=57),
          Expect("MEN", "MEN-TR-3k", at_least=0.66),
          Expect("RW", "RW-STANFORD", at_least=0.47)], "fasttext"),
    Case("count", "kith count, window 10, one thread", "count", ["--window", "10", "--threads", "1"],
         expects=[Expect("M words per CPU second, reading and writing included", "m_words_per_cpu",
                         at_least=2.5)]),
    Case("glove-100", "kith glove, dim 100, 15 epochs, counting included, one thread", "kith",
         ["--dim", "100", "--threads", "1"], 100,
         [Expect("CPU s", "cpu", at_most=1470 / 8),  # of the reference program, on such a machine
          Expect("M cells per second", "m_cells", at_least=6),
          Expect("analogies within 30,000 words", "analogies", at_least=31),
          Expect("WS353", "WS-353-ALL", at_least=0.468),
          Expect("SimLex", "SIMLEX-999", at_least=0.211),
          Expect("MEN", "MEN-TR-3k", at_least=0.473),
          Expect("RW", "RW-STANFORD", at_least=0.308)], "glove"),
    Case("pmi-100", "kith pmi, dim 100, counting included, one thread", "kith",
         ["--dim", "100", "--threads", "1"], 100,
         [Expect("WS353", "WS-353-ALL", at_least=0.66),
          Expect("MEN", "MEN-TR-3k", at_least=0.66)], "pmi"),
    Case("sklearn-pmi-300", "scikit-learn randomized_svd of the same matrix, dim 300", "sklearn",
         ["300"], 300),
    Case("pmi-300", "kith pmi, dim 300, counting included, one thread", "kith",
         ["--dim", "300", "--threads", "1"], 300,
         [times_less_cpu("sklearn-pmi-300", 2), Expect("peak memory, MB", "peak_mb", at_most=2000),
          Expect("analogies within 30,000 words", "analogies", at_least=42)], "pmi"),
    Case("fasttext-cbow-100", "fasttext cbow, dim 100", "fasttext", fasttext("cbow", 100), 100),
    Case("cbow-100", "kith CBOW, dim 100, one thread", "kith", kith("cbow", 100, 1), 100,
         [times_less_cpu("fasttext-cbow-100", 8)]),
]
for case in CASES:
    if case.tool not in PEERS and not case.expects:
        raise ValueError(f"bench case {case.name} expects nothing")
