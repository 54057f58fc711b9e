// Sets of characters: ranges, the classes that have names, bracket expressions.
#include <algorithm>

#include "strings/regex_pattern.h"

namespace mrvlc::ops::regex {

void Class::normalize() {
  std::sort(ranges.begin(), ranges.end(), [](Range a, Range b) { return a.low < b.low; });
  std::vector<Range> out;
  for (Range r : ranges) {
    if (!out.empty() && r.low <= out.back().high + 1) {
      out.back().high = std::max(out.back().high, r.high);
    } else {
      out.push_back(r);
    }
  }
  ranges = std::move(out);
}

void Class::negate() {
  std::vector<Range> out;
  uint32_t next = 0;
  for (Range r : ranges) {
    if (r.low > next) out.push_back({next, r.low - 1});
    next = r.high + 1;
  }
  if (next <= 0x10ffff) out.push_back({next, 0x10ffff});
  ranges = std::move(out);
}

namespace {

struct NamedClass {
  std::string_view name, ranges;  // pairs of characters
};
constexpr NamedClass kPosix[] = {
    {"alnum", "09AZaz"},
    {"alpha", "AZaz"},
    {"ascii", std::string_view("\0\x7f", 2)},
    {"blank", "\t\t  "},
    {"cntrl", std::string_view("\0\x1f\x7f\x7f", 4)},
    {"digit", "09"},
    {"graph", "!~"},
    {"lower", "az"},
    {"print", " ~"},
    {"punct", "!/:@[`{~"},
    {"space", "\t\r  "},
    {"upper", "AZ"},
    {"word", "09AZaz__"},
    {"xdigit", "09AFaf"},
};

void add_ranges(Class& to, std::string_view pairs) {
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    to.add(static_cast<unsigned char>(pairs[i]), static_cast<unsigned char>(pairs[i + 1]));
}

// Members of a class that has a name, into a bracket expression.
Status add_named(Class& set, Class members, bool negated, bool fold) {
  if (negated) {
    if (fold) return unsupported("(?i) for a class of this kind");
    members.normalize();
    members.negate();
  }
  set.add(members);
  return {};
}

Status add_posix(PatternReader& in, Class& set, bool fold) {
  const bool negated = in.take("^");
  for (const NamedClass& named : kPosix) {
    if (!in.take(std::string(named.name) + ":]")) continue;
    Class members;
    add_ranges(members, named.ranges);
    return add_named(set, std::move(members), negated, fold);
  }
  return unsupported("an unknown class");
}

Result<uint32_t> class_code(PatternReader& in) {
  if (in.take("\\")) return in.escaped_code();
  return in.code_point();
}

Status add_item(PatternReader& in, Class& set, bool fold) {
  if (in.take("[:")) return add_posix(in, set, fold);
  if (in.peek() == '\\') {
    if (auto perl = perl_class(in.peek(1))) {
      in.skip(2);
      return add_named(set, std::move(perl->first), perl->second, fold);
    }
  }
  MRVLC_ASSIGN(uint32_t low, class_code(in));
  uint32_t high = low;
  if (in.has(2) && in.peek() == '-' && in.peek(1) != ']') {
    in.skip(1);
    MRVLC_ASSIGN(high, class_code(in));
  }
  if (high < low) return unsupported("a range out of order");
  set.add(low, high);
  return {};
}

}  // namespace

std::optional<std::pair<Class, bool>> perl_class(char letter) {
  Class set;
  switch (letter | 0x20) {
    case 'd':
      add_ranges(set, "09");
      break;
    case 's':
      add_ranges(set, "\t\n\f\r  ");
      break;
    case 'w':
      add_ranges(set, "09AZaz__");
      break;
    default:
      return std::nullopt;
  }
  return std::pair(std::move(set), letter < 'a');
}

Result<std::pair<Class, bool>> bracket_class(PatternReader& in, bool fold) {
  const bool negated = in.take("^");
  bool first = true;
  Class set;
  while (first || !in.take("]")) {
    if (in.done()) return unsupported("an unfinished class");
    first = false;
    MRVLC_TRY(add_item(in, set, fold));
  }
  return std::pair(std::move(set), negated);
}

}  // namespace mrvlc::ops::regex
