// Conditions at work: arguments from bindings, measurements, comparisons, and the sentence that says what
// failed.
#include <algorithm>

#include "check.h"
#include "mrvlc/rules/predicates.h"

namespace mrvlc::rules {
namespace {

bool mentions_absent(const Expression& e, const Match& match) {
  if (e.kind == Expression::Kind::Capture) {
    const Binding* b = match.find(e.text);
    return b == nullptr || b->absent;
  }
  return std::any_of(e.items.begin(), e.items.end(),
                     [&](const Expression& i) { return mentions_absent(i, match); });
}

std::vector<Argument> arguments(const Function& f, const Expression& call, const Match& match) {
  std::vector<Argument> out;
  for (size_t i = 0; i < call.items.size(); ++i) {
    const Expression& e = call.items[i];
    Argument a;
    a.kind = f.parameters[i];
    if (e.kind == Expression::Kind::Capture) a.binding = match.find(e.text);
    a.integer = e.integer;
    a.text = e.text;
    out.push_back(a);
  }
  return out;
}

Datum measure(const Expression& e, const Context& context) {
  switch (e.kind) {
    case Expression::Kind::Integer:
      return e.integer;
    case Expression::Kind::Float:
      return e.real;
    case Expression::Kind::String:
    case Expression::Kind::Word:
      return e.text;
    case Expression::Kind::List: {
      std::vector<int64_t> list;
      for (const Expression& i : e.items) list.push_back(i.integer);
      return list;
    }
    case Expression::Kind::Call: {
      const Function* f = find_function(e.text);
      if (f == nullptr || f->measure == nullptr) return {};
      return f->measure(context, arguments(*f, e, context.match));
    }
    case Expression::Kind::Capture:
      break;
  }
  return {};
}

std::string show(const Datum& d) {
  if (auto* i = std::get_if<int64_t>(&d)) return std::to_string(*i);
  if (auto* f = std::get_if<double>(&d)) return fmt::format("{}", *f);
  if (auto* s = std::get_if<std::string>(&d)) return printable(*s, 80);
  if (auto* v = std::get_if<std::vector<int64_t>>(&d)) return fmt::format("[{}]", fmt::join(*v, ", "));
  return "absent";
}

// -1, 0, 1; nullopt: cannot be ordered.
std::optional<int> order(const Datum& a, const Datum& b) {
  auto number = [](const Datum& d) -> std::optional<double> {
    if (auto* i = std::get_if<int64_t>(&d)) return static_cast<double>(*i);
    if (auto* f = std::get_if<double>(&d)) return *f;
    return std::nullopt;
  };
  if (auto* x = std::get_if<int64_t>(&a), *y = std::get_if<int64_t>(&b); x && y)
    return *x < *y ? -1 : *x > *y;
  if (auto x = number(a), y = number(b); x && y) return *x < *y ? -1 : *x > *y;
  if (a.index() != b.index() || a.index() == 0) return std::nullopt;
  return a < b ? -1 : b < a ? 1 : 0;
}

bool compare_one(const Datum& a, Relation relation, const std::vector<Datum>& right) {
  auto cmp = [&](size_t i) { return order(a, right[i]); };
  if (relation == Relation::InSet) {
    for (size_t i = 0; i < right.size(); ++i) {
      if (cmp(i) == 0) return true;
    }
    return false;
  }
  std::optional<int> c = cmp(0);
  if (!c) return false;
  switch (relation) {
    case Relation::Equal:
      return *c == 0;
    case Relation::NotEqual:
      return *c != 0;
    case Relation::Less:
      return *c < 0;
    case Relation::LessEqual:
      return *c <= 0;
    case Relation::Greater:
      return *c > 0;
    case Relation::GreaterEqual:
      return *c >= 0;
    case Relation::InRange:
      return *c >= 0 && cmp(1).value_or(1) <= 0;
    default:
      return false;
  }
}

// A list compared with a number: every element must fulfil the relation, and there must be one.
bool compare(const Datum& a, Relation relation, const std::vector<Datum>& right) {
  auto* list = std::get_if<std::vector<int64_t>>(&a);
  bool with_list = !right.empty() && std::holds_alternative<std::vector<int64_t>>(right[0]);
  if (list == nullptr || with_list) return compare_one(a, relation, right);
  const std::vector<Datum> elements(list->begin(), list->end());
  return !elements.empty() && std::all_of(elements.begin(), elements.end(),
                                          [&](const Datum& d) { return compare_one(d, relation, right); });
}

std::string limit_text(Relation relation, const std::vector<Datum>& right) {
  switch (relation) {
    case Relation::InRange:
      return show(right[0]) + ".." + show(right[1]);
    case Relation::InSet: {
      std::vector<std::string> all;
      for (const Datum& d : right) all.push_back(show(d));
      return fmt::format("{}", fmt::join(all, " or "));
    }
    case Relation::NotEqual:
      return "other than " + show(right[0]);
    case Relation::Less:
      return "less than " + show(right[0]);
    case Relation::LessEqual:
      return "at most " + show(right[0]);
    case Relation::Greater:
      return "more than " + show(right[0]);
    case Relation::GreaterEqual:
      return "at least " + show(right[0]);
    default:
      return show(right[0]);
  }
}

Verdict evaluate_predicate(const Term& term, const Context& context) {
  const Function* f = find_function(term.left.text);
  if (f == nullptr || f->test == nullptr) return {};
  Verdict v = f->test(context, arguments(*f, term.left, context.match));
  if (!term.negated) return v;
  if (!v.ok) return {};
  return {false,
          {},
          "it holds",
          "it does not hold",
          fmt::format("{} holds; the rule asks that it does not.", expression_text(term.left))};
}

Verdict evaluate_term(const Term& term, const Context& context) {
  if (mentions_absent(term.left, context.match)) return {};
  if (term.relation == Relation::Holds) return evaluate_predicate(term, context);
  std::vector<Datum> right;
  for (const Expression& e : term.right) {
    if (mentions_absent(e, context.match)) return {};
    right.push_back(measure(e, context));
  }
  Datum left = measure(term.left, context);
  if (compare(left, term.relation, right) != term.negated) return {};
  std::string limit = (term.negated ? "not " : "") + limit_text(term.relation, right);
  std::string actual = show(left);
  std::string reason = fmt::format("{} is {}; the rule takes {}.", expression_text(term.left), actual, limit);
  return {false, {}, std::move(actual), std::move(limit), std::move(reason)};
}

}  // namespace

Verdict evaluate(const Condition& condition, const Context& context) {
  Verdict failed;
  for (const Term& term : condition.any_of) {
    Verdict v = evaluate_term(term, context);
    if (v.ok) return {};
    if (failed.ok)
      failed = std::move(v);
    else
      failed.reason += " " + v.reason;
  }
  failed.condition = condition.text;
  return failed;
}

}  // namespace mrvlc::rules
