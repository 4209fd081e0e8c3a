# SPDX-License-Identifier: Apache-2.0
"""Markdown whose commands run: the script of a page, and whether it prints what the page shows.

Fenced blocks with these info strings are meant (see CONTRIBUTING.md):
  sh run            executed by run_page.py; all of a file in order, in one shell, in a fresh folder
  sh data           the same, but by bench/recipes.py: it needs data that the project does not have
  text output       what the block right before it prints, in form: numbers may differ, and so may
                    the names in lists of answers. A line "..." stands for any lines, and one that
                    ends with "..." is only the beginning of a line.
  text file=a.txt   written to a.txt before the next block that runs (any language: toml, text, ...)
"""
import re

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```\s*$", re.M | re.S)


def script_of(text, outputs=None, kind="run"):
    """The shell script of a document, and how many blocks it runs: those that say `sh` and `kind`.

    Block N, from 1, prints to the file N in the folder `outputs`, if that is given.
    """
    script, blocks = ["set -euo pipefail"], 0
    for m in FENCE.finditer(text):
        line = text[:m.start()].count("\n") + 1
        info = m["info"].split()
        if info[:2] == ["sh", kind]:
            blocks += 1
            script.append(f"echo '== the block at line {line}' >&2")
            # Braces and no subshell: what a block sets, the next ones know.
            script.append(f"{{\n{m['body']}\n}} >'{outputs}/{blocks}' 2>&1" if outputs
                          else m["body"])
        for word in info:
            if word.startswith("file="):
                script.append(f"cat >'{word[5:]}' <<'END_OF_BLOCK'\n{m['body']}END_OF_BLOCK")
    return "\n".join(script), blocks


def shown_outputs(text, kind="run"):
    """(line in the document, number of the block, what is shown) for each block `text output`."""
    blocks, end = 0, None
    for m in FENCE.finditer(text):
        info = m["info"].split()
        if info[:2] == ["sh", kind]:
            blocks, end = blocks + 1, m.end()
        elif info[:2] == ["text", "output"]:
            directly = end is not None and not text[end:m.start()].strip()
            yield text[:m.start()].count("\n") + 1, blocks if directly else None, m["body"]
            end = m.end()


# With its unit of size or speed; also a checksum.
NUMBER = re.compile(r"\b[0-9a-f]{16}\b|"
                    r"-?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?([kMGT]?B|bytes)\b| [kMGT]\b)?")
# What was learned, so that another processor may round it to another answer.
LEARNED = ((r'"id":"[^"]*"', '"id":"NAME"'), (r"^\s*\S+ is near .*", "NAME is near NAMES"),
           (r"\S+ x \S+ (-?\d)", r"PAIR \1"))


def form_of(line):
    """A line without what may differ from run to run and from machine to machine."""
    for pattern, name in LEARNED:
        line = re.sub(pattern, name, line)
    line = re.sub(r"[█▒░·]+", "#", line)
    line = NUMBER.sub("#", line)
    line = re.sub(r"# (s|min|h) left", "# left", line)
    return " ".join(line.split())


def answer_form(form):
    """A line of a list of answers, a name and its numbers, without the name; else nothing."""
    m = re.fullmatch(r"\S+(?: \S+){0,2}((?: #)+(?: %)?)", form)
    return m[1] if m else None


def not_printed(shown, printed):
    """The lines of a block `text output` that are not, in form, among what was printed."""
    # What a terminal would have drawn over is not there.
    forms = {form_of(line.rstrip("\r").split("\r")[-1]) for line in printed.split("\n")}
    answers = {answer_form(form) for form in forms} - {None}
    wrong = []
    for line in shown.splitlines():
        form = form_of(line)
        if line.strip() == "..." or form in forms or answer_form(form) in answers:
            continue
        cut = form.endswith("...") and any(f.startswith(form[:-3].rstrip()) for f in forms)
        if not cut:
            wrong.append(line)
    return wrong
