# SPDX-License-Identifier: Apache-2.0
"""What the campaigns share: the program with faults.c preloaded, and the data it learns from."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import films  # noqa: E402
import kith  # noqa: E402
import stars  # noqa: E402


def build(folder):
    """Compiles faults.c into the folder and returns the library."""
    library = folder / "faults.so"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library,
                    HERE / "faults.c"], check=True)
    return library


class Shim:
    """Runs the program in a folder, with settings for faults.c: call="alloc", nth=3, do="kill"."""

    def __init__(self, library):
        self.library = pathlib.Path(library).resolve()

    def environment(self, **settings):
        return {"LD_PRELOAD": str(self.library),
                **{f"FAULTS_{name.upper()}": str(value) for name, value in settings.items()}}

    def run(self, args, folder, timeout=20, **settings):
        """How it ended; None if it did not."""
        try:
            return kith.run(*args, cwd=folder, timeout=timeout, env=self.environment(**settings))
        except AssertionError:
            return None

    def count(self, args, folder, timeout=20, **settings):
        """How it ended, and how many calls of each kind it made."""
        counts = folder.parent / f"{folder.name}.counts"
        result = self.run(args, folder, timeout, counts=counts, **settings)
        text = counts.read_text() if counts.exists() else ""
        return result, {name: int(n) for name, n in (line.split() for line in text.splitlines())}


def write_data(folder):
    """Text, a table and ratings: small, and with something to learn in them."""
    folder.mkdir()
    rows = stars.ratings(10)
    (folder / "text.txt").write_text(kith.two_topics(300))
    (folder / "labelled.txt").write_text(kith.labelled_topics(300))
    (folder / "table.csv").write_text(films.as_csv(films.films(300)))
    (folder / "stars.csv").write_text(stars.as_text(rows))
    (folder / "binary.csv").write_text(
        stars.as_text([(u, i, int(r > 3), t) for u, i, r, t in rows]))
    (folder / "numbers.csv").write_text("a,b,c,d,e,f\n" + "".join(
        f"{r % 7},{r % 11 * 2},{r % 5 + r % 7},{(r * r) % 13},{r % 3 - 0.5},{r % 17}\n"
        for r in range(300)))
    (folder / "chosen.csv").write_text(
        stars.as_text([(u, i) for u, i, r, _ in rows if r > 3], header="user,item\n"))
