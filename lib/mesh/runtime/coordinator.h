/* SPDX-License-Identifier: Apache-2.0 */
/* What a mesh program knows of its network: tables.c has it. */
#ifndef MESH_COORDINATOR_H
#define MESH_COORDINATOR_H

#include "mrvl/pe.h"

/* The host's tasks, in the place of a number of a task. */
#define MESH_FEED 0xfffffffeu
#define MESH_COLLECT 0xffffffffu

struct mesh_counts {
  uint32_t pes, tasks, edges, inputs, outputs;
};
struct mesh_pe {
  const struct mrvl_program* program;
  uint32_t chip, core;
  uint32_t blob_offset, blob_bytes; /* in weights.bin; the memory begins with it */
};
struct mesh_task {
  uint32_t pe;
  const char* node; /* of the model */
};
/* `count` pieces of `run` bytes go from the result of a task to an operand of another. Image i goes to slot i
 * % credits. */
struct mesh_edge {
  uint32_t from, to, from_port, port;
  uint32_t count, run, from_offset, from_step, to_offset, to_step, slot_bytes, credits;
};
/* An input or output of the model: element (row, x, channel) of `size` is at the sum of their products with
 * `strides`. */
struct mesh_port {
  const char *file, *type; /* without .npy; its descr */
  uint32_t element_bytes, rank;
  const uint32_t* shape;
  uint32_t size[3], strides[3];
};

extern const struct mesh_counts mesh_counts;
extern const struct mesh_pe mesh_pes[];
extern const struct mesh_task mesh_tasks[];
extern const struct mesh_edge mesh_edges[];
extern const struct mesh_port mesh_inputs[], mesh_outputs[];

/* values.c. Bytes of one image, as the mesh stores it. */
size_t mesh_port_bytes(const struct mesh_port* port);
/* All images of a .npy file; `repeat`: the file has several along its first dimension. NULL: a message was
 * printed. */
unsigned char* mesh_read(const struct mesh_port* port, const char* file, int repeat, uint32_t* images);
/* Whole or not at all; 0: a message was printed. */
int mesh_write(const struct mesh_port* port, const char* folder, const unsigned char* values, uint32_t images,
               int repeat);

#endif
