#!/usr/bin/env bash
# usage: cli.sh MRVLC MODELS/DIGITS WORK
# Runs mrvlc as a user does and checks exit codes, messages and what is left behind. WORK is emptied first.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mrvlc=$1 digits_folder=$2 digits=$2/digits.onnx images=$2/test_x.npy labels=$2/test_y.npy work=$3
unset CC NO_COLOR MRVLC_LOG_LEVEL MRVLC_TARGET_PATH
rm -rf "$work" && mkdir -p "$work/tmp" && cd "$work" || exit 1
export TMPDIR=$work/tmp
# shellcheck source=expect.sh
. "$here/expect.sh"

compile() { "$mrvlc" compile "$digits" -q "$@"; }

# Who reads has seen enough.
closed_pipe() {
  python3 -c 'import os, subprocess, sys
read, write = os.pipe()
os.close(read)
result = subprocess.run(sys.argv[1:], stdout=write, stderr=subprocess.PIPE)
sys.exit(result.returncode != 141 or result.stderr != b"")' "$mrvlc" ops --json
  check "mrvlc ops to a closed pipe" test $? = 0
}

command_line() {
  expect 2 "a command is required"
  expect 2 "there is no command 'frob'" frob
  expect 2 "unknown option '--frob'" compile "$digits" -o o --frob
  expect 2 "mrvlc compile: error MRV0004: MODEL is required" compile
  expect 2 "--output is required" compile "$digits"
  expect 2 "--output" compile "$digits" -o
  expect 2 "--output: is empty" compile "$digits" -o ''
  expect 2 "unexpected argument 'more'" compile "$digits" more -o o
  expect 2 "it takes 1, 2, 4, 8" compile "$digits" -o o --tiles 3
  expect 2 "--tiles" compile "$digits" -o o --tiles many
  expect 2 "it takes 1, 2, 4, 8" compile "$digits" -o o --target-opt cn10ka.tiles=3
  expect 2 "is no option of a target; these are tiles, effort, machine, wb-pin, silicon-id" compile "$digits" -o o --target-opt cn10ka.tile=3
  expect 2 "names no target with options; --target is cn10ka" compile "$digits" -o o --target-opt host.tiles=2
  expect 2 "takes 1 or 2" compile "$digits" -o o --target-opt cn10ka.effort=3
  expect 2 "is no TARGET.KEY=VALUE" compile "$digits" -o o --target-opt tiles=3
  expect 2 "no target named 'nope'" compile "$digits" -o o --target nope
  expect 2 "--precision" compile "$digits" -o o --precision fp8
  expect 2 "--batch" compile "$digits" -o o --batch 0
  expect 2 "there is no pass 'nope'" compile "$digits" -o o --dump-ir nope
  expect 2 "--emit" compile "$digits" -o o --emit nope
  for name in int main math mrvl mrvl_simulator 9a 'a-b' ../x ''; do expect 2 "--name: " compile "$digits" -o o --name "$name"; done
  for shape in image =1x2 image=1x image=1xx2 image=-1x1 image=99999999999999999999; do
    expect 2 "--input-shape takes NAME=1x3x224x224" compile "$digits" -o o --input-shape "$shape"
  done
  expect 2 "the model has no input 'nope'" compile "$digits" -o o --input-shape nope=1x1x8x8
  expect 2 "dimension 2 is 8" compile "$digits" -o o --input-shape image=1x1x9x9
  for option in --cpu --accel --border; do
    expect 2 "$option 'nope' matches no node, no operator type" compile "$digits" -o o $option nope
  done
  expect 2 "both name it" compile "$digits" -o o --cpu conv1 --accel Conv
  expect 3 "cannot open 'nope'" compile "$digits" -o o --rules nope
  expect 3 "--target-dir takes a folder" compile "$digits" -o o --target-dir nope
  for option in -MP -MTx "-MQ x"; do
    # shellcheck disable=SC2086
    expect 2 "which -MD or -MF asks for" compile "$digits" -o o $option
  done
  absent o
  expect 0 "Usage: mrvlc compile [OPTIONS] MODEL" compile --help
  expect 0 "mrvlc " --version
  expect 0 "Usage: mrvlc compile [OPTIONS] MODEL" help compile
  expect 0 "Usage: mrvlc rules check [OPTIONS] FILE" help rules check
  expect 0 "Exit codes: 0 done" help
  expect 2 "there is no command 'chek'; did you mean 'check'?" help rules chek
  expect 2 "'ops' has no commands" help ops json
  closed_pipe
}

