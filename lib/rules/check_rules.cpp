// Rules against each other: which overlap, which can never win, which are hidden by a shorter one.
#include <algorithm>

#include "check.h"
#include "messages.h"
#include "terms.h"

namespace mrvlc::rules {
namespace {

// Pairs of conditions compared, so that a file of rules that are all alike takes no longer than any other.
constexpr size_t kMaxComparisons = 4'000'000;

bool share_operator(const Element& a, const Element& b) {
  return std::ranges::any_of(a.operators, [&](const Operator& x) {
    return std::ranges::any_of(b.operators,
                               [&](const Operator& y) { return x.name == y.name && x.domain == y.domain; });
  });
}

bool same_shape(const Rule& a, const Rule& b) {
  for (size_t i = 0; i < a.pattern.size(); ++i) {
    const Element &x = a.pattern[i], &y = b.pattern[i];
    if (x.repeat != y.repeat || x.operands.size() != y.operands.size() || x.several != y.several ||
        x.further.size() != y.further.size() || !share_operator(x, y))
      return false;
  }
  return true;
}

// Whether elements after the first `n` read of those the last one only, so that where the rule matches, the
// first n do by themselves.
bool stands_alone(const Rule& rule, size_t n) {
  for (size_t i = n; i < rule.pattern.size(); ++i) {
    for (const PatternOperand& o : rule.pattern[i].operands) {
      for (size_t k = 0; k + 1 < n; ++k) {
        if (o.named() && makes(rule.pattern[k], o.capture)) return false;
      }
    }
  }
  return true;
}

class Comparison {
 public:
  Comparison(const std::vector<Rule>& rules, const std::vector<LayerWord>& kinds, Messages& messages)
      : messages_(messages) {
    all_.reserve(rules.size());
    for (const Rule& r : rules) {
      auto kind = std::ranges::find(kinds, r.layer, &LayerWord::name);
      all_.emplace_back(r, kind != kinds.end() && kind->accelerated);
    }
  }

  void run() {
    for (size_t j = 0; j < all_.size() && messages_.errors() < kMaxMessages; ++j) {
      for (size_t i = 0; i < j; ++i) {
        if (compare(all_[i], all_[j])) break;
      }
    }
    if (comparisons_ > kMaxComparisons) messages_.general<DiagCode::MRV0328>();
  }

 private:
  // `first` decides before `second`. True: there is something to say about `second`.
  bool compare(const CanonicalRule& first, const CanonicalRule& second) {
    const Rule &a = first.rule(), &b = second.rule();
    auto place = [&] { return location_text(a, a.at); };  // of few of the pairs
    if (shadows(first, second)) {
      messages_.at<DiagCode::MRV0308>(b, b.at, b.name, a.name, place());
    } else if (hides(first, second)) {
      messages_.at<DiagCode::MRV0320>(b, b.at, b.name, a.name, place(), a.pattern.size(), b.pattern.size());
    } else if (overlap(first, second)) {
      messages_.at<DiagCode::MRV0307>(b, b.at, b.name, a.name, place(), b.priority);
    } else {
      return false;
    }
    return true;
  }

  static bool asks_no_more(const CanonicalRule& first, const CanonicalRule& second) {
    return std::ranges::includes(second.conditions(), first.conditions());
  }

  // `first` takes whatever `second` would.
  static bool shadows(const CanonicalRule& first, const CanonicalRule& second) {
    return first.rule().priority > second.rule().priority && first.elements() == second.elements() &&
           asks_no_more(first, second);
  }

  // `first` takes the beginning of whatever `second` would.
  static bool hides(const CanonicalRule& first, const CanonicalRule& second) {
    const auto &a = first.elements(), &b = second.elements();
    if (first.has_choices() || second.has_choices()) return false;
    return first.rule().priority > second.rule().priority && a.size() < b.size() &&
           std::equal(a.begin(), a.end(), b.begin()) && stands_alone(second.rule(), a.size()) &&
           asks_no_more(first, second);
  }

  bool overlap(const CanonicalRule& first, const CanonicalRule& second) {
    const Rule &a = first.rule(), &b = second.rule();
    if (a.priority != b.priority || a.pattern.size() != b.pattern.size() || a.stage != b.stage) return false;
    const bool choices = first.has_choices() || second.has_choices();
    return (choices ? first.elements() == second.elements() : same_shape(a, b)) && !kept_apart(first, second);
  }

  bool kept_apart(const CanonicalRule& first, const CanonicalRule& second) {
    comparisons_ += first.demands().size() * second.demands().size();
    if (comparisons_ > kMaxComparisons) return true;
    return std::ranges::any_of(first.demands(), [&](const Alternatives& x) {
      return std::ranges::any_of(second.demands(),
                                 [&](const Alternatives& y) { return exclude_each_other(x, y); });
    });
  }

  Messages& messages_;
  std::vector<CanonicalRule> all_;
  size_t comparisons_ = 0;
};

}  // namespace

void check_rules(const std::vector<Rule>& rules, const std::vector<LayerWord>& kinds, Messages& messages) {
  Comparison(rules, kinds, messages).run();
}

}  // namespace mrvlc::rules
