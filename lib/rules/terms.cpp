// Canonical forms of rules and conditions.
#include "terms.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "check.h"

namespace mrvlc::rules {
namespace {

bool is_literal(const Expression& e) {
  return e.kind != Expression::Kind::Call && e.kind != Expression::Kind::Capture &&
         e.kind != Expression::Kind::Arithmetic && e.kind != Expression::Kind::At;
}

bool always_bound_inside(const Rule& rule, const Expression& e) {
  if (e.kind == Expression::Kind::Capture) return always_bound(rule, e.text);
  return std::ranges::all_of(e.items, [&](const Expression& i) { return always_bound_inside(rule, i); });
}

bool before(const Interval& a, const Interval& b) {
  return a.high < b.low || (a.high == b.low && (a.high_open || b.low_open));
}

bool admits_none_of(const Demand& a, const Demand& b) {
  if (!a.values) return false;
  if (b.values)
    return std::ranges::none_of(*a.values, [&](const std::string& v) { return b.values->contains(v); });
  return b.other_than && a.values->size() == 1 && a.values->contains(*b.other_than);
}

Interval at_most(double high, bool open) {
  Interval r;
  r.high = high;
  r.high_open = open;
  return r;
}

Interval at_least(double low, bool open) {
  Interval r;
  r.low = low;
  r.low_open = open;
  return r;
}

}  // namespace

Interval common(const Interval& a, const Interval& b) {
  Interval r = a;
  if (b.low > r.low || (b.low == r.low && b.low_open)) r.low = b.low, r.low_open = b.low_open;
  if (b.high < r.high || (b.high == r.high && b.high_open)) r.high = b.high, r.high_open = b.high_open;
  return r;
}

std::optional<double> number(const Expression& e) {
  if (e.kind == Expression::Kind::Integer) return static_cast<double>(e.integer);
  if (e.kind == Expression::Kind::Float) return e.real;
  return std::nullopt;
}

std::optional<Interval> interval(const Term& t) {
  std::optional<double> v = t.right.empty() ? std::nullopt : number(t.right[0]);
  if (!v || t.negated) return std::nullopt;
  switch (t.relation) {
    case Relation::Equal:
      return common(at_least(*v, false), at_most(*v, false));
    case Relation::Less:
    case Relation::LessEqual:
      return at_most(*v, t.relation == Relation::Less);
    case Relation::Greater:
    case Relation::GreaterEqual:
      return at_least(*v, t.relation == Relation::Greater);
    case Relation::InRange:
      if (std::optional<double> high = number(t.right[1]))
        return common(at_least(*v, false), at_most(*high, false));
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool exclude_each_other(const Demand& a, const Demand& b) {
  if (a.left != b.left || !a.always || !b.always) return false;
  if (a.predicate && b.predicate) return a.negated != b.negated;
  if (admits_none_of(a, b) || admits_none_of(b, a)) return true;
  return a.interval && b.interval && (before(*a.interval, *b.interval) || before(*b.interval, *a.interval));
}

bool exclude_each_other(const Alternatives& a, const Alternatives& b) {
  return std::ranges::all_of(a, [&](const Demand& x) {
    return std::ranges::all_of(b, [&](const Demand& y) { return exclude_each_other(x, y); });
  });
}

CanonicalRule::CanonicalRule(const Rule& rule, bool accelerated) : rule_(&rule) {
  items(rule.items);
  if (rule.stage == Stage::Source) conditions_.insert("stage source");
  for (const Condition& c : rule.where) {
    conditions_.insert(condition(c));
    Alternatives& all = demands_.emplace_back();
    for (const Term& t : c.any_of) all.push_back(demand(t));
  }
  if (accelerated) conditions_.insert("layer " + rule.layer);
}

std::string CanonicalRule::expression(const Expression& e) {
  std::string out;
  switch (e.kind) {
    case Expression::Kind::Integer:
      return std::to_string(e.integer);
    case Expression::Kind::Float:
      return fmt::format("{}f", e.real);
    case Expression::Kind::String:
      return fmt::format("\"{}\"", e.text);
    case Expression::Kind::Capture:
      return capture(e.text);
    case Expression::Kind::Word:
      return e.text;
    default:
      break;
  }
  for (const Expression& i : e.items) out += expression(i) + ",";
  return e.text + "(" + out + ")";
}

std::string CanonicalRule::capture(const std::string& name) {
  const auto [it, fresh] = names_.try_emplace(name, next_);
  if (fresh) ++next_;
  return fmt::format("%{}", it->second);
}

// A name that stands once in the pattern says no more there than `_`.
std::string CanonicalRule::operand(const PatternOperand& o) {
  if (o.kind == PatternOperand::Kind::Rest) return "...";
  if (o.kind == PatternOperand::Kind::Any) {
    ++next_;
    return "_";
  }
  size_t uses = 0;
  for (const Element& e : rule_->pattern) {
    uses += makes(e, o.capture) ? 1 : 0;
    uses += static_cast<size_t>(
        std::ranges::count(e.operands, o.capture, [](const PatternOperand& x) { return x.capture; }));
  }
  const std::string name = capture(o.capture);
  if (o.kind == PatternOperand::Kind::List) return name + "...";
  return uses == 1 ? "_" : name;
}

std::string CanonicalRule::element(const Element& e) {
  std::vector<std::string> ops;
  for (const Operator& o : e.operators) ops.push_back(o.domain + "::" + o.name);
  std::ranges::sort(ops);
  std::string out = fmt::format("{}(", fmt::join(ops, "|"));
  for (const PatternOperand& o : e.operands) {
    out += operand(o);
    out += o.optional ? "?," : ",";
  }
  out += fmt::format(")={}{}", capture(e.capture), e.several ? "..." : "");
  for (const std::string& name : e.further) out += name.empty() ? "_" : capture(name);
  return out + fmt::format(":{};", static_cast<int>(e.repeat));
}

void CanonicalRule::items(const std::vector<Item>& all) {
  for (const Item& i : all) {
    if (!i.is_choice()) elements_.push_back(element(rule_->pattern[i.element]));
    for (const auto& alternative : i.alternatives) {
      elements_.push_back("(");
      items(alternative);
    }
    if (i.is_choice()) elements_.push_back(fmt::format("):{}", static_cast<int>(i.repeat)));
  }
}

std::string CanonicalRule::condition(const Condition& c) {
  std::set<std::string> terms;
  for (const Term& t : c.any_of) {
    std::string text =
        fmt::format("{}{} {}", t.negated ? "not " : "", expression(t.left), static_cast<int>(t.relation));
    for (const Expression& r : t.right) text += " " + expression(r);
    for (const Condition& named : t.named) text += " {" + condition(named) + "}";
    terms.insert(std::move(text));
  }
  return fmt::format("{}", fmt::join(terms, " or "));
}

Demand CanonicalRule::demand(const Term& t) {
  Demand d;
  d.left = expression(t.left);
  for (const Condition& named : t.named) d.left += " {" + condition(named) + "}";
  d.always = always_bound_inside(*rule_, t.left);
  d.negated = t.negated;
  d.predicate = t.relation == Relation::Holds;
  d.interval = interval(t);
  if (t.negated || !std::ranges::all_of(t.right, is_literal)) return d;
  if (t.relation == Relation::NotEqual) d.other_than = expression(t.right[0]);
  if (t.relation == Relation::Equal || t.relation == Relation::InSet) {
    d.values.emplace();
    for (const Expression& r : t.right) d.values->insert(expression(r));
  }
  return d;
}

}  // namespace mrvlc::rules
