"""A C program that runs a stub for some steps, with states in one memory, or in two that it copies itself."""

TEXT = """
#include "m.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* block(size_t bytes) {{ return calloc(1, bytes); }}
static void take(void* to, size_t bytes, FILE* f) {{ if (fread(to, 1, bytes, f) != bytes) exit(9); }}

int main(int argc, char** argv) {{
  const int apart = argc > 2, steps = {steps};
  FILE *in = fopen("in.bin", "rb"), *out = fopen(argv[1], "wb");
  void* arena = NULL;
  static unsigned char room[m_ARENA_BYTES + m_ARENA_ALIGN];
  m_inputs inputs;
  m_outputs outputs;
  m_error error;
  m_state* state = block(sizeof *state);
  arena = room + (m_ARENA_ALIGN - (size_t)room % m_ARENA_ALIGN) % m_ARENA_ALIGN;
  memset(state, 0x55, sizeof *state);
  m_state_reset(state);
{allocate}
  if (!apart) m_state_bind(state, &inputs, &outputs);
  for (int step = 0; step < steps; ++step) {{
{read}
    if (m_run(&inputs, &outputs, arena, NULL, NULL, NULL, &error) != 0) return 1;
{write}
    if (apart) {{
{copy}
    }}
  }}
  fclose(in);
  if (fclose(out) != 0) return 2;
{free}
  free(state);
  return 0;
}}
"""


def program(graph, steps):
    """Fields have the names of the tensors."""
    names, results, pairs = list(graph.inputs), list(graph.outputs), dict(graph.pairs)
    of_state = set(pairs.values())
    size = {n: f"m_INPUT{i}_BYTES" for i, n in enumerate(names)} | {n: f"m_OUTPUT{i}_BYTES" for i, n in enumerate(results)}
    lines = {
        "allocate": [f"  void* in_{n} = block({size[n]});\n  inputs.{n} = in_{n};" for n in names]
        + [f"  void* out_{n} = block({size[n]});\n  outputs.{n} = out_{n};" for n in results],
        "read": [f"    take(in_{n}, {size[n]}, in);" for n in names if n not in pairs],
        "write": [f"    fwrite(outputs.{n}, 1, {size[n]}, out);" for n in results],
        "copy": [f"      memcpy(in_{past}, out_{present}, {size[past]});" for past, present in graph.pairs],
        "free": [f"  free(in_{n});" for n in names] + [f"  free(out_{n});" for n in results],
    }
    assert of_state <= set(results)
    return TEXT.format(steps=steps, **{k: "\n".join(v) for k, v in lines.items()})
