// Static checks of a rule's conditions.
#include <fmt/ranges.h>

#include <algorithm>

#include "check.h"
#include "measure.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::rules {
namespace {

// The element whose operand the capture is, or nullptr.
const Element* operand_owner(const Rule& rule, std::string_view capture) {
  for (const Element& e : rule.pattern) {
    if (reads(e, capture)) return &e;
  }
  return nullptr;
}

// Whether the name is another one in every round of a repetition.
bool of_each_round(const Rule& rule, const std::vector<Item>& items, std::string_view capture) {
  for (const Item& i : items) {
    for (const auto& alternative : i.alternatives) {
      if (of_each_round(rule, alternative, capture)) return true;
    }
    if (!i.is_choice() || i.repeat != Repeat::Many) continue;
    const std::vector<std::string> results = results_of(rule, i);
    if (std::ranges::find(results, capture) != results.end()) continue;
    size_t inside = 0, all = 0;
    for_each_element(rule, {i}, [&](const Element& e) { inside += makes(e, capture) || reads(e, capture); });
    for (const Element& e : rule.pattern) all += makes(e, capture) || reads(e, capture);
    if (inside > 0 && inside == all) return true;
  }
  return false;
}

bool numeric(Kind k) {
  return k == Kind::Integer || k == Kind::Float;
}
bool is_list(Kind k) {
  return k == Kind::Integers || k == Kind::Numbers;
}

bool comparable(Kind left, Kind right, bool equality) {
  if (numeric(left)) return numeric(right) || right == Kind::Numbers;
  if (is_list(left)) return numeric(right) || (equality && is_list(right));
  return equality && left == right;
}

class ConditionCheck {
 public:
  explicit ConditionCheck(const CheckContext& context) : c_(context) {}

  void run() { conditions(c_.rule.where); }

  std::optional<Kind> kind(const Expression& e) {
    switch (e.kind) {
      case Expression::Kind::Integer:
        return Kind::Integer;
      case Expression::Kind::Float:
        return Kind::Float;
      case Expression::Kind::String:
        return Kind::String;
      case Expression::Kind::Word:
        return word(e);
      case Expression::Kind::Capture:
        return capture(e);
      case Expression::Kind::List:
        return list(e);
      case Expression::Kind::Call:
        return call(e);
      case Expression::Kind::Arithmetic:
        return arithmetic(e);
      case Expression::Kind::At:
        return element(e);
    }
    return std::nullopt;
  }

 private:
  template <DiagId Code, class... Args>
  std::nullopt_t error(Location at, Args&&... args) {
    c_.messages.at<Code>(c_.rule, at, std::forward<Args>(args)...);
    return std::nullopt;
  }

  void conditions(const std::vector<Condition>& all) {
    for (const Condition& c : all) {
      for (const Term& t : c.any_of) term(t);
    }
  }

  void term(const Term& t) {
    if (!t.named.empty()) {
      for (const Expression& argument : t.left.items) kind(argument);
      return conditions(t.named);
    }
    std::optional<Kind> left = kind(t.left);
    if (!left) return;
    if (t.left.kind != Expression::Kind::Call && t.left.kind != Expression::Kind::Arithmetic &&
        t.left.kind != Expression::Kind::At) {
      error<DiagCode::MRV0304>(t.left.at, t.text, "must begin with a predicate");
      return;
    }
    if ((*left == Kind::Verdict) != (t.relation == Relation::Holds)) {
      error<DiagCode::MRV0304>(t.left.at, t.left.text,
                               *left == Kind::Verdict ? "answers by itself and is not compared"
                                                      : "must be compared with something");
      return;
    }
    for (const Expression& r : t.right) right_side(t, *left, r);
  }

  void right_side(const Term& t, Kind left, const Expression& r) {
    std::optional<Kind> k = kind(r);
    if (!k) return;
    bool equality =
        t.relation == Relation::Equal || t.relation == Relation::NotEqual || t.relation == Relation::InSet;
    if (t.relation == Relation::Like) {
      if (left == Kind::String && *k == Kind::String) return;
      error<DiagCode::MRV0304>(r.at, t.text, "asks what text is like, and like what, in quotes");
      return;
    }
    if (comparable(left, *k, equality)) return;
    error<DiagCode::MRV0304>(
        r.at, t.text,
        fmt::format("compares {} with {}{}", kind_name(left), kind_name(*k), equality ? "" : " by order"));
  }

