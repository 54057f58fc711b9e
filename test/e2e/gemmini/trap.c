/* SPDX-License-Identifier: Apache-2.0 */
/* Gemmini for a RISC-V program under qemu: its instructions are illegal there, and SIGILL's handler executes
 * them. Written from the instructions' documented fields and not from the package's emulation, which it
 * checks: words are decoded here, memories are flat, limits are looked at again. `fence` is legal, so it is
 * not seen. */
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define ROWS(n) ((n)*16)
static signed char pad[ROWS(16384)];
static int acc[ROWS(1024)], garbage_b = 1;
static signed char weights[256];
static unsigned long issued[128];
static struct {
  unsigned long stride, block;
  float scale;
  int shrink, set;
} ld[3];
static struct {
  unsigned long stride;
  float scale;
  int relu, set;
} st;
static unsigned long a_stride, pooling; /* config_st's register where its pool stride is not 0 */
static unsigned long pb, pc;            /* what the last preload said; 0: there was none */
/* Ranges of main memory that stores of this layer wrote. */
static struct { unsigned long from, to; } wrote[1 << 16];
static int wrotes;

static void fail(const char* what, unsigned long a, unsigned long b) {
  fprintf(stderr, "trap: %s (%#lx, %#lx)\n", what, a, b);
  _exit(99);
}

static unsigned long bits(unsigned long v, int high, int low) {
  return v >> low & (~0ul >> (63 - (high - low)));
}

static float real(unsigned long v) {
  union {
    unsigned u;
    float f;
  } x = {(unsigned)v};
  return x.f;
}

static int to_int8(float v) {
  const float n = nearbyintf(v);
  return n > 127 ? 127 : n < -128 ? -128 : (int)n;
}

static void configure(unsigned long a, unsigned long b) {
  const unsigned long kind = bits(a, 1, 0);
  if (kind == 0) {
    if (bits(a, 2, 2) != 1 || bits(a, 4, 3) || bits(a, 15, 5)) fail("config_ex that is not plain WS", a, b);
    if (bits(b, 63, 48) != 1 || bits(b, 47, 0)) fail("C stride or shift", a, b);
    a_stride = bits(a, 31, 16);
    if (a_stride == 0 || a_stride >> 14) fail("A stride", a, b);
    if (real(bits(a, 63, 32)) != 1) fail("legacy scale", a, b);
  } else if (kind == 1) {
    const unsigned long id = bits(a, 4, 3);
    if (id > 2 || bits(a, 7, 5)) fail("config_ld", a, b);
    if (bits(a, 15, 8) != 1) fail("pixel repeats", a, b);
    ld[id].shrink = (int)bits(a, 2, 2);
    ld[id].block = bits(a, 31, 16);
    ld[id].scale = real(bits(a, 63, 32));
    ld[id].stride = b;
    ld[id].set = 1;
    if (ld[id].block >> 14) fail("block stride beyond 14 bits", a, b);
  } else if (kind == 2) {
    if (bits(a, 3, 2) > 1 || bits(a, 23, 12)) fail("activation or unused bits", a, b);
    if (bits(a, 5, 4) &&
        (!bits(a, 7, 6) || !bits(a, 39, 32) || !bits(a, 47, 40) || !bits(a, 55, 48) || !bits(a, 63, 56)))
      fail("pooling of nothing", a, b);
    pooling = bits(a, 5, 4) ? a : 0;
    st.relu = (int)bits(a, 3, 2);
    st.stride = bits(b, 31, 0);
    if (bits(b, 63, 32) != 0xffffffff) st.scale = real(bits(b, 63, 32));
    st.set = 1;
  } else {
    fail("config_norm", a, b);
  }
}

