#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages model, checkpoint and vector files in many ways and has them read.

usage: mutate.py --read-many PROGRAM [--keep FOLDER] [--seed N] [--exhaustive] [COUNT]

Each must be read or refused cleanly: no crash, no hang, no memory out of proportion. A file that
does worse is kept in FOLDER. --exhaustive cuts the model file at every length and flips each of
its bits: every one of these must be refused, or read as what was written.
"""
import argparse
import gzip
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

BATCH = 2000
NUMBERS = [0, 1, 2, 3, 7, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**40,
           2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30]
TEXTS = [b"-1", b"-0", b"1e9", b"1e400", b"nan", b"inf", b"null", b"true", b"[]", b"{}", b'""',
         b"x", b"\xff\xfe", b"\x00", b" ", b"\n", b"\t", b",", b'"', b"99999999999999999999999"]


def flip_bits(rng, data, _):
    for _ in range(rng.choice([1, 1, 1, 2, 8, 64])):
        at = rng.randrange(len(data))
        data[at] ^= 1 << rng.randrange(8)
    return data


def truncate(rng, data, _):
    return data[:rng.randrange(len(data))]


def splice(rng, data, other):
    """The beginning of one file and the end of another."""
    return data[:rng.randrange(len(data))] + other[rng.randrange(len(other)):]


def insert(rng, data, _):
    at = rng.randrange(len(data))
    what = rng.choice([bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9))),
                       rng.choice(TEXTS), b"\x00" * rng.randrange(1, 5000),
                       bytes([rng.randrange(256)]) * rng.randrange(1, 200)])
    return data[:at] + what + data[at:]


def remove(rng, data, _):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice([1, 1, 2, 8, 64, 500]):]


def repeat(rng, data, _):
    at = rng.randrange(len(data))
    piece = data[at:at + rng.randrange(1, 300)]
    return data[:at] + piece * rng.randrange(2, 20) + data[at:]


def change_number(rng, data, _):
    """A number in the readable part of the file becomes another one."""
    found = list(re.finditer(rb"\d+", data[:4096])) or [re.match(b"", data)]
    where = rng.choice(found)
    new = rng.choice([str(rng.choice(NUMBERS)).encode(), rng.choice(TEXTS)])
    return data[:where.start()] + new + data[where.end():]


def change_word(rng, data, _):
    """Four or eight bytes, anywhere or at the front, become an awkward binary number."""
    size = rng.choice([4, 8])
    at = rng.choice([0, rng.randrange(len(data))])
    new = (rng.choice(NUMBERS) & (2**(8 * size) - 1)).to_bytes(size, rng.choice(["little", "big"]))
    return data[:at] + new + data[at + size:]


def change_token(rng, data, _):
    """A key, type or value in quotes becomes another one from the same file."""
    found = list(re.finditer(rb'"[^"]*"', data[:4096]))
    if len(found) < 2:
        return insert(rng, data, _)
    a, b = rng.sample(found, 2)
    return data[:a.start()] + b.group() + data[a.end():]


MUTATIONS = [flip_bits, flip_bits, truncate, splice, insert, remove, repeat, change_number,
             change_number, change_word, change_token]


def mutate(rng, seeds):
    """Name and bytes of one damaged file."""
    name = rng.choice(list(seeds))
    data = bytearray(seeds[name])
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        other = bytearray(seeds[rng.choice(list(seeds))])
        data = rng.choice(MUTATIONS)(rng, data, other) or bytearray(b"x")
    # Half of the damaged model files get a true checksum, or nothing behind it would be tested.
    sealed = name.endswith((".kith", ".checkpoint")) and rng.random() < 0.5
    return name + (".sealed" if sealed else ""), bytes(data)


class Campaign:
    def __init__(self, program, keep):
        self.program, self.keep = program, keep
        self.read = self.refused = self.bad = 0

    def report(self, path, why):
        self.bad += 1
        self.keep.mkdir(parents=True, exist_ok=True)
        kept = self.keep / path.name
        if path.exists():
            shutil.copy(path, kept)
        if self.bad <= 20:
            print(f"mutate: {kept}: {why}", flush=True)

    def run(self, paths, expected=None):
        """Has the files read; those after one that kills the reader, by a new reader."""
        paths = list(paths)
        while paths:
            done = subprocess.run([self.program], input="".join(f"{p}\n" for p in paths), text=True,
                                  errors="replace", capture_output=True, check=False)
            lines = [l for l in done.stdout.split("\n") if l]
            for path, line in zip(paths, lines):
                self.judge(path, line, expected)
            if done.returncode in (0, 1) and " files: " in lines[-1]:
                return
            dead = len(lines) - 1
            why = {-14: "hung", -27: "took more than two seconds"}.get(
                done.returncode, f"killed the reader (status {done.returncode})")
            self.report(paths[dead], f"{why}\n{done.stderr[-3000:]}")
            paths = paths[dead + 1:]

    def judge(self, path, line, expected):
        outcome = line[len(str(path)):]
        if "WRONG" in outcome:
            self.report(path, outcome)
        read = re.findall(r"read=(\w+)", outcome)
        self.read += bool(read)
        self.refused += not read and "refused" in outcome
        if expected and any(digest != expected for digest in read):
            self.report(path, "damaged, and read as something else")


def make_seeds(program, folder):
    subprocess.run([program, "--make", folder], check=True)
    seeds = {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.suffix != ".words"}
    seeds["fasttext.bin.gz"] = gzip.compress(seeds["fasttext.bin"], mtime=0)
    seeds["vectors.txt.gz"] = gzip.compress(seeds["vectors.txt"], mtime=0)
    if shutil.which("zstd"):
        seeds["vectors.bin.zst"] = subprocess.run(["zstd", "-qc"], input=seeds["vectors.bin"],
                                                  capture_output=True, check=True).stdout
    return seeds


def exhaustive(campaign, seeds, folder):
    """Every truncation and every flipped bit of the model file."""
    whole = seeds["word2vec.kith"]
    original = folder / "whole.kith"
    original.write_bytes(whole)
    told = subprocess.run([campaign.program], input=f"{original}\n", text=True, check=True,
                          capture_output=True).stdout
    expected = re.search(r"read=(\w+)", told).group(1)
    variants = [("cut", i) for i in range(len(whole))] + [("bit", i) for i in range(8 * len(whole))]
    for start in range(0, len(variants), BATCH):
        paths = []
        for what, i in variants[start:start + BATCH]:
            data = bytearray(whole[:i] if what == "cut" else whole)
            if what == "bit":
                data[i // 8] ^= 1 << i % 8
            paths.append(folder / f"{what}-{i}.kith")
            paths[-1].write_bytes(data)
        campaign.run(paths, expected)
        for path in paths:
            path.unlink()
    return len(variants)


def at_random(campaign, seeds, folder, count, seed):
    rng = random.Random(seed)
    for start in range(0, count, BATCH):
        paths = []
        for i in range(start, min(count, start + BATCH)):
            name, data = mutate(rng, seeds)
            paths.append(folder / f"{i}-{name}")
            paths[-1].write_bytes(data)
        campaign.run(paths)
        for path in paths:
            path.unlink()
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=2000)
    parser.add_argument("--read-many", required=True)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("mutate-found"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exhaustive", action="store_true")
    args = parser.parse_args()
    campaign = Campaign(args.read_many, args.keep)
    with tempfile.TemporaryDirectory(prefix="kith-mutate-") as name:
        folder = pathlib.Path(name)
        (folder / "seeds").mkdir()
        seeds = make_seeds(args.read_many, folder / "seeds")
        if args.exhaustive:
            count = exhaustive(campaign, seeds, folder)
        else:
            count = at_random(campaign, seeds, folder, args.count, args.seed)
    print(f"mutate: {count} damaged files of {len(seeds)} kinds: {campaign.refused} clean errors, "
          f"{campaign.read} read, {campaign.bad} bad")
    if campaign.read + campaign.refused + campaign.bad < count:
        print("mutate: some files were not accounted for")
        return 1
    return 1 if campaign.bad else 0


if __name__ == "__main__":
    sys.exit(main())
