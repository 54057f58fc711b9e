"""Mutation tests; see scripts/mutation.sh and CONTRIBUTING.md.

A list is a text file test/mutation/COMPONENT.txt. Each mutation:

    [sim-relu] lib/sim/arithmetic.cpp
    what: Relu lets negative values through
    tests: sim; accel_e2e "*activation*"
    - v > 0 || v != v ? v : 0.0f
    + v

The lines after "- " are found in the file exactly once (any white space matches any other), those after "+ " take their
place; no "+" line removes the text. `tests` are tests of ctest, each with an optional filter of Catch; lines that begin with
"#" say something about the list.
"""
import argparse
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMORY = 8 << 30  # bytes that a test may take
OUTPUT = 16 << 30  # length of a file that it may write; tests of large models make sparse ones
VERDICTS = ["found", "survived", "stale", "does not compile"]

SAMPLE = 0.25  # seconds between looks at a test's memory

Mutation = namedtuple("Mutation", "id component file what tests find replace")


class ListError(Exception):
    pass


def parse_tests(text, where):
    tests = []
    for part in filter(None, (p.strip() for p in text.split(";"))):
        words = shlex.split(part)
        if len(words) > 2:
            raise ListError(f"{where}: a test is a name and at most one filter: {part}")
        tests.append((words[0], words[1] if len(words) == 2 else ""))
    if not tests:
        raise ListError(f"{where}: no tests")
    return tests


def parse_list(path):
    """The mutations of one file, in order."""
    found, entry, where = [], None, ""

    def close():
        if entry is None:
            return
        for field in ("what", "tests"):
            if field not in entry:
                raise ListError(f"{where}: no '{field}:'")
        find = "\n".join(entry["-"])
        if not find.strip():
            raise ListError(f"{where}: nothing to find")
        found.append(Mutation(entry["id"], path.stem, entry["file"], entry["what"], parse_tests(entry["tests"], where), find,
                              "\n".join(entry["+"])))

    for number, line in enumerate(path.read_text().splitlines(), 1):
        head = re.fullmatch(r"\[([\w-]+)\] (\S+)", line)
        if head:
            close()
            where = f"{path.name}:{number}"
            entry = {"id": head[1], "file": head[2], "-": [], "+": []}
        elif not line.strip() or line.startswith("#"):
            continue
        elif entry is None:
            raise ListError(f"{path.name}:{number}: text before the first mutation")
        elif line[:2] in ("- ", "+ ") or line in ("-", "+"):
            entry[line[0]].append(line[2:])
        else:
            field = re.fullmatch(r"(what|tests): *(.*)", line)
            if not field or field[1] in entry:
                raise ListError(f"{path.name}:{number}: {line}")
            entry[field[1]] = field[2]
    close()
    return found


def read_lists(folder):
    mutations = [m for path in sorted(folder.glob("*.txt")) for m in parse_list(path)]
    seen = set()
    for m in mutations:
        if m.id in seen:
            raise ListError(f"two mutations are called {m.id}")
        seen.add(m.id)
    return mutations


def mutated(text, m):
    """The text with the mutation in it, or why it is stale."""
    pattern = r"\s+".join(re.escape(word) for word in m.find.split())
    places = list(re.finditer(pattern, text))
    if len(places) != 1:
        return None, "the text is no longer there" if not places else f"the text is there {len(places)} times"
    begin, end = places[0].span()
    result = text[:begin] + m.replace.strip("\n") + text[end:]
    return (None, "it changes nothing") if result == text else (result, "")


def resident(session):
    """Bytes that the processes of a session hold. No limit on addresses instead: generated C runs under ASan, which maps terabytes."""
    held = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()  # from the third on, see proc(5)
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session:
            held += int(fields[21]) * resource.getpagesize()
    return held


