// The limits of the published flow, each with its reason.
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/partition/crossings.h"
#include "mrvlc/vendor/vendor.h"
#include "vendor_rules.h"

namespace mrvlc::vendor {
namespace {

using partition::Legality;

constexpr int64_t kMostImages = 8;

Legality refuse(std::string condition, std::string actual, std::string limit, std::string reason) {
  return {false, std::move(condition), std::move(actual), std::move(limit), std::move(reason)};
}

class Asked {
 public:
  Asked(const ir::Graph& graph, const partition::Layer& layer)
      : g_(graph), layer_(layer), n_(graph.node(layer.anchor)) {}

  Legality run() {
    for (ir::NodeId id : layer_.nodes)
      if (Legality l = types(g_.node(id)); !l.ok) return l;
    switch (n_.kind()) {
      case Op::Conv:
        return conv();
      case Op::Gemm:
        return fc();
      case Op::MaxPool:
      case Op::AveragePool:
      case Op::GlobalAveragePool:
      case Op::GlobalMaxPool:
        return pool();
      case Op::Add:
        return sum();
      case Op::Concat:
        return concat();
      case Op::Reshape:
      case Op::Flatten:
      case Op::Squeeze:
        return reshape();
      default:
        return refuse("composite", std::string(n_.op->name), "one of the vendor's",
                      fmt::format("{} begins none of the vendor's composites.", n_.op->name));
    }
  }

 private:
  const Shape& shape(ir::ValueId v) const { return g_.value(v).type.shape; }
  bool has(size_t i) const { return i < n_.inputs.size() && n_.inputs[i].valid(); }
  bool constant(size_t i) const { return has(i) && g_.is_constant(n_.inputs[i]); }

  Legality types(const ir::Node& node) const {
    if (ops::has_dynamic_shapes(g_, node))
      return refuse("static shapes", "dynamic", "shapes known at compile time",
                    "A shape is known at run time only; the vendor's compiler takes one shape.");
    const auto is_parameter = [&](ir::ValueId v) {  // a shape, axes
      return g_.is_constant(v) && is_integer(g_.value(v).type.elem);
    };
    for (const auto* values : {&node.inputs, &node.outputs}) {
      for (ir::ValueId v : *values) {
        if (!v.valid() || is_parameter(v) || g_.value(v).type.elem == ElementType::F32) continue;
        const std::string elem(name(g_.value(v).type.elem));
        return refuse(
            "element type", elem, "f32",
            fmt::format("'{}' has element type {}; the vendor's compiler takes float32 and makes fp16 of it.",
                        printable(g_.value(v).name, 80), elem));
      }
    }
    return {};
  }

  Legality rank(ir::ValueId v, int64_t wanted) const {
    const auto have = static_cast<int64_t>(shape(v).size());
    if (have == wanted) return {};
    return refuse("rank", std::to_string(have), std::to_string(wanted),
                  fmt::format("'{}' has {} dimensions; this composite takes {}.",
                              printable(g_.value(v).name, 80), have, wanted));
  }

  Legality images(ir::ValueId v, int64_t most) const {
    if (shape(v)[0] <= most) return {};
    return refuse("batch", std::to_string(shape(v)[0]), std::to_string(most),
                  fmt::format("a batch of {}; this composite takes at most {}.", shape(v)[0], most));
  }

  Legality constants(size_t from) const {
    for (size_t i = from; i < n_.inputs.size(); ++i)
      if (has(i) && !constant(i))
        return refuse("constant operand", "computed at run time", "a constant",
                      fmt::format("operand {} of {} must be a constant.", i, n_.op->name));
    return {};
  }

  Legality conv() const {
    if (Legality l = rank(n_.inputs[0], 4); !l.ok) return l;
    if (Legality l = images(n_.inputs[0], kMostImages); !l.ok) return l;
    if (Legality l = constants(1); !l.ok) return l;
    auto p = ops::conv_params(ops::infer_context(g_, n_));
    if (!p.ok()) return refuse("parameters", "unresolved", "resolved", p.error().message + ".");
    if (p->group == 1 || (p->group == p->in_channels && p->group == p->out_channels)) return {};
    return refuse("group", std::to_string(p->group), "1, or as many as channels",
                  fmt::format("{} groups of {} channels; the composite takes one group, or depthwise.",
                              p->group, p->in_channels));
  }

