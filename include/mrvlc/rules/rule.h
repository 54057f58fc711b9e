// Rules as parsed: which chains of operators become one accelerator layer, and on what conditions. The guide
// is docs/rules.md; the grammar stands at the top of lib/rules/parser.h.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::ops {
struct OpDef;
}

namespace mrvlc::rules {

struct Location {
  uint32_t line = 1, column = 1;  // from 1; columns count bytes
};

struct Operator {
  std::string domain, name;  // "" is ai.onnx
  Location at;
  const ops::OpDef* def = nullptr;  // what they name; set by load_rules
};

// An operand of an element: a capture, `_` (any value), or `...` (any number of further inputs, present or
// not).
struct PatternOperand {
  enum class Kind : uint8_t { Capture, Any, Rest } kind = Kind::Any;
  std::string capture;    // without the percent sign
  bool optional = false;  // `%b?`: the input may be absent
  Location at;
};

// `%a = Add|Mul(%c, %k)?`. The first element of a pattern is the anchor; every later one reads an earlier
// one.
struct Element {
  // Optional: when it does not match, its name stands for the earlier element it reads. Many: zero or more,
  // each reading the previous one.
  enum class Repeat : uint8_t { One, Optional, Many } repeat = Repeat::One;
  std::string capture;
  std::vector<Operator> operators;  // alternatives
  std::vector<PatternOperand> operands;
  Location at;
  std::string text;  // as written
};

// Operand of a condition: a literal, a capture or a call.
struct Expression {
  enum class Kind : uint8_t { Integer, Float, String, Word, Capture, List, Call } kind = Kind::Integer;
  int64_t integer = 0;
  double real = 0;
  std::string text;               // String: its value; Word, Capture, Call: the name
  std::vector<Expression> items;  // List, Call
  Location at;
};

enum class Relation : uint8_t {
  Holds,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  InRange,
  InSet
};

struct Term {
  bool negated = false;
  Expression left;
  Relation relation = Relation::Holds;  // Holds: `left` is a call of a predicate
  std::vector<Expression> right;        // one; two for InRange (both included); any number for InSet
  std::string text;
};

struct Condition {
  std::vector<Term> any_of;  // joined by `or`
  std::string text;          // as written
  Location at;
};

struct Rule {
  std::string name, layer, why;
  int64_t priority = 0;
  std::vector<Element> pattern;
  std::vector<Condition> where;
  std::string origin;     // shown name of the file
  Location at, layer_at;  // of its name, and of the word after `layer`
  std::string text;       // the whole rule as written
};

std::string location_text(const Rule& rule, Location at);  // "my.rules:3:5"
std::string operators_text(const Element& element);        // "Relu|Clip"

}  // namespace mrvlc::rules