  std::optional<Kind> word(const Expression& e) {
    if (element_type_from_name(e.text)) return Kind::ElementType;
    if (find_function(e.text) || find_number_function(e.text))
      return error<DiagCode::MRV0304>(e.at, e.text, "is a predicate and needs its arguments in parentheses");
    std::vector<std::string_view> types;
    for (int i = static_cast<int>(ElementType::F32); i <= static_cast<int>(ElementType::I2); ++i)
      types.push_back(name(static_cast<ElementType>(i)));
    return error<DiagCode::MRV0304>(e.at, printable(e.text),
                                    "is no element type" + did_you_mean(e.text, types));
  }

  std::optional<Kind> capture(const Expression& e) {
    const bool made = find_element(c_.rule, e.text) != nullptr;
    if (of_each_round(c_.rule, c_.rule.items, e.text)) {
      return error<DiagCode::MRV0304>(e.at, "%" + e.text,
                                      "is in what is repeated and stands for several values");
    }
    if (made) return Kind::Node;
    const Element* owner = operand_owner(c_.rule, e.text);
    if (owner == nullptr) return error<DiagCode::MRV0305>(e.at, printable(e.text), nearest_capture(e.text));
    if (owner->repeat == Element::Repeat::Many) {
      return error<DiagCode::MRV0304>(e.at, "%" + e.text,
                                      "is an operand of a repeated element and stands for several values");
    }
    return Kind::Value;
  }

  std::optional<Kind> list(const Expression& e) {
    bool whole = true;
    for (const Expression& i : e.items) {
      if (i.kind != Expression::Kind::Integer && i.kind != Expression::Kind::Float)
        return error<DiagCode::MRV0304>(i.at, "list", "holds numbers only");
      whole = whole && i.kind == Expression::Kind::Integer;
    }
    return whole ? Kind::Integers : Kind::Numbers;
  }

  std::optional<Kind> element(const Expression& e) {
    const std::optional<Kind> list = kind(e.items[0]), place = kind(e.items[1]);
    if (!list || !place) return std::nullopt;
    if (!is_list(*list))
      return error<DiagCode::MRV0304>(e.items[0].at, e.text,
                                      fmt::format("stands behind a list, not behind {}", kind_name(*list)));
    if (*place != Kind::Integer)
      return error<DiagCode::MRV0304>(e.items[1].at, e.text,
                                      fmt::format("takes a whole number, not {}", kind_name(*place)));
    return *list == Kind::Integers ? Kind::Integer : Kind::Float;
  }

  std::optional<Kind> of_numbers(const Expression& e, const NumberFunction& f) {
    if (e.items.size() != f.parameters) {
      return error<DiagCode::MRV0304>(
          e.at, e.text, fmt::format("takes {} arguments, has {}", f.parameters, e.items.size()));
    }
    const std::optional<Kind> k = arithmetic(e);
    if (!k || !f.whole) return k;
    return is_list(*k) ? Kind::Integers : Kind::Integer;
  }

  std::optional<Kind> arithmetic(const Expression& e) {
    bool whole = true, lists = false;
    for (const Expression& i : e.items) {
      const std::optional<Kind> k = kind(i);
      if (!k) return std::nullopt;
      if (!numeric(*k) && !is_list(*k))
        return error<DiagCode::MRV0304>(i.at, e.text,
                                        fmt::format("computes with numbers, not with {}", kind_name(*k)));
      whole = whole && (*k == Kind::Integer || *k == Kind::Integers);
      lists = lists || is_list(*k);
    }
    if (lists) return whole ? Kind::Integers : Kind::Numbers;
    return whole ? Kind::Integer : Kind::Float;
  }

  std::optional<Kind> call(const Expression& e) {
    if (const NumberFunction* f = find_number_function(e.text)) return of_numbers(e, *f);
    const Function* f = find_function(e.text);
    if (f == nullptr && e.text == kLegalityClause) {
      return error<DiagCode::MRV0304>(e.at, e.text,
                                      "is asked of every match and is no condition any more; take it out");
    }
    if (f == nullptr) return error<DiagCode::MRV0303>(e.at, printable(e.text), nearest_function(e.text));
    if (e.items.size() != f->parameters.size()) {
      return error<DiagCode::MRV0304>(
          e.at, e.text, fmt::format("takes {} arguments, has {}", f->parameters.size(), e.items.size()));
    }
    for (size_t i = 0; i < e.items.size(); ++i) {
      if (!argument(e, e.items[i], f->parameters[i], i)) return std::nullopt;
    }
    if (e.text == "machine") return machine(e);
    return f->result == Kind::Attribute ? attribute(e) : f->result;
  }

