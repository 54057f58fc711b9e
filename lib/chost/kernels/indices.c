// Values that say where, looked at before the functions that go there: lib/ops/common/index_util.h.
//@ piece outside_i64: base
/* Is one of n numbers, `step` from each to the next, outside [low, high] and not `but`? */
static int K_outside_i64(
    const int64_t* x, ptrdiff_t n, ptrdiff_t step, int64_t low, int64_t high, int64_t but) {
  int64_t bad = 0;
  for (ptrdiff_t i = 0; i < n; ++i) {
    const int64_t v = x[i * step];
    bad |= ((v < low) | (v > high)) & (v != but);
  }
  return bad != 0;
}

//@ piece outside_i32: base
/* Is one of n numbers, `step` from each to the next, outside [low, high] and not `but`? */
static int K_outside_i32(
    const int32_t* x, ptrdiff_t n, ptrdiff_t step, int64_t low, int64_t high, int64_t but) {
  int bad = 0;
  for (ptrdiff_t i = 0; i < n; ++i) {
    const int64_t v = x[i * step];
    bad |= ((v < low) | (v > high)) & (v != but);
  }
  return bad;
}

//@ piece outside_f32: base
/* Is one of n numbers, `step` from each to the next, outside [low, past), or no number? */
static int K_outside_f32(const float* x, ptrdiff_t n, ptrdiff_t step, float low, float past) {
  int bad = 0;
  for (ptrdiff_t i = 0; i < n; ++i) bad |= !(x[i * step] >= low && x[i * step] < past);
  return bad;
}

//@ piece outside_f64: base
/* Is one of n numbers, `step` from each to the next, outside [low, past), or no number? */
static int K_outside_f64(const double* x, ptrdiff_t n, ptrdiff_t step, double low, double past) {
  int bad = 0;
  for (ptrdiff_t i = 0; i < n; ++i) bad |= !(x[i * step] >= low && x[i * step] < past);
  return bad;
}