static void mvin(int id, unsigned long dram, unsigned long what) {
  const unsigned long rows = bits(what, 63, 48), cols = bits(what, 47, 32), local = bits(what, 31, 0);
  const int to_acc = (int)bits(local, 31, 31), add = (int)bits(local, 30, 30),
            wide = to_acc && !ld[id].shrink;
  if (!ld[id].set) fail("mvin before config_ld", (unsigned long)id, what);
  if (rows < 1 || rows > 16 || cols < 1 || cols > (to_acc ? 16 : 64)) fail("size of mvin", dram, what);
  if (cols > 16 && ld[id].block < rows) fail("block stride below rows", ld[id].block, what);
  if (wide && ld[id].scale != 1) fail("scaled int32", dram, what);
  if (!to_acc && bits(local, 30, 14)) fail("scratchpad address", dram, what);
  if (to_acc && bits(local, 29, 10)) fail("accumulator address", dram, what);
  for (int i = 0; dram && i < wrotes; ++i) {
    const unsigned long end = dram + (rows - 1) * ld[id].stride + cols * (wide ? 4 : 1);
    if (dram < wrote[i].to && wrote[i].from < end)
      fail("mvin of what a mvout of this layer wrote", dram, what);
  }
  for (unsigned long e = 0; e < rows * cols; ++e) {
    const unsigned long r = e / cols, c = e % cols;
    const char* from = (const char*)(dram + r * ld[id].stride);
    int v = 0;
    if (dram && wide) memcpy(&v, from + 4 * c, 4);
    if (dram && !wide) v = to_int8((float)((const signed char*)from)[c] * ld[id].scale);
    if (to_acc) {
      const unsigned long at = bits(local, 9, 0) + r;
      if (at > 1023) fail("beyond the accumulator", dram, what);
      int* sum = acc + ROWS(at) + c;
      *sum = add ? (int)((unsigned)*sum + (unsigned)v) : v;
    } else {
      const unsigned long at = bits(local, 13, 0) + c / 16 * ld[id].block + r;
      if (at > 16383) fail("beyond the scratchpad", dram, what);
      pad[ROWS(at) + c % 16] = (signed char)v;
    }
  }
}

/* Element c of accumulator row `at` as it leaves. */
static int out_of(unsigned long at, unsigned long c) {
  /* Rounded once more behind each operation, whatever the compiler would keep. */
  volatile float v = (float)acc[ROWS(at) + c];
  v = v * st.scale;
  const int y = to_int8(v);
  return st.relu && y < 0 ? 0 : y;
}

/* The last byte written, and one more. */
static unsigned long pooled(unsigned long dram, unsigned long local, unsigned long cols) {
  const long stride = (long)bits(pooling, 5, 4), size = (long)bits(pooling, 7, 6),
             up = (long)bits(pooling, 9, 8);
  const long left = (long)bits(pooling, 11, 10), orows = (long)bits(pooling, 55, 48),
             ocols = (long)bits(pooling, 63, 56);
  unsigned long end = 0;
  if (local + (unsigned long)(orows * ocols) > 1024) fail("pooling beyond the accumulator", local, pooling);
  for (unsigned long p = 0; p < bits(pooling, 39, 32) * bits(pooling, 47, 40); ++p) {
    const unsigned long prow = p / bits(pooling, 47, 40), pcol = p % bits(pooling, 47, 40);
    signed char* to = (signed char*)(dram + (prow * bits(pooling, 31, 24) + pcol) * st.stride);
    for (unsigned long c = 0; c < cols; ++c) {
      int most = -1000;
      for (long r = (long)prow * stride - up; r < (long)prow * stride - up + size; ++r) {
        for (long q = (long)pcol * stride - left; q < (long)pcol * stride - left + size; ++q) {
          const int outside = r < 0 || q < 0 || r >= orows || q >= ocols;
          const int v = outside ? 0 : out_of(local + (unsigned long)(r * ocols + q), c);
          most = v > most ? v : most;
        }
      }
      to[c] = (signed char)most;
    }
    end = (unsigned long)to + cols > end ? (unsigned long)to + cols : end;
  }
  return end;
}

static void mvout(unsigned long dram, unsigned long what) {
  const unsigned long rows = bits(what, 63, 48), cols = bits(what, 47, 32), local = bits(what, 31, 0);
  if (!st.set || dram == 0) fail("mvout before config_st, or to 0", dram, what);
  if (rows < 1 || rows > 16 || cols < 1 || cols > 16) fail("size of mvout", dram, what);
  if (bits(local, 31, 28) != 8 || bits(local, 27, 10) || bits(local, 9, 0) + rows > 1024)
    fail("address of mvout", dram, what);
  for (unsigned long r = 0; !pooling && r < rows; ++r) {
    for (unsigned long c = 0; c < cols; ++c)
      ((signed char*)dram)[r * st.stride + c] = (signed char)out_of(bits(local, 9, 0) + r, c);
  }
  const unsigned long end =
      pooling ? pooled(dram, bits(local, 9, 0), cols) : dram + (rows - 1) * st.stride + cols;
  if (wrotes == sizeof wrote / sizeof *wrote) fail("too many stores", 0, 0);
  wrote[wrotes].from = dram;
  wrote[wrotes++].to = end;
}

