/* The plug-in of target tiny: int8 convolutions between QuantizeLinear and DequantizeLinear, by version 2 of
 * the interface. Its bytes are a step for each layer, then the constants as they are in the model. With
 * -DFAULT=N one of its later functions is wrong: which, stands in quantised.py. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mrvl/plugin.h"

#ifndef FAULT
#define FAULT 0
#endif

typedef struct {
  uint32_t from, to;                      /* slots: inputs of the region, outputs, values between layers */
  uint32_t bytes, scales, with_bias;      /* of the result; of the weights */
  int32_t channels, height, width;        /* of what is read */
  int32_t filters, out_height, out_width; /* of the result */
  int32_t kernel[2], pads[2], strides[2], relu;
  float sx, sy;
  int32_t zx, zy;
} step;

static struct {
  unsigned char bytes[1 << 20];
  mrvl_plugin_range ranges[64];
  uint64_t cycles[64];
  char board[16];
  int strict, configured;
  const char* error;
} state = {{0}, {{0}}, {0}, "", 0, 0, ""};

static const char* error(void* context) {
  (void)context;
  return state.error;
}

static int configure(void* context, const mrvl_plugin_option* options, uint32_t count) {
  (void)context;
#if FAULT == 1
  state.error = "no such board";
  return -1;
#elif FAULT == 2
  exit(0);
#elif FAULT == 3
  abort();
#endif
  if (count != 2 || strcmp(options[0].key, "board") != 0 || strcmp(options[1].key, "strict") != 0) abort();
  snprintf(state.board, sizeof state.board, "%s", options[0].value);
  state.strict = strcmp(options[1].value, "true") == 0;
  state.configured = 1;
  return 0;
}

static const mrvl_plugin_capture* capture(const mrvl_plugin_region* r, uint32_t layer, const char* name) {
  for (uint32_t i = 0; i < r->capture_count; ++i)
    if (r->captures[i].layer == layer && strcmp(r->captures[i].name, name) == 0) return &r->captures[i];
  return NULL;
}

/* Of an operand that is not there null. */
static const mrvl_plugin_value* value(const mrvl_plugin_region* r, uint32_t layer, const char* name) {
  const mrvl_plugin_capture* c = capture(r, layer, name);
  return c == NULL || c->value == MRVL_PLUGIN_NONE ? NULL : &r->values[c->value];
}

/* A list that the model does not give is empty. */
static int32_t attribute(const mrvl_plugin_region* r, uint32_t layer, const char* name, int i,
                         int32_t missing) {
  const mrvl_plugin_node* conv = &r->nodes[capture(r, layer, "c")->node];
  for (uint32_t a = 0; a < conv->attribute_count; ++a)
    if (strcmp(conv->attributes[a].name, name) == 0 && conv->attributes[a].count > (size_t)i)
      return (int32_t)conv->attributes[a].ints[i];
  return missing;
}

static int legal(void* context, const mrvl_plugin_region* r, mrvl_plugin_answer* answer) {
  (void)context;
  if (!state.configured) abort();
  answer->condition = "weights";
  answer->reason = "tiny takes constant weights of int8.";
  const mrvl_plugin_value* w = value(r, 0, "w");
  if (w == NULL || w->data == NULL || w->elem != 3 || w->rank != 4) return 0;
  answer->condition = "relu";
  answer->reason = "tiny is strict and takes no Relu.";
  return !state.strict || capture(r, 0, "r")->node == MRVL_PLUGIN_NONE;
}

static float number(const mrvl_plugin_value* v) {
  float out;
  memcpy(&out, v->data, sizeof out);
  return out;
}

static void fill(step* s, const mrvl_plugin_region* r, uint32_t l) {
  const mrvl_plugin_value *x = value(r, l, "x"), *w = value(r, l, "w"), *q = value(r, l, "q");
  s->channels = (int32_t)x->dims[1], s->height = (int32_t)x->dims[2], s->width = (int32_t)x->dims[3];
  s->filters = (int32_t)q->dims[1], s->out_height = (int32_t)q->dims[2], s->out_width = (int32_t)q->dims[3];
  for (int i = 0; i < 2; ++i) {
    s->kernel[i] = (int32_t)w->dims[2 + i];
    s->pads[i] = attribute(r, l, "pads", i, 0);
    s->strides[i] = attribute(r, l, "strides", i, 1);
  }
  s->from = capture(r, l, "x")->value, s->to = capture(r, l, "q")->value;
  s->relu = capture(r, l, "r")->node != MRVL_PLUGIN_NONE;
  s->bytes = (uint32_t)q->bytes, s->scales = (uint32_t)(value(r, l, "sw")->bytes / 4);
  s->with_bias = value(r, l, "b") != NULL;
  s->sx = number(value(r, l, "sx")), s->sy = number(value(r, l, "sy"));
  s->zx = *(const int8_t*)value(r, l, "zx")->data, s->zy = *(const int8_t*)value(r, l, "zy")->data;
}

static unsigned char* put(unsigned char* to, const void* data, size_t bytes) {
  memcpy(to, data, bytes);
  return to + bytes;
}

