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
