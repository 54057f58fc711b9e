// Rules as parsed: which operators become one accelerator layer together, and on what conditions. The guide
// is docs/rules.md; the grammar stands at the top of lib/rules/parser.h.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::ops {
struct OpDef;
}

namespace mrvlc::rules {

// A rule of this kind is a call of a C function.
inline constexpr std::string_view kCallKind = "call";
// What only arguments of a call can be: a tensor with its dimensions in another order, one whose `const` is
// taken away, memory for the time of the call.
inline constexpr std::string_view kPermuted = "permuted", kWritable = "writable", kScratch = "scratch";
// Numbers as q * 2^(s - 31), q the q31 in [2^30, 2^31), s the q31_shift; of calls alone: an array of these.
inline constexpr std::string_view kQ31 = "q31", kQ31Shift = "q31_shift";

struct Location {
  uint32_t line = 1, column = 1;  // from 1; columns count bytes
  uint32_t file = 0;              // number of the file, from 1; 0: that of the rule, or none

  bool operator==(const Location&) const = default;
};

struct Operator {
  std::string domain, name;  // "" is ai.onnx
  Location at;
  const ops::OpDef* def = nullptr;  // what they name; set by load_rules
  // `@file::group`: stands for the operators of another file's group until all files are read.
  bool group = false;
};

// An operand of an element: a capture, `_` (any value), `...` (any number of further inputs, present or
// not), or `%x...`: all further inputs, as a list. In an element that stands for several (`%a... =
// Relu(%x...)`) the last form is the operand of each.
struct PatternOperand {
  enum class Kind : uint8_t { Capture, Any, Rest, List } kind = Kind::Any;
  std::string capture;    // without the percent sign
  bool optional = false;  // `%b?`: the input may be absent
  Location at;

  bool named() const { return kind == Kind::Capture || kind == Kind::List; }
};

enum class Repeat : uint8_t { One, Optional, Many };

// `%a = Add|Mul(%c, %k)?`. An element reads others of the pattern or is read by them, in any order.
struct Element {
  using Repeat = rules::Repeat;
  // Optional: when it does not match, its name stands for what it would have read. Many: zero or more, each
  // reading the previous one.
  Repeat repeat = Repeat::One;
  std::string capture;               // of its first output, and of the operator itself
  std::vector<std::string> further;  // of its other outputs in their order; empty: `_`
  bool several = false;              // `%a... = `: one operator for each value of the list %a
  std::vector<Operator> operators;   // alternatives
  std::vector<PatternOperand> operands;
  Location at;
  std::string text;  // as written
};

// What a pattern consists of: an element, or alternatives in parentheses, which are sequences of items.
struct Item {
  size_t element = 0;  // into Rule::pattern, without alternatives
  std::vector<std::vector<Item>> alternatives;
  Repeat repeat = Repeat::One;
  Location at;
  std::string text;

  bool is_choice() const { return !alternatives.empty(); }
};

// Operand of a condition: a literal, a capture, a call, an element of a list, or arithmetic on those.
struct Expression {
  enum class Kind : uint8_t {
    Integer,
    Float,
    String,
    Word,
    Capture,
    List,
    Call,
    Arithmetic,
    At
  } kind = Kind::Integer;
  int64_t integer = 0;
  double real = 0;
  std::string text;               // String: its value; Word, Capture, Call: the name; Arithmetic: the sign
  std::vector<Expression> items;  // List, Call, Arithmetic (two), At: a list and the place of its element
  Location at;
};

// q31(NUMBERS, N) and q31_shift(NUMBERS, N): arrays; of one number they are functions like others.
inline bool is_fixed_array(const Expression& e) {
  const bool named = e.text == kQ31 || e.text == kQ31Shift;
  return e.kind == Expression::Kind::Call && named && e.items.size() != 1;
}

enum class Relation : uint8_t {
  Holds,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  InRange,
  InSet,
  Like
};

struct Condition;

struct Term {
  bool negated = false;
  Expression left;
  Relation relation = Relation::Holds;  // Holds: `left` is a call of a predicate
  std::vector<Expression> right;        // one; two for InRange (both included); any number for InSet
  std::vector<Condition> named;         // Holds: what the condition called `left` asks; empty: a predicate
  std::string text;
};

struct Condition {
  std::vector<Term> any_of;  // joined by `or`
  std::string text;          // as written
  Location at;
};

// The graph that a rule is tried on: what the importer made of the model, or what the passes made of that.
enum class Stage : uint8_t { Canonical, Source };

// An argument of a call, in the language of C: what an expression gives, `[...]`: an array of numbers,
// `TYPE{...}`: a structure, `&TYPE{...}`: the address of one.
struct CallArgument {
  enum class Kind : uint8_t { Value, Array, Structure } kind = Kind::Value;
  Expression value;                 // Value
  std::string type;                 // Structure
  bool address = false;             // Structure
  std::vector<CallArgument> items;  // Array, Structure
  Location at;
};

// `call NAME(...) returns N`: the C function that computes what the rule matches.
struct CallTemplate {
  std::string function;
  std::vector<CallArgument> arguments;
  std::optional<int64_t> returns;  // when all went well; without it the function returns nothing of interest
  Location at;
};

struct Rule {
  std::string name, layer, why;
  int64_t priority = 0;
  Stage stage = Stage::Canonical;
  std::vector<Element> pattern;  // all of them, in the order of the text
  std::vector<Item> items;       // how they belong together
  size_t anchor = 0;             // of `pattern`: the first element that is always there
  std::vector<Condition> where;
  std::optional<CallTemplate> call;   // of kind `call`
  std::optional<Expression> seconds;  // clause `cost`: that a call takes
  std::string origin;                 // shown name of the file
  Location at, layer_at;              // of its name, and of the word after `layer`
  std::string text;                   // the whole rule as written
};

std::string location_text(const Rule& rule, Location at);  // "my.rules:3:5"
std::string operators_text(const Element& element);        // "Relu|Clip"

// Calls visit(element) for all elements of the items, inner ones too, in the order of the text.
void for_each_element(const Rule& rule, const std::vector<Item>& items,
                      const std::function<void(const Element&)>& visit);

}  // namespace mrvlc::rules
