// Static checks of a rule's pattern: its operators, its names, and how its elements hang together.
#include <algorithm>
#include <map>
#include <set>

#include "check.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::rules {

const Element* find_element(const Rule& rule, std::string_view capture) {
  for (const Element& e : rule.pattern) {
    if (makes(e, capture)) return &e;
  }
  return nullptr;
}

bool makes(const Element& e, std::string_view capture) {
  return e.capture == capture || std::ranges::find(e.further, capture) != e.further.end();
}

bool reads(const Element& e, std::string_view capture) {
  return std::ranges::any_of(e.operands,
                             [&](const PatternOperand& o) { return o.named() && o.capture == capture; });
}

bool always_bound(const Rule& rule, std::string_view capture) {
  for (const Item& i : rule.items) {
    if (i.is_choice() || i.repeat != Repeat::One || rule.pattern[i.element].several) continue;
    const Element& e = rule.pattern[i.element];
    if (makes(e, capture)) return true;
    for (const PatternOperand& o : e.operands) {
      if (o.kind == PatternOperand::Kind::Capture && o.capture == capture && !o.optional) return true;
    }
  }
  return false;
}

std::vector<std::string> results_of(const Rule& rule, const Item& choice) {
  std::vector<std::string> out;
  for (const auto& items : choice.alternatives) {
    const Item* last = &items.back();
    while (last->is_choice()) last = &last->alternatives.front().back();
    out.push_back(rule.pattern[last->element].capture);
  }
  return out;
}

namespace {

using Names = std::set<std::string, std::less<>>;

class PatternCheck {
 public:
  explicit PatternCheck(const CheckContext& context) : c_(context) {}

  void run() {
    const Rule& r = c_.rule;
    for (const Element& e : r.pattern) element(e);
    Names taken;
    names(r.items, taken);
    visibility(r.items, {});
    forms();
    if (!has_anchor()) return;
    if (!cycle()) connection();
  }

 private:
  template <DiagId Code, class... Args>
  void error(Location at, Args&&... args) {
    c_.messages.at<Code>(c_.rule, at, std::forward<Args>(args)...);
  }

  const Element& of(const Item& item) const { return c_.rule.pattern[item.element]; }

  bool has_anchor() {
    const bool found = std::ranges::any_of(c_.rule.items, [&](const Item& i) {
      return !i.is_choice() && i.repeat == Repeat::One && !of(i).several;
    });
    if (!found && !c_.rule.pattern.empty()) {
      error<DiagCode::MRV0311>(c_.rule.pattern.front().at,
                               "nothing is the anchor: an element that is always there, neither optional nor "
                               "repeated nor an alternative");
    }
    return found;
  }

  void element(const Element& e) {
    for (const Operator& op : e.operators) check_operator(e, op);
    size_t links = 0;
    for (const PatternOperand& o : e.operands) {
      if (!o.named()) continue;
      if (find_element(c_.rule, o.capture) == &e)
        error<DiagCode::MRV0311>(o.at, "'%" + o.capture + "' is the element's own result");
      else if (find_element(c_.rule, o.capture) != nullptr)
        ++links;
      if (o.kind == PatternOperand::Kind::List && !e.several && &o != &e.operands.back())
        error<DiagCode::MRV0311>(o.at,
                                 "'%" + o.capture + "...' takes all further operands, so none follows it");
    }
    if (e.repeat != Repeat::Many) return;
    if (links > 1) error<DiagCode::MRV0311>(e.at, "a repeated element reads exactly one earlier element");
    if (e.several) error<DiagCode::MRV0311>(e.at, "an element that stands for several is not repeated");
    for (const PatternOperand& o : e.operands) several_values(e, o);
  }

  // An operand of a repeated element that another element reads too.
  void several_values(const Element& e, const PatternOperand& o) {
    if (!o.named() || find_element(c_.rule, o.capture) != nullptr) return;
    for (const Element& other : c_.rule.pattern) {
      if (&other == &e || !reads(other, o.capture)) continue;
      const auto again = std::ranges::find_if(
          other.operands, [&](const PatternOperand& x) { return x.named() && x.capture == o.capture; });
      error<DiagCode::MRV0311>(again->at, "'%" + o.capture +
                                              "' is an operand of a repeated element and stands for several "
                                              "values");
      return;
    }
  }

