// Static checks of a rule's pattern.
#include <algorithm>
#include <set>

#include "check.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::rules {

const Element* find_element(const Rule& rule, std::string_view capture) {
  for (const Element& e : rule.pattern) {
    if (e.capture == capture) return &e;
  }
  return nullptr;
}

bool always_bound(const Rule& rule, std::string_view capture) {
  for (const Element& e : rule.pattern) {
    if (e.repeat != Element::Repeat::One) continue;
    if (e.capture == capture) return true;
    for (const PatternOperand& o : e.operands) {
      if (o.kind == PatternOperand::Kind::Capture && o.capture == capture && !o.optional) return true;
    }
  }
  return false;
}

namespace {

class PatternCheck {
 public:
  explicit PatternCheck(const CheckContext& context) : c_(context) {}

  void run() {
    const auto& pattern = c_.rule.pattern;
    for (size_t i = 0; i < pattern.size(); ++i) element(pattern[i], i);
  }

 private:
  template <DiagId Code, class... Args>
  void error(Location at, Args&&... args) {
    c_.messages.at<Code>(c_.rule, at, std::forward<Args>(args)...);
  }

  void element(const Element& e, size_t index) {
    if (index == 0 && e.repeat != Element::Repeat::One) {
      error<DiagCode::MRV0311>(e.at,
                               "the first element is the anchor; it can be neither optional nor repeated");
    }
    for (const Operator& op : e.operators) check_operator(e, op);
    size_t links = 0;
    for (const PatternOperand& o : e.operands) links += operand(e, o, index) ? 1 : 0;
    if (index > 0 && links == 0)
      error<DiagCode::MRV0311>(e.at, "element '%" + e.capture + "' reads no earlier element");
    if (e.repeat == Element::Repeat::Many && links > 1) {
      error<DiagCode::MRV0311>(e.at, "a repeated element reads exactly one earlier element");
    }
    name(e);
  }

  void name(const Element& e) {
    if (elements_.count(e.capture) == 0 && leaves_.count(e.capture) == 0) {
      elements_.insert(e.capture);
      return;
    }
    const Element* first = find_element(c_.rule, e.capture);
    error<DiagCode::MRV0306>(e.at, "capture", "%" + e.capture,
                             first == &e ? "an operand above" : location_text(c_.rule, first->at));
  }

  // True when the operand reads an earlier element.
  bool operand(const Element& e, const PatternOperand& o, size_t index) {
    if (o.kind != PatternOperand::Kind::Capture) return false;
    if (elements_.count(o.capture) != 0) return true;
    if (o.capture == e.capture || find_element(c_.rule, o.capture) != nullptr) {
      error<DiagCode::MRV0311>(o.at, "'%" + o.capture + "' is an element that stands here or further down");
      return false;
    }
    if (repeated_.count(o.capture) != 0) {
      error<DiagCode::MRV0311>(
          o.at, "'%" + o.capture + "' is an operand of a repeated element and stands for several values");
    }
    leaves_.insert(o.capture);
    if (e.repeat == Element::Repeat::Many && index > 0) repeated_.insert(o.capture);
    return false;
  }

  void check_operator(const Element& e, const Operator& op) {
    std::string shown = op.domain.empty() ? op.name : op.domain + "::" + op.name;
    const ops::OpDef* def = op.def;
    if (def == nullptr) return error<DiagCode::MRV0302>(op.at, printable(shown), nearest_operator(op));
    bool rest = !e.operands.empty() && e.operands.back().kind == PatternOperand::Kind::Rest;
    auto given = static_cast<int>(e.operands.size()) - (rest ? 1 : 0);
    auto required =
        static_cast<int>(std::count_if(e.operands.begin(), e.operands.end(), [](const PatternOperand& o) {
          return o.kind != PatternOperand::Kind::Rest && !o.optional;
        }));
    if (def->max_inputs >= 0 && required > def->max_inputs) {
      error<DiagCode::MRV0304>(
          e.at, shown,
          fmt::format("takes at most {} operands, the pattern has {}", def->max_inputs, required));
    } else if (!rest && given < def->min_inputs) {
      error<DiagCode::MRV0304>(
          e.at, shown, fmt::format("takes at least {} operands, the pattern has {}", def->min_inputs, given));
    }
  }

  std::string nearest_operator(const Operator& op) const {
    std::vector<std::string_view> names;
    for (const ops::OpDef* def : c_.operators) {
      if (def->domain == op.domain) names.push_back(def->name);
      if (def->name == op.name && def->domain != op.domain)
        return fmt::format("; did you mean '{}{}{}'?", def->domain,
                           def->domain.empty() ? "" : "::", def->name);
    }
    return did_you_mean(op.name, names);
  }

  const CheckContext& c_;
  std::set<std::string, std::less<>> elements_, leaves_, repeated_;
};

}  // namespace

void check_pattern(const CheckContext& context) {
  PatternCheck(context).run();
}

}  // namespace mrvlc::rules
