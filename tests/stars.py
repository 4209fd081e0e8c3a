# SPDX-License-Identifier: Apache-2.0
"""Ratings with a known truth, for the end-to-end tests: users' tastes times items' genres.

An item belongs to one of four genres, the first part of its name; what a user thinks of it is the
user's taste for the genre and how good the item is, and nothing else but a little noise.
"""
import random

GENRES = ["west", "love", "fear", "joke"]
ITEMS = [f"{g}{k}" for g in GENRES for k in range(20)]
USERS = [f"u{i}" for i in range(240)]
# Small and quick: everything a test of files and flags needs.
QUICK = ["--dim", 6, "--epochs", 8, "--threads", 1, "--penalty", 0.05, "--quiet"]


def tastes(seed=1):
    rng = random.Random(seed)
    return {u: {g: rng.choice((-1.2, 0, 1.2)) for g in GENRES} for u in USERS}


def quality(seed=2):
    rng = random.Random(seed)
    return {i: rng.gauss(0, 0.4) for i in ITEMS}


TASTE, QUALITY = tastes(), quality()


def genre(item):
    return item.rstrip("0123456789")


def truth(user, item):
    """What the user thinks of the item, before noise."""
    return 3 + QUALITY[item] + TASTE[user][genre(item)]


def ratings(per_user=30, seed=3, noise=0.1):
    """(user, item, rating, time), times rising, in random order of users."""
    rng = random.Random(seed)
    pairs = [(u, i) for u in USERS for i in rng.sample(ITEMS, per_user)]
    rng.shuffle(pairs)
    return [(u, i, round(truth(u, i) + rng.gauss(0, noise), 2), 1000 + t)
            for t, (u, i) in enumerate(pairs)]


def as_text(rows, between=",", header="userId,movieId,rating,timestamp\n"):
    return header + "".join(between.join(map(str, row)) + "\n" for row in rows)


def train(test, name="stars.kith", rows=None, *flags):
    """Trains on these ratings in the test's folder and returns the path of the model."""
    file = test.write(name + ".csv", as_text(ratings() if rows is None else rows))
    model = test.path(name)
    test.ok("train", "als", file, "-o", model, *QUICK, *flags)
    return model
