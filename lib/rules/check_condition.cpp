// Static checks of a rule's conditions.
#include <fmt/ranges.h>

#include <algorithm>

#include "check.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::rules {
namespace {

// The element whose operand the capture is, or nullptr.
const Element* operand_owner(const Rule& rule, std::string_view capture) {
  for (const Element& e : rule.pattern) {
    for (const PatternOperand& o : e.operands) {
      if (o.kind == PatternOperand::Kind::Capture && o.capture == capture) return &e;
    }
  }
  return nullptr;
}

bool numeric(Kind k) {
  return k == Kind::Integer || k == Kind::Float;
}

class ConditionCheck {
 public:
  explicit ConditionCheck(const CheckContext& context) : c_(context) {}

  void run() {
    for (const Condition& c : c_.rule.where) {
      for (const Term& t : c.any_of) term(t);
    }
  }

 private:
  template <DiagId Code, class... Args>
  std::nullopt_t error(Location at, Args&&... args) {
    c_.messages.at<Code>(c_.rule, at, std::forward<Args>(args)...);
    return std::nullopt;
  }

  void term(const Term& t) {
    std::optional<Kind> left = kind(t.left);
    if (!left) return;
    if (t.left.kind != Expression::Kind::Call) {
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
    bool ok = numeric(left)            ? numeric(*k)
              : left == Kind::Integers ? (*k == Kind::Integer || (equality && *k == left))
                                       : equality && *k == left;
    if (ok) return;
    error<DiagCode::MRV0304>(
        r.at, t.text,
        fmt::format("compares {} with {}{}", kind_name(left), kind_name(*k), equality ? "" : " by order"));
  }

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
    }
    return std::nullopt;
  }

  std::optional<Kind> word(const Expression& e) {
    if (element_type_from_name(e.text)) return Kind::ElementType;
    if (find_function(e.text))
      return error<DiagCode::MRV0304>(e.at, e.text, "is a predicate and needs its arguments in parentheses");
    std::vector<std::string_view> types;
    for (int i = static_cast<int>(ElementType::F32); i <= static_cast<int>(ElementType::I2); ++i)
      types.push_back(name(static_cast<ElementType>(i)));
    return error<DiagCode::MRV0304>(e.at, printable(e.text),
                                    "is no element type" + did_you_mean(e.text, types));
  }

  std::optional<Kind> capture(const Expression& e) {
    if (find_element(c_.rule, e.text) != nullptr) return Kind::Node;
    const Element* owner = operand_owner(c_.rule, e.text);
    if (owner == nullptr) return error<DiagCode::MRV0305>(e.at, printable(e.text), nearest_capture(e.text));
    if (owner->repeat == Element::Repeat::Many) {
      return error<DiagCode::MRV0304>(e.at, "%" + e.text,
                                      "is an operand of a repeated element and stands for several values");
    }
    return Kind::Value;
  }

  std::optional<Kind> list(const Expression& e) {
    for (const Expression& i : e.items) {
      if (i.kind != Expression::Kind::Integer)
        return error<DiagCode::MRV0304>(i.at, "list", "holds whole numbers only");
    }
    return Kind::Integers;
  }

  std::optional<Kind> call(const Expression& e) {
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
    return f->result == Kind::Attribute ? attribute(e) : f->result;
  }

  bool argument(const Expression& call, const Expression& e, Kind parameter, size_t i) {
    std::optional<Kind> k = kind(e);
    if (!k) return false;
    bool literal = e.kind != Expression::Kind::Call;  // values known when the rule is read: calls do not nest
    if (literal && (*k == parameter || (parameter == Kind::Value && *k == Kind::Node))) return true;
    error<DiagCode::MRV0304>(
        e.at, call.text,
        fmt::format("takes {} {} as argument {}, not {}",
                    parameter == Kind::Integer || parameter == Kind::ElementType ? "an" : "a",
                    kind_name(parameter), i + 1, kind_name(*k)));
    return false;
  }

  // attr(%c, "name"): the attribute must exist, with the same kind, for every alternative of %c.
  std::optional<Kind> attribute(const Expression& e) {
    const Element* element = find_element(c_.rule, e.items[0].text);
    std::optional<Kind> common;
    for (const Operator& op : element->operators) {
      const ops::OpDef* def = op.def;
      if (def == nullptr) return std::nullopt;  // reported with the pattern
      int index = def->attr_index(e.items[1].text);
      if (index < 0)
        return error<DiagCode::MRV0314>(e.items[1].at, op.name, printable(e.items[1].text),
                                        nearest_attribute(*def, e.items[1].text));
      std::optional<Kind> k = comparable(def->attrs[static_cast<size_t>(index)].kind);
      if (!k || (common && *common != *k)) {
        return error<DiagCode::MRV0304>(
            e.at, "attr", fmt::format("cannot compare attribute '{}' of {}", e.items[1].text, op.name));
      }
      common = k;
    }
    return common;
  }

  static std::optional<Kind> comparable(ir::AttrKind kind) {
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
        if (o.kind == PatternOperand::Kind::Capture) names.push_back(o.capture);
      }
    }
    return did_you_mean(capture, names);
  }

  static std::string nearest_function(std::string_view function) {
    std::vector<std::string_view> names;
    for (const Function& f : functions()) names.push_back(f.name);
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
  if (e.kind != Expression::Kind::Call) return e.text;
  std::vector<std::string> items;
  for (const Expression& i : e.items) items.push_back(expression_text(i));
  return fmt::format("{}({})", e.text, fmt::join(items, ", "));
}

void check_conditions(const CheckContext& context) {
  ConditionCheck(context).run();
}

}  // namespace mrvlc::rules
