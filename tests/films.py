# SPDX-License-Identifier: Apache-2.0
"""A table with a known truth, for the end-to-end tests: films of four topics that share nothing.

The topic of a film is a digit in every name that stands in its row, and its years are its own.
"""
import csv
import io
import random
import re

TOPICS = 4
COLUMNS = ["film_id", "title", "year", "genres", "cast", "director", "country"]
DIRECTORS = [[f"Director {t}{k}" for k in range(6)] for t in range(TOPICS)]
ACTORS = [[f"Actor {t}{k:02}" for k in range(12)] for t in range(TOPICS)]
GENRES = [[f"Genre{t}{k}" for k in range(3)] for t in range(TOPICS)]
WORDS = [[f"word{t}x{k}" for k in range(30)] for t in range(TOPICS)]
# As the types should be inferred: names differ in every row, one country is all there is.
TYPES = {"film_id": "ignore", "title": "text", "year": "number", "genres": "set", "cast": "set",
         "director": "category", "country": "ignore"}
# Small and quick: everything a test of files and flags needs.
QUICK = ["--dim", 8, "--epochs", 3, "--threads", 1, "--quiet"]


def films(rows=1500, seed=1):
    """The table as a list of dictionaries, all cells text."""
    rng = random.Random(seed)
    out = []
    for i in range(rows):
        t = rng.randrange(TOPICS)
        out.append({
            "film_id": f"tt{i:05}",
            "title": " ".join(rng.choices(WORDS[t], k=3)),
            "year": str(1950 + 15 * t + rng.randrange(10)),
            "genres": "|".join(rng.sample(GENRES[t], k=rng.choice((1, 2, 2)))),
            "cast": "|".join(rng.sample(ACTORS[t], k=3)),
            "director": rng.choice(DIRECTORS[t]),
            "country": "Utopia",
        })
    return out


def topic(row):
    return (int(row["year"]) - 1950) // 15


def topic_of(name):
    """Of a value such as "Director 31" or "word0x7": its first digit."""
    return int(re.search(r"\d", name)[0])


def as_csv(rows, delimiter=","):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def train(test, name="films.kith", rows=None, *flags):
    """Trains on these rows in the test's folder and returns the path of the model."""
    file = test.write(name + ".csv", as_csv(films() if rows is None else rows))
    model = test.path(name)
    test.ok("train", "feat2vec", file, "-o", model, "--threads", 1, "--dim", 32, "--quiet", *flags)
    return model
