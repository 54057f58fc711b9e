#include "conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mrvlc::rule_trials {
namespace {

using random::Dice;

class ConditionText {
 public:
  ConditionText(Dice& dice, const Names& names) : dice_(dice), names_(names) {}

  std::string all() {
    std::vector<std::string> out;
    while (dice_.chance(20)) {
      std::string c = condition();
      if (dice_.chance(10)) c += " or " + condition();
      out.push_back(c);
    }
    return fmt::format("{}", fmt::join(out, ", "));
  }

 private:
  std::string any_value() {
    return names_.values.empty() || dice_.chance(20) ? dice_.of(names_.nodes).first : dice_.of(names_.values);
  }

  // Sums, products and quotients of numbers of the graph, at times beyond 64 bits.
  std::string number(int depth = 0) {
    if (depth < 2 && dice_.chance(30)) {
      const char* sign = dice_.of<const char*>({"+", "-", "*", "/", "mod"});
      return fmt::format("({} {} {})", number(depth + 1), sign, number(depth + 1));
    }
    const std::string v = any_value();
    switch (dice_.pick(0, 6)) {
      case 0:
        return fmt::format("dim({}, {})", v, dice_.pick(-2, 2));
      case 1:
        return fmt::format("elements({})", v);
      case 2:
        return fmt::format("rank({})", v);
      case 3:
        return fmt::format("uses({})", v);
      case 4:
        return dice_.of<const char*>(
            {"machine(\"ocm_bytes\")", "machine(\"max_ports\")", "machine(\"pe_lanes\")"});
      case 5:
        return dice_.of<const char*>({"0", "1", "4096", "-1", "9223372036854775807"});
      default:
        return std::to_string(dice_.pick(-3, 40));
    }
  }

  std::string of_list() {
    if (names_.lists.empty()) return "rank(" + any_value() + ") >= 0";
    const std::string& list = dice_.of(names_.lists);
    switch (dice_.pick(0, 3)) {
      case 0:
        return fmt::format("count({}) {} {}", list, relation(), dice_.pick(0, 4));
      case 1:
        return fmt::format("rank({}) <= {}", list, dice_.pick(1, 5));
      case 2:
        return fmt::format("present({})", list);
      default:
        return fmt::format("activation({})", list);
    }
  }

  std::string relation() { return dice_.of<const char*>({"==", "!=", "<", "<=", ">", ">="}); }

  std::string condition() {
    const std::string v = any_value(), e = dice_.of(names_.nodes).first, no = dice_.chance(15) ? "not " : "";
    switch (dice_.pick(0, 23)) {
      case 0:
        return fmt::format("{}constant({})", no, v);
      case 1:
        return fmt::format("{}activation({})", no, v);
      case 2:
        return fmt::format("rank({}) in {}..{}", v, dice_.pick(0, 3), dice_.pick(2, 6));
      case 3:
        return fmt::format("elem({}) in {{f32, f16{}}}", v, dice_.chance(50) ? ", i64" : "");
      case 4:
        return fmt::format("dim({}, {}) {} {}", v, dice_.pick(-4, 3), relation(), dice_.pick(0, 9));
      case 5:
        return fmt::format("elements({}) {} {}", v, relation(), dice_.pick(0, 200));
      case 6:
        return fmt::format("inputs({}) {} {}", e, relation(), dice_.pick(0, 4));
      case 7:
        return fmt::format("outputs({}) <= {}", e, dice_.pick(1, 3));
      case 8:
        return fmt::format("uses({}) {} {}", v, relation(), dice_.pick(0, 3));
      case 9:
        return fmt::format("{}same_shape({}, {})", no, v, any_value());
      case 10:
        return fmt::format("{}scalar({})", no, v);
      case 11:
        return fmt::format("output_unused({}, {})", e, dice_.pick(0, 3));
      case 12:
        return fmt::format("{} {} {}", number(), relation(), number());
      case 13:
        return fmt::format("{}made_of({}, \"{}\")", no, e,
                           dice_.of<const char*>({"Conv", "*", "Re?u", "Mul"}));
      case 14:
        return fmt::format("{}present({})", no, dice_.chance(50) ? v : e);
      case 15:
        return fmt::format("name({}) like \"{}\"", e, dice_.of<const char*>({"n*", "*1", "?", "*"}));
      case 16:
        return fmt::format("tensor({}) like \"{}\"", v, dice_.of<const char*>({"*", "x*", "*2*"}));
      case 17:
        return fmt::format("value({}) {} {}", v, relation(), dice_.of<const char*>({"0", "1", "0.5", "2"}));
      case 18:
        return fmt::format("shape({}) == [{}, {}]", v, dice_.pick(0, 4), dice_.pick(0, 4));
      case 19:
        return of_list();
      case 21:
        return fmt::format("{}fp16_safe({})", no, v);
      case 22:
        return fmt::format("max_abs({}) {} {}", v, relation(),
                           dice_.of<const char*>({"0", "1", "6.5", "65504"}));
      case 20:
        return fmt::format("small({}, {})", v, dice_.pick(0, 300));
      default:
        return attribute();
    }
  }

  std::string attribute() {
    const auto& [name, op] = dice_.of(names_.nodes);
    if (op == nullptr || op->attrs.empty()) return "rank(" + name + ") >= 0";
    const ir::AttrSpec& spec = dice_.of(op->attrs);
    const std::string value = spec.kind == ir::AttrKind::String  ? "\"NOTSET\""
                              : spec.kind == ir::AttrKind::Float ? "0.5"
                                                                 : std::to_string(dice_.pick(-1, 3));
    return fmt::format("attr({}, \"{}\") {} {}", name, spec.name, dice_.of<const char*>({"==", "!="}), value);
  }

  Dice& dice_;
  const Names& names_;
};

}  // namespace

std::string random_conditions(Dice& dice, const Names& names) {
  return ConditionText(dice, names).all();
}

std::string named_conditions(Dice& dice) {
  const char* both = dice.chance(50) ? ", rank(%x) >= 1" : "";
  return fmt::format("condition small(%x, %n) = elements(%x) <= %n{}\n", both);
}

}  // namespace mrvlc::rule_trials
