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
