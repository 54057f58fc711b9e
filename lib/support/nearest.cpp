// Distance of words: Levenshtein's with swapped neighbours, in half letters so that case counts less.
#include "mrvlc/support/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace mrvlc {
namespace {

constexpr size_t kLongest = 64;  // longer words are no names

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

size_t change(char a, char b) {
  return a == b ? 0 : lower(a) == lower(b) ? 1 : 2;
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = 2 * j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = 2 * i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 2, now[j - 1] + 2, last[j - 1] + change(a[i - 1], b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 2);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  if (word.empty() || word.size() > kLongest) return {};
  std::string_view best;
  size_t least = std::max<size_t>(2, 2 * word.size() / 3) + 1;
  for (std::string_view name : names) {
    if (name == word || name.size() > kLongest) continue;
    const size_t d = distance(word, name);
    if (d >= least || d >= 2 * name.size()) continue;
    least = d;
    best = name;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view name = nearest_name(word, names);
  return name.empty() ? std::string() : fmt::format("; did you mean '{}'?", name);
}

}  // namespace mrvlc
