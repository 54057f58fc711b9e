// The parser: RE2's syntax as its documentation describes it.
#include <algorithm>
#include <cctype>
#include <optional>

#include "common/infer_util.h"
#include "strings/regex_syntax.h"

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

constexpr int kMaxDepth = 200;

struct Flags {
  bool fold = false, lines = false, dot_all = false;
};

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

class Parser {
 public:
  explicit Parser(std::string_view pattern) : text_(pattern) {}

  Result<TreePtr> run() {
    MRVLC_ASSIGN(TreePtr tree, either());
    if (at_ != text_.size()) return unsupported("an unmatched parenthesis");
    return tree;
  }

 private:
  static Diag unsupported(std::string_view what) {
    return bad_attr("pattern", fmt::format("has {}, which generated code does not support", what));
  }
  bool done() const { return at_ == text_.size(); }
  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  bool repeats_next() const {
    return !done() && std::string_view("*+?{").find(text_[at_]) != std::string_view::npos;
  }

  // One code point of the pattern, which is valid UTF-8.
  uint32_t code_point() {
    auto byte = [&](size_t i) { return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0u; };
    uint32_t first = byte(at_);
    size_t more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    uint32_t value = more == 0 ? first : first & (0x3fu >> more);
    for (size_t i = 1; i <= more; ++i) value = value << 6 | (byte(at_ + i) & 0x3fu);
    at_ = std::min(at_ + more + 1, text_.size());
    return value;
  }

  static TreePtr make(Tree::Kind kind) {
    auto tree = std::make_unique<Tree>();
    tree->kind = kind;
    return tree;
  }
  static TreePtr assertion(uint8_t what) {
    TreePtr tree = make(Tree::Kind::Assert);
    tree->assertion = what;
    return tree;
  }

  // Letters under (?i): both cases, and the two letters outside ASCII whose other case is inside.
  Status fold(Class& set) const {
    if (!flags_.fold) return {};
    Class more;
    for (auto r : set.ranges) {
      if (r.high >= 0x80) return unsupported("(?i) for characters outside ASCII");
      for (uint32_t c = r.low; c <= r.high; ++c) {
        bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
        if (upper || lower) more.add(c ^ 0x20u, c ^ 0x20u);
        if ((c | 0x20u) == 'k' && (upper || lower)) more.add(0x212a, 0x212a);
        if ((c | 0x20u) == 's' && (upper || lower)) more.add(0x17f, 0x17f);
      }
    }
    set.add(more);
    return {};
  }

  Result<TreePtr> set_tree(Class set, bool negated = false) const {
    set.normalize();
    MRVLC_TRY(fold(set));
    set.normalize();
    if (negated) set.negate();
    TreePtr tree = make(Tree::Kind::Set);
    tree->set = std::move(set);
    return tree;
  }

  Result<TreePtr> either() {
    if (++depth_ > kMaxDepth) return unsupported("groups nested this deep");
    Flags outer = flags_;
    TreePtr tree = make(Tree::Kind::Either);
    do {
      MRVLC_ASSIGN(TreePtr part, sequence());
      tree->parts.push_back(std::move(part));
    } while (take("|"));
    flags_ = outer;
    --depth_;
    return tree;
  }

  Result<TreePtr> sequence() {
    TreePtr tree = make(Tree::Kind::Sequence);
    while (!done() && text_[at_] != '|' && text_[at_] != ')') {
      MRVLC_ASSIGN(TreePtr item, atom());
      if (item == nullptr && repeats_next()) return unsupported("a repetition behind flags");
      if (item == nullptr) continue;  // flags
      MRVLC_ASSIGN(item, repeated(std::move(item)));
      tree->parts.push_back(std::move(item));
    }
    return tree;
  }

