// Batch, bias and epilogue of a convolution's call in C, its part for one thread; a program's convolutions.
#include "conv/call.h"

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::chost {

std::string batch_text(Function& f, int64_t batch) {
  NodeContext context(f, f.nodes().front());
  if (context.in_type(0).is_static()) return fmt::format("{}", batch);
  std::vector<std::string> dims{context.in_dim(0, 0)};
  for (int64_t d = 1; d < context.out_type(0).rank(); ++d) dims.push_back(context.out_dim(0, d));
  NodeContext(f, f.nodes().back()).set_dims(0, dims);
  return fmt::format("(ptrdiff_t){}", dims[0]);
}

std::vector<float> constant_floats(const Tensor* tensor) {
  if (tensor == nullptr) return {};
  auto data = tensor->data<float>();
  return {data.begin(), data.end()};
}

Epilogue begin_epilogue(Function& f, int64_t out_channels) {
  NodeContext context(f, f.nodes().front());
  Epilogue e;
  e.bias = constant_floats(context.constant(2));
  fold_epilogue(f, out_channels, e);
  return e;
}

std::string bias_text(Function& f, const Epilogue& e) {
  return e.bias.empty() ? "NULL" : f.weights(e.bias);
}

void KernelCall::put(Function& f) const {
  f.put("{}(&{}, {}, {}, {}, {}, (float*){}, &{});", kernel, shape, x, weights, bias, y, scratch, epilogue);
}

void KernelCall::take_part(Function& f, const PartOffsets& at, const Epilogue& e) {
  put_part_epilogue(f, e.next < f.nodes().size(), "row", "0", at.y);
  shape = "q";
  epilogue = "own";
  x += " + " + at.x;
  weights += " + " + at.w;
  if (bias != "NULL") bias += " + " + at.bias;
  y += " + " + at.y;
}

std::vector<PlannedConv> planned_convs(const Program& program) {
  std::vector<PlannedConv> convs;
  for (const auto& step : program.partition.steps) {
    if (step.kind != partition::Step::Kind::Cpu || !program.node(step.node).is(Op::Conv)) continue;
    const ir::Node& node = program.node(step.node);
    if (!is_packed_conv(program.graph, node)) continue;
    if (!all_f32(program.graph, node) && !is_dynamic_product(program.graph, node)) continue;
    auto p = ops::conv_params(ops::infer_context(program.graph, node));
    if (!p.ok()) continue;
    convs.push_back({partition::conv_sizes(*p), p->group == p->in_channels && p->group > 1});
  }
  return convs;
}

int64_t shared_work(const Function& f, const ops::ConvParams& p, int64_t each) {
  if (f.has_views() || p.batch != 1) return 0;
  int64_t work = p.out_channels * (p.in_channels / p.group) * each;
  for (int64_t n : p.output) work *= n;
  for (int64_t n : p.kernel) work *= n;
  return work;
}

}  // namespace mrvlc::chost