class Tree:
    """A copy of the tree under `folder`, with its build folder where users have it: ccache then knows most objects."""

    def __init__(self, folder, jobs, preset):
        self.folder, self.jobs = folder, jobs
        self.source = folder / "source"
        self.build = self.source / "build"
        self.environment = {"CCACHE_NOHASHDIR": "1", **os.environ, "CCACHE_BASEDIR": str(self.source)}
        self.checkout()
        self.configure(preset)
        self.tests = self.list_tests()
        self.seconds = {}

    def checkout(self):
        git = ["git", "-C", str(ROOT)]
        # What is changed but not committed is part of the copy; the user's tree and index stay as they are.
        head = subprocess.run(git + ["stash", "create"], capture_output=True, text=True, check=True).stdout.strip() or "HEAD"
        self.commit = subprocess.run(git + ["rev-parse", head + "^{tree}"], capture_output=True, text=True,
                                     check=True).stdout.strip()
        if (self.source / ".git").exists():
            subprocess.run(["git", "-C", str(self.source), "checkout", "-q", "--force", "--detach", head], check=True)
        else:
            subprocess.run(git + ["worktree", "add", "-q", "--force", "--detach", str(self.source), head], check=True)

    def configure(self, preset):
        self.say("configure")
        command = ["cmake", "--preset", preset, "-S", str(self.source), "-B", str(self.build), "-DMRVLC_UNITY=OFF"]
        done = subprocess.run(command, cwd=self.source, env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise ListError(done.stdout[-2000:] + done.stderr[-2000:])

    def list_tests(self):
        text = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build, capture_output=True, text=True,
                              check=True).stdout
        tests = {}
        commands = self.list_commands()
        for test in json.loads(text)["tests"]:
            properties = {p["name"]: p["value"] for p in test.get("properties", [])}
            tests[test["name"]] = (commands.get(test["name"], []), properties)
        return tests

    def list_commands(self):
        """As CMake wrote them; ctest itself tells no command before its program is built."""
        commands = {}
        for path in self.build.rglob("CTestTestfile.cmake"):
            for name, command in re.findall(r'^add_test\(\[=\[(.*?)\]=\] (.*)\)$', path.read_text(), re.M):
                commands[name] = re.findall(r'"((?:[^"\\]|\\.)*)"', command)
        return commands

    @staticmethod
    def say(text):
        print(text, file=sys.stderr, flush=True)

    def make(self, targets):
        command = ["cmake", "--build", str(self.build), "--target", *targets, "--", f"-j{self.jobs}"]
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode == 0, done.stdout

    def targets(self, name):
        """What must be built for a test: its program, and programs of the tree that a script is given."""
        targets = []
        for word in self.tests[name][0]:
            path = Path(word)
            if self.build in path.parents and path.parent.name == "bin":
                targets.append(path.name)
        if "mrvlc" in targets or name.startswith(("e2e", "cli")):
            targets += ["mrvlc", "mrvl_simdev"]
        return sorted(set(targets))

    def fixtures(self, names):
        """Tests that prepare what others need, once."""
        wanted = {f for n in names for f in self.tests[n][1].get("FIXTURES_REQUIRED", [])}
        return [n for n, (_, p) in self.tests.items() if wanted & set(p.get("FIXTURES_SETUP", []))]

    def run(self, test, limit):
        """Whether it passed; a test that takes too long or too much memory has not."""
        name, chosen = test
        command, properties = self.tests[name]
        command = list(command) + ([chosen, "--warn", "NoTests"] if chosen else [])
        environment = dict(self.environment)
        for pair in properties.get("ENVIRONMENT", []):
            key, _, value = pair.partition("=")
            environment[key] = value

        def limits():
            resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(self.folder / "test.log", "wb") as log:
            process = subprocess.Popen(command, cwd=properties.get("WORKING_DIRECTORY", str(self.build)), env=environment,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                       start_new_session=True, preexec_fn=limits)
            try:
                code = self.wait(process, limit)
            finally:
                try:  # whatever the test left behind
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
        skipped = code == properties.get("SKIP_RETURN_CODE", object())
        return (code == 0 or skipped), code

    @staticmethod
    def wait(process, limit):
        """The exit status, or "hang" where it takes longer than `limit` seconds, or "memory" where it holds more than MEMORY."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            try:
                return process.wait(timeout=SAMPLE)
            except subprocess.TimeoutExpired:
                if resident(process.pid) > MEMORY:
                    return "memory"
        return "hang"

    def baseline(self, tests):
        """Without a mutation every test passes; how long it takes orders the tests and limits them."""
        names = sorted({name for name, _ in tests})
        for name in names:
            if name not in self.tests:
                raise ListError(f"there is no test '{name}'")
        prepare = self.fixtures(names)
        self.say(f"build {len(names)} tests")
        ok, output = self.make(sorted({t for n in names + prepare for t in self.targets(n)}))
        if not ok:
            raise ListError("the tree does not build:\n" + output[-4000:])
        self.tests = self.list_tests()
        for name in prepare:
            self.run((name, ""), 600)
        failed = []
        for test in sorted(tests):
            begin = time.monotonic()
            ok, code = self.run(test, 1800)
            self.seconds[test] = time.monotonic() - begin
            if not ok:
                log = (self.folder / "test.log").read_text(errors="replace")[-3000:]
                failed.append(f"{log}\n{' '.join(test)} fails ({code}) without a mutation")
        if failed:
            raise ListError("\n".join(failed))

    def limit(self, test):
        return 15 + 6 * self.seconds[test]

    def judge(self, m):
        """Verdict and remark of one mutation; the file is as it was afterwards."""
        path = self.source / m.file
        if not path.exists():
            return "stale", "the file is no longer there"
        original = path.read_text()
        text, why = mutated(original, m)
        if text is None:
            return "stale", why
        path.write_text(text)
        try:
            for test in sorted(m.tests, key=lambda t: self.seconds[t]):
                ok, output = self.make(self.targets(test[0]))
                if not ok:
                    line = next((l for l in output.splitlines() if "error" in l), output[-300:])
                    return "does not compile", line.strip()
                passed, code = self.run(test, self.limit(test))
                if not passed:
                    return "found", f"{test[0]}{f': {code}' if code in ('hang', 'memory') else ''}"
            return "survived", ", ".join(" ".join(t).strip() for t in m.tests)
        finally:
            path.write_text(original)

    def remove(self):
        subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(self.source)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


def arguments():
    p = argparse.ArgumentParser(prog="scripts/mutation.sh", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--component", action="append", help="only mutations of this list (file name without .txt); repeatable")
    p.add_argument("--only", action="append", metavar="ID", help="only this mutation; repeatable")
    p.add_argument("--list", action="store_true", help="print the list")
    p.add_argument("--check", action="store_true", help="only say which mutations are stale; builds nothing")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the build")
    p.add_argument("--preset", default="release", help="how to build; release is fastest where ccache knows it")
    p.add_argument("--keep-going", action="store_true", help="do not stop at the first that is not found")
    p.add_argument("--work", type=Path, help="folder of the copy and its build, kept for the next run; "
                   "default: a temporary one")
    p.add_argument("--resume", action="store_true", help="leave out what --work's results have for this very source")
    p.add_argument("--shard", default="1/1", metavar="I/N", help="every N-th mutation, from the I-th; for runs side by side, "
                   "each with its own --work")
    p.add_argument("--lists", type=Path, default=ROOT / "test" / "mutation", help="folder of the lists")
    return p.parse_args()


def chosen(options):
    mutations = read_lists(options.lists)
    for name in options.component or []:
        if name not in {m.component for m in mutations}:
            raise ListError(f"there is no list '{name}'")
    for name in options.only or []:
        if name not in {m.id for m in mutations}:
            raise ListError(f"there is no mutation '{name}'")
    mutations = [m for m in mutations if (not options.component or m.component in options.component)
                 and (not options.only or m.id in options.only)]
    index, count = (int(n) for n in options.shard.split("/"))
    return mutations[index - 1::count]


def check(mutations):
    stale = 0
    for m in mutations:
        path = ROOT / m.file
        why = mutated(path.read_text(), m)[1] if path.exists() else "the file is no longer there"
        if why:
            stale += 1
            print(f"stale: {m.id}: {m.file}: {why}")
    print(f"{len(mutations)} mutations, {stale} stale")
    return 1 if stale else 0


class Results:
    """One line a mutation, kept in the work folder: tree, id, verdict, remark."""

    def __init__(self, folder, tree, resume):
        self.path, self.tree, self.known = folder / "results.tsv", tree, {}
        if resume and self.path.exists():
            for line in self.path.read_text().splitlines():
                of, key, verdict, remark = line.split("\t")
                if of == tree:
                    self.known[key] = (verdict, remark)

    def key(self, m):
        import hashlib
        text = repr((m.id, m.file, m.tests, m.find, m.replace))
        return m.id + ":" + hashlib.sha256(text.encode()).hexdigest()[:16]

    def get(self, m):
        return self.known.get(self.key(m))

    def add(self, m, verdict, remark):
        with open(self.path, "a") as out:
            out.write("\t".join([self.tree, self.key(m), verdict, re.sub(r"\s+", " ", remark)]) + "\n")


def print_score(results):
    components = sorted({m.component for m, _, _ in results})
    print(f"\n{'component':<14}" + "".join(f"{v:>18}" for v in VERDICTS))
    for component in components + ["all"]:
        of = [v for m, v, _ in results if component in (m.component, "all")]
        print(f"{component:<14}" + "".join(f"{of.count(v):>18}" for v in VERDICTS))
    judged = [v for _, v, _ in results if v in ("found", "survived")]
    if judged:
        print(f"score: {100 * judged.count('found') / len(judged):.1f} % of {len(judged)}")
    for m, verdict, remark in results:
        if verdict != "found":
            print(f"{verdict}: {m.id}: {m.what} ({remark})")


def run(options, mutations):
    temporary = options.work is None
    folder = Path(tempfile.mkdtemp(prefix="mrvlc-mutation-")) if temporary else options.work.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    tree, done = None, []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        tree = Tree(folder, options.jobs, options.preset)
        results = Results(folder, tree.commit, options.resume)
        left = [m for m in mutations if results.get(m) is None]
        tree.baseline({t for m in left for t in m.tests})
        for number, m in enumerate(mutations, 1):
            begin = time.monotonic()
            verdict, remark = results.get(m) or tree.judge(m)
            if results.get(m) is None:
                results.add(m, verdict, remark)
            done.append((m, verdict, remark))
            print(f"{number:4}/{len(mutations)} {verdict:<17} {time.monotonic() - begin:6.1f} s  {m.id}: {remark}", flush=True)
            if verdict != "found" and not options.keep_going:
                break
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        if temporary and tree is not None:
            tree.remove()
        elif temporary:
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run(["git", "-C", str(ROOT), "worktree", "prune"], check=False)
    print_score(done)
    return 0 if len(done) == len(mutations) and all(v == "found" for _, v, _ in done) else 1


def main():
    options = arguments()
    try:
        mutations = chosen(options)
        if options.list:
            for m in mutations:
                print(f"{m.id:<36} {m.what} [{'; '.join(' '.join(t).strip() for t in m.tests)}]")
            print(f"{len(mutations)} mutations")
            return 0
        return check(mutations) if options.check else run(options, mutations)
    except (ListError, ValueError) as error:
        print(f"mutation.sh: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