  // "{2}", "{2,}", "{2,5}"; anything else in braces stands for itself.
  std::optional<std::pair<uint32_t, uint32_t>> counts() {
    size_t start = at_;
    auto number = [&]() -> std::optional<uint32_t> {
      uint32_t v = 0;
      size_t from = at_;
      while (!done() && text_[at_] >= '0' && text_[at_] <= '9' && v < 100000)
        v = v * 10 + static_cast<uint32_t>(text_[at_++] - '0');
      return at_ == from ? std::nullopt : std::optional(v);
    };
    if (take("{")) {
      if (auto least = number()) {
        if (take("}")) return std::pair(*least, *least);
        if (take(",")) {
          if (take("}")) return std::pair(*least, Tree::kEndless);
          auto most = number();
          if (most && take("}")) return std::pair(*least, *most);
        }
      }
    }
    at_ = start;
    return std::nullopt;
  }

  Result<TreePtr> repeated(TreePtr item) {
    while (!done()) {
      std::pair<uint32_t, uint32_t> range;
      if (take("*")) {
        range = {0, Tree::kEndless};
      } else if (take("+")) {
        range = {1, Tree::kEndless};
      } else if (take("?")) {
        range = {0, 1};
      } else if (auto given = counts()) {
        range = *given;
      } else {
        break;
      }
      take("?");  // lazy: no matter for a whole match
      if (range.first > range.second) return unsupported("a repetition out of order");
      TreePtr tree = make(Tree::Kind::Repeat);
      tree->least = range.first;
      tree->most = range.second;
      tree->parts.push_back(std::move(item));
      item = std::move(tree);
    }
    return item;
  }

  Result<TreePtr> atom() {
    if (take("(")) return group();
    if (take("[")) return bracket();
    if (take("^")) return assertion(flags_.lines ? kBeginLine : kBeginText);
    if (take("$")) return assertion(flags_.lines ? kEndLine : kEndText);
    if (take(".")) {
      Class set;
      set.add(0, 0x10ffff);
      if (!flags_.dot_all) set.ranges = {{0, '\n' - 1}, {'\n' + 1, 0x10ffff}};
      TreePtr tree = make(Tree::Kind::Set);
      tree->set = std::move(set);
      return tree;
    }
    if (take("\\")) return escape();
    Class set;
    uint32_t c = code_point();
    set.add(c, c);
    return set_tree(std::move(set));
  }

  // "(?flags)" gives no item: nullptr.
  Result<TreePtr> group() {
    if (take("?")) {
      if (take("P<") || take("<")) {
        size_t end = text_.find('>', at_);
        if (end == std::string_view::npos) return unsupported("a group without a name");
        at_ = end + 1;
      } else {
        Flags outer = flags_;
        MRVLC_ASSIGN(bool opens, flags());
        if (!opens) return TreePtr();
        return rest_of_group(outer);
      }
    }
    return rest_of_group(flags_);
  }

  Result<TreePtr> rest_of_group(Flags outer) {
    MRVLC_ASSIGN(TreePtr tree, either());
    if (!take(")")) return unsupported("an unmatched parenthesis");
    flags_ = outer;
    return tree;
  }

  // True at a colon, behind which the group goes on.
  Result<bool> flags() {
    bool on = true;
    while (!done()) {
      char c = text_[at_++];
      if (c == ')') return false;
      if (c == ':') return true;
      if (c == '-') on = false;
      if (c == 'i') flags_.fold = on;
      if (c == 'm') flags_.lines = on;
      if (c == 's') flags_.dot_all = on;
      if (std::string_view("-imsU").find(c) == std::string_view::npos) return unsupported("an unknown flag");
    }
    return unsupported("an unfinished flag");
  }

  // \d \s \w and their opposites.
  static std::optional<std::pair<Class, bool>> perl_class(char c) {
    Class set;
    switch (c | 0x20) {
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
    return std::pair(std::move(set), c < 'a');
  }

  // The code point an escape stands for; at_ is behind the backslash.
  Result<uint32_t> escaped_code() {
    if (done()) return unsupported("a backslash at its end");
    constexpr std::string_view kNames = "afnrtv", kCodes = "\a\f\n\r\t\v";
    char c = text_[at_];
    if (size_t i = kNames.find(c); i != std::string_view::npos) {
      ++at_;
      return static_cast<uint32_t>(kCodes[i]);
    }
    if (c == 'x') return hexadecimal();
    if (c >= '0' && c <= '7') return octal();
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '8' && c <= '9');
    if (letter) return unsupported(fmt::format("\\{}", c));
    return code_point();
  }

