// Conditions at work: arguments from bindings, measurements, comparisons, and the sentence that says what
// failed.
#include <algorithm>

#include "check.h"
#include "measure.h"
#include "mrvlc/support/glob.h"

namespace mrvlc::rules {
namespace {

constexpr size_t kMostShown = 8;  // elements of a list

template <class T>
std::string show_list(const std::vector<T>& list) {
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), kMostShown));
  return fmt::format("[{}{}]", fmt::join(list.begin(), end, ", "), list.size() > kMostShown ? ", ..." : "");
}

std::string show(const Datum& d) {
  if (auto* i = std::get_if<int64_t>(&d)) return std::to_string(*i);
  if (auto* f = std::get_if<double>(&d)) return fmt::format("{}", *f);
  if (auto* s = std::get_if<std::string>(&d)) return printable(*s, 80);
  if (auto* v = std::get_if<std::vector<int64_t>>(&d)) return show_list(*v);
  if (auto* v = std::get_if<std::vector<double>>(&d)) return show_list(*v);
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

bool is_list(const Datum& d) {
  return std::holds_alternative<std::vector<int64_t>>(d) || std::holds_alternative<std::vector<double>>(d);
}

template <class T>
bool every_element(const std::vector<T>& list, Relation relation, const Data& right) {
  const Data elements(list.begin(), list.end());
  return !elements.empty() &&
         std::ranges::all_of(elements, [&](const Datum& d) { return compare_one(d, relation, right); });
}

// A list of whole numbers as one of any, to be compared with such.
Datum plain(const Datum& d) {
  auto* v = std::get_if<std::vector<int64_t>>(&d);
  if (v == nullptr) return d;
  return std::vector<double>(v->begin(), v->end());
}

// A list compared with a number: every element must fulfil the relation, and there must be one.
bool compare(const Datum& a, Relation relation, Data right) {
  if (relation == Relation::Like) {
    const std::string* text = std::get_if<std::string>(&a);
    const std::string* pattern = std::get_if<std::string>(&right[0]);
    return text != nullptr && pattern != nullptr && glob_match(*pattern, *text);
  }
  const bool with_list = !right.empty() && is_list(right[0]);
  if (with_list && is_list(a) && a.index() != right[0].index()) {
    for (Datum& d : right) d = plain(d);
    return compare_one(plain(a), relation, right);
  }
  if (with_list) return compare_one(a, relation, right);
  if (auto* list = std::get_if<std::vector<int64_t>>(&a)) return every_element(*list, relation, right);
  if (auto* list = std::get_if<std::vector<double>>(&a)) return every_element(*list, relation, right);
  return compare_one(a, relation, right);
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
    case Relation::Like:
      return "like " + show(right[0]);
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

Verdict holds_though(const Term& term) {
  return {false,
          {},
          "it holds",
          "it does not hold",
          fmt::format("{} holds; the rule asks that it does not.", expression_text(term.left))};
}

Verdict uneven() {
  return {false,
          {},
          "lists of different lengths",
          "lists of one length",
          "the lists that the rule compares are not of one length."};
}

Verdict evaluate_predicate(const Term& term, const Context& context) {
  const Function* f = find_function(term.left.text);
  if (f == nullptr || f->test == nullptr) return {};
  Verdict failed;
  bool any = false;  // a negated predicate must fail for each value
  const bool even = for_each_value(*f, arguments(*f, term.left, context.match), [&](const Arguments& a) {
    Verdict v = f->test(context, a);
    any = any || v.ok;
    if (!v.ok && failed.ok) failed = std::move(v);
    return term.negated || failed.ok;
  });
  if (!even) return uneven();
  if (!term.negated) return failed;
  return any ? holds_though(term) : Verdict();
}

Verdict evaluate_named(const Term& term, const Context& context) {
  if (term.negated && mentions_absent(term.left, context.match)) return {};
  for (const Condition& c : term.named) {
    Verdict v = evaluate(c, context);
    if (v.ok) continue;
    return term.negated ? Verdict() : v;
  }
  return term.negated ? holds_though(term) : Verdict();
}

Verdict evaluate_comparison(const Term& term, const Context& context) {
  const Data left = measure(term.left, context);
  std::vector<Data> right;
  size_t count = left.size();
  for (const Expression& e : term.right) {
    right.push_back(measure(e, context));
    const size_t n = right.back().size();
    if (n != 1 && count != 1 && n != count) return uneven();
    if (n != 1) count = n;
  }
  for (size_t i = 0; i < count; ++i) {
    Data now;
    for (const Data& r : right) now.push_back(r[r.size() == 1 ? 0 : i]);
    const Datum& a = left[left.size() == 1 ? 0 : i];
    if (compare(a, term.relation, now) != term.negated) continue;
    std::string limit = (term.negated ? "not " : "") + limit_text(term.relation, now);
    std::string actual = show(a);
    std::string reason =
        fmt::format("{} is {}; the rule takes {}.", expression_text(term.left), actual, limit);
    return {false, {}, std::move(actual), std::move(limit), std::move(reason)};
  }
  return {};
}

Verdict evaluate_term(const Term& term, const Context& context) {
  if (!term.named.empty()) return evaluate_named(term, context);
  auto absent_inside = [&](const Expression& e) { return mentions_absent(e, context.match); };
  if (absent_inside(term.left) || std::ranges::any_of(term.right, absent_inside)) return {};
  return term.relation == Relation::Holds ? evaluate_predicate(term, context)
                                          : evaluate_comparison(term, context);
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
