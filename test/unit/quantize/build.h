// Networks of random weights, and samples for them.
#pragma once
#include <catch2/catch.hpp>

#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"
#include "splitmix.h"

namespace mrvlc::quantize_test {

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : random_(seed) {}
  double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }
  // Near enough: the sum of twelve.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }
  Tensor floats(const Shape& shape, double scale = 1) {
    Tensor t(TensorType{ElementType::F32, shape});
    for (int64_t i = 0; i < t.elements(); ++i) t.set_double(i, normal() * scale);
    return t;
  }

 private:
  random::SplitMix random_;
};

// One node after the other; values are called as they are made.
class Net {
 public:
  explicit Net(uint64_t seed) : numbers(seed) {}

  ir::ValueId input(const std::string& name, const Shape& shape) {
    return graph.add_input(name, {ElementType::F32, shape});
  }
  ir::ValueId constant(const Shape& shape, double scale = 1) {
    return graph.add_constant("c" + std::to_string(constants_++), numbers.floats(shape, scale));
  }
  ir::ValueId node(const std::string& op, std::vector<ir::ValueId> inputs, const std::string& result,
                   std::vector<std::pair<std::string, ir::Attr>> attributes = {}) {
    const ops::OpDef& def = *ops::find_op("", op);
    auto attrs = ir::default_attrs(def);
    for (auto& [name, value] : attributes) ir::set_attr(def, attrs, name, std::move(value));
    ops::InferContext context;
    context.op = &def;
    context.attrs = &attrs;
    for (ir::ValueId v : inputs) {
      context.types.push_back(v.valid() ? &graph.value(v).type : nullptr);
      context.constants.push_back(v.valid() ? graph.constant(v) : nullptr);
    }
    auto types = ops::infer_types(def, context);
    REQUIRE(types.ok());
    const ir::SourceId source = graph.add_source({"main/" + result, result, op, "", {}});
    const ir::NodeId id = graph.add_node(def, result, std::move(inputs), std::move(attrs), *types, {result},
                                         {{source}, {}, "import", {}});
    return graph.node(id).outputs[0];
  }
  ir::ValueId conv(ir::ValueId x, int64_t channels, const std::string& result, int64_t group = 1) {
    const int64_t in = graph.value(x).type.shape[1];
    return node("Conv", {x, constant({channels, in / group, 3, 3}, 0.3), constant({channels}, 0.2)}, result,
                {{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"group", group}});
  }
  std::vector<std::vector<Tensor>> samples(size_t n) {
    std::vector<std::vector<Tensor>> out(n);
    for (auto& sample : out)
      for (ir::ValueId v : graph.inputs()) sample.push_back(numbers.floats(graph.value(v).type.shape));
    return out;
  }

  ir::Graph graph;
  Numbers numbers;

 private:
  int constants_ = 0;
};

}  // namespace mrvlc::quantize_test
