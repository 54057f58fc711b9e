#!/usr/bin/env python3
"""Sizes that a reader can hold: no file of the project over 450 lines, no function over 60, no class over 300.

check_sizes.py [--list N] ROOT    --list N: also the N largest of each kind

Functions and classes are found by their braces, in code as clang-format writes it: comments and literals are taken out, and
a block at the level of a namespace or class is what the words in front of it say. Lambdas belong to the function around
them. Of C, functions alone: kernel templates come in pieces. Tests have no limit but that of files, of 600 lines.
"""
import re
import subprocess
import sys

FILE, TEST_FILE, FUNCTION, CLASS = 450, 600, 60, 300

LITERALS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\s\\]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\\n|\\.)*', re.M)
TYPE = re.compile(r'\b(class|struct|union)\s+(?:\[\[.*?\]\]\s*|alignas\([^)]*\)\s*)*([\w:<>, ]*?[\w>])\s*(?:\bfinal\s*)?(?::[^:].*)?$', re.S)
ACCESS = re.compile(r'^(?:(?:public|private|protected):\s*)+')
NAME = re.compile(r'(operator\s*(?:\(\)|[^\s(]+)|[~\w:]+)\s*\(')


def blank(match):
    """As many lines, and nothing else."""
    return re.sub(r'[^\n]', ' ', match.group())


def kind_of(head):
    """('namespace' | 'class' | 'function' | 'other', name) of a block, by the words in front of it."""
    head = head.strip()
    if re.search(r'(^|\s)namespace(\s[\w:]+)?$', head) or re.search(r'extern\s+$', head + ' '):
        return 'namespace', ''
    head = ACCESS.sub('', head)
    head = re.sub(r'^template\s*<.*?>\s*(?=class|struct|union)', '', head, flags=re.S)
    if head.startswith('enum'):
        return 'other', ''
    if '(' not in head or re.match(r'(class|struct|union)\b', head):
        found = TYPE.search(head)
        return ('class', found.group(2)) if found else ('other', '')
    found = NAME.search(re.sub(r'^template\s*<.*?>\s*(?=[\w\[])', '', head, flags=re.S))
    if not found or re.search(r'=\s*$|=\s*\{?$', head):
        return 'other', ''
    return 'function', found.group(1)


def blocks(text):
    """(kind, name, first line, last line) of every function and class that is in no function."""
    text = DIRECTIVE.sub(blank, LITERALS.sub(blank, text))
    found, open_blocks, start, line, depth = [], [], 0, 1, 0
    for at, c in enumerate(text):
        if c == '\n':
            line += 1
        elif c in '([':
            depth += 1
        elif c in ')]':
            depth -= 1
        elif c == '{':
            outer = open_blocks[-1][0] if open_blocks else 'namespace'
            inside = outer in ('function', 'other') or depth > 0
            head = text[start:at]
            kind, name = ('other', '') if inside else kind_of(head)
            # A member's initializer in front of the body: `: a_{1}, b_{2} {`.
            if kind == 'function' and re.search(r'\)\s*(?:noexcept\s*)?:[^:].*\w$', head.rstrip(), re.S):
                kind = 'initializer'
            first = line - ACCESS.sub('', head.lstrip()).count('\n')
            open_blocks.append((kind, name, first, depth))
            if kind != 'initializer' and depth == 0:
                start = at + 1
        elif c == '}':
            kind, name, first, depth_before = open_blocks.pop()
            if kind in ('function', 'class'):
                found.append((kind, name, first, line))
            if kind != 'initializer' and depth == 0:
                start = at + 1
        elif c == ';' and depth == 0:
            start = at + 1
    if open_blocks:
        raise ValueError('braces do not match')
    return found


SAMPLE = '''// {
#define OPEN {
namespace a::b {
namespace {

template <class T, int N = 2>
class Long final : public Base<T> {
 public:
  Long(int x) : x_{x}, y_(1) {
    call([&] { return "{"; });
  }
  bool operator()(int a,
                  int b) const {
    return a < b;
  }

 private:
  struct Part {
    int x = 0;
  };
  int x_{0};
  const char* text_ = R"(
{)";
};

const int kTable[] = {
    1,
};

}  // namespace

enum class E : int {
  A,
};

Result<std::map<int, int>> function(int a, std::vector<int> b = {}) {
  struct Local {
    int x;
  };
  return {};
}

}  // namespace a::b
'''
EXPECTED = [('function', 'Long', 9, 11), ('function', 'operator()', 12, 15), ('class', 'Part', 18, 20),
            ('class', 'Long', 6, 24), ('function', 'function', 36, 41)]


def main(arguments):
    show = int(arguments[1]) if arguments[0] == '--list' else 0
    root = arguments[-1]
    if blocks(SAMPLE) != EXPECTED:
        sys.exit(f'the sample is not read as it should be: {blocks(SAMPLE)}')
    names = subprocess.run(['git', '-C', root, 'ls-files', '*.cpp', '*.h', '*.c', '*.py', '*.sh', '*.rules', '*.def', '*.cmake'],
                           check=True, capture_output=True, text=True).stdout.split()
    sizes = []  # (kind, lines, limit, where)
    for name in names:
        with open(f'{root}/{name}', encoding='utf-8') as file:
            text = file.read()
        is_test = name.startswith('test/')
        sizes.append(('file', text.count('\n'), TEST_FILE if is_test else FILE, name))
        if is_test or not name.endswith(('.cpp', '.h')):
            continue
        try:
            for kind, what, first, last in blocks(text):
                sizes.append((kind, last - first + 1, FUNCTION if kind == 'function' else CLASS, f'{name}:{first}: {what}'))
        except (ValueError, IndexError) as error:
            sys.exit(f'{name}: {error}')
    for kind in ('file', 'function', 'class'):
        for _, lines, _, where in sorted((s for s in sizes if s[0] == kind), key=lambda s: -s[1])[:show]:
            print(f'{lines:5} {kind} {where}')
    large = [s for s in sizes if s[1] > s[2]]
    for kind, lines, limit, where in large:
        print(f'{where} has {lines} lines; a {kind} has at most {limit}')
    return 1 if large else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
