// From trees to instructions, each built in front of what follows it.
#include <algorithm>

#include "common/infer_util.h"
#include "strings/regex_syntax.h"

namespace mrvlc::ops::regex {
namespace {

using Kind = Instruction::Kind;

constexpr size_t kMaxInstructions = 20000;

class Compiler {
 public:
  Result<Program> run(const Tree& tree) {
    uint32_t match = add({Kind::Match});
    program_.start = build(tree, match);
    if (overflow_)
      return bad_attr("pattern", fmt::format("takes more than {} instructions", kMaxInstructions));
    return std::move(program_);
  }

 private:
  uint32_t add(Instruction i) {
    if (program_.code.size() >= kMaxInstructions) {
      overflow_ = true;
      return 0;
    }
    program_.code.push_back(i);
    return static_cast<uint32_t>(program_.code.size() - 1);
  }
  uint32_t either(uint32_t a, uint32_t b) { return add({Kind::Either, 0, 0, a, b}); }

  uint32_t build(const Tree& tree, uint32_t next) {
    if (overflow_) return 0;
    switch (tree.kind) {
      case Tree::Kind::Set:
        return build_set(tree.set, next);
      case Tree::Kind::Assert:
        return add({Kind::Assert, tree.assertion, 0, next, 0});
      case Tree::Kind::Sequence:
        for (size_t i = tree.parts.size(); i-- > 0;) next = build(*tree.parts[i], next);
        return next;
      case Tree::Kind::Either: {
        uint32_t start = build(*tree.parts.back(), next);
        for (size_t i = tree.parts.size() - 1; i-- > 0;) start = either(build(*tree.parts[i], next), start);
        return start;
      }
      case Tree::Kind::Repeat:
        return build_repeat(tree, next);
      default:
        return next;
    }
  }

  // x{2,4} is x x (x (x)?)?; x{2,} is x x x*.
  uint32_t build_repeat(const Tree& tree, uint32_t next) {
    const Tree& part = *tree.parts[0];
    uint32_t after = next;
    if (tree.most == Tree::kEndless) {
      uint32_t loop = either(0, next);
      uint32_t body = build(part, loop);
      if (!overflow_) program_.code[loop].next = body;
      next = loop;
    } else {
      for (uint32_t i = tree.least; i < tree.most && !overflow_; ++i) next = either(build(part, next), after);
    }
    for (uint32_t i = 0; i < tree.least && !overflow_; ++i) next = build(part, next);
    return next;
  }

  uint32_t build_set(const Class& set, uint32_t next) {
    sequences_.clear();
    for (auto r : set.ranges) split(r.low, r.high);
    if (sequences_.empty()) return add({Kind::Bytes, 1, 0, next, 0});  // nothing
    uint32_t start = 0;
    for (size_t i = sequences_.size(); i-- > 0;) {
      uint32_t at = next;
      for (size_t k = sequences_[i].size(); k-- > 0;)
        at = add({Kind::Bytes, sequences_[i][k].first, sequences_[i][k].second, at, 0});
      start = i + 1 == sequences_.size() ? at : either(at, start);
    }
    return start;
  }

  using Sequence = std::vector<std::pair<uint8_t, uint8_t>>;

  static size_t length(uint32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }
  static std::vector<uint8_t> encode(uint32_t c) {
    size_t n = length(c);
    if (n == 1) return {static_cast<uint8_t>(c)};
    std::vector<uint8_t> bytes(n);
    for (size_t i = n; i-- > 1; c >>= 6) bytes[i] = static_cast<uint8_t>(0x80 | (c & 0x3f));
    bytes[0] = static_cast<uint8_t>((0xf00u >> n & 0xffu) | c);
    return bytes;
  }

  // Ranges of code points as ranges of bytes: cut where the length changes, then until only the last bytes
  // run through all their values.
  void split(uint32_t low, uint32_t high) {
    for (uint32_t limit : {0x7fu, 0x7ffu, 0xffffu}) {
      if (low <= limit && high > limit) {
        split(low, limit);
        return split(limit + 1, high);
      }
    }
    for (unsigned bits = 6; bits < 6 * length(low); bits += 6) {
      uint32_t mask = (1u << bits) - 1;
      if ((low & ~mask) == (high & ~mask)) continue;
      if ((low & mask) != 0) {
        split(low, low | mask);
        return split((low | mask) + 1, high);
      }
      if ((high & mask) != mask) {
        split(low, (high & ~mask) - 1);
        return split(high & ~mask, high);
      }
    }
    std::vector<uint8_t> a = encode(low), b = encode(high);
    Sequence sequence;
    for (size_t i = 0; i < a.size(); ++i) sequence.emplace_back(a[i], b[i]);
    sequences_.push_back(std::move(sequence));
  }

  Program program_;
  std::vector<Sequence> sequences_;
  bool overflow_ = false;
};

}  // namespace

Result<Program> compile(std::string_view pattern) {
  MRVLC_ASSIGN(TreePtr tree, parse(pattern));
  return Compiler().run(*tree);
}

}  // namespace mrvlc::ops::regex
