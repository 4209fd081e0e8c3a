# SPDX-License-Identifier: Apache-2.0
"""How good neighbours of items are, measured at users that were not trained on.

A list of ten neighbours is good if those who chose the item chose its neighbours, too, and more often than others
did. Over the users held out, with p the share of them who chose an item:

  correlation  of two items over users, (p_ij - p_i p_j) / sqrt(p_i (1 - p_i) p_j (1 - p_j)): 0 for items that have
               nothing in common however popular they are
  both         p_ij / p_i: of those who chose the item, how many chose the neighbour; popular items win here
  lift         p_ij / (p_i p_j), as a ratio of sums: how many times as often as if they had nothing in common; rare
               items win here

Means over all neighbours of all items that at least `LEAST` of these users chose.
"""
import collections
import csv
import math
import random

TOP, LEAST = 10, 5


def interactions(path, above=None):
    """Pairs (user, item) of a file; with `above` those rated higher."""
    with open(path, encoding="utf-8") as lines:
        if path.suffix == ".csv":
            rows = csv.reader(lines)
            next(rows)
        else:
            rows = (line.rstrip("\n").split("::" if path.suffix == ".dat" else "\t") for line in lines)
        return sorted({(r[0], r[1]) for r in rows if above is None or float(r[2]) > above})


def split(pairs, seed):
    """Of four fifths of the users, and of the others."""
    users = sorted({u for u, _ in pairs})
    random.Random(seed).shuffle(users)
    held_out = set(users[:len(users) // 5])
    return [p for p in pairs if p[0] not in held_out], [p for p in pairs if p[0] in held_out]


def choosers(pairs):
    """Of each item who chose it."""
    out = collections.defaultdict(set)
    for user, item in pairs:
        out[item].add(user)
    return out


class Measure:
    def __init__(self, train, test):
        self.train, self.test = choosers(train), choosers(test)
        self.users = len({u for u, _ in test})
        self.baskets = collections.defaultdict(list)
        for user, item in train:
            self.baskets[user].append(item)
        self.items = sorted(i for i, who in self.test.items() if len(who) >= LEAST and i in self.train)

    def popular(self):
        best = sorted(self.train, key=lambda i: (-len(self.train[i]), i))[:TOP + 1]
        return {i: [j for j in best if j != i][:TOP] for i in self.items}

    def together(self):
        """By the cosine of who chose what in training: what needs no model."""
        out = {}
        for i in self.items:
            counts = collections.Counter()
            for user in self.train[i]:
                counts.update(self.baskets[user])
            del counts[i]
            out[i] = sorted(counts, key=lambda j: (-counts[j] / math.sqrt(len(self.train[j])), j))[:TOP]
        return out

    def __call__(self, lists):
        correlation = both = expected = 0
        count = sum(len(neighbours) for neighbours in lists.values())
        for i, neighbours in lists.items():
            p = len(self.test[i]) / self.users
            for j in neighbours:
                who = self.test.get(j, set())
                q, joint = len(who) / self.users, len(who & self.test[i]) / self.users
                both += joint / p
                expected += q
                if 0 < q < 1:
                    correlation += (joint - p * q) / math.sqrt(p * (1 - p) * q * (1 - q))
        return correlation / count, both / count, both / expected
