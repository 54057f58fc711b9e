// Largest error, signal to noise (SQNR), equal top-1; runs with fp16 where the machine has no integers.
#include "judge.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "mrvlc/calibration/error.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/parallel.h"
#include "mrvlc/support/saturating.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::quantize {
namespace {

bool is_compared(const Tensor& t) {
  return t.type().wrapper == Wrapper::None && is_float(t.elem());
}

// Of a signal and what was added to it.
struct Power {
  double signal = 0, noise = 0;

  void add(const Tensor& actual, const Tensor& expected) {
    for (int64_t i = 0; i < expected.elements(); ++i) {
      const double a = actual.as_double(i), b = expected.as_double(i);
      if (!std::isfinite(b)) continue;
      signal += b * b;
      noise += std::isfinite(a) ? (a - b) * (a - b) : b * b + 1;
    }
  }
  double decibel() const {
    if (noise == 0) return HUGE_VAL;
    return signal == 0 ? 0 : 10 * std::log10(signal / noise);
  }
};

// One row of at least two elements: scores of classes.
bool is_row(const Tensor& t) {
  return !t.shape().empty() && t.shape().back() >= 2 && t.elements() == t.shape().back();
}

int64_t largest(const Tensor& t) {
  const std::vector<double> x = t.to_doubles();
  return std::ranges::max_element(x) - x.begin();
}

// By itself, or as the last of a chain that is one instruction of integers.
bool becomes_integers(const ir::Graph& g, const ir::Node& user) {
  constexpr int kLongest = 4;
  const ir::Node* n = &user;
  for (int i = 0; i < kLongest; ++i) {
    if (n->is(Op::QuantizeLinear, Op::DequantizeLinear)) return true;
    if (n->is(Op::Conv, Op::Gemm, Op::MatMul) || n->outputs.size() != 1) return false;
    const ir::Value& result = g.value(n->outputs[0]);
    if (result.users.size() != 1 || result.output_uses != 0) return false;
    n = &g.node(result.users[0]);
  }
  return false;
}

// What an integer stands for is none of fp16, nor are scales and biases (docs/arithmetic.md).
bool is_half(const ir::Graph& g, ir::ValueId v) {
  const ir::Value& value = g.value(v);
  if (value.kind == ir::ValueKind::Constant && value.type.rank() < 2) return false;
  if (value.producer.valid() && g.node(value.producer).is(Op::DequantizeLinear)) return false;
  if (value.output_uses != 0) return true;
  return std::ranges::none_of(value.users,
                              [&](ir::NodeId user) { return becomes_integers(g, g.node(user)); });
}

OutputReport judge_output(size_t k, const std::vector<std::vector<Tensor>>& actual,
                          const std::vector<std::vector<Tensor>>& expected) {
  OutputReport out;
  Power power;
  int64_t rows = 0, same = 0;
  for (size_t s = 0; s < expected.size(); ++s) {
    const Tensor &a = actual[s][k], &b = expected[s][k];
    out.error = std::max(out.error, calibration::float_error(a, b));
    if (a.shape() != b.shape()) continue;
    power.add(a, b);
    if (!is_row(b)) continue;
    ++rows;
    same += largest(a) == largest(b) ? 1 : 0;
  }
  out.sqnr_db = power.decibel();
  if (rows > 0) out.same_top1 = static_cast<double>(same) / static_cast<double>(rows);
  return out;
}

}  // namespace

int64_t run_cost(const ir::Graph& graph, const Options& options) {
  int64_t cost = 1;
  for (ir::NodeId id : graph.topological_order())
    cost = saturating_add(cost, options.cost(graph, graph.node(id)));
  return cost;
}

double relative_square(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  double sum = 0;
  for (size_t k = 0; k < expected.size(); ++k) {
    if (!is_compared(expected[k])) continue;
    Power p;
    p.add(actual[k], expected[k]);
    constexpr double kSilence = 1e-12;
    sum += p.noise / (p.signal + kSilence);
  }
  return sum;
}

Result<std::vector<Tensor>> run_on_machine(const ir::Graph& integers, const Sample& sample, bool half) {
  if (!half) return interp::run(integers, sample);
  const auto round = [&](ir::ValueId v, Tensor& t) {
    if (t.type().wrapper != Wrapper::None || t.elem() != ElementType::F32 || !is_half(integers, v)) return;
    for (float& x : t.mutable_data<float>()) x = half_to_float(float_to_half(x));
  };
  return interp::run_visited(integers, sample, round, true);
}

Result<std::vector<std::vector<Tensor>>> run_all(const ir::Graph& integers,
                                                 const std::vector<Sample>& samples, const Options& options) {
  std::vector<std::vector<Tensor>> outputs(samples.size());
  MRVLC_TRY(for_each_index(samples.size(), options.jobs, [&](size_t i) -> Status {
    MRVLC_ASSIGN(outputs[i], run_on_machine(integers, samples[i], options.half));
    return {};
  }));
  return outputs;
}

Result<Judgement> judge(const ir::Graph& integers, const std::vector<Sample>& samples,
                        const std::vector<std::vector<Tensor>>& expected, const Options& options) {
  MRVLC_ASSIGN(const auto actual, run_all(integers, samples, options));
  Judgement out;
  for (size_t i = 0; i < samples.size(); ++i)
    out.mean_square += relative_square(actual[i], expected[i]) / static_cast<double>(samples.size());
  for (size_t k = 0; k < integers.outputs().size(); ++k) {
    if (!is_compared(expected[0][k])) continue;
    OutputReport o = judge_output(k, actual, expected);
    o.name = integers.value(integers.outputs()[k]).name;
    out.error = std::max(out.error, o.error);
    out.outputs.push_back(std::move(o));
  }
  return out;
}

Result<std::vector<double>> sqnr_of(const ir::Graph& integers, const ir::Graph& floats,
                                    const std::vector<ir::ValueId>& values,
                                    const std::vector<Sample>& samples) {
  std::vector<Power> powers(values.size());
  for (const Sample& sample : samples) {
    std::map<ir::ValueId, Tensor> expected;
    const auto keep = [&](ir::ValueId v, Tensor& t) {
      if (std::ranges::find(values, v) != values.end()) expected[v] = t;
    };
    auto ran = interp::run_visited(floats, sample, keep, false);
    if (!ran.ok()) return ran.error();
    const auto compare = [&](ir::ValueId v, Tensor& t) {
      for (size_t i = 0; i < values.size(); ++i)
        if (values[i] == v) powers[i].add(t, expected[v]);
    };
    ran = interp::run_visited(integers, sample, compare, false);
    if (!ran.ok()) return ran.error();
  }
  std::vector<double> out;
  for (const Power& p : powers) out.push_back(p.decibel());
  return out;
}

}  // namespace mrvlc::quantize