  void name(const Element& e, const std::string& own, Names& taken) {
    if (own.empty() || taken.insert(own).second) return;
    const Element* first = find_element(c_.rule, own);
    error<DiagCode::MRV0306>(e.at, "capture", "%" + own, location_text(c_.rule, first->at));
  }

  // Alternatives may use the same names, as one of them matches.
  void names(const std::vector<Item>& items, Names& taken) {
    for (const Item& i : items) {
      Names all = taken;
      for (const auto& alternative : i.alternatives) {
        Names mine = taken;
        names(alternative, mine);
        all.insert(mine.begin(), mine.end());
      }
      taken = std::move(all);
      if (i.is_choice()) continue;
      name(of(i), of(i).capture, taken);
      for (const std::string& further : of(i).further) name(of(i), further, taken);
    }
  }

  Names made_in(const std::vector<Item>& items) const {
    Names out;
    for_each_element(c_.rule, items, [&](const Element& e) {
      out.insert(e.capture);
      out.insert(e.further.begin(), e.further.end());
    });
    return out;
  }

  // What elements beside the alternatives can read of them: what is there whichever matched.
  Names exports(const Item& choice) const {
    std::vector<Names> all;
    if (choice.repeat == Repeat::One) {
      for (const auto& items : choice.alternatives) all.push_back(made_in(items));
    } else {
      for (const std::string& result : results_of(c_.rule, choice)) all.push_back({result});
    }
    Names out = all.front();
    for (const Names& other : all)
      std::erase_if(out, [&](const std::string& n) { return !other.contains(n); });
    return out;
  }

  void visibility(const std::vector<Item>& items, Names visible) {
    for (const Item& i : items) {
      const Names more = i.is_choice() ? exports(i) : made_in({i});
      visible.insert(more.begin(), more.end());
    }
    for (const Item& i : items) {
      for (const auto& alternative : i.alternatives) visibility(alternative, visible);
      if (i.repeat == Repeat::Many && i.is_choice()) repetition(i);
      if (i.is_choice()) continue;
      for (const PatternOperand& o : of(i).operands) {
        if (!o.named() || visible.contains(o.capture) || find_element(c_.rule, o.capture) == nullptr)
          continue;
        error<DiagCode::MRV0311>(o.at, "'%" + o.capture + "' is not there in every alternative");
      }
    }
  }

  void repetition(const Item& choice) {
    const Names inside = made_in({choice});
    Names outer;
    for_each_element(c_.rule, {choice}, [&](const Element& e) {
      for (const PatternOperand& o : e.operands) {
        if (o.named() && !inside.contains(o.capture) && find_element(c_.rule, o.capture) != nullptr)
          outer.insert(o.capture);
      }
    });
    if (outer.size() != 1)
      error<DiagCode::MRV0311>(choice.at, "what is repeated reads exactly one element outside");
  }

  // A name stands for one value or for a list, everywhere.
  void forms() {
    std::map<std::string, bool, std::less<>> lists;
    auto form = [&](const std::string& name, bool list, Location at) {
      const auto [it, fresh] = lists.try_emplace(name, list);
      if (fresh || it->second == list) return;
      error<DiagCode::MRV0311>(at,
                               "'%" + name + "' stands for a list in one place and for one value in another");
      it->second = list;
    };
    for (const Element& e : c_.rule.pattern) {
      for (const PatternOperand& o : e.operands) {
        if (o.named()) form(o.capture, o.kind == PatternOperand::Kind::List, o.at);
      }
    }
    for (const Element& e : c_.rule.pattern) {
      form(e.capture, e.several, e.at);
      const bool read =
          std::ranges::any_of(c_.rule.pattern, [&](const Element& o) { return reads(o, e.capture); });
      if (e.several && !read)
        error<DiagCode::MRV0311>(e.at,
                                 "no operand is the list '%" + e.capture + "...' that the element makes");
    }
  }

  bool cycle() {
    std::map<const Element*, int> state;  // 1: on the way, 2: done
    return std::ranges::any_of(c_.rule.pattern, [&](const Element& e) { return reaches_itself(e, state); });
  }