  Result<uint32_t> hexadecimal() {
    ++at_;
    bool braces = take("{");
    uint32_t value = 0;
    for (int digits = 0; !done() && digits < (braces ? 8 : 2); ++digits) {
      size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(std::tolower(text_[at_])));
      if (digit == std::string_view::npos) break;
      value = value * 16 + static_cast<uint32_t>(digit);
      ++at_;
    }
    if ((braces && !take("}")) || value > 0x10ffff) return unsupported("an odd \\x");
    return value;
  }

  Result<uint32_t> octal() {
    uint32_t value = 0;
    for (int digits = 0; !done() && digits < 3 && text_[at_] >= '0' && text_[at_] <= '7'; ++digits)
      value = value * 8 + static_cast<uint32_t>(text_[at_++] - '0');
    return value;
  }

  Result<TreePtr> escape() {
    if (done()) return unsupported("a backslash at its end");
    char c = text_[at_];
    if (auto perl = perl_class(c)) {
      ++at_;
      return set_tree(std::move(perl->first), perl->second);
    }
    constexpr std::string_view kNames = "bBAz";
    constexpr uint8_t kAssertions[] = {kWordBoundary, kNoWordBoundary, kBeginText, kEndText};
    if (size_t i = kNames.find(c); i != std::string_view::npos) {
      ++at_;
      return assertion(kAssertions[i]);
    }
    if (c == 'Q') {
      ++at_;
      return quoted();
    }
    Class set;
    MRVLC_ASSIGN(uint32_t code, escaped_code());
    set.add(code, code);
    return set_tree(std::move(set));
  }

  // \Q...\E. A repetition behind it is that of the last character alone.
  Result<TreePtr> quoted() {
    TreePtr tree = make(Tree::Kind::Sequence);
    while (!done() && !take("\\E")) {
      Class set;
      uint32_t c = code_point();
      set.add(c, c);
      MRVLC_ASSIGN(TreePtr item, set_tree(std::move(set)));
      tree->parts.push_back(std::move(item));
    }
    if (repeats_next() && tree->parts.size() != 1) return unsupported("a repetition behind \\E");
    return tree;
  }

  Result<TreePtr> bracket() {
    bool negated = take("^"), first = true;
    Class set;
    while (first || !take("]")) {
      if (done()) return unsupported("an unfinished class");
      first = false;
      MRVLC_TRY(class_item(set));
    }
    return set_tree(std::move(set), negated);
  }

  Status class_item(Class& set) {
    if (take("[:")) return posix(set);
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      if (auto perl = perl_class(text_[at_ + 1])) {
        at_ += 2;
        if (perl->second) {
          if (flags_.fold) return unsupported("(?i) for a class of this kind");
          perl->first.normalize();
          perl->first.negate();
        }
        set.add(perl->first);
        return {};
      }
    }
    MRVLC_ASSIGN(uint32_t low, class_code());
    uint32_t high = low;
    if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
      ++at_;
      MRVLC_ASSIGN(high, class_code());
    }
    if (high < low) return unsupported("a range out of order");
    set.add(low, high);
    return {};
  }

  Result<uint32_t> class_code() {
    if (take("\\")) return escaped_code();
    return code_point();
  }

  Status posix(Class& set) {
    bool negated = take("^");
    for (const NamedClass& named : kPosix) {
      if (!take(std::string(named.name) + ":]")) continue;
      Class members;
      add_ranges(members, named.ranges);
      if (negated) {
        if (flags_.fold) return unsupported("(?i) for a class of this kind");
        members.normalize();
        members.negate();
      }
      set.add(members);
      return {};
    }
    return unsupported("an unknown class");
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  Flags flags_;
};

}  // namespace

Result<TreePtr> parse(std::string_view pattern) {
  return Parser(pattern).run();
}

}  // namespace mrvlc::ops::regex
