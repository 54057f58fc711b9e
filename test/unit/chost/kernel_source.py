"""The instantiated sources of kernels, taken apart into pieces as lib/chost/kernel_pieces.cpp and lib/chost/library.cpp do."""
import pathlib
import re

HEAD = re.compile(r"^//@ piece ([a-z0-9_]+)(?::([^\n]*))?\n", re.M)
ASKED = re.compile(r"//@ (?:when|unless) ([a-z0-9_]+)")


class Kernels:
    def __init__(self, folder):
        self.text, self.deps, self.asks, self.file = {}, {}, {}, {}
        for path in sorted(pathlib.Path(folder).glob("*.c")):
            code = path.read_text()
            heads = list(HEAD.finditer(code))
            for head, following in zip(heads, [*heads[1:], None]):
                name = head[1]
                self.text[name] = code[head.end():following.start() if following else len(code)]
                self.deps[name] = (head[2] or "").split()
                self.asks[name] = list(dict.fromkeys(ASKED.findall(self.text[name])))
                self.file[name] = path.name

    def closure(self, names):
        """With what they need, in an order in which they may stand in one file."""
        order = []

        def add(name):
            if name not in order:
                for dep in self.deps[name]:
                    add(dep)
                order.append(name)

        for name in names:
            add(name)
        return order

    def depends(self, name, on):
        return any(dep == on or self.depends(dep, on) for dep in self.deps[name])

    def switches(self, name):
        """Pieces that it, or what it needs, asks about."""
        own = self.closure([name])
        return sorted({asked for piece in own for asked in self.asks[piece]} - set(own) - {"nobody"})

    def source(self, names):
        """The text of a program that uses these pieces."""
        used, written, out = set(self.closure(names)), set(), []

        def write(name):
            if name not in used or name in written:
                return
            written.add(name)
            for dep in self.deps[name]:
                write(dep)
            for asked in self.asks[name]:
                if not self.depends(asked, name):
                    write(asked)
            out.append(resolved(self.text[name], used))

        for name in self.closure(names):
            write(name)
        return "\n".join(out)


def sets_that_run(kernels, names, switches):
    """Sets of switches in which every line of the pieces is there: none, all, and all but one that some line is there without."""
    text = "".join(kernels.text[piece] for piece in kernels.closure([*names, *switches]))
    without = [s for s in switches if re.search(rf"//@ unless {s}$", text, re.M)]
    return list(dict.fromkeys([(), tuple(switches), *(tuple(s for s in switches if s != one) for one in without)]))


def resolved(text, used):
    kept, lines = [True], []
    for line in text.splitlines():
        word = line.strip()
        asked = re.fullmatch(r"//@ (when|unless) ([a-z0-9_]+)", word)
        if asked:
            kept.append(kept[-1] and (asked[2] in used) == (asked[1] == "when"))
        elif word == "//@ end":
            kept.pop()
        elif kept[-1]:
            lines.append(line)
    return "\n".join(lines) + "\n"
