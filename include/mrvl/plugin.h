/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in: a target that a shared library describes. mrvlc asks it which layers it takes, what they cost,
 * and for the bytes of a region; programs and tests run these bytes through it.
 *
 * The library exports mrvl_plugin_open. Every structure begins with its size, where whoever fills it in was
 * compiled: new members come at the end, and both sides look at the size before they touch one. Memory
 * belongs to the side that gave it and is valid until the next call of the same function; texts are UTF-8
 * and end in 0. mrvlc calls a plug-in from one thread at a time, a device from as many as a program has,
 * with one handle each. C99. */
#ifndef MRVL_PLUGIN_H
#define MRVL_PLUGIN_H

#include "mrvl/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version 2 added members at the ends of mrvl_plugin_region, mrvl_plugin_code and mrvl_plugin. Plug-ins of
 * version 1 still load; another version is refused. */
#define MRVL_PLUGIN_VERSION 2

/* A tensor of a region, row-major. */
typedef struct mrvl_plugin_value {
  uint32_t size;
  int32_t
      elem; /* ONNX's number of the element type: 1 float32, 10 float16, 3 int8, 2 uint8, 6 int32, 7 int64 */
  const char* name;
  const int64_t* dims;
  uint32_t rank;
  const void* data; /* of a constant; null: it is computed at run time */
  uint64_t bytes;
} mrvl_plugin_value;

/* Of a kind: `count` numbers in ints or floats, or `count` bytes of text. */
typedef struct mrvl_plugin_attribute {
  uint32_t size;
  const char* name;
  const int64_t* ints;
  const float* floats;
  const char* text;
  size_t count;
} mrvl_plugin_attribute;

#define MRVL_PLUGIN_NONE 0xffffffffu

/* An operator, as mrvlc has it behind its passes: ONNX's newest form of it (docs/ir.md). */
typedef struct mrvl_plugin_node {
  uint32_t size;
  const char *name, *op_type, *domain;
  const uint32_t *inputs, *outputs; /* indices of values; MRVL_PLUGIN_NONE: an operand that is not given */
  uint32_t input_count, output_count;
  const mrvl_plugin_attribute* attributes;
  uint32_t attribute_count;
} mrvl_plugin_node;

/* What a rule of the package matched. */
typedef struct mrvl_plugin_layer {
  uint32_t size;
  const char *rule, *kind; /* "relu_layers"; the word behind `layer` */
  const uint32_t* nodes;   /* indices, in an order of execution */
  uint32_t node_count;
  uint32_t anchor; /* the first node of the pattern */
} mrvl_plugin_layer;

/* What a name of the rule stands for. */
typedef struct mrvl_plugin_capture {
  uint32_t size;
  const char* name; /* as in the rule, without '%' */
  uint32_t layer;
  uint32_t node;  /* index; MRVL_PLUGIN_NONE where the name is an operand, or an operator that is not there */
  uint32_t value; /* index: the operand, or the first result of the node */
} mrvl_plugin_capture;

typedef struct mrvl_plugin_region {
  uint32_t size;
  const mrvl_plugin_value* values;
  const mrvl_plugin_node* nodes;
  const mrvl_plugin_layer* layers; /* in an order of execution */
  uint32_t value_count, node_count, layer_count;
  const uint32_t *inputs, *outputs; /* indices of values, in the order of the ports */
  uint32_t input_count, output_count;
  /* Since version 2: those of each layer one after the other. */
  const mrvl_plugin_capture* captures;
  uint32_t capture_count;
} mrvl_plugin_region;

/* A setting that target.json declares under "options": what --target-opt NAME.KEY=VALUE said, or the default.
 */
typedef struct mrvl_plugin_option {
  uint32_t size;
  const char *key, *value;
} mrvl_plugin_option;

/* Why a layer is not taken; texts may be null. */
typedef struct mrvl_plugin_answer {
  uint32_t size;
  const char *condition, *actual, *limit; /* "kernel <= 7", "9", "7" */
  const char* reason;                     /* a sentence for the user */
} mrvl_plugin_answer;

/* Instructions [begin, end), however the target counts them, are of a node of a layer. */
typedef struct mrvl_plugin_range {
  uint32_t begin, end;
  uint32_t layer, node; /* indices into the region */
} mrvl_plugin_range;

typedef struct mrvl_plugin_code {
  uint32_t size;
  const void* bytes;
  uint64_t byte_count;
  const mrvl_plugin_range* ranges; /* cover every instruction, in order, without gaps */
  uint32_t range_count;
  uint64_t cycles; /* of an inference; 0: not known */
  /* Since version 2: cycles of each range, range_count numbers. They may overlap in time, so that their sum
   * may be more than `cycles`. May be null. */
  const uint64_t* range_cycles;
} mrvl_plugin_code;

typedef struct mrvl_plugin {
  uint32_t version; /* MRVL_PLUGIN_VERSION */
  uint32_t size;    /* sizeof(mrvl_plugin) */
  const char* name; /* of the target */
  void* context;    /* the plug-in's own, handed to each function */

  /* A text about the last call that failed. May be null. */
  const char* (*error)(void* context);
  /* The region is one layer. 1: it is taken, and encode must then succeed for any region of such layers; 0:
   * it is not, and *answer says why; below 0: an error. */
  int (*legal)(void* context, const mrvl_plugin_region* layer, mrvl_plugin_answer* answer);
  /* Seconds of a region on the target. 0: *seconds is set. May be null. */
  int (*cost)(void* context, const mrvl_plugin_region* region, double* seconds);
  /* 0: *code is set. */
  int (*encode)(void* context, const mrvl_plugin_region* region, mrvl_plugin_code* code);
  /* One inference by the bytes that encode gave, as the target would: ports in the order of the region, each
   * row-major in its own type. 0: outputs are written. May be null: nothing of it runs here then. */
  int (*run)(void* context, const void* bytes, uint64_t byte_count, const mrvl_input* inputs,
             size_t input_count, const mrvl_output* outputs, size_t output_count);

  /* Since version 2; each may be null. */
  /* Before every other function: all options of the package, in the order of target.json. 0: they are taken.
   * `run` is not told: what it needs, the bytes of encode say. */
  int (*configure)(void* context, const mrvl_plugin_option* options, uint32_t count);
  /* One line for an instruction, at most `room` bytes with its 0. 0: text is written. */
  int (*disassemble)(void* context, const void* bytes, uint64_t byte_count, uint32_t instruction, char* text,
                     size_t room);
} mrvl_plugin;

/* The table, valid while the library is loaded. Null: it cannot be used. */
const mrvl_plugin* mrvl_plugin_open(void);

#ifdef __cplusplus
}
#endif

#endif /* MRVL_PLUGIN_H */
