//@ piece view: base
/* A tensor whose shape is known at run time only: its elements, row-major, and its dimensions. */
typedef struct K_view {
  void* data;
  int64_t dim[8];
} K_view;

//@ piece set_dims: view
/* Sets the dimensions of a result. Not 0 when one is negative, exceeds its bound, differs from its bound
 * though its bit of `open` is not set, or when there are more than `capacity` elements. */
static int K_set_dims(K_view* y, int rank, const int64_t* dim, const int64_t* bound, unsigned open,
                      int64_t capacity) {
  int64_t elements = 1;
  int empty = 0, over = 0;
  for (int d = 0; d < rank; ++d) {
    if (dim[d] < 0 || dim[d] > bound[d] || (!(open >> d & 1u) && dim[d] != bound[d])) return 1;
    y->dim[d] = dim[d];
    if (dim[d] == 0) {
      empty = 1;
    } else if (over || elements > capacity / dim[d]) {
      over = 1;
    } else {
      elements *= dim[d];
    }
  }
  return over && !empty;
}

//@ piece elements: view
static size_t K_elements(const K_view* x, int rank) {
  size_t n = 1;
  for (int d = 0; d < rank; ++d) n *= (size_t)x->dim[d];
  return n;
}

//@ piece copy_sequence: view
/* Copies `count` tensors of a sequence to one with another number or size of slots. */
static void K_copy_sequence(void* to, int64_t to_length, int64_t to_slot, const void* from, int64_t from_length,
                            int64_t from_slot, int64_t count) {
  unsigned char* const y = (unsigned char*)to;
  const unsigned char* const x = (const unsigned char*)from;
  const int64_t bytes = to_slot < from_slot ? to_slot : from_slot;
  if (count <= 0) return;
  memcpy(y, x, (size_t)count * 64);
  for (int64_t i = 0; i < count; ++i)
    memcpy(y + to_length * 64 + i * to_slot, x + from_length * 64 + i * from_slot, (size_t)bytes);
}
