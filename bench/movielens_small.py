#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MovieLens' small file as two tables, out of Debian's package r-cran-dslabs, without R.

    apt-get download r-cran-dslabs && dpkg -x r-cran-dslabs_*.deb unpacked
    python3 bench/movielens_small.py unpacked/usr/lib/R/site-library/dslabs/data/Rdata DATA/ratings

writes movielens-small.csv (user, film, rating, time) and movielens-small-films.csv (film, title, year,
genres joined by a bar). R keeps the data of a package in Rdata.rdb, one packed object behind the other;
Rdata.rdx says where each begins. Read is what these need of R's serialisation (XDR, version 2 or 3: vectors,
lists, pairlists, symbols, factors as their names), and nothing else.
"""
import argparse
import csv
import gzip
import math
import pathlib
import struct
import zlib

SYMBOL, PAIRLIST, CHARS, LOGICAL, INTEGER, REAL, STRINGS, LIST = 1, 2, 9, 10, 13, 14, 16, 19
COMPACT, REFERENCE, NULL = 238, 255, 254
NOTHING_AT_ALL = (NULL, 253, 242, 251)  # nil, the global, empty and missing values
NO_INTEGER = -2**31


class Reader:
    def __init__(self, data):
        self.data, self.at, self.symbols = data, 2, []
        if data[:2] != b"X\n":
            raise SystemExit("this is not R's binary serialisation (XDR)")
        version, _, _ = self.numbers("i", 3)
        if version == 3:
            self.at += 4 + self.numbers("i", 1)[0]  # the name of an encoding

    def numbers(self, code, count):
        out = struct.unpack_from(f">{count}{code}", self.data, self.at)
        self.at += struct.calcsize(f">{count}{code}")
        return out

    def length(self):
        return self.numbers("i", 1)[0]

    def item(self):
        flags = self.length()
        kind, attributes, tag = flags & 255, flags >> 9 & 1, flags >> 10 & 1
        if kind in NOTHING_AT_ALL:
            return None
        if kind == REFERENCE:
            return self.symbols[(flags >> 8 or self.length()) - 1]
        if kind == SYMBOL:
            self.symbols.append(self.item())
            return self.symbols[-1]
        if kind == CHARS:
            size = self.length()
            self.at += max(size, 0)
            return None if size < 0 else self.data[self.at - size:self.at].decode("utf-8", "replace")
        if kind == PAIRLIST:
            return self.pairs(attributes, tag)
        if kind == COMPACT:  # a range of numbers, say: what it is, its state, its attributes
            what, state, _ = self.item(), self.item(), self.item()
            if "compact_intseq" not in what.values():
                raise SystemExit(f"an R object of a kind that is not read: {what}")
            return [int(state[1] + k * state[2]) for k in range(int(state[0]))]
        return self.vector(kind, attributes)

    def pairs(self, attributes, tag):
        """A pairlist as a dict; those without a tag by their number."""
        out = {}
        while True:
            if attributes:
                self.item()
            name = self.item() if tag else len(out)
            out[name] = self.item()
            flags = self.length()
            if flags & 255 != PAIRLIST:
                self.at -= 4
                self.item()
                return out
            attributes, tag = flags >> 9 & 1, flags >> 10 & 1

    def vector(self, kind, attributes):
        count = self.length()
        if kind in (INTEGER, LOGICAL):
            out = [None if n == NO_INTEGER else n for n in self.numbers("i", count)]
        elif kind == REAL:
            out = [None if math.isnan(x) else x for x in self.numbers("d", count)]
        elif kind in (STRINGS, LIST):
            out = [self.item() for _ in range(count)]
        else:
            raise SystemExit(f"an R object of type {kind}, which is not read")
        said = self.item() if attributes else {}
        if "levels" in said:
            return [None if n is None else said["levels"][n - 1] for n in out]
        return dict(zip(said["names"], out)) if kind == LIST and "names" in said else out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rdata", type=pathlib.Path, help="the name of the .rdb and .rdx files, without that")
    parser.add_argument("folder", type=pathlib.Path, help="where the tables go")
    options = parser.parse_args()
    index = Reader(gzip.decompress(options.rdata.with_suffix(".rdx").read_bytes())).item()
    begin, size = index["variables"]["movielens"]
    packed = options.rdata.with_suffix(".rdb").read_bytes()
    table = Reader(zlib.decompress(packed[begin + 4:begin + size])).item()  # behind its length
    ratings = list(zip(table["userId"], table["movieId"], table["rating"], table["timestamp"]))
    films = {film: more for film, *more in zip(table["movieId"], table["title"], table["year"], table["genres"])}
    for name, head, rows in (
            ("", ("user", "film", "rating", "time"), ratings),
            ("-films", ("film", "title", "year", "genres"), [(f, *more) for f, more in sorted(films.items())])):
        with open(options.folder / f"movielens-small{name}.csv", "w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
