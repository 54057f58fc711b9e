/* Model binaries, and memory of runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

int faults;
const char* now_testing = "";

void fault(const char* what) {
  printf("%s: %s\n", now_testing, what);
  ++faults;
}

static uint32_t number(const unsigned char* at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static size_t width(int type) {
  return type == 7 ? 2 : 4;
} /* fp16, else fp32 */

static const unsigned char* port_at(const unsigned char* file, size_t first, size_t more, size_t i) {
  return file + (i < 8 ? first + 64 * i : more + 64 * (i - 8));
}

int read_program(const char* path, program* p) {
  FILE* f = fopen(path, "rb");
  if (!f) return 0;
  fseek(f, 0, SEEK_END);
  p->bytes = (size_t)ftell(f);
  rewind(f);
  p->binary = malloc(p->bytes + 1);
  const size_t got = p->binary ? fread(p->binary, 1, p->bytes, f) : 0;
  fclose(f);
  if (got != p->bytes || p->bytes < METADATA || memcmp(p->binary, "MRVL", 4) != 0) return 0;
  p->inputs = p->binary[345];
  p->outputs = p->binary[346];
  if (p->inputs > MOST_PORTS || p->outputs > MOST_PORTS || p->outputs == 0) return 0;
  for (size_t i = 0; i < p->inputs; ++i) {
    const unsigned char* at = port_at(p->binary, 1280, 4096, i);
    p->input_bytes[i] =
        (size_t)number(at + 20) * number(at + 24) * number(at + 28) * number(at + 32) * width(at[11]);
  }
  for (size_t i = 0; i < p->outputs; ++i) {
    const unsigned char* at = port_at(p->binary, 1792, 5632, i);
    p->output_bytes[i] = (size_t)number(at + 16) * width(at[11]);
  }
  return 1;
}

/* Numbers of both formats that are no NaN and not large: a high byte of 0x30 to 0x3b. */
static void fill(unsigned char* to, size_t bytes, int type, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) {
    seed = seed * 1103515245u + 12345u;
    to[i] = (unsigned char)(seed >> 16);
    if (i % width(type) == width(type) - 1) to[i] = (unsigned char)(0x30 + (seed >> 16) % 12);
  }
}

ports make_ports(const program* p, unsigned seed, size_t shift, unsigned char pattern) {
  ports io;
  memset(&io, 0, sizeof io);
  for (size_t i = 0; i < p->inputs; ++i) {
    io.in_memory[i] = malloc(p->input_bytes[i] + 2 * GUARD + 16);
    fill(io.in_memory[i] + GUARD + shift, p->input_bytes[i], port_at(p->binary, 1280, 4096, i)[11],
         seed + (unsigned)i);
    io.in[i].data = io.in_memory[i] + GUARD + shift;
    io.in[i].bytes = p->input_bytes[i];
  }
  for (size_t i = 0; i < p->outputs; ++i) {
    const size_t all = p->output_bytes[i] + 2 * GUARD + 16;
    io.out_memory[i] = malloc(all);
    memset(io.out_memory[i], pattern, all);
    io.out[i].data = io.out_memory[i] + GUARD + shift;
    io.out[i].bytes = p->output_bytes[i];
  }
  return io;
}

void free_ports(const program* p, ports* io) {
  for (size_t i = 0; i < p->inputs; ++i) free(io->in_memory[i]);
  for (size_t i = 0; i < p->outputs; ++i) free(io->out_memory[i]);
}

static int is_pattern(const unsigned char* from, const unsigned char* to, unsigned char pattern) {
  for (; from < to; ++from)
    if (*from != pattern) return 0;
  return 1;
}

int guards_hold(const program* p, const ports* io, unsigned char pattern) {
  for (size_t i = 0; i < p->outputs; ++i) {
    const unsigned char* data = io->out[i].data;
    if (!is_pattern(io->out_memory[i], data, pattern) ||
        !is_pattern(data + p->output_bytes[i], io->out_memory[i] + p->output_bytes[i] + 2 * GUARD + 16,
                    pattern))
      return 0;
  }
  return 1;
}

int untouched(const program* p, const ports* io, unsigned char pattern) {
  for (size_t i = 0; i < p->outputs; ++i)
    if (!is_pattern(io->out_memory[i], io->out_memory[i] + p->output_bytes[i] + 2 * GUARD + 16, pattern))
      return 0;
  return 1;
}

int equal(const program* p, const ports* a, const ports* b) {
  for (size_t i = 0; i < p->outputs; ++i)
    if (memcmp(a->out[i].data, b->out[i].data, p->output_bytes[i]) != 0) return 0;
  return 1;
}

int run(const mrvl_device* d, void* model, const program* p, const ports* io) {
  return d->run(d->context, model, io->in, p->inputs, io->out, p->outputs);
}
