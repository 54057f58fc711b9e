/* The plug-in of target NAME: what it takes, what that costs, its bytes, and a model of the machine that runs
 * them. It computes Relu, Add and Mul of float32 tensors of one shape, one after the other: replace these
 * parts by your own. The interface, of which this is version 2, and what each function must do:
 * mrvl/plugin.h. C99. */
#include "mrvl/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OP_RELU = 1, OP_ADD = 2, OP_MUL = 3 };

/* A program: a head, a place for each input, output and constant, instructions, and the constants' numbers.
 * Places count floats from the start of the machine's memory. */
typedef struct {
  uint32_t floats, inputs, outputs, constants, instructions;
} head;
typedef struct {
  uint32_t at, count;
} place;
typedef struct {
  uint32_t op, a, b, to, count;
} instruction;

static struct {
  const char* error;
  unsigned char* bytes; /* of the last encode */
  mrvl_plugin_range* ranges;
  uint64_t* cycles; /* of each range */
} state = {"", NULL, NULL, NULL};

static int fail(const char* why) {
  state.error = why;
  return -1;
}

static const char* error(void* context) {
  (void)context;
  return state.error;
}

static uint32_t operation(const mrvl_plugin_node* node) {
  if (strcmp(node->op_type, "Relu") == 0) return OP_RELU;
  if (strcmp(node->op_type, "Add") == 0) return OP_ADD;
  if (strcmp(node->op_type, "Mul") == 0) return OP_MUL;
  return 0;
}

static int refuse(mrvl_plugin_answer* answer, const char* condition, const char* reason) {
  answer->condition = condition;
  answer->reason = reason;
  return 0;
}

static int legal(void* context, const mrvl_plugin_region* layer, mrvl_plugin_answer* answer) {
  (void)context;
  for (uint32_t n = 0; n < layer->node_count; ++n) {
    const mrvl_plugin_node* node = &layer->nodes[n];
    if (operation(node) == 0) return refuse(answer, "operator", "NAME computes Relu, Add and Mul alone.");
    for (uint32_t i = 0; i < node->input_count; ++i) {
      const mrvl_plugin_value *in = &layer->values[node->inputs[i]], *out = &layer->values[node->outputs[0]];
      if (in->elem != 1) return refuse(answer, "element type", "NAME computes in float32 alone.");
      if (in->bytes != out->bytes) return refuse(answer, "shape", "The operands of NAME have one shape.");
    }
  }
  return 1;
}

static uint64_t cycles_of_node(const mrvl_plugin_region* region, uint32_t n) {
  return 10 + region->values[region->nodes[n].outputs[0]].bytes / 4 / 16; /* 16 numbers a cycle */
}

static uint64_t cycles_of(const mrvl_plugin_region* region) {
  uint64_t cycles = 0;
  for (uint32_t n = 0; n < region->node_count; ++n) cycles += cycles_of_node(region, n);
  return cycles;
}

static int cost(void* context, const mrvl_plugin_region* region, double* seconds) {
  (void)context;
  *seconds = (double)cycles_of(region) / 1e9;
  return 0;
}

static uint32_t count_of(const mrvl_plugin_value* value) {
  return (uint32_t)(value->bytes / 4);
}

/* Also when the compiler closes the plug-in. */
__attribute__((destructor)) static void forget(void) {
  free(state.bytes);
  free(state.ranges);
  free(state.cycles);
}

