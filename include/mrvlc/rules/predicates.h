// What conditions can ask. Every function has a name, typed parameters and a sentence of documentation; it is
// pure, looks at the matched nodes only, and (for predicates) answers with a reason and the values it
// compared, never a bare bool.
#pragma once
#include <functional>
#include <span>
#include <variant>

#include "mrvlc/ir/graph.h"
#include "mrvlc/range/known.h"
#include "mrvlc/rules/rule.h"

namespace mrvlc::rules {

// Kinds of arguments and results. A Value parameter also takes an element's capture: its first output.
// Attribute: the kind follows from the attribute named. Numbers: a list of whole numbers or of others.
// Capture: anything that the pattern names, there or not.
enum class Kind : uint8_t {
  Verdict,
  Integer,
  Float,
  String,
  ElementType,
  Integers,
  Value,
  Node,
  Attribute,
  Numbers,
  Capture
};
std::string_view kind_name(Kind kind);

struct Verdict {
  bool ok = true;
  std::string condition;      // what failed; of a predicate set by the rule engine: as written
  std::string actual, limit;  // of a failed check
  std::string reason;         // of a failed check, a sentence
};

// What a capture stands for in a match.
struct Binding {
  std::string capture;
  bool is_node = false;
  bool absent = false;     // optional operand not given, or optional element that did not match
  ir::NodeId node = {};    // of an element
  ir::ValueId value = {};  // the operand; of an element the output that has the name
  bool list = false;       // of several: `%x...`; of an element their operators too
  bool unbound = false;    // a round of a repetition forgets what the one before it found
  std::vector<ir::ValueId> values = {};
  std::vector<ir::NodeId> nodes = {};
};

struct Match {
  const Rule* rule = nullptr;
  ir::NodeId anchor;
  std::vector<ir::NodeId> nodes;  // in the order of the pattern, producers first
  std::vector<Binding> bindings;

  const Binding* find(std::string_view capture) const;
};

// Numbers of the machine compiled for, by name.
using MachineNumbers = std::vector<std::pair<std::string_view, int64_t>>;

struct Context {
  const ir::Graph& graph;
  const Match& match;
  const MachineNumbers* machine = nullptr;
  const range::Knowledge* known = nullptr;  // of the graph's values; null: nothing
};

struct Argument {
  Kind kind = Kind::Integer;
  const Binding* binding = nullptr;  // Value, Node
  int64_t integer = 0;
  std::string_view text;  // String
};

// Integer, Float, String and ElementType, Integers; monostate: there is no such thing (absent attribute, rank
// too low).
using Datum =
    std::variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;

struct Function {
  std::string_view name;
  std::vector<Kind> parameters;
  Kind result = Kind::Verdict;
  std::string_view doc;
  Verdict (*test)(const Context&, std::span<const Argument>) = nullptr;   // result Verdict
  Datum (*measure)(const Context&, std::span<const Argument>) = nullptr;  // any other
  bool counts_ports = false;  // of the operator: its schema says how many there can be
  bool takes_lists = false;   // a list as a whole, and what is absent
};

const std::vector<Function>& functions();  // in order of name
const Function* find_function(std::string_view name);

// A number that is not negative, in fixed point as kernels for integers take it (Jacob et al., 2018, section
// 2.2): q31 * 2^(shift - 31), q31 in [2^30, 2^31), or 0 below 2^-32. Nothing from 2^30 on.
struct FixedPoint {
  int64_t q31 = 0, shift = 0;
};
std::optional<FixedPoint> fixed_point(double number);

// "dim(%x, 1)"
std::string expression_text(const Expression& e);

// What an expression gives: several data for a list of values.
using Data = std::vector<Datum>;
Data measure(const Expression& expression, const Context& context);

// Conditions that mention the capture of an absent operand or element hold; of a list, what is asked must
// hold for each of its values.
Verdict evaluate(const Condition& condition, const Context& context);

}  // namespace mrvlc::rules
