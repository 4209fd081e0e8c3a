#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/recipes.md, which need data that the project does not have.

All blocks `sh data` of the page run in order, in one shell, in a fresh folder, with `kith` in PATH and the data's
folder in $DATA. For each block it is printed whether the lines that the page shows stand in the output, numbers aside
(tests/pages.py). A command that fails is the end; lines that do not stand there are counted.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import pages  # noqa: E402


def run(script, folder, options):
    environment = dict(os.environ, PATH=f"{options.build.resolve()}:{os.environ['PATH']}",
                       DATA=str(options.data.resolve()), LC_ALL="C.UTF-8")
    start = time.monotonic()
    code = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, check=False,
                          stdin=subprocess.DEVNULL).returncode
    return code, time.monotonic() - start


def printed_by(block, outputs, data):
    """What a block printed, with $DATA for the folder of the data; nothing if it did not run."""
    path = outputs / str(block)
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return text.replace(str(data.resolve()), "$DATA")


def check(text, outputs, data):
    """Prints for each block that shows its output how much of it is there; how many are not whole."""
    wrong = 0
    for line, block, shown in pages.shown_outputs(text, "data"):
        if block is None:
            missing = ["no block `sh data` stands right before this"]
        else:
            missing = pages.not_printed(shown, printed_by(block, outputs, data))
        wrong += bool(missing)
        print(f"line {line}: {'not as shown' if missing else 'as shown'}")
        for one in missing:
            print(f"  not printed: {one}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"),
                        help="the folder of the program")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/recipes.md")
    options = parser.parse_args()

    folder, outputs = options.out / "recipes", options.out / "recipes.out"
    for path in (folder, outputs):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
    text = options.page.read_text(encoding="utf-8")
    script, blocks = pages.script_of(text, outputs.resolve(), "data")
    code, seconds = run(script, folder, options)
    ran = len(list(outputs.iterdir()))
    if code:
        print(printed_by(ran, outputs, options.data)[-2000:], file=sys.stderr)
        sys.exit(f"bench: block {ran} of {blocks} failed, exit code {code}; what was printed is in {outputs}")
    wrong = check(text, outputs, options.data)
    print(f"{blocks} blocks in {seconds:.0f} s, {wrong} not as shown; what was printed is in {outputs}")
    return 1 if wrong or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
