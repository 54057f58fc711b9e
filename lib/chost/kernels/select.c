// Operators that put elements in order and take the first ones: NonMaxSuppression, TopK.
//@ piece keyed$form: base
//@ hole form suffix: what names of this form end in
//@ hole key type: an element's rank, the least first
//@ form form= key=uint32_t
//@ form form=_64 key=uint64_t
/* An element's rank, and where it is. */
typedef struct K_keyed$form {
  $key key;
  uint32_t at;
} K_keyed$form;

//@ piece falling_key$form: base
//@ hole form suffix: what names of this form end in
//@ hole key type: unsigned, of as many bits
//@ hole real type: what has an order
//@ form form= key=uint32_t real=float
//@ form form=_64 key=uint64_t real=double
/* The less a key, the greater the number. Both zeros have one key; NaN is greater than all numbers. */
static $key K_falling_key$form($real v) {
  const $key sign = ($key)1 << (sizeof v * 8 - 1);
  $key bits;
  memcpy(&bits, &v, sizeof bits);
  bits = bits == sign ? 0 : bits;
  return v != v ? 0 : bits & sign ? bits : bits ^ (sign - 1);
}

//@ piece sort_keys$form: keyed$form
//@ for TopK: more than 32 results
//@ hole form suffix: what names of this form end in
//@ hole digits number: of 8 bits, in a key
//@ form form= digits=4
//@ form form=_64 digits=8
// Of few elements.
static void K_insert_keys$form(K_keyed$form* x, ptrdiff_t n) {
  for (ptrdiff_t i = 1; i < n; ++i) {
    const K_keyed$form v = x[i];
    ptrdiff_t j = i;
    for (; j > 0 && x[j - 1].key > v.key; --j) x[j] = x[j - 1];
    x[j] = v;
  }
}

/* Sorts x[n] by key, least first; those of one key stay in order. room: n elements. */
static void K_sort_keys$form(K_keyed$form* x, ptrdiff_t n, K_keyed$form* room) {
  uint32_t first[$digits][256];
  K_keyed$form *from = x, *to = room;
  if (n < 128) {
    K_insert_keys$form(x, n);
    return;
  }
  memset(first, 0, sizeof first);
  for (ptrdiff_t i = 0; i < n; ++i) {
    for (int d = 0; d < $digits; ++d) ++first[d][x[i].key >> d * 8 & 255];
  }
  for (int d = 0; d < $digits; ++d) {
    uint32_t sum = 0;
    if (first[d][x[0].key >> d * 8 & 255] == (uint32_t)n) continue;
    for (int v = 0; v < 256; ++v) {
      const uint32_t count = first[d][v];
      first[d][v] = sum;
      sum += count;
    }
    for (ptrdiff_t i = 0; i < n; ++i) to[first[d][from[i].key >> d * 8 & 255]++] = from[i];
    K_keyed$form* const last = from;
    from = to;
    to = last;
  }
  if (from != x) memcpy(x, from, (size_t)n * sizeof *x);
}

//@ piece suppression: base
/* Boxes of one class by falling score, without those that overlap a better one too much. */
typedef struct K_suppression {
  ptrdiff_t count, most;
  float iou;
  // nothing, or what scores are above
  const float* least;
  int center;
} K_suppression;

//@ piece suppress: suppression sort_keys falling_key round_each
//@ for NonMaxSuppression: values that are known at run time
typedef struct K_box {
  float x1, y1, x2, y2, area;
} K_box;

/* Sixteen of the boxes that are kept; places that are free have no part of any box. */
typedef struct K_boxes {
  float x1[16], y1[16], x2[16], y2[16], area[16];
} K_boxes;

// Corners are y, x, y, x in any order; centers x, y, and sizes.
K_round_each static K_box K_box_of(const float* v, int center) {
  K_box b;
  if (center) {
    b.x1 = v[0] - v[2] / 2, b.x2 = v[0] + v[2] / 2;
    b.y1 = v[1] - v[3] / 2, b.y2 = v[1] + v[3] / 2;
  } else {
    b.x1 = v[3] < v[1] ? v[3] : v[1], b.x2 = v[1] < v[3] ? v[3] : v[1];
    b.y1 = v[2] < v[0] ? v[2] : v[0], b.y2 = v[0] < v[2] ? v[2] : v[0];
  }
  b.area = (b.x2 - b.x1) * (b.y2 - b.y1);
  return b;
}

// Does one of sixteen boxes overlap b too much? No conditions, so that it becomes vector code.
K_round_each static int K_overlap(const K_boxes* a, const K_box* b, float iou) {
  int common = 0, hit = 0;
  float w[16], h[16];
  for (int j = 0; j < 16; ++j) {
    w[j] = (a->x2[j] < b->x2 ? a->x2[j] : b->x2) - (a->x1[j] > b->x1 ? a->x1[j] : b->x1);
    h[j] = (a->y2[j] < b->y2 ? a->y2[j] : b->y2) - (a->y1[j] > b->y1 ? a->y1[j] : b->y1);
    common |= (w[j] > 0) & (h[j] > 0);
  }
  if (!common) return 0;
  for (int j = 0; j < 16; ++j) {
    const float both = w[j] * h[j], all = a->area[j] + b->area - both;
    hit |= (w[j] > 0) & (h[j] > 0) & (all > 0) & (both / all > iou);
  }
  return hit;
}

static void K_keep_box(K_boxes* kept, ptrdiff_t i, const K_box* b) {
  K_boxes* const to = kept + i / 16;
  const ptrdiff_t j = i % 16;
  for (int k = 0; j == 0 && k < 16; ++k) {
    to->x1[k] = to->y1[k] = INFINITY;
    to->x2[k] = to->y2[k] = -INFINITY;
    to->area[k] = 0;
  }
  to->x1[j] = b->x1, to->y1[j] = b->y1, to->x2[j] = b->x2, to->y2[j] = b->y2, to->area[j] = b->area;
}

/* Writes start + i for each box i that is kept and returns how many. room: for 2 * count K_keyed;
 * kept_room: for one K_boxes for each 16 that may be kept. A box of no area overlaps none. */
static ptrdiff_t K_suppress(const K_suppression* p, const float* boxes, const float* scores, void* room,
    void* kept_room, ptrdiff_t start, ptrdiff_t* list) {
  K_keyed* const order = (K_keyed*)room;
  K_boxes* const kept = (K_boxes*)kept_room;
  ptrdiff_t n = 0, total = 0, areas = 0;
  for (ptrdiff_t i = 0; i < p->count; ++i) {
    order[n].key = K_falling_key(scores[i]);
    order[n].at = (uint32_t)i;
    n += p->least ? scores[i] > *p->least : scores[i] == scores[i];
  }
  K_sort_keys(order, n, order + p->count);
  for (ptrdiff_t i = 0; i < n && total < p->most; ++i) {
    const K_box b = K_box_of(boxes + (ptrdiff_t)order[i].at * 4, p->center);
    int hit = 0;
    for (ptrdiff_t k = 0; b.area > 0 && !hit && k < areas; k += 16)
      hit = K_overlap(kept + k / 16, &b, p->iou);
    if (hit) continue;
    list[total++] = start + (ptrdiff_t)order[i].at;
    if (b.area > 0) K_keep_box(kept, areas++, &b);
  }
  return total;
}
