"""The blocks of the sections "Step by step" in CONTRIBUTING.md: blocks.py CONTRIBUTING.md --files | --apply | --commands GROUP

A block's first line says what it is: ```cpp file=PATH is a new file; ```text in=PATH after=LINE stands behind that line, and
before=LINE in front of it, LINE being the rest of the line; ```sh GROUP holds commands. Works on the tree in the current folder.
"""
import os
import re
import sys

BLOCK = re.compile(r'^```(\w+) (?P<what>[^\n]+)\n(?P<text>.*?)^```$', re.M | re.S)


def fail(text):
    sys.exit(f'CONTRIBUTING.md: {text}')


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def blocks(document):
    sections = re.split(r'^##+ ', document, flags=re.M)
    found = [m for section in sections if section.startswith('Step by step') for m in BLOCK.finditer(section)]
    if not found:
        fail('no section "Step by step" has blocks')
    return [(m.group('what').strip(), m.group('text')) for m in found]


def target(what):
    """The path that a block changes, or None."""
    named = re.match(r'(?:file|in)=(\S+)', what)
    return named.group(1) if named else None


def apply(what, text):
    path = target(what)
    if what.startswith('file='):
        if os.path.exists(path):
            fail(f'{path} is there already')
        if not os.path.isdir(os.path.dirname(path)):
            fail(f'there is no folder for {path}')
        changed = text
    else:
        place = re.match(r'in=\S+ (after|before)=(.+)$', what)
        if place is None:
            fail(f'where is "{what}"?')
        line = place.group(2) + '\n'
        old = read(path)
        if ('\n' + old).count('\n' + line) != 1:
            fail(f'"{place.group(2)}" is no line of {path}, or stands there more than once')
        at = ('\n' + old).index('\n' + line)
        at += len(line) if place.group(1) == 'after' else 0
        changed = old[:at] + text + old[at:]
    with open(path, 'w', encoding='utf-8') as file:
        file.write(changed)


def main(document, action, group=None):
    every = blocks(read(document))
    paths = [(what, text) for what, text in every if target(what)]
    if action == '--files':
        print('\n'.join(sorted({target(what) for what, _ in paths if what.startswith('in=')})))
    elif action == '--apply':
        for what, text in paths:
            apply(what, text)
    else:
        commands = [text for what, text in every if what == group]
        if not commands:
            fail(f'there are no commands "{group}"')
        print(''.join(commands), end='')


if __name__ == '__main__':
    main(*sys.argv[1:])
