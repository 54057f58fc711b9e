// Rules in a form in which they, and their conditions, can be compared: captures renamed by order of
// appearance, and of each condition the values that it admits.
#pragma once
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "mrvlc/rules/rule_set.h"

namespace mrvlc::rules {

struct Interval {
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  bool low_open = false, high_open = false;

  bool empty() const { return high < low || (high == low && (low_open || high_open)); }
};
Interval common(const Interval& a, const Interval& b);

// What a term asks of what stands on its left.
struct Demand {
  std::string left;
  bool always = false;  // its operands are there in every match; a condition on an absent one holds
  bool negated = false;
  bool predicate = false;
  std::optional<Interval> interval;             // compared with numbers
  std::optional<std::set<std::string>> values;  // the only ones admitted, as text
  std::optional<std::string> other_than;        // the only one not admitted
};
using Alternatives = std::vector<Demand>;  // of one condition

bool exclude_each_other(const Demand& a, const Demand& b);
// No match fulfils both.
bool exclude_each_other(const Alternatives& a, const Alternatives& b);

std::optional<double> number(const Expression& e);  // of a literal
std::optional<Interval> interval(const Term& term);

class CanonicalRule {
 public:
  // `accelerated`: legality of the rule's kind of layer is a condition that does not stand there.
  CanonicalRule(const Rule& rule, bool accelerated);

  const Rule& rule() const { return *rule_; }
  // One for each element, in order, and parentheses.
  const std::vector<std::string>& elements() const { return elements_; }
  bool has_choices() const { return elements_.size() != rule_->pattern.size(); }
  const std::set<std::string>& conditions() const { return conditions_; }
  const std::vector<Alternatives>& demands() const { return demands_; }  // in the order of rule().where

 private:
  std::string expression(const Expression& e);
  std::string capture(const std::string& name);
  std::string operand(const PatternOperand& o);
  std::string element(const Element& e);
  void items(const std::vector<Item>& all);
  std::string condition(const Condition& c);
  Demand demand(const Term& t);

  const Rule* rule_;
  std::map<std::string, size_t> names_;
  size_t next_ = 0;  // number of the next name
  std::vector<std::string> elements_;
  std::set<std::string> conditions_;
  std::vector<Alternatives> demands_;
};

}  // namespace mrvlc::rules
