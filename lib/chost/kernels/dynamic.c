//@ piece dynamic_both: base
/* Dimension of the result where two operands broadcast; -1 when they do not. */
static int64_t K_dynamic_both(int64_t a, int64_t b) {
  return a == b || b == 1 ? a : a == 1 ? b : -1;
}

//@ piece dynamic_mul: base
/* Product of two sizes; -1 when one is negative or the product is no size. */
static int64_t K_dynamic_mul(int64_t a, int64_t b) {
  if (a < 0 || b < 0) return -1;
  return a > 0 && b > INT64_MAX / a ? -1 : a * b;
}

//@ piece dynamic_axis: base
/* Axis in [0, rank), or -1. */
static int64_t K_dynamic_axis(int64_t axis, int64_t rank) {
  if (axis < 0) axis = axis < -rank ? -1 : axis + rank;
  return axis < rank ? axis : -1;
}

//@ piece dynamic_strides: base
/* Row-major strides. */
static void K_dynamic_strides(int rank, const int64_t* n, int64_t* s) {
  int64_t step = 1;
  for (int d = rank; d-- > 0; step *= n[d]) s[d] = step;
}

//@ piece dynamic_steps: base
/* Strides that read an operand of `own` dimensions by the indices of a result of `rank`: 0 where it is
 * repeated. */
static void K_dynamic_steps(int rank, int own, const int64_t* dim, int64_t* s) {
  int64_t step = 1;
  for (int d = 1; d <= rank; ++d) {
    s[rank - d] = d > own || dim[own - d] == 1 ? 0 : step;
    if (d <= own) step *= dim[own - d];
  }
}

//@ piece dynamic_merge: base
/* Loops over n with `count` operands, s[operand][dimension] their strides: neighbours that all operands agree
 * on become one, at the end; what is left in front has size 1. */
static void K_dynamic_merge(int rank, int count, int64_t* n, int64_t* s) {
  int t = rank - 1;
  for (int d = rank - 2; d >= 0; --d) {
    int same = n[t] != 1;
    if (n[d] == 1) continue;
    for (int j = 0; j < count && same; ++j) same = s[j * rank + d] == s[j * rank + t] * n[t];
    if (n[t] != 1 && !same) --t;
    for (int j = 0; j < count && !same; ++j) s[j * rank + t] = s[j * rank + d];
    n[t] = same ? n[t] * n[d] : n[d];
  }
  while (--t >= 0) n[t] = 1;
}

//@ piece dynamic_copy: base dynamic_merge
/* Elements of `size` bytes: to[i . s[1]] = from[i . s[0]] for every index i below n, rank 1 to 16. */
// Overwrites n and s.
static void K_dynamic_run(char* to, ptrdiff_t b, const char* from, ptrdiff_t a, int64_t n, size_t size) {
  if (a == (ptrdiff_t)size && b == a) {
    memcpy(to, from, (size_t)n * size);
  } else if (size == 4) {
    for (; n > 0; --n, to += b, from += a) memcpy(to, from, 4);
  } else {
    for (; n > 0; --n, to += b, from += a) memcpy(to, from, size);
  }
}

static void K_dynamic_copy(void* to, const void* from, size_t size, int rank, int64_t* n, int64_t* s) {
  int64_t i[16] = {0}, a = 0, b = 0;
  const int last = rank - 1;
  const ptrdiff_t width = (ptrdiff_t)size;
  int d = 0;
  for (; d < rank; ++d) {
    if (n[d] <= 0) return;
  }
  K_dynamic_merge(rank, 2, n, s);
  do {
    K_dynamic_run((char*)to + (ptrdiff_t)b * width, (ptrdiff_t)s[rank + last] * width,
        (const char*)from + (ptrdiff_t)a * width, (ptrdiff_t)s[last] * width, n[last], size);
    for (d = last - 1; d >= 0; --d) {
      a += s[d];
      b += s[rank + d];
      if (++i[d] < n[d]) break;
      a -= s[d] * n[d];
      b -= s[rank + d] * n[d];
      i[d] = 0;
    }
  } while (d >= 0);
}

//@ piece dynamic_rows: base
/* `rows` runs of `bytes` bytes. */
static void K_dynamic_rows(
    void* to, int64_t to_step, const void* from, int64_t from_step, int64_t rows, int64_t bytes) {
  char* b = (char*)to;
  const char* a = (const char*)from;
  if (bytes <= 0) return;
  for (int64_t r = 0; r < rows; ++r) memcpy(b + r * to_step, a + r * from_step, (size_t)bytes);
}

