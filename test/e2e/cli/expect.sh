# Sourced by the tests of this folder: what they expect of $mrvlc, and the count of what they checked.
# shellcheck shell=bash
failures=0 checks=0

problem() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$*"
  sed 's/^/  stderr: /' stderr
}

# expect CODE TEXT ARGUMENT...: runs mrvlc; stdout or stderr must hold TEXT.
expect() {
  local code=$1 text=$2 got
  shift 2
  checks=$((checks + 1))
  timeout 60 "$mrvlc" "$@" >stdout 2>stderr
  got=$?
  [ $got = "$code" ] || problem "exit code $got, not $code: mrvlc $*"
  [ -z "$text" ] || grep -qF -e "$text" stdout stderr || problem "no '$text': mrvlc $*"
}

# check TEXT COMMAND...: the command must succeed.
check() {
  local text=$1
  shift
  checks=$((checks + 1))
  "$@" >/dev/null 2>&1 || problem "$text"
}

absent() {
  checks=$((checks + 1))
  [ ! -e "$1" ] && [ ! -L "$1" ] || problem "$1 was left behind"
}

json() {
  command -v python3 >/dev/null || return 0
  check "$1 is not JSON" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"
}

json_lines() {
  command -v python3 >/dev/null || return 0
  check "$1: not every line is JSON" python3 -c 'import json, sys; [json.loads(l) for l in open(sys.argv[1])]' "$1"
}
