//@ piece split: base
/* As Python's str.split: the parts of x between delimiters, at most `most` + 1 of them unless that is negative;
 * without delimiter between runs of white space. Returns their number; `parts` may be null. */
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
static int K_is_among(const int64_t* offsets, const char* characters, ptrdiff_t n, const char* x, size_t size,
                      int fold) {
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
/* Does all of x match? An instruction of the program is three words: kind (0 bytes of a range, 1 either of two, 2
 * assertion, 3 match) and range, then where it goes on. `room` holds 5 words for each instruction: the round in
 * which it was met last, the instructions to look at, those that read a byte, those for the next byte. */
static uint8_t K_regex(const uint32_t* code, uint32_t count, uint32_t start, const char* x, size_t size,
                       uint32_t* room) {
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
    const uint32_t holds = (before < 0 ? 1u | 4u : before == '\n' ? 4u : 0u) |
                           (here < 0 ? 2u | 8u : here == '\n' ? 8u : 0u) | (word0 != word1 ? 16u : 32u);
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
      if ((uint32_t)here >= (i[0] >> 8 & 255u) && (uint32_t)here <= (i[0] >> 16 & 255u)) seeds[seed_count++] = i[1];
    }
    if (seed_count == 0) return 0;
  }
}
