//@ piece example_values
/* Texts, sequences and optionals, which .npy files do not hold. A file of them: "MRVLVAL1", the number of
 * tensors (-1: an optional that holds nothing), and of each its rank, its dimensions and its elements; a text
 * is its size and its bytes. Numbers beside the elements are int64_t. mrvlc run writes and reads them. */
typedef struct source {
  const unsigned char* at;
  size_t left;
} source;

static int take(source* s, void* to, size_t bytes) {
  if (bytes > s->left) return 1;
  memcpy(to, s->at, bytes);
  s->at += bytes;
  s->left -= bytes;
  return 0;
}

/* Elements of a tensor; -1: more than `most`. */
static int64_t count_elements(int64_t rank, const int64_t* dim, size_t most) {
  int64_t n = 1;
  for (int64_t d = 0; d < rank; ++d) {
    if (dim[d] < 0 || (dim[d] > 0 && n > INT64_MAX / dim[d])) return -1;
    n *= dim[d];
  }
  return (uint64_t)n <= most ? n : -1;
}

static int take_text(source* s, unsigned char* to) {
  int64_t size = 0;
  mrvl_string text;
  if (take(s, &size, sizeof size) != 0 || size < 0 || (uint64_t)size > s->left) return 1;
  text.data = (const char*)s->at;
  text.size = (size_t)size;
  s->at += size;
  s->left -= (size_t)size;
  memcpy(to, &text, sizeof text);
  return 0;
}

static int take_tensor(
    source* s, const port* p, int64_t* rank, int64_t* dim, unsigned char* to, size_t room) {
  int64_t n;
  if (take(s, rank, sizeof *rank) != 0 || *rank < 0 || *rank > (p->sequence || p->optional ? 7 : 8)) return 1;
  if (take(s, dim, (size_t)*rank * sizeof *dim) != 0) return 1;
  n = count_elements(*rank, dim, room / p->size);
  if (n < 0) return 1;
  if (!p->texts) return take(s, to, (size_t)n * p->size);
  for (int64_t i = 0; i < n; ++i)
    if (take_text(s, to + (size_t)i * sizeof(mrvl_string)) != 0) return 1;
  return 0;
}

static int is_allowed(const port* p, int64_t rank, const int64_t* dim) {
  if (rank != p->rank) return 0;
  for (int d = 0; d < p->rank; ++d)
    if (p->dynamic >> d & 1u ? dim[d] > p->shape[d] : dim[d] != p->shape[d]) return 0;
  return 1;
}

static int read_value(const char* path, const port* p, tensor* t) {
  size_t bytes = 0;
  source s;
  int64_t count = 0, rank = 0;
  unsigned char* file = (unsigned char*)read_all(path, &bytes);
  unsigned char* to = (unsigned char*)allocate(p->bytes);
  int wrong = 0;
  if (!file) return fail(3, "cannot read", path);
  if (bytes < 16 || memcmp(file, "MRVLVAL1", 8) != 0) return fail(3, "not a file of values", path);
  s.at = file + 8;
  s.left = bytes - 8;
  memset(to, 0, p->bytes);
  wrong |= take(&s, &count, sizeof count);
  if (count < (p->optional ? -1 : p->sequence ? 0 : 1) || count > (p->sequence ? p->length : 1)) wrong = 1;
  if (p->sequence) {
    unsigned char* slots = to + (size_t)p->length * 64;
    for (int64_t i = 0; i < count && !wrong; ++i) {
      int64_t row[8] = {0};
      wrong = take_tensor(&s, p, &rank, row, slots + (size_t)i * p->slot, p->slot);
      row[7] = rank;
      memcpy(to + (size_t)i * 64, row, 64);
    }
    t->dim[0] = count < 0 ? 0 : count;
  } else if (count == 1 && !wrong) {
    wrong = take_tensor(&s, p, &rank, t->dim, to, p->bytes) || !is_allowed(p, rank, t->dim);
  }
  if (wrong || s.left != 0) return fail(2, "wrong type or shape for this input", path);
  if (p->optional) t->dim[7] = count >= 0;
  t->data = to;
  t->bytes = p->bytes;
  t->repeats = 1;
  return 0;
}

static int put(FILE* f, const void* from, size_t bytes) {
  return bytes == 0 || fwrite(from, 1, bytes, f) == bytes;
}

static int put_tensor(FILE* f, const port* p, int64_t rank, const int64_t* dim, const unsigned char* from) {
  const int64_t n = count_elements(rank, dim, p->bytes);
  int ok = put(f, &rank, sizeof rank) && put(f, dim, (size_t)rank * sizeof *dim);
  if (!p->texts) return ok && put(f, from, (size_t)n * p->size);
  for (int64_t i = 0; i < n && ok; ++i) {
    mrvl_string text;
    memcpy(&text, from + (size_t)i * sizeof text, sizeof text);
    const int64_t size = (int64_t)text.size;
    ok = put(f, &size, sizeof size) && put(f, text.data, text.size);
  }
  return ok;
}

static int put_value(FILE* f, const port* p, const unsigned char* data, const int64_t* dim) {
  const int nothing = p->optional && dim[7] == 0;
  const int64_t count = nothing ? -1 : p->sequence ? dim[0] : 1;
  int64_t fixed[8];
  int ok = put(f, "MRVLVAL1", 8) && put(f, &count, sizeof count);
  for (int d = 0; d < 8; ++d) fixed[d] = p->shape[d];
  if (!p->sequence && !nothing)
    return ok && put_tensor(f, p, p->rank, p->dynamic || p->optional ? dim : fixed, data);
  for (int64_t i = 0; i < count && ok; ++i) {
    int64_t row[8];
    memcpy(row, data + (size_t)i * 64, 64);
    ok = put_tensor(f, p, row[7], row, data + (size_t)p->length * 64 + (size_t)i * p->slot);
  }
  return ok;
}

static int write_value(const char* folder, const port* p, const void* data, const int64_t* dim) {
  const size_t length = strlen(folder) + strlen(p->file) + 10;
  char* path = (char*)allocate(length);
  FILE* f;
  int ok;
  snprintf(path, length, "%s/%s.value", folder, p->file);
  f = fopen(path, "wb");
  if (!f) return fail(3, "cannot write", path);
  ok = put_value(f, p, (const unsigned char*)data, dim);
  ok &= fclose(f) == 0;
  return ok ? 0 : fail(3, "cannot write", path);
}
