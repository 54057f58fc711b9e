/* SPDX-License-Identifier: Apache-2.0 */
/* Gemmini's instructions as functions, from the fields of its registers. An instruction is custom-3 with two
 * source registers: funct7 says which. */
#ifndef MRVL_GEMMINI_ISA_H
#define MRVL_GEMMINI_ISA_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__riscv) && !defined(MRVL_GEMMINI_EMULATED)
#if __riscv_xlen != 64
#error "Gemmini's registers have 64 bits: compile for rv64, or with MRVL_GEMMINI_EMULATED"
#endif
#define GEMMINI_ISSUE(funct, rs1, rs2) \
  __asm__ volatile(".insn r 0x7b, 3, " #funct ", x0, %0, %1" : : "r"(rs1), "r"(rs2) : "memory")
/* Waits for all instructions: what they wrote is in main memory. */
#define GEMMINI_FENCE() __asm__ volatile("fence" : : : "memory")
#else
/* What the emulation has done since the start. */
typedef struct mrvl_gemmini_counts {
  uint64_t instructions, fences, computes;
  uint64_t unfenced;          /* stores since the last fence */
  uint64_t products;          /* of int8, useful or not */
  uint64_t array_cycles;      /* rows fed to the array; 16 for shorter tiles that bring new weights */
  uint64_t rows_in, rows_out; /* of 16 elements, over the bus */
} mrvl_gemmini_counts;
extern mrvl_gemmini_counts mrvl_gemmini_counted;

void mrvl_gemmini_emulate(unsigned funct, uint64_t rs1, uint64_t rs2);
void mrvl_gemmini_emulate_fence(void);
#define GEMMINI_ISSUE(funct, rs1, rs2) mrvl_gemmini_emulate(funct, rs1, rs2)
#define GEMMINI_FENCE() mrvl_gemmini_emulate_fence()
#endif

enum {
  GEMMINI_DIM = 16,           /* rows and columns of the array, elements of a row of memory */
  GEMMINI_HALF = 8192,        /* rows of half the scratchpad */
  GEMMINI_HALF_OF_SUMS = 512, /* rows of half the accumulator */
  GEMMINI_BLOCKS = 4          /* of 16 elements, of one mvin of int8 */
};

/* Local addresses: rows of 16 elements. */
#define GEMMINI_SUMS UINT32_C(0x80000000)    /* of the accumulator */
#define GEMMINI_ADD UINT32_C(0x40000000)     /* writes add to what is there */
#define GEMMINI_NOWHERE UINT32_C(0xffffffff) /* zeros to read */

enum {
  GEMMINI_IMAGE,
  GEMMINI_WEIGHTS,
  GEMMINI_BIAS
}; /* the three kinds of mvin, each with its configuration */

static inline uint64_t gemmini_bits(double value) {
  const float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

static inline uint64_t gemmini_tile(uint32_t address, int32_t rows, int32_t columns) {
  return (uint64_t)(uint32_t)rows << 48 | (uint64_t)(uint32_t)columns << 32 | address;
}

/* What the CPU has written is in memory before the array reads it. */
static inline void gemmini_begin(void) {
  GEMMINI_FENCE();
  GEMMINI_ISSUE(7, (uint64_t)0, (uint64_t)0);
}

static inline void gemmini_end(void) {
  GEMMINI_FENCE();
}

/* Weights stay in the array; rows of an image tile lie `stride` rows apart. */
static inline void gemmini_config_array(int32_t stride) {
  GEMMINI_ISSUE(0, (uint64_t)0x3f800000 << 32 | (uint64_t)(uint32_t)stride << 16 | 1u << 2,
                (uint64_t)1 << 48);
}

/* `stride`: bytes from row to row in main memory; `block`: rows from block to block; `shrink`: int8 to sums.
 */
static inline void gemmini_config_load(uint64_t which, size_t stride, int32_t block, double scale,
                                       int shrink) {
  GEMMINI_ISSUE(0,
                gemmini_bits(scale) << 32 | (uint64_t)(uint32_t)block << 16 | 1u << 8 | which << 3 |
                    (shrink ? 1u << 2 : 0u) | 1u,
                (uint64_t)stride);
}

static inline void gemmini_config_store(size_t stride, double scale, int relu) {
  GEMMINI_ISSUE(0, (relu ? 1u << 2 : 0u) | (uint64_t)2, gemmini_bits(scale) << 32 | (uint32_t)stride);
}

/* Maxima of a store, at most 255 pixels along a side: `kernel` and `stride` 1 to 3, pixels of padding above
 * and on the left, columns of the whole result, sizes of the tile's result and operand. */
typedef struct gemmini_window {
  int32_t kernel, stride, above, left, pitch, out_rows, out_columns, in_rows, in_columns;
} gemmini_window;

static inline void gemmini_config_pool(size_t stride, const gemmini_window* w) {
  const uint64_t sizes = (uint64_t)(uint32_t)w->in_columns << 56 | (uint64_t)(uint32_t)w->in_rows << 48 |
                         (uint64_t)(uint32_t)w->out_columns << 40 | (uint64_t)(uint32_t)w->out_rows << 32;
  const uint64_t window = (uint64_t)(uint32_t)w->pitch << 24 | (uint64_t)(uint32_t)w->left << 10 |
                          (uint64_t)(uint32_t)w->above << 8 | (uint64_t)(uint32_t)w->kernel << 6 |
                          (uint64_t)(uint32_t)w->stride << 4;
  GEMMINI_ISSUE(0, sizes | window | 2, gemmini_bits(1) << 32 | (uint32_t)stride);
}

/* From main memory, zeros where `from` is null. `columns` beyond 16 go to the next blocks. */
static inline void gemmini_load(int which, const void* from, uint32_t to, int32_t rows, int32_t columns) {
  const uint64_t address = (uint64_t)(uintptr_t)from, tile = gemmini_tile(to, rows, columns);
  if (which == GEMMINI_IMAGE) {
    GEMMINI_ISSUE(2, address, tile);
  } else if (which == GEMMINI_WEIGHTS) {
    GEMMINI_ISSUE(1, address, tile);
  } else {
    GEMMINI_ISSUE(14, address, tile);
  }
}

static inline void gemmini_store(void* to, uint32_t from, int32_t rows, int32_t columns) {
  GEMMINI_ISSUE(3, (uint64_t)(uintptr_t)to, gemmini_tile(from, rows, columns));
}

/* sums[rows][columns] (+)= image[rows][depth] * weights[depth][columns]. Weights that are NOWHERE are those
 * of the product before. */
static inline void gemmini_multiply(uint32_t image, uint32_t weights, uint32_t sums, int32_t rows,
                                    int32_t depth, int32_t columns) {
  GEMMINI_ISSUE(6, gemmini_tile(weights, depth, columns), gemmini_tile(sums, rows, columns));
  const uint64_t nothing = gemmini_tile(GEMMINI_NOWHERE, rows, columns);
  if (weights == GEMMINI_NOWHERE) {
    GEMMINI_ISSUE(5, gemmini_tile(image, rows, depth), nothing);
  } else {
    GEMMINI_ISSUE(4, gemmini_tile(image, rows, depth), nothing);
  }
}

#endif