static void preload(unsigned long b, unsigned long c) {
  if (pc) fail("preload behind preload", b, c);
  pb = b;
  pc = c;
}

static void compute(int fresh, unsigned long a, unsigned long d) {
  const unsigned long m = bits(a, 63, 48), k = bits(a, 47, 32), n = bits(pc, 47, 32), to = bits(pc, 31, 0);
  const unsigned long kb = bits(pb, 63, 48), nb = bits(pb, 47, 32);
  if (!pc || !a_stride) fail("compute without preload or config_ex", a, d);
  if (m < 1 || m > 16 || k < 1 || k > 16 || n < 1 || n > 16) fail("size of compute", a, pc);
  if (bits(pc, 63, 48) != m || kb != k || nb != n) fail("A, B and C do not fit", a, pb);
  if (bits(d, 31, 0) != 0xffffffff || bits(d, 63, 48) > 16 || bits(d, 47, 32) > 16)
    fail("D is not garbage", a, d);
  if (bits(a, 31, 14) || bits(a, 13, 0) + (m - 1) * a_stride > 16383) fail("address of A", a, a_stride);
  if (!bits(to, 31, 31) || bits(to, 29, 10) || bits(to, 9, 0) + m > 1024) fail("address of C", a, pc);
  if (fresh) {
    garbage_b = bits(pb, 31, 0) == 0xffffffff;
    if (!garbage_b && (bits(pb, 31, 14) || bits(pb, 13, 0) + kb > 16384)) fail("address of B", a, pb);
    memset(weights, 0, sizeof weights);
    for (unsigned long i = 0; !garbage_b && i < kb * nb; ++i)
      weights[i / nb * 16 + i % nb] = pad[ROWS(bits(pb, 13, 0) + i / nb) + i % nb];
  }
  if (garbage_b) fail("products of no weights", a, pb);
  for (unsigned long e = 0; e < m * n; ++e) {
    const signed char* row = pad + ROWS(bits(a, 13, 0) + e / n * a_stride);
    int sum = 0, *out = acc + ROWS(bits(to, 9, 0) + e / n) + e % n;
    for (unsigned long i = 0; i < k; ++i) sum += row[i] * weights[i * 16 + e % n];
    if (sum < -(1 << 19) || sum >= 1 << 19) fail("more than 20 bits", a, pb);
    *out = bits(to, 30, 30) ? (int)((unsigned)*out + (unsigned)sum) : sum;
  }
  pb = pc = 0;
}

static void execute(unsigned long funct, unsigned long a, unsigned long b) {
  ++issued[funct];
  if (funct == 0)
    configure(a, b);
  else if (funct == 2)
    mvin(0, a, b);
  else if (funct == 1)
    mvin(1, a, b);
  else if (funct == 14)
    mvin(2, a, b);
  else if (funct == 3)
    mvout(a, b);
  else if (funct == 6)
    preload(a, b);
  else if (funct == 4 || funct == 5)
    compute(funct == 4, a, b);
  else if (funct == 7 && a == 0)
    wrotes = 0; /* a layer begins */
  else
    fail("unknown funct", funct, a);
}

static void trapped(int number, siginfo_t* info, void* context) {
  ucontext_t* u = context;
  unsigned long* x = u->uc_mcontext.__gregs; /* x[0] is pc */
  unsigned word;
  (void)number, (void)info;
  memcpy(&word, (const void*)x[0], 4);
  if ((word & 0x7f) != 0x7b) fail("illegal instruction", word, x[0]);
  if ((word >> 7 & 31) != 0 || (word >> 12 & 7) != 3) fail("rd or xd, xs1, xs2", word, x[0]);
  const unsigned r1 = word >> 15 & 31, r2 = word >> 20 & 31;
  execute(word >> 25, r1 ? x[r1] : 0, r2 ? x[r2] : 0);
  x[0] += 4;
}

static void report(void) {
  unsigned long all = 0;
  for (int i = 0; i < 128; ++i) all += issued[i];
  fprintf(stderr, "gemmini: %lu instructions, %lu products, 0 unfenced\n", all, issued[4] + issued[5]);
}

__attribute__((constructor)) static void install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = trapped;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, NULL);
  memset(pad, 0x33, sizeof pad);
  atexit(report);
}
