// Rules against each other. Two rules are compared in canonical form: captures renamed by order of
// appearance.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "check.h"
#include "mrvlc/support/diag/rules.h"

namespace mrvlc::rules {
namespace {

class Canonical {
 public:
  // `accelerated`: legality of the rule's kind of layer is a condition that does not stand there.
  Canonical(const Rule& rule, bool accelerated) {
    for (const Element& e : rule.pattern) pattern_ += element(e);
    for (const Condition& c : rule.where) conditions_.insert(condition(c));
    if (accelerated) conditions_.insert("layer " + rule.layer);
  }
  const std::string& pattern() const { return pattern_; }
  const std::set<std::string>& conditions() const { return conditions_; }

  std::string expression(const Expression& e) {
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

 private:
  std::string capture(const std::string& name) {
    return fmt::format("%{}", names_.try_emplace(name, names_.size()).first->second);
  }

  std::string element(const Element& e) {
    std::vector<std::string> ops;
    for (const Operator& o : e.operators) ops.push_back(o.domain + "::" + o.name);
    std::sort(ops.begin(), ops.end());
    std::string out = fmt::format("{}(", fmt::join(ops, "|"));
    for (const PatternOperand& o : e.operands) {
      out += o.kind == PatternOperand::Kind::Rest  ? "..."
             : o.kind == PatternOperand::Kind::Any ? "_"
                                                   : capture(o.capture);
      out += o.optional ? "?," : ",";
    }
    return out + fmt::format(")={}:{};", capture(e.capture), static_cast<int>(e.repeat));
  }

  std::string condition(const Condition& c) {
    std::set<std::string> terms;
    for (const Term& t : c.any_of) {
      std::string text =
          fmt::format("{}{} {}", t.negated ? "not " : "", expression(t.left), static_cast<int>(t.relation));
      for (const Expression& r : t.right) text += " " + expression(r);
      terms.insert(std::move(text));
    }
    return fmt::format("{}", fmt::join(terms, " or "));
  }

  std::map<std::string, size_t> names_;
  std::string pattern_;
  std::set<std::string> conditions_;
};

bool share_operator(const Element& a, const Element& b) {
  return std::any_of(a.operators.begin(), a.operators.end(), [&](const Operator& x) {
    return std::any_of(b.operators.begin(), b.operators.end(),
                       [&](const Operator& y) { return x.name == y.name && x.domain == y.domain; });
  });
}

bool same_shape(const Rule& a, const Rule& b) {
  for (size_t i = 0; i < a.pattern.size(); ++i) {
    const Element &x = a.pattern[i], &y = b.pattern[i];
    if (x.repeat != y.repeat || x.operands.size() != y.operands.size() || !share_operator(x, y)) return false;
  }
  return true;
}

bool always_bound_inside(const Rule& rule, const Expression& e) {
  if (e.kind == Expression::Kind::Capture) return always_bound(rule, e.text);
  return std::all_of(e.items.begin(), e.items.end(),
                     [&](const Expression& i) { return always_bound_inside(rule, i); });
}

bool is_literal(const Expression& e) {
  return e.kind != Expression::Kind::Call && e.kind != Expression::Kind::Capture;
}

std::optional<double> number(const Expression& e) {
  if (e.kind == Expression::Kind::Integer) return static_cast<double>(e.integer);
  if (e.kind == Expression::Kind::Float) return e.real;
  return std::nullopt;
}

struct Interval {
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  bool low_dynamic = false, high_dynamic = false;
};

std::optional<Interval> interval(const Term& t) {
  std::optional<double> v = t.right.empty() ? std::nullopt : number(t.right[0]);
  if (!v || t.negated) return std::nullopt;
  Interval r;
  switch (t.relation) {
    case Relation::Equal:
      r.low = r.high = *v;
      return r;
    case Relation::Less:
    case Relation::LessEqual:
      r.high = *v;
      r.high_dynamic = t.relation == Relation::Less;
      return r;
    case Relation::Greater:
    case Relation::GreaterEqual:
      r.low = *v;
      r.low_dynamic = t.relation == Relation::Greater;
      return r;
    case Relation::InRange:
      if (std::optional<double> high = number(t.right[1])) {
        r.low = *v;
        r.high = *high;
        return r;
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool before(const Interval& a, const Interval& b) {
  return a.high < b.low || (a.high == b.low && (a.high_dynamic || b.low_dynamic));
}

// The values a term admits, when they are finitely many, as text.
std::optional<std::set<std::string>> finite(Canonical& c, const Term& t) {
  if (t.negated || (t.relation != Relation::Equal && t.relation != Relation::InSet)) return std::nullopt;
  std::set<std::string> out;
  for (const Expression& r : t.right) {
    if (!is_literal(r)) return std::nullopt;
    out.insert(c.expression(r));
  }
  return out;
}

bool excludes_all(Canonical& cx, const Term& x, Canonical& cy, const Term& y) {
  auto values = finite(cx, x);
  if (!values) return false;
  if (auto others = finite(cy, y)) {
    return std::none_of(values->begin(), values->end(),
                        [&](const std::string& v) { return others->count(v) != 0; });
  }
  bool excludes = y.relation == Relation::NotEqual && !y.negated && values->size() == 1;
  return excludes && is_literal(y.right[0]) && values->count(cy.expression(y.right[0])) != 0;
}

bool terms_disjoint(const Rule& a, Canonical& ca, const Term& x, const Rule& b, Canonical& cb,
                    const Term& y) {
  if (ca.expression(x.left) != cb.expression(y.left)) return false;
  // A condition on something absent holds, so only captures that are always there keep rules apart.
  if (!always_bound_inside(a, x.left) || !always_bound_inside(b, y.left)) return false;
  if (x.relation == Relation::Holds && y.relation == Relation::Holds) return x.negated != y.negated;
  if (excludes_all(ca, x, cb, y) || excludes_all(cb, y, ca, x)) return true;
  std::optional<Interval> i = interval(x), j = interval(y);
  return i && j && (before(*i, *j) || before(*j, *i));
}

bool kept_apart(const Rule& a, Canonical& ca, const Rule& b, Canonical& cb) {
  for (const Condition& x : a.where) {
    for (const Condition& y : b.where) {
      bool apart = std::all_of(x.any_of.begin(), x.any_of.end(), [&](const Term& s) {
        return std::all_of(y.any_of.begin(), y.any_of.end(),
                           [&](const Term& t) { return terms_disjoint(a, ca, s, b, cb, t); });
      });
      if (apart) return true;
    }
  }
  return false;
}

bool overlap(const Rule& a, Canonical& ca, const Rule& b, Canonical& cb) {
  return a.priority == b.priority && a.pattern.size() == b.pattern.size() && same_shape(a, b) &&
         !kept_apart(a, ca, b, cb);
}

// `first` decides before `second` and takes whatever `second` would.
bool shadows(const Rule& first, const Canonical& cf, const Rule& second, const Canonical& cs) {
  return first.priority > second.priority && cf.pattern() == cs.pattern() &&
         std::includes(cs.conditions().begin(), cs.conditions().end(), cf.conditions().begin(),
                       cf.conditions().end());
}

}  // namespace

void check_rules(const std::vector<Rule>& rules, const std::vector<LayerWord>& kinds,
                 Diagnostics& diagnostics) {
  std::vector<Canonical> canonical;
  canonical.reserve(rules.size());
  for (const Rule& r : rules) {
    auto kind = std::ranges::find(kinds, r.layer, &LayerWord::name);
    canonical.emplace_back(r, kind != kinds.end() && kind->accelerated);
  }
  for (size_t j = 0; j < rules.size(); ++j) {
    for (size_t i = 0; i < j; ++i) {
      const Rule &first = rules[i], &second = rules[j];
      if (shadows(first, canonical[i], second, canonical[j])) {
        diagnostics.add(make_diag<DiagCode::MRV0308>(location_text(second, second.at), second.name,
                                                     first.name, location_text(first, first.at)));
      } else if (overlap(first, canonical[i], second, canonical[j])) {
        diagnostics.add(make_diag<DiagCode::MRV0307>(location_text(second, second.at), second.name,
                                                     first.name, location_text(first, first.at),
                                                     second.priority));
      }
    }
  }
}

}  // namespace mrvlc::rules