models() {
  : >empty.onnx
  echo "not a model" >text.onnx
  head -c 1000 "$digits" >cut.onnx
  mkfifo pipe
  expect 3 "nope.onnx: error MRV0001: cannot open" compile nope.onnx -o o
  expect 3 "not a regular file" compile "$work" -o o
  expect 3 "not a regular file" compile pipe -o o
  expect 1 "empty.onnx: error MRV0101: not an ONNX model: the file is empty" compile empty.onnx -o o
  expect 1 "error MRV0101" compile text.onnx -o o
  expect 1 "error MRV0101" compile cut.onnx -o o
  expect 1 "error MRV0101" inspect text.onnx
  expect 0 "models" inspect .
  expect 0 '"unread": [' inspect . --json
  absent o
  cp "$digits" $'a \'b"\n\u00fc.onnx'
  expect 0 "" compile $'a \'b"\n\u00fc.onnx' -o o
  cp "$digits" int.onnx
  expect 0 "" compile int.onnx -o o
  check "a model called int.onnx gets another name" test -f o/m_int.c
  cp "$digits" mrvl.onnx
  expect 0 "" compile mrvl.onnx -o o
  check "a model called mrvl.onnx gets another name" test -f o/m_mrvl.c
  check "and compiles" ${CC:-gcc} -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -fsyntax-only o/m_mrvl.c o/main.c
  cp "$digits" "$(printf 'x%.0s' {1..245}).onnx"
  expect 0 "" compile x*.onnx -o o
  rm -r o
}

# Limits of the process, and several writers of one OUT.
limits_of_process() {
  local i written
  (ulimit -n 5; exec "$mrvlc" compile "$digits" -q -o few) 2>stderr || true
  check "nothing stays where no file can be opened" test -z "$(ls -A | grep mrvlc-partial)"
  rm -rf few
  for i in 1 2 3; do ("$mrvlc" compile "$digits" -q -o shared 2>>stderr && echo written >>writers) & done
  wait
  written=$(wc -l <writers)
  check "three writers of one folder all end well" test "$written" = 3
  rm -r shared writers
  (ulimit -v 300000; exec "$mrvlc" compile "$digits" -q -o small -j 64) >stdout 2>stderr
  check "too little memory is a limit, or enough" test $? != 70
  rm -rf small
  TMPDIR=$work/none "$mrvlc" verify "$digits" -q --sets uniform >stdout 2>stderr
  check "a folder for temporary files that cannot be used is named" grep -qF "TMPDIR=$work/none" stderr
}

output_folder() {
  mkdir foreign theirs && echo x >foreign/mine && echo '{"name": "page"}' >theirs/manifest.json && echo x >theirs/mine
  expect 3 "no compile wrote it" compile "$digits" -o foreign
  expect 3 "no compile wrote it" compile "$digits" -o theirs
  check "a folder of somebody else's is kept" test -f foreign/mine -a -f theirs/mine
  echo text >file && ln -s nowhere link
  expect 3 "not a folder" compile "$digits" -o file
  expect 3 "cannot write 'file/x'" compile "$digits" -o file/x
  expect 3 "symbolic link" compile "$digits" -o link
  expect 3 "cannot write" compile "$digits" -o /proc/mrvlc-out
  expect 0 "" compile "$digits" -o slash/ -MD
  check "-MD writes OUT.d beside OUT" test -f slash.d
  expect 0 "" compile "$digits" -o slash/
  expect 3 "cannot write '/nope/x'" compile "$digits" -o side -MF /nope/x
  absent side
  if [ "$(id -u)" != 0 ]; then
    mkdir -m 555 readonly
    expect 3 "Permission denied" compile "$digits" -o readonly/out
  fi
  cp "$digits" own.onnx
  expect 3 "not a folder" compile own.onnx -o own.onnx
  expect 3 "'own.onnx': it is read by this compile" compile own.onnx -o apart -MF own.onnx
  expect 3 "'own.onnx': it is read by this compile" compile own.onnx -o apart --timing own.onnx
  absent apart
  expect 0 "" compile own.onnx -o holds
  cp "$digits" holds/own.onnx && ln -s holds door
  expect 3 "which is read" compile holds/own.onnx -o holds
  expect 3 "which is read" compile door/own.onnx -o holds
  check "a model in the output folder is kept" cmp "$digits" holds/own.onnx
  check "a model that was also to be written is kept" cmp "$digits" own.onnx
  checks=$((checks + 1))
  (ulimit -f 20 && exec "$mrvlc" compile "$digits" -o large) 2>stderr
  [ $? = 3 ] && grep -q 'File too large' stderr || problem "a file larger than may be is not exit code 3"
  absent large
  cp "$digits" 'a b$c#d.onnx'
  expect 0 "" compile 'a b$c#d.onnx' -o 'o t' -MF dep.d
  if command -v make >/dev/null; then
    printf '%s\n' 'include dep.d' 'o\ t/manifest.json:' $'\t@echo \'$<\' >made' >deps.mk
    touch 'a b$c#d.onnx' && sleep 0.01 && touch -d '+1 hour' 'a b$c#d.onnx'
    check "make reads the dependency file" make -f deps.mk 'o t/manifest.json'
    check "make sees the model in the dependency file" grep -qF 'a b$c#d.onnx' made
  fi
  cp "$digits" 'e\ f\g.onnx'
  expect 0 "" compile 'e\ f\g.onnx' -o back --name back -MF back.d
  check "backslashes before a blank are doubled in the dependency file" grep -qF 'e\\\ f\g.onnx' back.d
  cp "$digits" 9lives.onnx
  expect 0 "" compile 9lives.onnx -o lives
  check "a name does not begin with a digit" test -f lives/m_9lives.c
  side_files
  check "no temporary files stay" test -z "$(find . -name '*mrvlc-partial*')"
}

