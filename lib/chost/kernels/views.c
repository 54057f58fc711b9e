//@ piece view: base
/* A tensor whose shape is known at run time only: its elements, row-major, and its dimensions. */
typedef struct K_view {
  void* data;
  int64_t dim[8];
} K_view;

//@ piece set_dims: view
/* Sets the dimensions of a result. */
// Not 0 when one is negative, exceeds its bound, differs from its bound though its bit of `dynamic` is not
// set, or when there are more than `capacity` elements. Strides fit in 64 bits for empty tensors too.
static int K_set_dims(
    K_view* y, int rank, const int64_t* dim, const int64_t* bound, unsigned dynamic, int64_t capacity) {
  int64_t elements = 1;
  int empty = 0;
  for (int d = 0; d < rank; ++d) {
    if (dim[d] < 0 || dim[d] > bound[d] || (!(dynamic >> d & 1u) && dim[d] != bound[d])) return 1;
    y->dim[d] = dim[d];
    if (dim[d] == 0) {
      empty = 1;
    } else {
      if (elements > (INT64_MAX >> 4) / dim[d]) return 1;
      elements *= dim[d];
    }
  }
  return !empty && elements > capacity;
}

//@ piece set_optional: set_dims
/* The same of an optional tensor: dim[7] is 0 when it holds nothing. */
static int K_set_optional(
    K_view* y, int rank, const int64_t* dim, const int64_t* bound, unsigned dynamic, int64_t capacity) {
  memset(y->dim, 0, sizeof y->dim);
  if (!dim[7]) return 0;
  y->dim[7] = 1;
  return K_set_dims(y, rank, dim, bound, dynamic, capacity);
}

//@ piece set_sequence: set_dims
/* The same of a sequence of up to `length` tensors of a rank, -1: any; an optional one, which is empty when
 * it holds nothing. */
static int K_set_sequence(K_view* y, const int64_t* dim, int64_t length, int optional, int rank,
    const int64_t* bound, unsigned dynamic, int64_t capacity) {
  const int64_t any[7] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  const int64_t* row = (const int64_t*)y->data;
  K_view x;
  memset(y->dim, 0, sizeof y->dim);
  if (optional && !dim[7]) return 0;
  if (dim[0] < 0 || dim[0] > length) return 1;
  y->dim[0] = dim[0];
  y->dim[7] = dim[7];
  for (int64_t i = 0; i < dim[0]; ++i, row += 8) {
    if (row[7] < 0 || row[7] > 7 || (rank >= 0 && row[7] != rank)) return 1;
    if (K_set_dims(&x, (int)row[7], row, rank < 0 ? any : bound, rank < 0 ? ~0u : dynamic, capacity))
      return 1;
  }
  return 0;
}

//@ piece elements: view
static size_t K_elements(const K_view* x, int rank) {
  size_t n = 1;
  for (int d = 0; d < rank; ++d) n *= (size_t)x->dim[d];
  return n;
}

//@ piece seq_copy: base
/* `count` tensors of a sequence, from tensor `from` on, become those from `at` on of another one. */
// A sequence has rows of 8 numbers, then slots; see the header.
static void K_seq_copy(void* to, int64_t to_length, int64_t to_slot, int64_t at, const void* from_data,
    int64_t from_length, int64_t from_slot, int64_t from, int64_t count) {
  unsigned char* const y = (unsigned char*)to;
  const unsigned char* const x = (const unsigned char*)from_data;
  const int64_t bytes = to_slot < from_slot ? to_slot : from_slot;
  if (count <= 0) return;
  memcpy(y + at * 64, x + from * 64, (size_t)count * 64);
  for (int64_t i = 0; i < count && bytes > 0; ++i)
    memcpy(y + to_length * 64 + (at + i) * to_slot, x + from_length * 64 + (from + i) * from_slot,
        (size_t)bytes);
}

//@ piece seq_row: base
/* The dimensions of tensor `at` of a sequence. Returns the number of its elements, times `size`. */
static size_t K_seq_row(void* to, int64_t at, const int64_t* dim, int rank, size_t size) {
  int64_t* const row = (int64_t*)to + at * 8;
  for (int d = 0; d < rank; ++d) {
    row[d] = dim[d];
    size *= (size_t)dim[d];
  }
  row[7] = rank;
  return size;
}

//@ piece seq_put: seq_row
/* A tensor becomes tensor `at` of a sequence. */
static void K_seq_put(void* to, int64_t length, int64_t slot, int64_t at, const int64_t* dim, int rank,
    const void* data, size_t size) {
  const size_t bytes = K_seq_row(to, at, dim, rank, size);
  if (bytes > 0) memcpy((unsigned char*)to + length * 64 + at * slot, data, bytes);
}