//@ piece dynamic_fill: base
/* `count` elements of `size` bytes, all equal. */
static void K_dynamic_fill(void* to, const void* value, int64_t count, size_t size) {
  char* b = (char*)to;
  for (int64_t i = 0; i < count; ++i, b += size) memcpy(b, value, size);
}

//@ piece dynamic_reshape: base
/* Replaces the zeros (unless `zeros` are meant) and the one -1 of a shape n for elements of the shape dim;
 * not 0 when the elements do not fill it. */
static int K_dynamic_reshape(int rank, int64_t* n, int own, const int64_t* dim, int64_t elements, int zeros) {
  int64_t known = 1;
  int at = -1, empty = 0;
  for (int d = 0; d < rank; ++d) {
    if (n[d] == 0 && !zeros) {
      if (d >= own) return 1;
      n[d] = dim[d];
    }
    if (n[d] == -1) {
      if (at >= 0) return 1;
      at = d;
    } else if (n[d] == 0) {
      empty = 1;
    } else {
      if (n[d] < 0 || (elements > 0 && n[d] > elements / known)) return 1;
      if (elements > 0) known *= n[d];
    }
  }
  if (at >= 0 && empty) n[at] = 0;
  if (empty || elements == 0) {
    if (at >= 0) n[at] = 0;
    return elements != 0 || !(empty || at >= 0);
  }
  if (at < 0) return known != elements;
  n[at] = elements / known;
  return elements % known != 0;
}

//@ piece dynamic_slice: base
/* One dimension of ONNX Slice: its size, *first the index of its first element, *step 0 unless there are
 * more. */
// A step of 0 gives -1.
static int64_t K_dynamic_slice(int64_t dim, int64_t start, int64_t end, int64_t* step, int64_t* first) {
  const int64_t most = INT64_C(1) << 41, s = *step > most ? most : *step < -most ? -most : *step;
  const int64_t low = s > 0 ? 0 : -1, high = s > 0 ? dim : dim - 1;
  int64_t size;
  if (s == 0) return -1;
  if (start < 0) start = start < -most ? low : start + dim;
  if (end < 0) end = end < -most ? low : end + dim;
  start = start < low ? low : start > high ? high : start;
  end = end < low ? low : end > high ? high : end;
  /* Unlike in Python a start in front of everything is element 0 for negative steps too. */
  if (s < 0 && dim > 0 && start < 0) start = 0;
  size = s > 0 ? end - start : start - end;
  size = size <= 0 ? 0 : s > 0 ? (size + s - 1) / s : (size - s - 1) / -s;
  *first = size > 0 ? start : 0;
  *step = size > 1 ? s : 0;
  return size;
}

//@ piece dynamic_pad: base
/* ONNX Pad but for mode constant: output index o of a dimension of `dim` elements that begins with `begin`
 * padded ones (negative: cropped), `kept` of the input are left; mode 0 reflect, 1 edge, 2 wrap. */
static int64_t K_dynamic_source(int64_t o, int64_t begin, int64_t kept, int mode) {
  const int64_t crop = begin < 0 ? -begin : 0, period = mode == 2 || kept == 1 ? kept : 2 * (kept - 1);
  int64_t i = o - (begin > 0 ? begin : 0);
  if (mode == 1) return crop + (i < 0 ? 0 : i < kept ? i : kept - 1);
  i %= period;
  if (i < 0) i += period;
  return crop + (i < kept ? i : period - i);
}

static void K_dynamic_pad(void* to, const void* from, size_t size, int rank, const int64_t* n,
    const int64_t* dim, const int64_t* begin, const int64_t* kept, int mode) {
  int64_t count = 1;
  char* b = (char*)to;
  for (int d = 0; d < rank; ++d) count *= n[d];
  for (int64_t k = 0; k < count; ++k, b += size) {
    int64_t rest = k, a = 0, step = 1;
    for (int d = rank; d-- > 0; step *= dim[d], rest /= n[d]) {
      a += K_dynamic_source(rest % n[d], begin[d], kept[d], mode) * step;
    }
    memcpy(b, (const char*)from + (ptrdiff_t)a * (ptrdiff_t)size, size);
  }
}

//@ piece dynamic_offset: base
/* Where element k of an array of `dim` lies in one with the strides s. */
static int64_t K_dynamic_offset(int64_t k, int rank, const int64_t* dim, const int64_t* s) {
  int64_t at = 0;
  for (int d = rank; d-- > 0; k /= dim[d]) at += k % dim[d] * s[d];
  return at;
}
