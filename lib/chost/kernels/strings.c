//@ piece split: base
/* As Python's str.split: the parts of x between delimiters, at most `most` + 1 of them unless that is
 * negative; without delimiter between runs of white space. */
// Returns their number; `parts` may be null.
static int64_t K_split(mrvl_string x, mrvl_string* parts, const char* delimiter, size_t size, int64_t most) {
  int64_t count = 0;
  size_t at = 0;
  while (size == 0) {
    size_t end;
    while (at < x.size && (x.data[at] == ' ' || (x.data[at] >= '\t' && x.data[at] <= '\r'))) ++at;
    if (at == x.size) return count;
    end = most >= 0 && count == most ? x.size : at;
    while (end < x.size && x.data[end] != ' ' && (x.data[end] < '\t' || x.data[end] > '\r')) ++end;
    if (parts) {
      parts[count].data = x.data + at;
      parts[count].size = end - at;
    }
    ++count;
    at = end;
  }
  for (size_t end = 0;; ++end) {
    const int last = x.size - end < size || (most >= 0 && count == most);
    if (!last && memcmp(x.data + end, delimiter, size) != 0) continue;
    if (last) end = x.size;
    if (parts) {
      parts[count].data = x.size > 0 ? x.data + at : NULL;
      parts[count].size = end - at;
    }
    ++count;
    if (last) return count;
    at = end + size;
    end += size - 1;
  }
}

//@ piece is_among: base
/* Is x one of n words? With `fold`, letters of ASCII are compared in lower case, in which the words are. */
static int K_is_among(
    const int64_t* offsets, const char* characters, ptrdiff_t n, const char* x, size_t size, int fold) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    const char* word = characters + offsets[i];
    size_t j = 0;
    if ((size_t)(offsets[i + 1] - offsets[i]) != size) continue;
    while (j < size && word[j] == (char)(fold && x[j] >= 'A' && x[j] <= 'Z' ? x[j] + 32 : x[j])) ++j;
    if (j == size) return 1;
  }
  return 0;
}

