"""Lines that only listed files may have."""


def check(root, folders, pattern, listed, what, script, home=()):
    """Prints lines of C++ below `folders` that `pattern` finds outside comments, but for files under `home` and those of `listed` (file: reason), and
    listed files without any. `what`: such a line in words. 0: there is nothing to print."""
    wrong, used = [], set()
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in (".cpp", ".h") or name.startswith(tuple(home)):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                if pattern.search(line.split("//")[0]):
                    used.add(name)
                    if name not in listed:
                        wrong.append(f"{name}:{number}: {what}: {line.strip()}")
    wrong += [f"{name} has no line where {what}: take it off the list of {script}" for name in listed if name not in used]
    print("\n".join(wrong) or f"{len(used)} files have lines where {what}, each with a reason")
    return 1 if wrong else 0
