// Patterns in RE2's syntax as programs of a nondeterministic automaton over bytes (K. Thompson, "Regular
// expression search algorithm", 1968), which generated code walks in time proportional to program and text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::ops::regex {

// What must hold between two bytes.
enum Assertion : uint8_t {
  kBeginText = 1,
  kEndText = 2,
  kBeginLine = 4,
  kEndLine = 8,
  kWordBoundary = 16,
  kNoWordBoundary = 32,
};

struct Instruction {
  enum class Kind : uint8_t { Bytes, Either, Assert, Match };
  Kind kind = Kind::Match;
  uint8_t low = 0, high = 0;  // Bytes: the range; Assert: the assertion in `low`
  uint32_t next = 0, other = 0;
};

struct Program {
  std::vector<Instruction> code;
  uint32_t start = 0;
};

// A pattern that RE2 takes; MRV0204 for the parts of its syntax that are not supported here: classes by
// Unicode property, and ignoring the case of letters outside ASCII.
Result<Program> compile(std::string_view pattern);

}  // namespace mrvlc::ops::regex
