// Example nodes of each operator: shapes, attributes and constants of an ordinary use, placed by the rules.
#include "accelerator_query.h"

#include <algorithm>
#include <set>

#include "mrvlc/driver/place.h"
#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/passes/pass.h"

namespace mrvlc::driver {
namespace {

using E = ElementType;
using Ints = std::vector<int64_t>;

struct Operand {
  Tensor tensor;  // undefined: not given
  bool constant = false;
};

struct Example {
  std::vector<Operand> operands;
  std::vector<std::pair<std::string_view, ir::Attr>> attrs = {};
  size_t outputs = 1;
};

Operand activation(Shape shape = {1, 8, 6, 6}) {
  return {Tensor({E::F32, std::move(shape)}), false};
}
Operand weights(Shape shape) {
  return {Tensor::of(E::F32, shape, std::vector<double>(static_cast<size_t>(element_count(shape)), 0.5)),
          true};
}
Operand integers(const Ints& values) {
  return {Tensor::of(E::I64, {static_cast<int64_t>(values.size())}, values), true};
}
Operand absent() {
  return {};
}

struct Representative {
  Op op;
  std::vector<Example> (*examples)();
};

std::vector<Example> of_kernel() {
  return {{{activation()}, {{"kernel_shape", Ints{2, 2}}}}};
}
std::vector<Example> of_axes() {
  return {{{activation(), integers({2, 3})}}, {{activation(), integers({1})}}};
}
std::vector<Example> of_block() {
  return {{{activation()}, {{"blocksize", int64_t{2}}}}};
}
std::vector<Example> of_two() {
  return {{{activation(), activation()}}, {{activation(), weights({8, 1, 1})}}};
}
std::vector<Example> of_rows() {
  return {{{activation({2, 5, 8}), weights({8}), weights({8})}}, {{activation({2, 5, 8}), weights({8})}}};
}

// Operators whose operands are not simply activations of one shape.
const Representative kRepresentatives[] = {
    {Op::Conv,
     [] {
       return std::vector<Example>{{{activation(), weights({4, 8, 3, 3})}}};
     }},
    {Op::ConvTranspose,
     [] {
       return std::vector<Example>{{{activation(), weights({8, 4, 2, 2})}}};
     }},
    {Op::Gemm,
     [] {
       return std::vector<Example>{{{activation({3, 8}), weights({8, 4})}}};
     }},
    {Op::MatMul,
     [] {
       return std::vector<Example>{{{activation({3, 8}), weights({8, 4})}},
                                   {{activation({2, 3, 8}), activation({2, 8, 4})}}};
     }},
    {Op::MaxPool, of_kernel},
    {Op::AveragePool, of_kernel},
    {Op::LpPool, of_kernel},
    {Op::ReduceL1, of_axes},
    {Op::ReduceL2, of_axes},
    {Op::ReduceLogSum, of_axes},
    {Op::ReduceLogSumExp, of_axes},
    {Op::ReduceMax, of_axes},
    {Op::ReduceMean, of_axes},
    {Op::ReduceMin, of_axes},
    {Op::ReduceProd, of_axes},
    {Op::ReduceSum, of_axes},
    {Op::ReduceSumSquare, of_axes},
    {Op::Reshape,
     [] {
       return std::vector<Example>{{{activation(), integers({1, 288})}}};
     }},
    {Op::Squeeze,
     [] {
       return std::vector<Example>{{{activation(), integers({0})}}};
     }},
    {Op::Unsqueeze,
     [] {
       return std::vector<Example>{{{activation({8, 6, 6}), integers({0})}}};
     }},
    {Op::Expand,
     [] {
       return std::vector<Example>{{{activation({1, 8, 1, 6}), integers({1, 8, 6, 6})}}};
     }},
    {Op::Tile,
     [] {
       return std::vector<Example>{{{activation(), integers({1, 1, 2, 1})}}};
     }},
    {Op::Slice,
     [] {
       return std::vector<Example>{{{activation(), integers({1}), integers({4}), integers({2})}}};
     }},
    {Op::Pad,
     [] {
       return std::vector<Example>{{{activation(), integers({0, 0, 1, 1, 0, 0, 1, 1})}}};
     }},
    {Op::Split,
     [] {
       return std::vector<Example>{{{activation()}, {{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}, 2}};
     }},
    {Op::Concat,
     [] {
       return std::vector<Example>{{{activation(), activation()}, {{"axis", int64_t{1}}}}};
     }},
    {Op::Transpose,
     [] {
       return std::vector<Example>{{{activation()}, {{"perm", Ints{0, 2, 3, 1}}}}};
     }},
    {Op::DepthToSpace, of_block},
    {Op::SpaceToDepth, of_block},
    {Op::Gather,
     [] {
       return std::vector<Example>{{{activation(), integers({0, 5, 3})}, {{"axis", int64_t{2}}}}};
     }},
    {Op::Resize,
     [] {
       return std::vector<Example>{{{activation(), absent(), absent(), integers({1, 8, 12, 12})}}};
     }},
    {Op::Upsample,
     [] {
       return std::vector<Example>{
           {{activation(), {Tensor::of(E::F32, {4}, std::vector<double>{1, 1, 2, 2}), true}}}};
     }},
    {Op::BatchNormalization,
     [] {
       return std::vector<Example>{{{activation(), weights({8}), weights({8}), weights({8}), weights({8})}}};
     }},
    {Op::InstanceNormalization,
     [] {
       return std::vector<Example>{{{activation(), weights({8}), weights({8})}}};
     }},
    {Op::GroupNormalization,
     [] {
       return std::vector<Example>{
           {{activation(), weights({8}), weights({8})}, {{"num_groups", int64_t{2}}}}};
     }},
    {Op::LayerNormalization, of_rows},
    {Op::RMSNormalization, of_rows},
    {Op::PRelu, of_two},
    {Op::Clip,
     [] {
       return std::vector<Example>{{{activation(), weights({}), absent()}}};
     }},
    {Op::Pow,
     [] {
       return std::vector<Example>{{{activation(), {Tensor::of(E::F32, {}, std::vector<double>{2}), true}}}};
     }},
    // 10 is FLOAT16 of TensorProto.DataType.
    {Op::Cast,
     [] {
       return std::vector<Example>{{{activation()}, {{"to", int64_t{10}}}}};
     }},
};

// Activations alone, of an image or a matrix.
std::vector<Example> plain(const ops::OpDef& op) {
  std::vector<Example> list;
  // One operand of a variadic operator would be the identity.
  const auto least = static_cast<size_t>(std::max(op.min_inputs, op.max_inputs < 0 ? 2 : 1));
  for (Shape shape : {Shape{1, 8, 6, 6}, Shape{4, 4}}) {
    for (size_t n = least; n <= least + 1; ++n)
      list.push_back(
          {std::vector<Operand>(n, activation(shape)), {}, static_cast<size_t>(std::max(op.min_outputs, 1))});
  }
  return list;
}

std::vector<Example> examples_of(const ops::OpDef& op) {
  if (!op.domain.empty()) return plain(op);
  for (const Representative& r : kRepresentatives) {
    if (r.op == op.kind) return r.examples();
  }
  return plain(op);
}

// nullopt: no valid node of the operator.
std::optional<ir::Graph> graph_of(const ops::OpDef& op, const Example& example) {
  ops::InferContext context;
  std::vector<ir::Attr> attrs = ir::default_attrs(op);
  for (const auto& [name, value] : example.attrs) {
    if (op.attr_index(name) < 0) return std::nullopt;
    ir::set_attr(op, attrs, name, value);
  }
  context.op = &op;
  context.attrs = &attrs;
  context.num_outputs = example.outputs;
  for (const Operand& o : example.operands) {
    const bool given = o.tensor.elem() != E::Undefined;
    context.types.push_back(given ? &o.tensor.type() : nullptr);
    context.constants.push_back(given && o.constant ? &o.tensor : nullptr);
  }
  auto types = ops::infer_types(op, context);
  if (!types.ok()) return std::nullopt;
  ir::Graph graph;
  const ir::SourceId source =
      graph.add_source({"main/0", "n", std::string(op.name), std::string(op.domain), {}});
  std::vector<ir::ValueId> operands;
  for (const Operand& o : example.operands) {
    const std::string name = fmt::format("x{}", operands.size());
    const bool given = o.tensor.elem() != E::Undefined;
    operands.push_back(!given       ? ir::ValueId()
                       : o.constant ? graph.add_constant(name, o.tensor)
                                    : graph.add_input(name, o.tensor.type()));
  }
  std::vector<std::string> results;
  for (size_t i = 0; i < types->size(); ++i) results.push_back(fmt::format("y{}", i));
  const ir::NodeId node = graph.add_node(op, "n", operands, std::move(attrs), *types, results,
                                         {{source}, {}, std::string(ir::kImported), {}});
  for (ir::ValueId y : graph.node(node).outputs) graph.add_output(y);
  return graph;
}

bool only_identities(const ir::Graph& graph) {
  return std::ranges::all_of(graph.topological_order(),
                             [&](ir::NodeId n) { return graph.node(n).is(Op::Identity); });
}

// Everything is asked for, so that small nodes are not given back to the CPU.
AcceleratorAnswer ask(ir::Graph graph, const partition::Accelerator& accelerator) {
  const bool identity = only_identities(graph);
  if (Status s = passes::run_passes(graph, passes::default_pipeline(), {}); !s.ok())
    return {"", s.error().message};
  if (!identity && only_identities(graph)) return {"removed", ""};
  partition::Options free;
  auto placed = partition::partition(graph, &accelerator, free);
  if (!placed.ok()) return {"", placed.error().message};
  partition::Options forced;
  forced.accel = {"*"};
  auto partition = partition::partition(graph, &accelerator, forced);
  if (!partition.ok()) return {"", placed->decisions.front().reason};
  std::set<std::string> kinds;
  for (const auto& region : partition->regions) {
    for (const auto& layer : region.layers) kinds.insert(std::string(name(layer.kind)));
  }
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : " + ") + kind;
  return {text, ""};
}

}  // namespace

AcceleratorQuery::AcceleratorQuery() {
  auto backend = backends::open_default({});
  if (backend.ok()) backend_ = std::move(*backend);
}

// The kinds of all examples that are taken; the reason of the last that is not.
AcceleratorAnswer AcceleratorQuery::operator()(const ops::OpDef& op) const {
  AcceleratorAnswer all;
  for (const Example& example : examples_of(op)) {
    auto graph = graph_of(op, example);
    if (!graph) continue;
    AcceleratorAnswer one = ask(*std::move(graph), *backend_);
    if (one.kinds.empty()) all.reason = one.reason;
    if (one.kinds.empty() || all.kinds.find(one.kinds) != std::string::npos) continue;
    all.kinds += (all.kinds.empty() ? "" : " ") + one.kinds;
  }
  return all;
}

}  // namespace mrvlc::driver
