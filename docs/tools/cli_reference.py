"""The reference part of docs/cli.md, from the help texts of the program."""

import re
import subprocess

from markdown_page import table


def help_of(limber, *words):
    done = subprocess.run([str(limber), *words, "--help"], capture_output=True, text=True)
    if done.returncode != 0: raise RuntimeError(f"limber {' '.join(words)} --help: exit code {done.returncode}")
    return done.stdout.rstrip()


def commands(text):
    """(name, summary) of every subcommand that `limber --help` lists."""
    return re.findall(r"^  ([a-z]+)\s{2,}(\S.*)$", text, re.MULTILINE)


def reference(limber):
    listed = commands(help_of(limber))
    if not listed: raise RuntimeError("limber --help lists no subcommand")
    overview = table(["command", "what it does"], [[f"[`{name}`](#limber-{name})", summary] for name, summary in listed])
    sections = [f"### `limber {name}`\n\n```text\n{help_of(limber, name)}\n```" for name, _ in listed]
    return "\n\n".join([overview, *sections])
