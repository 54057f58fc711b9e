//@ piece open_reduce: base
/* Loops of a reduction over the dimensions in the set `axes`, neighbours of one kind merged. n and s are sizes
 * and strides of what is kept, from 8 on of what is reduced, the innermost first; that is the run. */
typedef struct K_open_reduce_loops {
  ptrdiff_t results, outer, run, step;
  int kept, reduced;
  int64_t n[16], s[16];
} K_open_reduce_loops;

static void K_open_reduce(K_open_reduce_loops* p, int rank, const int64_t* dim, uint32_t axes) {
  int64_t stride = 1;
  int last = -1;
  p->results = p->outer = p->run = p->step = 1;
  p->kept = p->reduced = 0;
  for (int d = rank; d-- > 0;) {
    const int kind = (int)(axes >> d & 1u), group = kind ? 7 + p->reduced : p->kept - 1;
    if (dim[d] == 1) continue;
    if (kind == last) {
      p->n[group] *= dim[d];
    } else {
      p->n[group + 1] = dim[d];
      p->s[group + 1] = stride;
      if (kind) {
        ++p->reduced;
      } else {
        ++p->kept;
      }
    }
    last = kind;
    stride *= dim[d];
  }
  for (int g = 0; g < p->kept; ++g) p->results *= (ptrdiff_t)p->n[g];
  for (int g = 1; g < p->reduced; ++g) p->outer *= (ptrdiff_t)p->n[8 + g];
  if (p->reduced > 0) {
    p->run = (ptrdiff_t)p->n[8];
    p->step = (ptrdiff_t)p->s[8];
  }
}

static ptrdiff_t K_open_reduce_at(ptrdiff_t k, int groups, const int64_t* n, const int64_t* s) {
  int64_t rest = k, at = 0;
  for (int g = 0; g < groups; rest /= n[g], ++g) at += rest % n[g] * s[g];
  return (ptrdiff_t)at;
}
