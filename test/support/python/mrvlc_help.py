"""Commands and options of mrvlc, as its --help shows them."""
import re
import subprocess


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def commands(mrvlc, path=()):
    """Every command as a tuple of words, with its options, each in its long form where it has one."""
    text = output(mrvlc, *path, "--help")
    yield path, set(re.findall(r"^ +(?:-\w,)?(--?[\w-]+)", text, re.MULTILINE))
    below = text.split("\nSubcommands:\n")
    if len(below) > 1:
        for name in re.findall(r"^  (\w+) ", below[1].split("\n\n")[0], re.MULTILINE):
            yield from commands(mrvlc, (*path, name))