  bool argument(const Expression& call, const Expression& e, Kind parameter, size_t i) {
    std::optional<Kind> k = kind(e);
    if (!k) return false;
    // Values known when the rule is read: calls do not nest.
    bool literal = e.kind != Expression::Kind::Call && e.kind != Expression::Kind::Arithmetic &&
                   e.kind != Expression::Kind::At;
    bool named = *k == Kind::Node || *k == Kind::Value;
    bool fits = *k == parameter || (parameter == Kind::Value && *k == Kind::Node) ||
                (parameter == Kind::Capture && named);
    if (literal && fits) return true;
    error<DiagCode::MRV0304>(
        e.at, call.text,
        fmt::format("takes {} {} as argument {}, not {}",
                    parameter == Kind::Integer || parameter == Kind::ElementType ? "an" : "a",
                    kind_name(parameter), i + 1, kind_name(*k)));
    return false;
  }

  // attr(%c, "name"): the attribute must exist, with the same kind, for every alternative of %c.
  std::optional<Kind> attribute(const Expression& e) {
    std::vector<Operator> operators;
    for (const Element& element : c_.rule.pattern) {
      if (makes(element, e.items[0].text))
        operators.insert(operators.end(), element.operators.begin(), element.operators.end());
    }
    std::optional<Kind> common;
    for (const Operator& op : operators) {
      const ops::OpDef* def = op.def;
      if (def == nullptr) return std::nullopt;  // reported with the pattern
      int index = def->attr_index(e.items[1].text);
      if (index < 0)
        return error<DiagCode::MRV0314>(e.items[1].at, op.name, printable(e.items[1].text),
                                        nearest_attribute(*def, e.items[1].text));
      std::optional<Kind> k = kind_of(def->attrs[static_cast<size_t>(index)].kind);
      if (!k || (common && *common != *k)) {
        return error<DiagCode::MRV0304>(
            e.at, "attr", fmt::format("cannot compare attribute '{}' of {}", e.items[1].text, op.name));
      }
      common = k;
    }
    return common;
  }

  std::optional<Kind> machine(const Expression& e) {
    const std::string& number = e.items[0].text;
    if (std::ranges::find(c_.words.machine, number) != c_.words.machine.end()) return Kind::Integer;
    return error<DiagCode::MRV0304>(
        e.items[0].at, "machine",
        fmt::format("knows no number \"{}\"{}", printable(number), did_you_mean(number, c_.words.machine)));
  }

  static std::optional<Kind> kind_of(ir::AttrKind kind) {
    switch (kind) {
      case ir::AttrKind::Int:
        return Kind::Integer;
      case ir::AttrKind::Float:
        return Kind::Float;
      case ir::AttrKind::String:
        return Kind::String;
      case ir::AttrKind::Ints:
        return Kind::Integers;
      case ir::AttrKind::Type:
        return Kind::ElementType;
      default:
        return std::nullopt;
    }
  }

  std::string nearest_capture(std::string_view capture) const {
    std::vector<std::string_view> names;
    for (const Element& e : c_.rule.pattern) {
      names.push_back(e.capture);
      for (const PatternOperand& o : e.operands) {
        if (o.named()) names.push_back(o.capture);
      }
    }
    return did_you_mean(capture, names);
  }

  static std::string nearest_function(std::string_view function) {
    std::vector<std::string_view> names;
    for (const Function& f : functions()) names.push_back(f.name);
    for (const NumberFunction& f : number_functions()) names.push_back(f.name);
    return did_you_mean(function, names);
  }

  static std::string nearest_attribute(const ops::OpDef& def, std::string_view attribute) {
    std::vector<std::string_view> names;
    for (const ir::AttrSpec& spec : def.attrs) names.push_back(spec.name);
    return did_you_mean(attribute, names);
  }

  const CheckContext& c_;
};

}  // namespace

std::string expression_text(const Expression& e) {
  if (e.kind == Expression::Kind::Capture) return "%" + e.text;
  if (e.kind == Expression::Kind::String) return "\"" + e.text + "\"";
  if (e.kind == Expression::Kind::Arithmetic)
    return fmt::format("{} {} {}", expression_text(e.items[0]), e.text, expression_text(e.items[1]));
  if (e.kind == Expression::Kind::At)
    return fmt::format("{}[{}]", expression_text(e.items[0]), expression_text(e.items[1]));
  if (e.kind != Expression::Kind::Call) return e.text;
  std::vector<std::string> items;
  for (const Expression& i : e.items) items.push_back(expression_text(i));
  return fmt::format("{}({})", e.text, fmt::join(items, ", "));
}

void check_conditions(const CheckContext& context) {
  ConditionCheck(context).run();
}

std::optional<Kind> check_expression(const CheckContext& context, const Expression& e) {
  return ConditionCheck(context).kind(e);
}

}  // namespace mrvlc::rules
