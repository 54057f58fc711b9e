// Conditions by the values they admit: empty ranges, numbers that a measure never gives, two conditions that
// no match fulfils both.
#include <algorithm>
#include <cmath>

#include "check.h"
#include "terms.h"

namespace mrvlc::rules {
namespace {

// Whole numbers count something, and magnitudes have no sign.
bool never_negative(const Function& f) {
  return f.result == Kind::Integer || f.name == "max_abs";
}

// What a measure gives at all.
std::optional<Interval> domain(const Rule& rule, const Expression& call) {
  const Function* f = call.kind == Expression::Kind::Call ? find_function(call.text) : nullptr;
  if (f == nullptr || !never_negative(*f)) return std::nullopt;
  Interval all;
  all.low = 0;
  if (call.items.empty() || !f->counts_ports) return all;
  double least = all.high, most = 0;
  const bool inputs = f->name == "inputs";
  std::vector<Operator> operators;
  for (const Element& e : rule.pattern) {
    if (makes(e, call.items[0].text))
      operators.insert(operators.end(), e.operators.begin(), e.operators.end());
  }
  for (const Operator& o : operators) {
    if (o.def == nullptr) return all;
    const int low = inputs ? o.def->min_inputs : o.def->min_outputs;
    const int high = inputs ? o.def->max_inputs : o.def->max_outputs;
    least = std::min<double>(least, low);
    most = high < 0 ? all.high : std::max<double>(most, high);
  }
  all.low = least;
  all.high = most;
  return all;
}

std::string range_text(const Interval& i) {
  if (std::isinf(i.high)) return fmt::format("at least {}", i.low);
  return i.low == i.high ? fmt::format("{}", i.low) : fmt::format("{} to {}", i.low, i.high);
}

bool is_dim(const Expression& e) {
  return e.kind == Expression::Kind::Call && e.text == "dim" && e.items.size() == 2 &&
         e.items[0].kind == Expression::Kind::Capture && e.items[1].kind == Expression::Kind::Integer;
}

class ValueCheck {
 public:
  explicit ValueCheck(const CheckContext& context) : c_(context), canonical_(context.rule, false) {}

  void run() {
    const auto& where = c_.rule.where;
    for (size_t i = 0; i < where.size(); ++i) {
      if (condition(where[i])) contradiction(i);
    }
  }

 private:
  // False: it never holds by itself.
  bool condition(const Condition& c) {
    bool sound = true;
    for (const Term& t : c.any_of) {
      std::string why = never(t);
      if (why.empty()) continue;
      c_.messages.at<DiagCode::MRV0318>(c_.rule, t.left.at, t.text, why);
      sound = false;
    }
    return sound;
  }

  std::string never(const Term& t) const {
    if (t.negated || t.relation == Relation::Holds) return {};
    if (t.relation == Relation::InRange) {
      auto low = number(t.right[0]), high = number(t.right[1]);
      if (low && high && *low > *high) return fmt::format("the range {}..{} is empty", *low, *high);
    }
    if (std::string why = out_of_domain(t); !why.empty()) return why;
    return no_such_dimension(t.left);
  }

  std::string out_of_domain(const Term& t) const {
    const std::optional<Interval> all = domain(c_.rule, t.left);
    if (!all) return {};
    auto gives = [&](const Interval& asked) { return !common(*all, asked).empty(); };
    auto possible = [&](const Expression& e) {
      const std::optional<double> v = number(e);
      return !v || (*v == std::floor(*v) && *v >= all->low && *v <= all->high);
    };
    bool ok = true;
    if (t.relation == Relation::Equal || t.relation == Relation::InSet) {
      ok = std::ranges::any_of(t.right, possible);
    } else if (auto asked = interval(t)) {
      ok = gives(*asked);
    }
    return ok ? std::string()
              : fmt::format("{} gives whole numbers, {}", expression_text(t.left), range_text(*all));
  }

  // dim(%x, K) where another condition says that %x has no more than K dimensions.
  std::string no_such_dimension(const Expression& e) const {
    if (!is_dim(e)) return {};
    const int64_t k = e.items[1].integer;
    const double needed = k >= 0 ? static_cast<double>(k) + 1 : -static_cast<double>(k);
    for (const Condition& c : c_.rule.where) {
      if (c.any_of.size() != 1) continue;
      const Term& t = c.any_of[0];
      const bool is_rank = t.left.kind == Expression::Kind::Call && t.left.text == "rank" &&
                           t.left.items.size() == 1 && t.left.items[0].text == e.items[0].text;
      const std::optional<Interval> ranks = is_rank ? interval(t) : std::nullopt;
      if (!ranks || ranks->high >= needed) continue;
      return fmt::format("there is no dimension {} where {}", k, t.text);
    }
    return {};
  }

  void contradiction(size_t index) {
    const auto& demands = canonical_.demands();
    for (size_t i = 0; i < index; ++i) {
      if (!exclude_each_other(demands[i], demands[index])) continue;
      const Condition &first = c_.rule.where[i], &second = c_.rule.where[index];
      c_.messages.at<DiagCode::MRV0319>(c_.rule, second.at, second.text, first.text, first.at.line,
                                        first.at.column);
      return;
    }
  }

  const CheckContext& c_;
  CanonicalRule canonical_;
};

}  // namespace

void check_values(const CheckContext& context) {
  ValueCheck(context).run();
}

}  // namespace mrvlc::rules