  bool reaches_itself(const Element& e, std::map<const Element*, int>& state) {
    int& mine = state[&e];
    if (mine == 2) return false;
    if (mine == 1) {
      error<DiagCode::MRV0311>(e.at, "'%" + e.capture + "' reads its own result, by way of others");
      return true;
    }
    mine = 1;
    for (const Element& other : c_.rule.pattern) {
      const bool made = reads(e, other.capture) ||
                        std::ranges::any_of(other.further, [&](const std::string& n) { return reads(e, n); });
      if (made && &other != &e && reaches_itself(other, state)) return true;
    }
    state[&e] = 2;
    return false;
  }

  void connection() {
    Names bound;
    const Element& anchor = c_.rule.pattern[c_.rule.anchor];
    add(anchor, bound);
    connect(c_.rule.items, bound, &anchor);
  }

  static void add(const Element& e, Names& bound) {
    bound.insert(e.capture);
    bound.insert(e.further.begin(), e.further.end());
    for (const PatternOperand& o : e.operands) {
      if (o.named()) bound.insert(o.capture);
    }
    bound.erase("");
  }

  bool linked(const Item& i, const Names& bound) const {
    bool found = false;
    for_each_element(c_.rule, {i}, [&](const Element& e) {
      found =
          found || bound.contains(e.capture) ||
          (!e.several && (std::ranges::any_of(e.further, [&](const auto& n) { return bound.contains(n); }) ||
                          std::ranges::any_of(bound, [&](const auto& n) { return reads(e, n); })));
    });
    return found;
  }

  void connect(const std::vector<Item>& items, Names& bound, const Element* done) {
    std::vector<const Item*> left;
    for (const Item& i : items) {
      if (i.is_choice() || &of(i) != done) left.push_back(&i);
    }
    while (!left.empty()) {
      auto next = std::ranges::find_if(left, [&](const Item* i) { return linked(*i, bound); });
      if (next == left.end()) break;
      for (const auto& alternative : (*next)->alternatives) {
        Names mine = bound;
        connect(alternative, mine, nullptr);
      }
      for_each_element(c_.rule, {**next}, [&](const Element& e) { add(e, bound); });
      left.erase(next);
    }
    for (const Item* i : left)
      error<DiagCode::MRV0311>(i->at, "it reads nothing of the pattern, and nothing of the pattern reads it");
  }

  void check_operator(const Element& e, const Operator& op) {
    std::string shown = op.domain.empty() ? op.name : op.domain + "::" + op.name;
    const ops::OpDef* def = op.def;
    if (def == nullptr) return error<DiagCode::MRV0302>(op.at, printable(shown), nearest_operator(op));
    const bool several =
        !e.operands.empty() && (e.operands.back().kind == PatternOperand::Kind::Rest ||
                                (e.operands.back().kind == PatternOperand::Kind::List && !e.several));
    auto given = static_cast<int>(e.operands.size()) - (several ? 1 : 0);
    auto required = static_cast<int>(std::count_if(e.operands.begin(), e.operands.begin() + given,
                                                   [](const PatternOperand& o) { return !o.optional; }));
    if (def->max_inputs >= 0 && required > def->max_inputs) {
      error<DiagCode::MRV0304>(
          e.at, shown,
          fmt::format("takes at most {} operands, the pattern has {}", def->max_inputs, required));
    } else if (!several && given < def->min_inputs) {
      error<DiagCode::MRV0304>(
          e.at, shown, fmt::format("takes at least {} operands, the pattern has {}", def->min_inputs, given));
    } else if (def->max_outputs >= 0 && static_cast<int>(e.further.size()) + 1 > def->max_outputs) {
      error<DiagCode::MRV0304>(e.at, shown,
                               fmt::format("has at most {} outputs, the pattern names {}", def->max_outputs,
                                           e.further.size() + 1));
    }
  }

  std::string nearest_operator(const Operator& op) const {
    std::vector<std::string_view> names;
    for (const ops::OpDef* def : c_.words.operators) {
      if (def->domain == op.domain) names.push_back(def->name);
      if (def->name == op.name && def->domain != op.domain)
        return fmt::format("; did you mean '{}{}{}'?", def->domain,
                           def->domain.empty() ? "" : "::", def->name);
    }
    return did_you_mean(op.name, names);
  }

  const CheckContext& c_;
};

}  // namespace

void check_pattern(const CheckContext& context) {
  PatternCheck(context).run();
}

}  // namespace mrvlc::rules
