//@ piece base
#if defined(__GNUC__) && !defined(__clang__)
/* Products and sums may be fused here; nobody looks at exceptions or errno. */
// ISO mode switches contraction off in GCC. Choices between values become blends, and roots instructions.
// Registers are not allocated across calls (ipa-ra): GCC 12 would keep the loops around tiles, whose
// registers it then knows, in vector registers, and move them to and fro for each tile.
#pragma GCC optimize("fp-contract=fast", "no-trapping-math", "no-math-errno", "no-ipa-ra")
#endif
// Floats of a vector in a register; 0 (also with MRVL_NO_VECTORS defined): plain loops.
// K_LANES is the width of every packed panel.
#if defined(MRVL_NO_VECTORS)
#define K_VW 0
#elif defined(__GNUC__) && defined(__AVX__)
#define K_VW 8
#elif defined(__GNUC__) && (defined(__SSE__) || defined(__ARM_NEON))
#define K_VW 4
#else
#define K_VW 0
#endif
#define K_LANES 16
#if K_VW
typedef float K_vec __attribute__((vector_size(K_VW * 4)));
typedef float K_vecu __attribute__((vector_size(K_VW * 4), aligned(4), may_alias));
#define K_LOAD(p) (*(const K_vecu*)(const void*)(p))
#define K_STORE(p, v) (*(K_vecu*)(void*)(p) = (v))
#endif
// With AVX-512 one vector holds the K_LANES columns of a panel: half the instructions for as many sums.
#if K_VW && defined(__AVX512F__)
#define K_WIDE 1
typedef float K_wide __attribute__((vector_size(K_LANES * 4)));
typedef float K_wideu __attribute__((vector_size(K_LANES * 4), aligned(4), may_alias));
#define K_WIDE_LOAD(p) ((K_wide)(*(const K_wideu*)(const void*)(p)))
#define K_WIDE_STORE(p, v) (*(K_wideu*)(void*)(p) = (v))
#else
#define K_WIDE 0
#endif

//@ piece round_each: base
/* For functions in which products are rounded before anything is added to them. */
#if defined(__GNUC__) && !defined(__clang__)
#define K_round_each __attribute__((optimize("fp-contract=off")))
#else
#define K_round_each
#endif

//@ piece clamp: base
/* [lo, hi] with NaN kept: the second operand is returned when the comparison is unordered. */
#if K_VW == 8
#define K_MAX(lo, v) __builtin_ia32_maxps256(lo, v)
#define K_MIN(hi, v) __builtin_ia32_minps256(hi, v)
#elif K_VW == 4 && defined(__SSE__)
#define K_MAX(lo, v) __builtin_ia32_maxps(lo, v)
#define K_MIN(hi, v) __builtin_ia32_minps(hi, v)
#elif K_VW
typedef int K_ivec __attribute__((vector_size(K_VW * 4)));
#define K_BLEND(m, a, b) ((K_vec)(((K_ivec)(a) & (m)) | ((K_ivec)(b) & ~(m))))
#define K_MAX(lo, v) K_BLEND((K_ivec)((v) < (lo)), lo, v)
#define K_MIN(hi, v) K_BLEND((K_ivec)((v) > (hi)), hi, v)
#endif

//@ piece least: base
static ptrdiff_t K_least(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

//@ piece epilogue: base
/* What happens to results on their way out: they are clamped, then `fn` gets runs of n elements of a row. */
// They begin at column `col` of row `row` and at element `at` of the whole result.
typedef struct K_epilogue {
  float lo, hi;
  void (*fn)(const void* const* args, float* y, ptrdiff_t row, ptrdiff_t col, ptrdiff_t at, ptrdiff_t n);
  const void* const* args;
} K_epilogue;

//@ piece tile: base
/* Adds rows x cols sums, of 16 a row, to y (`first`: to nothing) and the bias of columns, and clamps. */
static void K_tile(const float* t, ptrdiff_t rows, ptrdiff_t cols, const float* bias, float lo, float hi,
    int first, float* y, ptrdiff_t ldy) {
  for (ptrdiff_t r = 0; r < rows; ++r, t += K_LANES, y += ldy) {
    for (ptrdiff_t j = 0; j < cols; ++j) {
      float v = t[j] + (first ? 0.0f : y[j]) + (bias ? bias[j] : 0.0f);
      v = v < lo ? lo : v;
      y[j] = v > hi ? hi : v;
    }
  }
}

//@ piece copy: base
/* n floats in vectors, the last ones overlapping: calls of memcpy cost more than such short runs. */
static void K_copy(float* to, const float* from, ptrdiff_t n) {
  if (n >= 8) {
    for (ptrdiff_t i = 0; i + 8 < n; i += 8) memcpy(to + i, from + i, 8 * sizeof(float));
    memcpy(to + n - 8, from + n - 8, 8 * sizeof(float));
  } else if (n >= 4) {
    memcpy(to, from, 4 * sizeof(float));
    memcpy(to + n - 4, from + n - 4, 4 * sizeof(float));
  } else if (n > 0) {
    to[0] = from[0];
    to[n / 2] = from[n / 2];
    to[n - 1] = from[n - 1];
  }
}

//@ piece copy_step: copy
#if K_VW
/* Every second of 2 * K_VW - 1 floats, b beginning behind those of a but one. */
typedef int K_order __attribute__((vector_size(K_VW * 4)));
#if defined(__clang__) && K_VW == 8
#define K_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 9, 11, 13, 15)
#elif defined(__clang__)
#define K_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 5, 7)
#elif K_VW == 8
#define K_EVEN(a, b) __builtin_shuffle(a, b, (K_order){0, 2, 4, 6, 9, 11, 13, 15})
#else
#define K_EVEN(a, b) __builtin_shuffle(a, b, (K_order){0, 2, 5, 7})
#endif
#endif

// Every step-th of n floats.
static void K_copy_step(float* to, const float* from, ptrdiff_t step, ptrdiff_t n) {
  if (step == 1) {
    K_copy(to, from, n);
    return;
  }
#if K_VW
  for (ptrdiff_t i = 0; step == 2 && n >= K_VW && i < n; i += K_VW) {
    const ptrdiff_t at = i + K_VW <= n ? i : n - K_VW;
    const K_vec a = K_LOAD(from + 2 * at), b = K_LOAD(from + 2 * at + K_VW - 1);
    K_STORE(to + at, K_EVEN(a, b));
  }
  if (step == 2 && n >= K_VW) return;
#endif
  if (step == 2 && n >= 4) {
    for (ptrdiff_t i = 0; i < n; i += 4) {
      const ptrdiff_t at = i + 4 <= n ? i : n - 4;
      to[at] = from[2 * at];
      to[at + 1] = from[2 * at + 2];
      to[at + 2] = from[2 * at + 4];
      to[at + 3] = from[2 * at + 6];
    }
    return;
  }
  for (ptrdiff_t i = 0; i < n; ++i) to[i] = from[step * i];
}

//@ piece copy_any: copy
//@ unless copy_step
#define K_copy_step(to, from, step, n) K_copy(to, from, n)
//@ end

//@ piece nobody
// What a form names that has no other piece in the place of another form's: no program uses it.
