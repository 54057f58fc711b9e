//@ piece parallel: base
/* Where part `part` of n items begins; it ends where the next one does. */
static ptrdiff_t K_share(ptrdiff_t n, ptrdiff_t part, ptrdiff_t parts) {
  const ptrdiff_t more = n % parts;
  return n / parts * part + (part < more ? part : more);
}

// Scratch memory is there for K_MAX_WORKERS parts.
static void K_parallel(const mrvl_parallel* parallel, mrvl_task task, const void* data) {
  const int wanted = parallel ? parallel->workers : 1;
  const int parts = wanted < K_MAX_WORKERS ? wanted : K_MAX_WORKERS;
  if (parts > 1) {
    parallel->run(parallel->context, parts, task, data);
  } else {
    task(data, 0, 1);
  }
}

//@ piece part_epilogue: epilogue parallel
/* The epilogue of a part of a result, which begins so many rows, columns and elements behind the whole. */
typedef struct K_part_of {
  const K_epilogue* e;
  ptrdiff_t row, col, at;
} K_part_of;

static void K_part_epilogue(
    const void* const* args, float* y, ptrdiff_t row, ptrdiff_t col, ptrdiff_t at, ptrdiff_t n) {
  const K_part_of* const p = (const K_part_of*)args[0];
  p->e->fn(p->e->args, y, row + p->row, col + p->col, at + p->at, n);
}