static int encode(void* context, const mrvl_plugin_region* region, mrvl_plugin_code* code) {
  (void)context;
  uint32_t* at = malloc((region->value_count + 1) * sizeof *at);
  head h = {0, region->input_count, region->output_count, 0, region->node_count};
  uint64_t numbers = 0;
  if (!at) return fail("out of memory");
  for (uint32_t v = 0; v < region->value_count; ++v) {
    at[v] = h.floats;
    h.floats += count_of(&region->values[v]);
    if (region->values[v].data) ++h.constants, numbers += region->values[v].bytes;
  }
  const uint64_t size = sizeof h + (h.inputs + h.outputs + h.constants) * sizeof(place) +
                        h.instructions * sizeof(instruction) + numbers;
  forget();
  state.bytes = malloc((size_t)size);
  state.ranges = malloc((region->node_count + 1) * sizeof *state.ranges);
  state.cycles = malloc((region->node_count + 1) * sizeof *state.cycles);
  if (!state.bytes || !state.ranges || !state.cycles) return free(at), fail("out of memory");
  unsigned char* to = state.bytes;
#define PUT(item) (memcpy(to, &(item), sizeof(item)), to += sizeof(item))
#define PLACE(v)                                            \
  do {                                                      \
    const place p_ = {at[v], count_of(&region->values[v])}; \
    PUT(p_);                                                \
  } while (0)
  PUT(h);
  for (uint32_t i = 0; i < h.inputs; ++i) PLACE(region->inputs[i]);
  for (uint32_t i = 0; i < h.outputs; ++i) PLACE(region->outputs[i]);
  for (uint32_t v = 0; v < region->value_count; ++v)
    if (region->values[v].data) PLACE(v);
  uint32_t begin = 0;
  for (uint32_t l = 0; l < region->layer_count; ++l) {
    for (uint32_t k = 0; k < region->layers[l].node_count; ++k) {
      const uint32_t n = region->layers[l].nodes[k];
      const mrvl_plugin_node* node = &region->nodes[n];
      const instruction i = {operation(node), at[node->inputs[0]], at[node->inputs[node->input_count - 1]],
                             at[node->outputs[0]], count_of(&region->values[node->outputs[0]])};
      PUT(i);
      state.ranges[begin].begin = begin;
      state.ranges[begin].end = begin + 1;
      state.ranges[begin].layer = l;
      state.ranges[begin].node = n;
      state.cycles[begin] = cycles_of_node(region, n);
      ++begin;
    }
  }
  for (uint32_t v = 0; v < region->value_count; ++v) {
    if (!region->values[v].data) continue;
    memcpy(to, region->values[v].data, (size_t)region->values[v].bytes);
    to += region->values[v].bytes;
  }
  free(at);
  code->bytes = state.bytes;
  code->byte_count = size;
  code->ranges = state.ranges;
  code->range_count = begin;
  code->cycles = cycles_of(region);
  code->range_cycles = state.cycles;
  return 0;
}

/* Where the instructions of a program begin. */
static const unsigned char* code_of(const unsigned char* program, const head* h) {
  return program + sizeof *h + (h->inputs + h->outputs + h->constants) * sizeof(place);
}

/* A line of the listing. */
static int disassemble(void* context, const void* bytes, uint64_t byte_count, uint32_t number, char* text,
                       size_t room) {
  static const char* const names[] = {"?", "relu", "add", "mul"};
  (void)context;
  head h;
  instruction i;
  if (byte_count < sizeof h) return fail("no program");
  memcpy(&h, bytes, sizeof h);
  if (number >= h.instructions) return fail("no such instruction");
  memcpy(&i, code_of(bytes, &h) + number * sizeof i, sizeof i);
  snprintf(text, room, "%s %u, %u -> %u, %u numbers", names[i.op <= OP_MUL ? i.op : 0], (unsigned)i.a,
           (unsigned)i.b, (unsigned)i.to, (unsigned)i.count);
  return 0;
}

static void execute(const instruction* i, float* memory) {
  for (uint32_t k = 0; k < i->count; ++k) {
    const float a = memory[i->a + k], b = memory[i->b + k];
    memory[i->to + k] = i->op == OP_RELU ? (a > 0 ? a : 0) : i->op == OP_ADD ? a + b : a * b;
  }
}

/* The machine. A driver for real hardware does the same over its registers (mrvl/device.h). */
static int run(void* context, const void* bytes, uint64_t byte_count, const mrvl_input* inputs,
               size_t input_count, const mrvl_output* outputs, size_t output_count) {
  (void)context;
  const unsigned char* from = bytes;
  head h;
  place p;
  if (byte_count < sizeof h) return fail("no program");
  memcpy(&h, from, sizeof h);
  if (h.inputs != input_count || h.outputs != output_count) return fail("other ports");
  const unsigned char *places = from + sizeof h, *code = code_of(from, &h);
  const unsigned char* numbers = code + h.instructions * sizeof(instruction);
  float* memory = calloc(h.floats + 1, sizeof *memory);
  if (!memory) return fail("out of memory");
  for (uint32_t i = 0; i < h.inputs + h.outputs + h.constants; ++i) {
    memcpy(&p, places + i * sizeof p, sizeof p);
    if (i < h.inputs) memcpy(memory + p.at, inputs[i].data, p.count * sizeof(float));
    if (i < h.inputs + h.outputs) continue;
    memcpy(memory + p.at, numbers, p.count * sizeof(float));
    numbers += p.count * sizeof(float);
  }
  for (uint32_t i = 0; i < h.instructions; ++i) {
    instruction next;
    memcpy(&next, code + i * sizeof next, sizeof next);
    execute(&next, memory);
  }
  for (uint32_t i = 0; i < h.outputs; ++i) {
    memcpy(&p, places + (h.inputs + i) * sizeof p, sizeof p);
    memcpy(outputs[i].data, memory + p.at, p.count * sizeof(float));
  }
  free(memory);
  return 0;
}

const mrvl_plugin* mrvl_plugin_open(void) {
  static const mrvl_plugin table = {
      MRVL_PLUGIN_VERSION, sizeof table, "NAME", NULL, error, legal, cost, encode, run, NULL, disassemble};
  return &table;
}