//@ piece same_string: base
static int K_same_string(mrvl_string a, mrvl_string b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

//@ piece regex: base
/* Does all of x match? An instruction of the program is three words: kind (0 bytes of a range, 1 either of
 * two, 2 assertion, 3 match) and range, then where it goes on. `room` holds 5 words for each instruction: the
 * round in which it was met last, the instructions to look at, those that read a byte, those for the next
 * byte. */
static uint8_t K_regex(
    const uint32_t* code, uint32_t count, uint32_t start, const char* x, size_t size, uint32_t* room) {
  uint32_t *met = room, *stack = met + count, *readers = stack + 2 * count, *seeds = readers + count;
  uint32_t seed_count = 1;
  uint8_t matched = 0;
  memset(met, 0, count * sizeof *met);
  seeds[0] = start;
  for (size_t at = 0;; ++at) {
    const int before = at > 0 ? (unsigned char)x[at - 1] : -1, here = at < size ? (unsigned char)x[at] : -1;
    const int word0 = (before >= '0' && before <= '9') || (before >= 'A' && before <= 'Z') || before == '_' ||
                      (before >= 'a' && before <= 'z');
    const int word1 = (here >= '0' && here <= '9') || (here >= 'A' && here <= 'Z') || here == '_' ||
                      (here >= 'a' && here <= 'z');
    const uint32_t holds = (before < 0          ? 1u | 4u
                               : before == '\n' ? 4u
                                                : 0u) |
                           (here < 0          ? 2u | 8u
                               : here == '\n' ? 8u
                                              : 0u) |
                           (word0 != word1 ? 16u : 32u);
    const uint32_t round = (uint32_t)at + 1u;
    uint32_t reader_count = 0;
    matched = 0;
    for (uint32_t s = 0; s < seed_count; ++s) {
      uint32_t depth = 0;
      stack[depth++] = seeds[s];
      while (depth > 0) {
        const uint32_t pc = stack[--depth], kind = code[3 * pc] & 255u;
        if (met[pc] == round) continue;
        met[pc] = round;
        if (kind == 0) readers[reader_count++] = pc;
        if (kind == 3) matched = 1;
        if (kind == 1) stack[depth++] = code[3 * pc + 2];
        if (kind == 1 || (kind == 2 && (holds & code[3 * pc] >> 8) != 0)) stack[depth++] = code[3 * pc + 1];
      }
    }
    if (here < 0) return matched;
    seed_count = 0;
    for (uint32_t r = 0; r < reader_count; ++r) {
      const uint32_t* i = code + 3 * readers[r];
      if ((uint32_t)here >= (i[0] >> 8 & 255u) && (uint32_t)here <= (i[0] >> 16 & 255u))
        seeds[seed_count++] = i[1];
    }
    if (seed_count == 0) return 0;
  }
}

//@ piece bool_text: base
static size_t K_bool_text(char* to, int x) {
  memcpy(to, x ? "True" : "False", 5);
  return x ? 4 : 5;
}

//@ piece integer_text: base
static size_t K_integer_text(char* to, int negative, uint64_t magnitude) {
  char digits[20];
  size_t count = 0, at = 0;
  do digits[count++] = (char)('0' + magnitude % 10);
  while ((magnitude /= 10) > 0);
  if (negative) to[at++] = '-';
  while (count > 0) to[at++] = digits[--count];
  return at;
}

//@ piece float_text: base
enum { K_BIG_WORDS = 40 };
typedef struct {
  uint32_t word[K_BIG_WORDS];
} K_big;

static void K_big_times(K_big* a, uint32_t factor) {
  uint64_t carry = 0;
  for (int i = 0; i < K_BIG_WORDS; ++i) {
    carry += (uint64_t)a->word[i] * factor;
    a->word[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

static void K_big_shift(K_big* a, int bits) {
  for (; bits >= 31; bits -= 31) K_big_times(a, 1u << 31);
  K_big_times(a, 1u << bits);
}

/* Sign of a + b - c. */
static int K_big_compare(const K_big* a, const K_big* b, const K_big* c) {
  int64_t carry = 0;
  int order = 0;
  for (int i = 0; i < K_BIG_WORDS; ++i) {
    carry += (int64_t)a->word[i] + b->word[i] - c->word[i];
    if ((carry & 0xffffffff) != 0) order = 1;
    carry = carry >= 0 ? carry / 4294967296 : -((4294967295 - carry) / 4294967296);
  }
  return carry < 0 ? -1 : order;
}

static void K_big_minus(K_big* a, const K_big* b) {
  uint64_t borrow = 0;
  for (int i = 0; i < K_BIG_WORDS; ++i) {
    const uint64_t d = (uint64_t)a->word[i] - b->word[i] - borrow;
    a->word[i] = (uint32_t)d;
    borrow = d >> 32 & 1u;
  }
}

/* The fewest digits that read back as x > 0, a number with a mantissa of so many bits whose smallest is
 * 2^least, by Steele and White's method (1990); x is 0.ddd * 10^*point. */
static int K_digits(char* digits, double x, int bits, int least, int* point) {
  K_big r = {{0}}, s = {{0}}, up = {{0}}, down = {{0}};
  const K_big zero = {{0}};
  int e, count = 0, k = 0, even, low, high;
  double f = frexp(x, &e);
  uint64_t m;
  e -= bits;
  f = ldexp(f, bits);
  if (e < least) {
    f = ldexp(f, e - least);
    e = least;
  }
  m = (uint64_t)f;
  even = (m & 1) == 0;
  r.word[0] = (uint32_t)m;
  r.word[1] = (uint32_t)(m >> 32);
  s.word[0] = up.word[0] = down.word[0] = 1;
  K_big_shift(&r, e > 0 ? e + 1 : 1);
  K_big_shift(&s, e < 0 ? 1 - e : 1);
  K_big_shift(&up, e > 0 ? e : 0);
  K_big_shift(&down, e > 0 ? e : 0);
  if (m == UINT64_C(1) << (bits - 1) && e > least) { /* the next lower number is nearer */
    K_big_times(&r, 2);
    K_big_times(&s, 2);
    K_big_times(&up, 2);
  }
  while (K_big_compare(&r, &up, &s) >= (even ? 0 : 1)) {
    K_big_times(&s, 10);
    ++k;
  }
  for (;;) {
    K_big r10 = r, up10 = up;
    K_big_times(&r10, 10);
    K_big_times(&up10, 10);
    if (K_big_compare(&r10, &up10, &s) >= (even ? 0 : 1)) break;
    r = r10;
    up = up10;
    K_big_times(&down, 10);
    --k;
  }
  do {
    int d = 0;
    K_big_times(&r, 10);
    K_big_times(&up, 10);
    K_big_times(&down, 10);
    for (; K_big_compare(&r, &zero, &s) >= 0; ++d) K_big_minus(&r, &s);
    low = K_big_compare(&r, &zero, &down) < (even ? 1 : 0);
    high = K_big_compare(&r, &up, &s) >= (even ? 0 : 1);
    if (high) {
      const int half = K_big_compare(&r, &r, &s);
      d += !low || half > 0 || (half == 0 && d % 2 == 1);
    }
    digits[count++] = (char)('0' + d);
  } while (!low && !high);
  *point = k;
  return count;
}

/* As NumPy writes it: exponents only below 1e-4 and from 1e16 on. */
static size_t K_float_text(char* to, double x, int bits, int least) {
  char digits[24];
  size_t at = 0;
  int count = 1, point = 1;
  if (isnan(x)) {
    memcpy(to, "nan", 3);
    return 3;
  }
  if (signbit(x)) to[at++] = '-';
  x = fabs(x);
  if (isinf(x)) {
    memcpy(to + at, "inf", 3);
    return at + 3;
  }
  digits[0] = '0';
  if (x > 0) count = K_digits(digits, x, bits, least, &point);
  if (point < -3 || point > 16) {
    int exponent = point > 0 ? point - 1 : 1 - point;
    to[at++] = digits[0];
    if (count > 1) to[at++] = '.';
    for (int i = 1; i < count; ++i) to[at++] = digits[i];
    to[at++] = 'e';
    to[at++] = point > 0 ? '+' : '-';
    if (exponent >= 100) to[at++] = (char)('0' + exponent / 100);
    to[at++] = (char)('0' + exponent / 10 % 10);
    to[at++] = (char)('0' + exponent % 10);
    return at;
  }
  if (point <= 0) to[at++] = '0';
  for (int i = 0; i < point; ++i) to[at++] = i < count ? digits[i] : '0';
  to[at++] = '.';
  for (int i = point; i < 0; ++i) to[at++] = '0';
  if (count <= point) to[at++] = '0';
  for (int i = point > 0 ? point : 0; i < count; ++i) to[at++] = digits[i];
  return at;
}

//@ piece trimmed: base
/* Without space around and a plus sign in front. */
static void K_trimmed(const char** x, size_t* size) {
  while (*size > 0 && (**x == ' ' || (**x >= '\t' && **x <= '\r'))) ++*x, --*size;
  while (*size > 0 && ((*x)[*size - 1] == ' ' || ((*x)[*size - 1] >= '\t' && (*x)[*size - 1] <= '\r')))
    --*size;
  if (*size > 1 && **x == '+' && (*x)[1] != '-' && (*x)[1] != '+') ++*x, --*size;
}

//@ piece parse_integer: trimmed
/* Whole numbers of 64 bits, signed or not. */
static int K_parse_integer(const char* x, size_t size, uint64_t* value) {
  int negative;
  uint64_t v = 0;
  K_trimmed(&x, &size);
  negative = size > 0 && x[0] == '-';
  if (negative) ++x, --size;
  if (size == 0) return 0;
  for (; size > 0; ++x, --size) {
    if (*x < '0' || *x > '9') return 0;
    if (v > (UINT64_MAX - (uint64_t)(*x - '0')) / 10) return 0;
    v = v * 10 + (uint64_t)(*x - '0');
  }
  if (negative && v > UINT64_C(1) << 63) return 0;
  *value = negative ? (uint64_t)0 - v : v;
  return 1;
}

//@ piece parse_number: trimmed
extern double strtod(const char* restrict, char** restrict);

/* Numbers of at most 127 characters, inf, nan, true and false. */
static int K_parse_number(const char* x, size_t size, double* value) {
  char text[128];
  char* end;
  K_trimmed(&x, &size);
  if (size == 0 || size >= sizeof text || *x == '+') return 0;
  for (size_t i = 0; i < size; ++i) {
    text[i] = (char)(x[i] >= 'A' && x[i] <= 'Z' ? x[i] + 32 : x[i]);
    if (text[i] == 'x' || text[i] == '\0' || (unsigned char)text[i] >= 0x80) return 0;
  }
  text[size] = '\0';
  if (size == 4 && memcmp(text, "true", 4) == 0) {
    *value = 1;
    return 1;
  }
  if (size == 5 && memcmp(text, "false", 5) == 0) {
    *value = 0;
    return 1;
  }
  if (text[0] == ' ' || (text[0] == '-' && (size == 1 || text[1] == '+' || text[1] == '-' || text[1] == ' ')))
    return 0;
  *value = strtod(text, &end);
  return end == text + size;
}