  Legality fc() const {
    if (Legality l = constants(1); !l.ok) return l;
    if (Legality l = rank(n_.inputs[1], 2); !l.ok) return l;
    auto p = ops::gemm_params(ops::infer_context(g_, n_));
    if (!p.ok()) return refuse("parameters", "unresolved", "resolved", p.error().message + ".");
    if (p->trans_a || p->alpha != 1 || p->beta != 1)
      return refuse("plain product", "transA, alpha or beta", "x * w + b",
                    "The composite is x * w + b, without factors and with x as it is.");
    if (has(2) && g_.value(n_.inputs[2]).type.elements() != p->n)
      return refuse("bias", to_string(shape(n_.inputs[2])), "one value for each column",
                    "The bias has not one value for each column.");
    if (layer_.nodes.front() == layer_.anchor) return rank(n_.inputs[0], 2);
    // What flattens: images to rows, in ONNX's order of elements.
    const ir::ValueId from = g_.node(layer_.nodes.front()).inputs[0];
    if (Legality l = rank(from, 4); !l.ok) return l;
    if (shape(from)[0] == shape(n_.inputs[0])[0]) return images(from, kMostImages);
    return refuse("flattened", to_string(shape(n_.inputs[0])), "a row for each image",
                  "What is in front of the product does not make a row of each image.");
  }

  Legality pool() const {
    if (Legality l = rank(n_.inputs[0], 4); !l.ok) return l;
    for (size_t i = 1; i < n_.outputs.size(); ++i)
      if (n_.outputs[i].valid() && g_.use_count(n_.outputs[i]) > 0)
        return refuse("output unused", "indices are read", "not read", "The composite has no indices.");
    return images(n_.inputs[0], n_.is(Op::AveragePool, Op::GlobalAveragePool) ? 1 : kMostImages);
  }

  Legality sum() const {
    const bool second = constant(0) || constant(1);
    const ir::ValueId x = n_.inputs[constant(0) ? 1 : 0];
    const size_t have = shape(x).size();
    if (have != 4 && (second || have != 3)) return rank(x, 4);
    if (shape(n_.outputs[0]) != shape(x) || (!second && shape(n_.inputs[0]) != shape(n_.inputs[1])))
      return refuse("equal shapes", to_string(shape(n_.inputs[0])) + " and " + to_string(shape(n_.inputs[1])),
                    "one shape", "The composite adds values of one shape, or a constant.");
    return {};
  }

  Legality concat() const {
    for (size_t i = 0; i < n_.inputs.size(); ++i) {
      if (Legality l = rank(n_.inputs[i], 4); !l.ok) return l;
      if (constant(i))
        return refuse("activations", "a constant", "computed at run time",
                      "The composite takes no constants.");
    }
    if (Legality l = images(n_.inputs[0], 1); !l.ok) return l;
    const int64_t axis = ops::attr::axis(n_);
    if (axis == 1 || axis == -3) return {};
    return refuse("axis", std::to_string(axis), "1", "The composite concatenates channels.");
  }

  // Images are stored channels last: only where that is the same order does a reshape move nothing.
  Legality reshape() const {
    const size_t to = shape(n_.outputs[0]).size();
    if (to != 2 && to != 4) return rank(n_.outputs[0], 2);
    for (ir::ValueId v : {n_.inputs[0], n_.outputs[0]})
      if (shape(v).size() == 4 && partition::moves_channels(shape(v)))
        return refuse("order of elements", to_string(shape(v)), "one channel, or one pixel",
                      "Images are channels last there: the reshape would change the order of elements.");
    return {};
  }

  const ir::Graph& g_;
  const partition::Layer& layer_;
  const ir::Node& n_;
};

}  // namespace

rules::RuleFile rule_file() {
  return {std::string(kRulesName), std::string(kRulesText), true};
}

const partition::SoundRules& rules() {
  static const partition::SoundRules kRules =
      std::make_shared<rules::LoadResult>(partition::load_rules(rule_file(), {}));
  return kRules;
}

partition::Legality legal(const ir::Graph& graph, const partition::Layer& layer) {
  return Asked(graph, layer).run();
}

}  // namespace mrvlc::vendor