static int encode(void* context, const mrvl_plugin_region* r, mrvl_plugin_code* code) {
  static const char* const constants[] = {"w", "sw", "b", "sb", "sx", "zx", "sy", "zy"};
  (void)context;
  unsigned char* to = put(state.bytes, state.board, sizeof state.board);
  to = put(to, &r->layer_count, 4);
  to = put(to, &r->inputs[0], 4);
  to = put(to, &r->outputs[0], 4);
  for (uint32_t l = 0; l < r->layer_count; ++l) {
    step s;
    memset(&s, 0, sizeof s);
    fill(&s, r, l);
    to = put(to, &s, sizeof s);
    const mrvl_plugin_range range = {l, l + 1, l, capture(r, l, "c")->node};
    state.ranges[l] = range;
    state.cycles[l] = 60;
  }
  for (uint32_t l = 0; l < r->layer_count; ++l)
    for (size_t c = 0; c < sizeof constants / sizeof *constants; ++c) {
      const mrvl_plugin_value* v = value(r, l, constants[c]);
      if (v != NULL && v->data != NULL) to = put(to, v->data, (size_t)v->bytes);
    }
  code->bytes = state.bytes;
  code->byte_count = (uint64_t)(to - state.bytes);
  code->ranges = state.ranges;
  code->range_count = r->layer_count;
  code->cycles = 100;
  code->range_cycles = state.cycles;
#if FAULT == 4
  state.cycles[0] = 101;
#elif FAULT == 5
  static uint64_t calls = 0;
  state.cycles[0] = ++calls;
#endif
  return 0;
}

static float of(const unsigned char* numbers, int32_t i) {
  float out;
  memcpy(&out, numbers + 4 * i, sizeof out);
  return out;
}

/* One layer; *constants moves behind what it reads. */
static void convolve(const step* s, const int8_t* x, int8_t* y, const unsigned char** constants) {
  const int32_t count = s->filters * s->channels * s->kernel[0] * s->kernel[1];
  const int8_t* w = (const int8_t*)*constants;
  const unsigned char* sw = *constants + count;
  const unsigned char* b = sw + 4 * s->scales;
  const unsigned char* sb = b + (s->with_bias ? 4 * s->filters : 0);
  *constants = sb + (s->with_bias ? 4 * s->scales : 0) + 10;
  for (int32_t o = 0; o < s->filters; ++o)
    for (int32_t p = 0; p < s->out_height * s->out_width; ++p) {
      const float scale = of(sw, s->scales == 1 ? 0 : o);
      int32_t sum = 0, bias = 0;
      for (int32_t k = 0; k < s->channels * s->kernel[0] * s->kernel[1]; ++k) {
        const int32_t c = k / (s->kernel[0] * s->kernel[1]), at = k % (s->kernel[0] * s->kernel[1]);
        const int32_t v = p / s->out_width * s->strides[0] - s->pads[0] + at / s->kernel[1];
        const int32_t u = p % s->out_width * s->strides[1] - s->pads[1] + at % s->kernel[1];
        if (v < 0 || v >= s->height || u < 0 || u >= s->width) continue;
        sum += w[o * (count / s->filters) + k] * (x[(c * s->height + v) * s->width + u] - s->zx);
      }
      if (s->with_bias) memcpy(&bias, b + 4 * o, 4);
      double result =
          (double)sum * s->sx * scale + (s->with_bias ? bias * (double)of(sb, s->scales == 1 ? 0 : o) : 0);
      if (s->relu && result < 0) result = 0;
      result = nearbyint(result / s->sy) + s->zy;
      y[o * s->out_height * s->out_width + p] = (int8_t)(result < -128 ? -128 : result > 127 ? 127 : result);
    }
}

static int run(void* context, const void* bytes, uint64_t byte_count, const mrvl_input* inputs,
               size_t input_count, const mrvl_output* outputs, size_t output_count) {
  const unsigned char* at = (const unsigned char*)bytes + sizeof state.board;
  int8_t* slots[64] = {NULL};
  uint32_t layers, in, out;
  (void)context, (void)byte_count, (void)input_count, (void)output_count;
  memcpy(&layers, at, 4), memcpy(&in, at + 4, 4), memcpy(&out, at + 8, 4);
  at += 12;
  const unsigned char* constants = at + layers * sizeof(step);
  for (uint32_t l = 0; l < layers; ++l) {
    step s;
    memcpy(&s, at + l * sizeof s, sizeof s);
    slots[s.to] = malloc(s.bytes);
    convolve(&s, s.from == in ? inputs[0].data : slots[s.from], slots[s.to], &constants);
  }
  memcpy(outputs[0].data, slots[out], outputs[0].bytes);
  for (size_t i = 0; i < 64; ++i) free(slots[i]);
  return 0;
}

static int disassemble(void* context, const void* bytes, uint64_t byte_count, uint32_t instruction,
                       char* text, size_t room) {
  (void)context, (void)byte_count;
#if FAULT == 6
  memset(text, 'x', room);
  return 0;
#elif FAULT == 7
  memset(text, 0, room + 1);
  return 0;
#elif FAULT == 8
  state.error = "no such instruction";
  return -1;
#endif
  snprintf(text, room, "conv\t%u on %s", instruction, (const char*)bytes);
  return 0;
}

const mrvl_plugin* mrvl_plugin_open(void) {
  static mrvl_plugin table = {
      MRVL_PLUGIN_VERSION, sizeof table, "tiny", NULL, error, legal, NULL, encode, run,
      configure,           disassemble};
#if FAULT == 9
  table.version = 1;
  table.size = offsetof(mrvl_plugin, configure);
#elif FAULT == 10
  table.configure = NULL;
#endif
  return &table;
}
