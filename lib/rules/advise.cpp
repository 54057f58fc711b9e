// What is no mistake and could be written better: names that nobody uses, conditions that always hold.
#include <algorithm>
#include <map>

#include "check.h"
#include "terms.h"

namespace mrvlc::rules {
namespace {

void count(const Expression& e, std::map<std::string_view, int>& uses) {
  if (e.kind == Expression::Kind::Capture) ++uses[e.text];
  for (const Expression& i : e.items) count(i, uses);
}

void count(const CallArgument& a, std::map<std::string_view, int>& uses) {
  count(a.value, uses);
  for (const CallArgument& i : a.items) count(i, uses);
}

std::map<std::string_view, int> count_uses(const Rule& rule) {
  std::map<std::string_view, int> uses;
  for (const Element& e : rule.pattern) {
    ++uses[e.capture];  // elements are named anyway
    for (const std::string& name : e.further) ++uses[name];
    for (const PatternOperand& o : e.operands) {
      if (o.named()) ++uses[o.capture];
    }
  }
  for (const Condition& c : rule.where) {
    for (const Term& t : c.any_of) {
      count(t.left, uses);
      for (const Expression& r : t.right) count(r, uses);
    }
  }
  if (rule.call) {
    for (const CallArgument& a : rule.call->arguments) count(a, uses);
  }
  if (rule.seconds) count(*rule.seconds, uses);
  return uses;
}

// rank(%x) >= 0 and the like.
bool always_holds(const Term& t) {
  if (t.left.kind != Expression::Kind::Call || t.negated) return false;
  const Function* f = find_function(t.left.text);
  const bool never_absent = f != nullptr && f->result == Kind::Integer && t.left.text != "dim";
  const std::optional<Interval> asked = never_absent ? interval(t) : std::nullopt;
  return asked && (asked->low < 0 || (asked->low == 0 && !asked->low_open)) && asked->high > 1e18;
}

}  // namespace

void advise(const CheckContext& c) {
  const std::map<std::string_view, int> uses = count_uses(c.rule);
  for (const Element& e : c.rule.pattern) {
    for (const PatternOperand& o : e.operands) {
      if (o.kind != PatternOperand::Kind::Capture || uses.at(o.capture) != 1) continue;
      c.messages.at<DiagCode::MRV0323>(c.rule, o.at, o.capture, o.optional ? "_?" : "_");
    }
  }
  for (const Condition& condition : c.rule.where) {
    if (std::ranges::any_of(condition.any_of, always_holds))
      c.messages.at<DiagCode::MRV0324>(c.rule, condition.at, condition.text);
  }
}

}  // namespace mrvlc::rules
