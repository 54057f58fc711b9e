// Syntax trees of patterns.
#pragma once
#include <memory>

#include "strings/regex.h"

namespace mrvlc::ops::regex {

// Sorted ranges of code points, apart from each other.
struct Class {
  struct Range {
    uint32_t low, high;
  };
  std::vector<Range> ranges;
  void add(uint32_t low, uint32_t high) { ranges.push_back({low, high}); }
  void add(const Class& other) { ranges.insert(ranges.end(), other.ranges.begin(), other.ranges.end()); }
  void normalize();
  void negate();  // of a normalized class
};

struct Tree;
using TreePtr = std::unique_ptr<Tree>;
struct Tree {
  enum class Kind : uint8_t { Empty, Set, Assert, Sequence, Either, Repeat };
  Kind kind = Kind::Empty;
  Class set;                     // Set
  uint8_t assertion = 0;         // Assert
  std::vector<TreePtr> parts;    // Sequence, Either; Repeat: one
  uint32_t least = 0, most = 0;  // Repeat
  static constexpr uint32_t kEndless = UINT32_MAX;
};

Result<TreePtr> parse(std::string_view pattern);

}  // namespace mrvlc::ops::regex