# What -MF, --timing and --trace write, and where they cannot.
side_files() {
  local option
  mkfifo fifo
  for option in -MF --timing; do
    expect 3 "there is no folder 'nope'" compile "$digits" -o side $option nope/file
    expect 3 "'foreign': it is a folder" compile "$digits" -o side $option foreign
    expect 3 "'file' is no folder" compile "$digits" -o side $option file/x
    expect 3 "cannot write 'fifo': nothing reads from this pipe" compile "$digits" -o side $option fifo
    absent side
    cat fifo >got &
    expect 0 "" compile "$digits" -o side $option fifo
    wait $!
    check "$option to a FIFO that is read" test -s got
    rm -r side
  done
  expect 0 "" compile "$digits" -o side
  expect 3 "which is replaced as a whole" compile "$digits" -o side -MF side/dep.d
  expect 3 "it is a file of the output" compile "$digits" -o side --timing side/digits.c
  expect 0 "" compile "$digits" -o side --timing side/timing.json
  json side/timing.json
  expect 0 "" compile "$digits" -o side -MFjoined.d -MTone -MT two -MP
  check "targets of the dependency file" grep -q "^one two: $digits " joined.d
  for file in idmap.json manifest.json digits.region0.mrvl; do
    expect 3 "it is a file of" profile side --trace side/$file
  done
  ln side/report.json hard && ln -s side/report.json soft
  expect 3 "it is a file of" profile side --trace soft
  expect 3 "it is a file of" profile side --trace hard
  expect 0 "" profile side --trace side/trace.json
  expect 0 "" map side --expr 0
  rm -r side hard soft
}

