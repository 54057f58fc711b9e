// The parser: RE2's syntax as its documentation describes it.
#include "strings/regex_pattern.h"

namespace mrvlc::ops::regex {
namespace {

constexpr int kMaxDepth = 200;

struct Flags {
  bool fold = false, lines = false, dot_all = false;
};

TreePtr make(Tree::Kind kind) {
  auto tree = std::make_unique<Tree>();
  tree->kind = kind;
  return tree;
}

TreePtr assertion(uint8_t what) {
  TreePtr tree = make(Tree::Kind::Assert);
  tree->assertion = what;
  return tree;
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : in_(pattern) {}

  Result<TreePtr> run() {
    MRVLC_ASSIGN(TreePtr tree, either());
    if (!in_.done()) return unsupported("an unmatched parenthesis");
    return tree;
  }

 private:
  bool repeats_next() const { return in_.next_is_one_of("*+?{"); }

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
    } while (in_.take("|"));
    flags_ = outer;
    --depth_;
    return tree;
  }

  Result<TreePtr> sequence() {
    TreePtr tree = make(Tree::Kind::Sequence);
    while (!in_.done() && !in_.next_is_one_of("|)")) {
      MRVLC_ASSIGN(TreePtr item, atom());
      if (item == nullptr && repeats_next()) return unsupported("a repetition behind flags");
      if (item == nullptr) continue;  // flags
      MRVLC_ASSIGN(item, repeated(std::move(item)));
      tree->parts.push_back(std::move(item));
    }
    return tree;
  }

  Result<TreePtr> repeated(TreePtr item) {
    while (!in_.done()) {
      std::pair<uint32_t, uint32_t> range;
      if (in_.take("*")) {
        range = {0, Tree::kEndless};
      } else if (in_.take("+")) {
        range = {1, Tree::kEndless};
      } else if (in_.take("?")) {
        range = {0, 1};
      } else if (auto given = in_.counts()) {
        range = *given;
      } else {
        break;
      }
      in_.take("?");  // lazy: no matter for a whole match
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
    if (in_.take("(")) return group();
    if (in_.take("[")) {
      MRVLC_ASSIGN(auto set, bracket_class(in_, flags_.fold));
      return set_tree(std::move(set.first), set.second);
    }
    if (in_.take("^")) return assertion(flags_.lines ? kBeginLine : kBeginText);
    if (in_.take("$")) return assertion(flags_.lines ? kEndLine : kEndText);
    if (in_.take(".")) {
      Class set;
      set.add(0, 0x10ffff);
      if (!flags_.dot_all) set.ranges = {{0, '\n' - 1}, {'\n' + 1, 0x10ffff}};
      TreePtr tree = make(Tree::Kind::Set);
      tree->set = std::move(set);
      return tree;
    }
    if (in_.take("\\")) return escape();
    Class set;
    uint32_t c = in_.code_point();
    set.add(c, c);
    return set_tree(std::move(set));
  }

  // "(?flags)" gives no item: nullptr.
  Result<TreePtr> group() {
    if (in_.take("?")) {
      if (in_.take("P<") || in_.take("<")) {
        if (!in_.skip_past('>')) return unsupported("a group without a name");
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
    if (!in_.take(")")) return unsupported("an unmatched parenthesis");
    flags_ = outer;
    return tree;
  }

  // True at a colon, behind which the group goes on.
  Result<bool> flags() {
    bool on = true;
    while (!in_.done()) {
      const char c = in_.peek();
      in_.skip(1);
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

  Result<TreePtr> escape() {
    if (in_.done()) return unsupported("a backslash at its end");
    const char c = in_.peek();
    if (auto perl = perl_class(c)) {
      in_.skip(1);
      return set_tree(std::move(perl->first), perl->second);
    }
    constexpr std::string_view kNames = "bBAz";
    constexpr uint8_t kAssertions[] = {kWordBoundary, kNoWordBoundary, kBeginText, kEndText};
    if (size_t i = kNames.find(c); i != std::string_view::npos) {
      in_.skip(1);
      return assertion(kAssertions[i]);
    }
    if (c == 'Q') {
      in_.skip(1);
      return quoted();
    }
    Class set;
    MRVLC_ASSIGN(uint32_t code, in_.escaped_code());
    set.add(code, code);
    return set_tree(std::move(set));
  }

  // \Q...\E. A repetition behind it is that of the last character alone.
  Result<TreePtr> quoted() {
    TreePtr tree = make(Tree::Kind::Sequence);
    while (!in_.done() && !in_.take("\\E")) {
      Class set;
      uint32_t c = in_.code_point();
      set.add(c, c);
      MRVLC_ASSIGN(TreePtr item, set_tree(std::move(set)));
      tree->parts.push_back(std::move(item));
    }
    if (repeats_next() && tree->parts.size() != 1) return unsupported("a repetition behind \\E");
    return tree;
  }

  PatternReader in_;
  int depth_ = 0;
  Flags flags_;
};

}  // namespace

Result<TreePtr> parse(std::string_view pattern) {
  return Parser(pattern).run();
}

}  // namespace mrvlc::ops::regex
