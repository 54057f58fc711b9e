#!/usr/bin/env bash
# The dependency arrows of docs/architecture.md: what each component may include of the others. Also: operators are named by
# their symbols, and files say what they are for. Sizes are those of check_sizes.py.
set -euo pipefail
cd "$1"
declare -A may=(
  [support]="" [alloc]="support" [tensor]="support" [ir]="tensor support" [isa]="tensor support" [target]="tensor support" [cost]="isa target tensor support"
  [ops]="ir tensor support" [interp]="ops ir tensor support" [calibration]="interp ops ir tensor support" [onnx]="interp ops ir tensor support"
  [passes]="interp ops ir tensor support" [range]="ops ir tensor support" [rules]="range ops ir tensor support"
  [partition]="rules range ops target ir tensor support"
  [backend]="partition report rules target ir tensor support"
  [accel]="alloc backend cost partition rules ops isa target ir tensor support"
  [plugin]="support" [vendor]="partition rules ops target ir tensor support" [backends]="accel backend plugin vendor cost isa partition report rules sim target ops ir tensor support"
  [sim]="cost isa target tensor support"
  [chost]="alloc backend partition ops ir tensor support target"
  [idmap]="backend chost partition ops target ir tensor support"
  [runtime]="sim isa plugin target tensor support"
  [report]="support" [conformance]="driver onnx backends backend partition chost passes interp target ops ir tensor support"
)
fail=0
for component in "${!may[@]}"; do
  [ -d "lib/$component" ] || continue
  folders=("lib/$component")
  [ -d "include/mrvlc/$component" ] && folders+=("include/mrvlc/$component")
  used=$( (grep -rhoE '#include "mrvlc/[a-z]+/' "${folders[@]}" || true) | sed -E 's|.*mrvlc/([a-z]+)/|\1|' | sort -u)
  for u in $used; do
    [ "$u" = "$component" ] && continue
    if ! grep -qw "$u" <<<"${may[$component]}"; then
      echo "lib/$component includes mrvlc/$u, which docs/architecture.md does not allow"
      fail=1
    fi
  done
done
# Targets are known by their interface (mrvlc/backend): nothing else names the accelerator, its instruction set or its simulator.
# lib/cost is the model of time that these two share; apps/mrvlc-opt prints the accelerator's stages.
inside='^(lib|include/mrvlc)/(accel|isa|sim|cost|runtime|backends)/|^apps/mrvlc-opt/stages\.'
named=$(git ls-files 'lib/*.cpp' 'lib/*.h' 'include/mrvlc/*.h' 'apps/*.cpp' 'apps/*.h' | grep -vE "$inside" | while read -r file; do
  sed -E 's|//.*||' "$file" | grep -nE '\b(accel|isa|sim|cost)::|mrvlc/(accel|isa|sim|cost)/|cn10ka' | sed "s|^|$file:|"
done || true)
if [ -n "$named" ]; then
  echo "$named"
  echo "a target is named outside its back end"
  fail=1
fi
# Rooms of lib/accel; what lies above them (compile.cpp, schedule.cpp) uses all.
declare -A rooms=(
  [legal]="" [primitive]="legal" [plan]="primitive" [lower]="plan primitive" [code]="plan primitive" [place]="code plan primitive"
  [bound]="lower primitive" [text]="code plan primitive"
)
for folder in lib/accel/*/; do
  room=$(basename "$folder")
  if [ -z "${rooms[$room]+known}" ]; then
    echo "lib/accel/$room is no room of docs/accelerator-backend.md"
    fail=1
    continue
  fi
  for u in $( (grep -rhoE '#include "([a-z]+/)?[a-z_]+\.h"' "$folder" || true) | sed -E 's|#include "([a-z_]+).*|\1|' | sort -u); do
    if [ "$u" != "$room" ] && ! grep -qw "$u" <<<"${rooms[$room]}"; then
      echo "lib/accel/$room includes $u, which docs/accelerator-backend.md does not allow"
      fail=1
    fi
  done
done
# What the families of lib/ops share knows none of them.
if grep -rnE '#include "[a-z]+/[a-z_]+\.h"' lib/ops/common | grep -vE '"(common|mrvlc)/'; then
  echo "lib/ops/common includes a family of operators"
  fail=1
fi
while read -r files folder; do
  if [ "$files" -gt 40 ]; then
    echo "$folder has $files files: which rooms has it?"
    fail=1
  fi
done < <(git ls-files 'lib/*.cpp' 'lib/*.h' 'lib/*.c' | xargs -n1 dirname | sort | uniq -c)
if grep -rlE 'onnx\.pb\.h|google/protobuf' lib include apps | grep -v '^lib/onnx/'; then
  echo "protobuf is seen outside lib/onnx"
  fail=1
fi
# The first line of a source file says what it is for; that of a .cpp also where its header has said it of the component: which
# part of it stands there. C headers have /* */.
while read -r file; do
  IFS= read -r first <"$file" || true
  if [[ "$first" != "// "?* && ("$file" == *.cpp || "$first" != "/* "?*) ]]; then
    echo "$file does not open with a comment that says what it is for"
    fail=1
  fi
done < <(git ls-files 'lib/*.cpp' 'lib/*.h' 'include/*.h' 'apps/*.cpp' 'apps/*.h')
# Operators are symbols: their names stand in the table, where models are read (lib/onnx), in rules and in tests.
operators=$(sed -nE 's/^MRVLC_OP\((\w+)\)$/\1/p' include/mrvlc/ops/ops.def | paste -sd'|')
if grep -rnE "\"($operators)\"" lib include apps --include='*.cpp' --include='*.h' | grep -vE '^lib/(ops|onnx)/'; then
  echo "an operator is named by a string; write Op::Name"
  fail=1
fi
exit "$fail"