# number FIELD...: of limits/report.json
number() { python3 -c 'import functools, json, sys
print(functools.reduce(lambda j, key: j[int(key) if key.isdigit() else key], sys.argv[1:], json.load(open("limits/report.json"))))' "$@"; }

# Each gate at its value, and one beyond.
limits() {
  local all="" cycles arena weights error share
  expect 0 "" compile "$digits" -o limits
  cycles=$(number regions 0 cycles) arena=$(number host arena_bytes) error=$(number accuracy expected_error)
  weights=$(($(number regions 0 weights_bytes) + $(number host weights_bytes)))
  for gate in "max-cycles $cycles" "max-arena $arena" "max-weights $weights"; do
    # shellcheck disable=SC2086
    set -- $gate
    expect 0 "" compile "$digits" -o limits --$1 $2
    expect 5 "error MRV0013: --$1 $(($2 - 1)): $2 " compile "$digits" -o limit --$1 $(($2 - 1))
    all="$all --$1 $(($2 - 1))"
  done
  # shellcheck disable=SC2086
  expect 5 "error MRV0013: --max-weights" compile "$digits" -o limit $all
  checks=$((checks + 1))
  [ "$(grep -c MRV0013 stderr)" = 3 ] || problem "not every gate that fails is told of"
  expect 0 "" compile "$digits" -o limits --min-mac-share 100%
  expect 0 "" compile "$digits" -o limits --cpu conv1 --min-mac-share 10%
  share=$(number gates 0 value)
  expect 5 "error MRV0013: --min-mac-share 1: ${share:0:6}" compile "$digits" -o limit --cpu conv1 --min-mac-share 1
  expect 2 "did you mean '90%'?" compile "$digits" -o limit --min-mac-share 90
  expect 5 "error MRV0013: --max-error 0: $error is the expected error; --accuracy" compile "$digits" -o limit --max-error 0
  expect 0 "" compile "$digits" -o limits --max-error 0.1
  expect 2 "--no-probe leaves out" compile "$digits" -o limit --max-error 0.1 --no-probe
  expect 0 "--max-cycles has no effect" compile "$digits" -o limits --target host --max-cycles 0
  expect 0 "" compile "$digits" -o limits --max-arena 1MiB --max-weights 1.5G --arena-limit 64k
  expect 0 "" compile "$digits" -o limits --max-arena 1048576B
  checks=$((checks + 1))
  [ "$(number gates 0 limit)" = 1048576 ] || problem "1048576B is another number"
  expect 4 "its limit of 1024;" compile "$digits" -o limit --target host --arena-limit 1K
  expect 4 "its limit of 1000;" compile "$digits" -o limit --target host --arena-limit 1KB
  for size in 64X -1 1..2 K 1KiBB ''; do expect 2 "is no size" compile "$digits" -o limit --max-arena "$size"; done
  absent limit
  rm -r limits
}

# Two compiles, compared.
differences() {
  local worse
  expect 0 "" compile "$digits" -o before
  expect 0 "" compile "$digits" -o same
  expect 0 "the same model, options and version" diff before same --tolerance 0
  checks=$((checks + 1))
  ! grep -qE "cycles by layer|placement$" stdout || problem "two equal compiles differ"
  expect 0 "" compile "$digits" -o after --tiles 1 --cpu pool
  expect 0 "option tiles: 8 -> 1" diff before after
  expect 0 "pool (MaxPool): accelerator -> cpu: It is kept on the CPU because --cpu 'pool' names it" diff before after
  expect 5 "error MRV0014: cycles was " diff before after --tolerance 2%
  expect 0 "" diff after before --tolerance 0
  expect 2 "is no share" diff before after --tolerance -1
  expect 0 "" diff after before --json
  cp stdout diff.json
  check "the JSON of diff" python3 "$here/diff_json.py" diff.json after before
  expect 3 "cannot open 'nope/manifest.json'" diff before nope
  expect 3 "cannot open 'nope/manifest.json'" compile "$digits" -o new --baseline nope
  expect 5 "error MRV0014: cycles was " compile "$digits" -o new --tiles 1 --cpu pool --baseline before --tolerance 2%
  absent new
  worse=$(cat before/manifest.json)
  expect 5 "MRV0014" compile "$digits" -o before --tiles 1 --cpu pool --baseline before
  checks=$((checks + 1))
  [ "$worse" = "$(cat before/manifest.json)" ] || problem "a baseline was replaced by what is worse"
  expect 0 "" compile "$digits" -o before --baseline before
  expect 2 "--tolerance" compile "$digits" -o new --tolerance 2%
  expect 0 "" compile "$digits" -o new --baseline before -MD
  check "a baseline is a prerequisite" grep -q before/report.json new.d
  expect 0 "" compile "$digits" -o new --baseline new -MD
  check "OUT is no prerequisite of itself" test "$(grep -c report.json new.d)" = 0
  rm -r new new.d
  rm -r before same after
}

gates() {
  expect 5 "node 'pool' (MaxPool): error MRV0009: --fail-on-fallback" compile "$digits" -o gate --fail-on-fallback --cpu pool
  expect 5 "node 'conv1' (Conv): error MRV0009" compile "$digits" -o gate --fail-on-fallback --target host
  absent gate
  expect 0 "" compile "$digits" -o gate --fail-on-fallback
  expect 4 "error MRV0604: the arena needs" compile "$digits" -o gate2 --target host --arena-limit 100
  absent gate2
  expect 0 "" compile "$digits" -o gate2 --target host --arena-limit 100000000
  expect 0 "" compile "$digits" -o pinned --wb-pin
  expect 0 "" compile "$digits" -o careful --machine both --effort 2
  expect 0 "" compile "$digits" -o effort --effort 2
  expect 4 "error MRV0505: --wb-pin: weights can stay on chip for one region, the model has 2" \
    compile "$digits" -o gate3 --wb-pin --cpu relu1
  expect 2 "--effort" compile "$digits" -o gate3 --effort 3
  absent gate3
  expect 2 "" compile "$digits" -o gate3 --arena-limit -1
  limits
  differences
  expect 0 "ok" verify "$digits"
  expect 0 "ok" verify "$digits" --target host
  expect 5 "error MRV0009" verify "$digits" --tolerance 0
  expect 2 "--tolerance" verify "$digits" --tolerance nan
  expect 2 "--tolerance" verify "$digits" --tolerance -1
  expect 3 "cannot open 'nope'" verify "$digits" --data nope
  expect 3 "it holds no output_K" verify "$digits" --data "$work"
  local cases=/usr/share/libonnx-testdata/data/node
  [ -d $cases ] || return 0
  local text=$cases/test_strnormalizer_nostopwords_nochangecase list=$cases/test_sequence_insert_at_back
  expect 0 "y: 0 (limit 0) ok" verify $text/model.onnx --data $text --target host
  expect 0 "output_sequence: 0 (limit 0) ok" verify $list/model.onnx --data $list --target host
  expect 0 "" compile $list/model.onnx -o listed --target host --input-shape "sequence=4*1..8"
  printf '%s\n' '{"type":"seq(tensor(int64))","value":[[1,2],[3]]}' >list.json
  printf '%s\n' '{"type":"tensor(int64)","value":[7,8,9]}' >tensor.json
  expect 0 "" run listed --input sequence=list.json --input tensor=tensor.json --output-dir values
  check "a sequence is written as JSON" grep -qF '"type":"seq(tensor(int64))"' values/output_sequence.json
  check "with all its tensors" grep -qF '[7,8,9]]}' values/output_sequence.json
  absent values/output_sequence.value
  printf '%s\n' '{"type":"seq(tensor(float))","value":[[1,2],[3]]}' >floats.json
  expect 2 "input 'sequence' takes sequence(i64" run listed --input sequence=floats.json --input tensor=tensor.json --output-dir values
  expect 2 "input 'sequence' takes sequence(i64" run listed --input sequence=tensor.json --input tensor=tensor.json --output-dir values
  printf '%s\n' '{"type":"seq(tensor(int64))","value":[[1],[2],[3],[4],[5]]}' >long.json
  expect 2 "input 'sequence' takes sequence(i64" run listed --input sequence=long.json --input tensor=tensor.json --output-dir values
  printf '%s\n' '{"type":"seq(tensor(int64))","value":[[1],["x"]]}' >bad.json
  expect 3 "bad.json': not a value as docs/values.md describes it: '\"x\"' is no integer" \
    run listed --input sequence=bad.json --input tensor=tensor.json --output-dir values
  expect 0 "" run listed --input sequence=$list/test_data_set_0/input_0.pb --input tensor=$list/test_data_set_0/input_1.pb --output-dir values2
}

run_command() {
  expect 0 "" run out --input "image=$images" --repeat-axis0 --output-dir results
  check "the output is written" test -s results/logits.npy
  cp "$images" 'a=b.npy'
  expect 0 "" run out --input 'image=a=b.npy' --repeat-axis0 --output-dir results
  head -c 500 "$images" >cut.npy
  expect 2 "--repeat-axis0 runs slice by slice" run out --input "image=$images" --output-dir r
  expect 2 "is i64[450], input 'image' takes f32[1,1,8,8]" run out --input "image=$labels" --output-dir r
  expect 2 "its inputs are 'image'" run out --input "picture=$images" --output-dir r
  expect 2 "given twice" run out --input "image=$images" --input "image=$images" --output-dir r
  expect 2 "--input image=FILE.npy is missing" run out --output-dir r
  expect 2 "--input takes NAME=FILE.npy" run out --input image --output-dir r
  expect 3 "cannot open 'nope.npy'" run out --input image=nope.npy --output-dir r
  expect 3 "not a valid .npy file" run out --input "image=$digits" --output-dir r
  expect 3 "not a valid .npy file" run out --input image=cut.npy --output-dir r
  absent r
  expect 3 "not made by 'mrvlc compile'" run foreign --input "image=$images" --output-dir r
  expect 3 "cannot write 'file'" run out --input "image=$images" --repeat-axis0 --output-dir file
  expect 3 "the C compiler false failed" run out --input "image=$images" --repeat-axis0 --output-dir r --cc false
  mkdir -p targets/mine
  sed 's/"cn10ka"/"mine"/' "$digits_folder/../../lib/target/cn10ka/target.json" >targets/mine/target.json
  expect 0 "" compile "$digits" -o mine --target mine --target-dir targets
  expect 0 "" run mine --input "image=$images" --repeat-axis0 --output-dir results  # OUT holds the target
  expect 0 "" profile mine
  sed -i 's/1048576/2097152/' mine/target.json
  expect 3 "target.json" run mine --input "image=$images" --repeat-axis0 --output-dir r
  expect 3 "cannot open 'no-such-cc'" run out --input "image=$images" --repeat-axis0 --output-dir r --cc no-such-cc
}

queries() {
  local line
  expect 0 "source main/0 'conv1' (Conv): accelerator" map out --node conv1
  expect 0 "source main/0" map out --node conv1_out
  expect 0 "source main/0" map out --expr 0
  expect 0 "layer 0 of region 0" map out --instruction 0:17
  expect 0 "instructions region 0 main" map out --instruction 0:main:0
  expect 2 "region 0 has no instruction 0 in section init" map out --instruction 0:init:0
  line=$(grep -n '^int digits_run(' out/digits.c | tail -1 | cut -d: -f1)
  expect 0 "function digits_run digits.c:" map out --line "digits.c:$line"
  expect 0 "function digits_run digits.c:" map out --line "out/digits.c:$line"
  expect 2 "Exactly 1 option" map out
  expect 2 "Exactly 1 option" map out --node a --expr 1
  expect 2 "no ONNX node is called 'nope'" map out --node nope
  expect 2 "there is no expression 9999" map out --expr 9999
  expect 2 "region 7 has no instruction 0" map out --instruction 7:0
  expect 2 "--instruction takes REGION:N" map out --instruction 7
  expect 2 "--line takes FILE:N" map out --line digits.c
  expect 0 "rule conv: accepted" explain out --node conv1
  expect 2 "no ONNX node is called 'nope'" explain out --node nope
  expect 3 "cannot open 'nope/manifest.json'" explain nope
  expect 0 "give the shape" explain MRV0131
  expect 0 "MRV0604 (error, exit code 4)" explain mrv604
  expect 0 "MRV0911  note" explain --codes
  expect 2 "there is no code 'MRV9999'" explain MRV9999
  expect 2 "OUT, or a code such as MRV0131, is required" explain
  expect 2 "--codes" explain --markdown
  expect 0 "region 0:" profile out --trace trace.json
  json trace.json
  check "the trace holds events" grep -q '"ph":"X"' trace.json
  expect 0 "mrvlc-profile-1" profile out --json
  expect 0 "all regions" profile out --what-if conservative,queue_depth=2
  expect 0 "what_if_cycles" profile out --json --what-if ddr_bytes=1
  json stdout
  expect 3 "cannot write '/nope/t'" profile out --trace /nope/t
  expect 0 "section main" disasm out/digits.region0.mrvl
  expect 1 "not a valid model binary" disasm "$digits"
  expect 3 "not a regular file" disasm out
  cp -r out changed && echo ' ' >>changed/idmap.json
  expect 3 "it was changed after the compile" map changed --node conv1
}

tables() {
  expect 0 '"name": "Conv"' ops --json
  json stdout
  expect 0 "| Conv |" ops --markdown
  expect 0 "com.microsoft.GroupQueryAttention" ops
  expect 0 "| com.microsoft.QAttention | 1-28 |" ops --markdown
  expect 0 '"taken_apart": "MatMul, Softmax, MatMul"' ops --json
  expect 2 "excludes" ops --json --markdown
  expect 0 "rule conv {" rules show conv
  expect 2 "there is no rule 'nope'" rules show nope
  expect 2 "there is no command 'frob'" rules frob
  echo 'rule broken {' >broken.rules
  expect 1 "broken.rules:2" rules check broken.rules
  expect 3 "cannot open 'nope'" rules check nope
  expect 1 "broken.rules:2" compile "$digits" -o o --rules broken.rules
  echo 'rule old { layer softmax priority 500 why "w" match { %s = Softmax(%x) } where accelerator_can(layer) }' >old.rules
  expect 1 "error MRV0301: broken.rules:2" compile "$digits" -o o --rules old.rules --rules broken.rules  # a warning first
  expect 0 "target_architecture      256 (experimental)" disasm --header out/digits.region0.mrvl
  head -c 8200 out/digits.region0.mrvl >cut.mrvl
  expect 1 "section weights_bias ends at" disasm --header cut.mrvl
  expect 1 "fewer than the metadata's 8192" disasm --header out/manifest.json
  expect 0 "cn10ka" targets list
  expect 2 "no target named 'nope'" targets show nope
  mkdir target && echo '{' >target/target.json
  expect 1 "not valid JSON" targets check target
  echo '{}' >target/target.json
  expect 1 "field 'name' is missing" targets check target
  expect 3 "cannot open" targets check nope
  expect 0 "wrote packages/small/target.json" targets new small -o packages
  expect 3 "it is there already" targets new small -o packages
  expect 2 "'other' is none of variant, call, plugin" targets new other --kind other
  expect 0 "small: no errors" targets check packages/small
  sed -i 's/"max_tiles": {"value": 8/"max_tiles": {"value": 4/' packages/small/target.json
  expect 0 "packages/small/target.json" targets list --target-dir packages
  expect 0 "[1,2,4]" targets show small --target-dir packages
  expect 0 "" compile "$digits" -o small --target small --target-dir packages
  check "a variant's tiles are used" grep -q '"tiles": 4' small/report.json
  expect 2 "small does not take 8 tiles; it takes 1, 2, 4" compile "$digits" -o o --target small \
    --target-dir packages --tiles 8
  sed -i 's/"ocm_bytes"/"ocm_byte"/' packages/small/target.json
  expect 1 "field 'ocm_byte' is unknown" targets check packages/small
  expect 1 "field 'ocm_byte' is unknown" compile "$digits" -o o --target small --target-dir packages
}

# OUT does not depend on where the files of rules lie.
included_rules() {
  mkdir -p rules/parts elsewhere/deep
  echo 'include "parts/words.rules"
rule own { layer elementwise priority 400 why "w" match { %r = @act(%x) } where small(%x) }' >rules/own.rules
  echo 'group act = Relu | Tanh   condition small(%v) = elements(%v) <= 4096' >rules/parts/words.rules
  cp -r rules/* elsewhere/deep
  expect 0 "" rules check rules/own.rules
  expect 0 "own " rules list --rules rules/own.rules
  expect 0 "rule 'own' (layer elementwise" rules try rules/own.rules "$digits"
  expect 0 " own " rules coverage rules/own.rules "$digits"
  expect 0 'include "parts/words.rules"' rules format rules/own.rules
  expect 0 "" compile "$digits" -o one --rules rules/own.rules -MD -MF one.d
  check "an included file is a dependency" grep -q 'rules/parts/words.rules' one.d
  expect 0 "" compile "$digits" -o two --rules "$PWD/elsewhere/deep/own.rules"
  check "OUT is the same wherever the rules lie" diff -r one two
  expect 0 "" compile "$digits" -o two --rules rules/parts/words.rules --rules rules/own.rules  # once each
  echo 'include "own.rules"' >>rules/parts/words.rules
  expect 1 "MRV0329: rules/parts/words.rules:2:9" rules check rules/own.rules
  sed -i 's#"own.rules"#"../own.rules"#' rules/parts/words.rules
  expect 1 "MRV0330: rules/parts/words.rules:2:9" compile "$digits" -o o --rules rules/own.rules
}

messages() {
  local arguments line
  expect 0 "" compile "$digits" -o out2 --timing timing.json
  check "success is silent when stderr is no terminal" test ! -s stderr
  json timing.json
  check "rules are read once" test "$(grep -c '"phase": "rules"' timing.json)" = 1
  expect 0 "warning MRV0010: --tiles has no effect: with --target host" compile "$digits" -o out2 --target host --tiles 4
  expect 0 "warning MRV0010: --external-data-dir 'nope' has no effect: it is no folder" compile "$digits" -o out2 --external-data-dir nope
  expect 0 "" compile "$digits" -o out2 --target host --tiles 4 -q
  check "-q is silent" test ! -s stderr
  expect 0 "wrote out2: digits for cn10ka, 8 tiles, fp16" compile "$digits" -o out2 -v
  for line in placement regions cycles memory "warnings   0"; do
    check "-v tells of $line" grep -q "^$line" stderr
  done
  expect 0 "" compile "$digits" -o out2 -v --log-format json
  check "-v tells in JSON too" grep -q '"message":"warnings   0"' stderr
  json_lines stderr
  for arguments in "compile nope -o o" "compile" "frob" "compile $digits -o o --tiles x" "rules check broken.rules" \
    "verify $digits --tolerance 0" "compile $digits -o o --cpu nope"; do
    # shellcheck disable=SC2086
    "$mrvlc" $arguments --log-format json >/dev/null 2>stderr
    check "$arguments: says something" test -s stderr
    json_lines stderr
  done
  "$mrvlc" compile nope -o o --color always 2>stderr
  check "--color always colours" grep -q $'\x1b' stderr
  "$mrvlc" compile $'n\x1b[31mo\nmrvlc: error' -o o --rules $'\x07' 2>stderr
  check "a message is one line" test "$(wc -l <stderr)" = 1
  check "messages hold no control characters" test -z "$(tr -d '\n' <stderr | tr -dc '\000-\037\177')"
  "$mrvlc" compile "$digits" -o o --rules $'\x1b\n' 2>stderr
  check "nor do names in their text" test -z "$(tr -d '\n' <stderr | tr -dc '\000-\037\177')"
  "$mrvlc" compile nope -o o 2>stderr
  check "no colour without a terminal" test -z "$(grep $'\x1b' stderr)"
  for arguments in ops "rules list" "explain out" "profile out" "--help" "compile --help" --version; do
    # shellcheck disable=SC2086
    "$mrvlc" $arguments >/dev/full 2>stderr
    check "$arguments >/dev/full exits with 3" test $? = 3
    # shellcheck disable=SC2086
    "$mrvlc" $arguments >&- 2>stderr
    check "$arguments >&- exits with 3" test $? = 3
  done
}

log_level() {
  local phase
  expect 0 "" compile "$digits" -q -o logged0
  expect 2 "--log-level" compile "$digits" -q -o o --log-level loud
  MRVLC_LOG_LEVEL=loud expect 2 "MRVLC_LOG_LEVEL: 'loud' is no level; levels are off, info, debug, trace" compile "$digits" -q -o o
  absent o
  MRVLC_LOG_LEVEL=debug expect 0 "" compile "$digits" -q -o logged --log-level off
  check "--log-level wins over the variable, and off is silent" test ! -s stderr
  MRVLC_LOG_LEVEL=info expect 0 "" compile "$digits" -q -o logged
  check "the log is not on stdout" test ! -s stdout
  for phase in options import passes partition codegen simulate host write; do
    check "info tells of the phase $phase" grep -qE "\[info\] phase $phase: [0-9.]+ s, [0-9.]+ s of the processor, [0-9]+ MiB" stderr
  done
  check "info tells of no pass" test -z "$(grep 'pass ' stderr)"
  check "nothing of it is in OUT" diff -r logged0 logged
  expect 0 "] [debug] pass fold-batchnorm: " compile "$digits" -q -o logged --log-level debug
  check "debug tells of each node" grep -qE "\[debug\] node 'conv1' \(Conv\): region 0: " stderr
  check "debug tells of schedules" grep -qE "\[debug\] digits_region0: room at .*: [0-9]+ cycles, [0-9]+ by estimate" stderr
  check "debug tells of no rule" test -z "$(grep 'rule .* takes it' stderr)"
  check "nothing of it is in OUT" diff -r logged0 logged
  expect 0 "] [trace]   rule " compile "$digits" -q -o logged --log-level trace
  check "nothing of it is in OUT" diff -r logged0 logged
  expect 0 '"severity":"debug"' compile "$digits" -q -o logged --log-level debug --log-format json
  json_lines stderr
  expect 1 "] [info] phase import: " compile text.onnx -o o --log-level info
}

same_bytes() {
  compile -o emit1 --emit ir --emit disasm
  compile -o emit2 --emit disasm --emit ir --emit disasm
  check "the same bytes for any order of --emit" diff -r emit1 emit2
  compile -o first && mkdir elsewhere
  (cd elsewhere && env LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo "$mrvlc" compile "$digits" -q -o second -j 3)
  check "the same bytes in another folder, locale and -j" diff -r first elsewhere/second
  compile -o again --placement first/placement.json
  check "the same bytes when placement.json is given back" diff -r -x manifest.json first again
  sed -i '0,/"where": "accelerator"/s//"where": "cpu"/' again/placement.json
  compile -o edited --placement again/placement.json
  check "an edited placement.json moves a node" test "$(grep -c '"where": "cpu"' edited/placement.json)" -gt "$(grep -c '"where": "cpu"' first/placement.json)"
  check "and says so" grep -q '"on": "cpu"' edited/placement.json
  sed 's/"schema"/"constraints": [], "constraints": [], "schema"/' first/placement.json >twice.json
  expect 2 "error MRV0413: 'twice.json' is no file for --placement: 'constraints' is given twice" compile "$digits" -o o --placement twice.json
  compile -o host --target host
  check "report.json of the host" grep -q '"name": "host"' host/report.json
  check "the host computes in fp32" grep -q '"precision": "fp32"' host/report.json
  for file in first host; do
    for report in idmap placement report manifest; do json $file/$report.json; done
  done
}

interrupts() {
  printf '#!/bin/sh\nsleep 30\n' >slow-cc && chmod +x slow-cc
  timeout -s INT --preserve-status 0.5 "$mrvlc" run out --input "image=$images" --repeat-axis0 --output-dir r \
    --cc "$work/slow-cc" 2>stderr
  check "an interrupt exits with 130" test $? = 130
  check "an interrupt says so" grep -q interrupted stderr
  check "an interrupt leaves no temporary folder" test -z "$(ls "$TMPDIR")"
}

calibrate_host() {
  expect 0 "functions of 1 model" calibrate-host "$digits" -o host.json --bench 3 --cflags -O1 --name mine
  json host.json
  check "a host model has the name that was asked for" grep -q '"name": "mine"' host.json
  expect 0 "" compile "$digits" -o out3 --partition cost --host-model host.json
  expect 2 "MRV0004" calibrate-host "$digits" -o "$digits"
  expect 3 "MRV0001: nope.onnx: cannot open" calibrate-host nope.onnx -o none.json
  check "no half a host model" test ! -e none.json
  timeout -s INT --preserve-status 0.5 "$mrvlc" calibrate-host "$digits" -o none.json --cc "$work/slow-cc" 2>stderr
  check "calibrate-host is interrupted" test $? = 130
  check "and leaves no file" test ! -e none.json
}

command_line
models
output_folder
limits_of_process
compile -o out || exit 1
gates
run_command
queries
tables
included_rules
messages
log_level
same_bytes
interrupts
calibrate_host
check "no temporary folders stay" test -z "$(ls "$TMPDIR")"
echo "$checks checks, $failures failures"
[ $failures = 0 ]
