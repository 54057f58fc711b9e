#include "truths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "mrvlc/ops/op.h"

namespace mrvlc::rule_trials {
namespace {

using random::Dice;

class Truths {
 public:
  Truths(Dice& dice, const ir::Graph& graph, const Bound& bound)
      : dice_(dice), graph_(graph), bound_(bound) {}

  std::string all() {
    std::vector<std::string> out;
    while (dice_.chance(45)) {
      std::string c = dice_.chance(75) && !bound_.values.empty() ? of_value() : of_node();
      if (c.empty()) continue;
      if (dice_.chance(10)) c += " or " + (bound_.values.empty() ? of_node() : of_value());
      out.push_back(std::move(c));
    }
    return fmt::format("{}", fmt::join(out, ", "));
  }

 private:
  // Arithmetic around a measure, and what it comes to.
  std::string computed(std::string measure, int64_t is) {
    for (int i = 0; i < 2 && dice_.chance(60); ++i) {
      const int64_t k = dice_.pick(1, 9);
      switch (dice_.pick(0, 4)) {
        case 0:
          measure = fmt::format("({} + {})", measure, k), is += k;
          break;
        case 1:
          measure = fmt::format("({} - {})", measure, k), is -= k;
          break;
        case 2:
          measure = fmt::format("({} * {})", measure, k), is *= k;
          break;
        case 3:
          if (is >= 0) measure = fmt::format("({} / {})", measure, k), is /= k;
          break;
        default:
          if (is >= 0) measure = fmt::format("({} mod {})", measure, k), is %= k;
      }
    }
    switch (dice_.pick(0, 4)) {
      case 0:
        return fmt::format("{} <= {}", measure, is + dice_.pick(0, 5));
      case 1:
        return fmt::format("{} in {}..{}", measure, is - dice_.pick(0, 3), is + dice_.pick(0, 3));
      case 2:
        return fmt::format("{} in {{{}, {}}}", measure, is, is + 1);
      case 3:
        return fmt::format("not {} != {}", measure, is);
      default:
        return fmt::format("{} == {}", measure, is);
    }
  }

  std::string of_value() {
    const auto& [name, id] = dice_.of(bound_.values);
    const ir::Value& v = graph_.value(id);
    const Shape& shape = v.type.shape;
    const int64_t elements = element_count(shape);
    switch (dice_.pick(0, 9)) {
      case 0:
        return computed(fmt::format("rank({})", name), v.type.rank());
      case 1:
        return computed(fmt::format("elements({})", name), elements);
      case 2:
        return of_dimensions(name, shape);
      case 3:
        return fmt::format("elem({}) in {{{}, bool}}", name, mrvlc::name(v.type.elem));
      case 4:
        return fmt::format("{}({})", v.kind == ir::ValueKind::Constant ? "constant" : "activation", name);
      case 5:
        return shape.empty() ? std::string() : fmt::format("shape({}) == [{}]", name, fmt::join(shape, ", "));
      case 6:
        return of_elements(name, v);
      case 7:
        return fmt::format("small({}, {})", name, elements + dice_.pick(0, 9));
      case 8:
        return fmt::format("elements({}) <= machine(\"ocm_bytes\")", name);
      default:
        return fmt::format("{}scalar({})", elements == 1 ? "" : "not ", name);
    }
  }

  std::string of_dimensions(const std::string& name, const Shape& shape) {
    if (shape.empty()) return {};
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t i = dice_.pick(0, rank - 1), k = dice_.pick(0, rank - 1);
    return computed(fmt::format("(dim({0}, {1}) * dim({0}, {2}))", name, i, k - rank),
                    shape[static_cast<size_t>(i)] * shape[static_cast<size_t>(k)]);
  }

  std::string of_elements(const std::string& name, const ir::Value& v) {
    const Tensor* t = graph_.constant(v.id);
    if (t == nullptr || t->elements() == 0 || t->elements() > 4096 || !is_float(t->elem())) return {};
    bool safe = true;
    for (int64_t i = 0; i < t->elements(); ++i) safe = safe && std::abs(t->as_double(i)) <= 65504;
    if (safe && dice_.chance(50))
      return fmt::format("{}({})", dice_.chance(50) ? "fp16_safe" : "65504 >= max_abs", name);
    return fmt::format("value({}) {}", name, dice_.of<const char*>({"> -1000000", "in -1000000..1000000"}));
  }

  std::string of_node() {
    const auto& [name, id] = dice_.of(bound_.nodes);
    const ir::Node& n = graph_.node(id);
    switch (dice_.pick(0, 4)) {
      case 0:
        return computed(fmt::format("inputs({})", name), static_cast<int64_t>(n.inputs.size()));
      case 1:
        return fmt::format("made_of({}, \"{}\")", name, source_type(n));
      case 2:
        return n.name.empty() ? std::string()
                              : fmt::format("name({}) like \"{}*\"", name, n.name.substr(0, 1));
      case 3:
        return fmt::format("present({})", name);
      default:
        return of_attribute(name, n);
    }
  }

  std::string source_type(const ir::Node& n) const {
    return graph_.sources()[graph_.lineage(n.id).sources.front().index()].op_type;
  }

  std::string of_attribute(const std::string& name, const ir::Node& n) {
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const auto* value = std::get_if<int64_t>(&n.attrs[i]);
      if (value != nullptr && dice_.chance(50))
        return fmt::format("attr({}, \"{}\") == {}", name, n.op->attrs[i].name, *value);
    }
    return {};
  }

  Dice& dice_;
  const ir::Graph& graph_;
  const Bound& bound_;
};

}  // namespace

std::string true_conditions(Dice& dice, const ir::Graph& graph, const Bound& bound) {
  return Truths(dice, graph, bound).all();
}

}  // namespace mrvlc::rule_trials
