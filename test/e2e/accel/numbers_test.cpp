// Numbers at the ends of fp16: small models, simplified, placed and compiled as `mrvlc compile` does, layers
// of the accelerator simulated and the rest computed by the reference interpreter, against the interpreter
// alone.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "harness.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/tensor/storage.h"

namespace mrvlc::accel_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Placed {
  std::vector<Tensor> outputs;
  std::vector<Diag> warnings;
  std::map<std::string, std::string> on_cpu;  // operator -> reason
  size_t regions = 0;

  bool warns(DiagId code) const {
    return std::any_of(warnings.begin(), warnings.end(), [&](const Diag& d) { return d.code == code; });
  }
};

class Runner {
 public:
  Runner(const Net& net, const std::vector<Tensor>& inputs) : graph_(net.graph), machine_(machine()) {
    for (size_t i = 0; i < inputs.size(); ++i) values_[graph_.inputs()[i]] = inputs[i];
  }

  Placed run() {
    passes::RunOptions options;
    options.context.half_weights = true;
    REQUIRE(passes::run_passes(graph_, passes::default_pipeline(), options).ok());
    const backends::Opened backend = std::move(backends::open(machine_, {}).value());
    auto partition = partition::partition(graph_, backend.get(), {});
    REQUIRE(partition.ok());
    for (const auto& d : partition->decisions)
      if (!d.accelerator) out_.on_cpu[std::string(graph_.node(d.node).op->name)] = d.reason;
    out_.regions = partition->regions.size();
    for (const auto& step : partition->steps) {
      if (step.kind == partition::Step::Kind::Region)
        region(partition->regions[step.region]);
      else
        node(graph_.node(step.node));
    }
    for (ir::ValueId v : graph_.outputs()) out_.outputs.push_back(value(v));
    return std::move(out_);
  }

 private:
  const Tensor& value(ir::ValueId v) {
    if (const Tensor* t = graph_.constant(v)) return *t;
    return values_.at(v);
  }

  void node(const ir::Node& n) {
    std::vector<const Tensor*> inputs;
    for (ir::ValueId v : n.inputs) inputs.push_back(v.valid() ? &value(v) : nullptr);
    auto results = interp::evaluate(graph_, n, inputs);
    REQUIRE(results.ok());
    for (size_t i = 0; i < n.outputs.size(); ++i) values_[n.outputs[i]] = (*results)[i];
  }

  void region(const partition::Region& r) {
    auto compiled = accel::compile_region(graph_, r, machine_, {});
    REQUIRE(compiled.ok());
    out_.warnings.insert(out_.warnings.end(), compiled->warnings.begin(), compiled->warnings.end());
    auto binary = isa::read_container(isa::write_container(compiled->binary));
    REQUIRE(binary.ok());
    auto simulator = sim::Simulator::create(*binary, machine_);
    REQUIRE(simulator.ok());
    std::vector<std::string> in, results;
    for (const auto& port : compiled->inputs) in.push_back(to_device(port, value(port.value)));
    std::vector<std::span<const std::byte>> spans;
    for (const std::string& b : in) spans.push_back(std::as_bytes(std::span(b.data(), b.size())));
    auto report = simulator->run(spans, results);
    REQUIRE(report.ok());
    CHECK(report->hazards.empty());
    for (size_t i = 0; i < results.size(); ++i) {
      const auto& port = compiled->outputs[i];
      values_[port.value] = from_device(port, results[i], graph_.value(port.value).type.shape);
    }
  }

  ir::Graph graph_;
  target::Machine machine_;
  std::map<ir::ValueId, Tensor> values_;
  Placed out_;
};

Placed placed(const Net& net, const std::vector<Tensor>& inputs) {
  return Runner(net, inputs).run();
}

std::vector<Tensor> reference(const Net& net, const std::vector<Tensor>& inputs) {
  auto r = interp::run(net.graph, inputs);
  REQUIRE(r.ok());
  return *r;
}

// Largest |a - b| / max(least, |b|); infinity where NaN and infinities do not agree, what fp16 makes
// infinite counted as that when `half`.
double worst(const Tensor& a, const Tensor& b, bool half = false, double least = 1) {
  double w = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    double x = a.as_double(i), y = b.as_double(i);
    if (half && std::fabs(y) >= 65520) y = std::copysign(INFINITY, y);
    bool same = x == y || (std::isnan(x) && std::isnan(y));
    double d = same ? 0 : std::fabs(x - y) / std::max(least, std::fabs(y));
    w = std::isnan(d) ? INFINITY : std::max(w, d);
  }
  return w;
}

Tensor floats(Shape shape, const std::vector<double>& v) {
  return Tensor::of(ElementType::F32, std::move(shape), v);
}

std::vector<double> uniform(size_t n, double low, double high, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> d(low, high);
  std::vector<double> v(n);
  for (double& x : v) x = d(random);
  return v;
}

ir::ValueId identity(Net& net, int64_t n) {
  std::vector<double> w(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) w[static_cast<size_t>(i * n + i)] = 1;
  return net.values({n, n}, w);
}

}  // namespace

TEST_CASE("exponentials in a network, from one end of fp32 to the other") {
  std::vector<double> range;
  for (int i = -705; i < 705; ++i) range.push_back(i + 0.25);
  auto count = static_cast<int64_t>(range.size());
  for (const char* op : {"Exp", "Cosh", "Sinh"}) {
    INFO(op);
    Net net(1);
    ir::ValueId t = net.layer("", op, {net.input({count, 1})});
    net.output(net.layer("", "MatMul", {t, net.values({1, 1}, {1})}));
    std::vector<Tensor> in{floats({count, 1}, range)};
    Placed p = placed(net, in);
    CHECK(p.on_cpu.empty());
    CHECK(worst(p.outputs[0], reference(net, in)[0], true) <= 6e-4);
  }
}

TEST_CASE("what comes after an exponential that overflows") {
  std::vector<double> x = {-90, 90, 100, -100, 0, 20, -20, 11, 700, -700, 1, -1, 60000, -60000, 85, 88};
  SECTION("a bound") {
    Net net(1);
    ir::ValueId a = net.layer("", "MatMul", {net.input({4, 4}), identity(net, 4)});
    net.output(net.layer("", "Clip", {net.layer("", "Exp", {a}), ir::ValueId(), net.values({}, {100})}));
    std::vector<Tensor> in{floats({4, 4}, x)};
    Placed p = placed(net, in);
    CHECK(p.on_cpu.empty());
    CHECK(worst(p.outputs[0], reference(net, in)[0]) <= 6e-4);
  }
  SECTION("a sigmoid written out") {
    Net net(1);
    ir::ValueId a = net.layer("", "MatMul", {net.input({4, 4}), identity(net, 4)}), one = net.values({}, {1});
    ir::ValueId e = net.layer("", "Exp", {net.layer("", "Neg", {a})});
    net.output(net.layer("", "Div", {one, net.layer("", "Add", {e, one})}));
    std::vector<Tensor> in{floats({4, 4}, x)};
    Placed p = placed(net, in);
    CHECK(p.on_cpu.empty());
    CHECK(worst(p.outputs[0], reference(net, in)[0]) <= 6e-4);
  }
}

TEST_CASE("logarithms of zero, one and the smallest numbers") {
  Net net(1);
  ir::ValueId a = net.layer("", "MatMul", {net.input({4, 4}), identity(net, 4)});
  net.output(net.layer("", "Log", {net.layer("", "Relu", {a})}));
  std::vector<Tensor> in{floats({4, 4}, {0, 1, -1, 0x1p-24, 3 * 0x1p-24, 0x1p-14, 0.999, 1.001, 2, 65504, 0.5,
                                         0x1p-20, 5, 10, 100, 1000})};
  Placed p = placed(net, in);
  CHECK(p.on_cpu.empty());
  CHECK(worst(p.outputs[0], reference(net, in)[0]) <= 6e-4);
  CHECK(p.outputs[0].as_double(0) == -INFINITY);
  CHECK(p.outputs[0].as_double(1) == 0);
}

TEST_CASE("weights are rounded after what multiplies them") {
  std::vector<Tensor> in{floats({4, 32}, uniform(128, -1, 1, 7))};
  auto weights = [](double size) { return uniform(32 * 16, -size, size, 3); };
  auto check = [&](const Net& net) {
    Placed p = placed(net, in);
    CHECK(p.on_cpu.empty());
    CHECK(p.warnings.empty());
    CHECK(worst(p.outputs[0], reference(net, in)[0]) <= 6e-3);
  };
  for (auto [size, factor] : {std::pair(3e-7, 1e7), std::pair(3e-9, 1e9), std::pair(3e5, 1e-5)}) {
    INFO(size << " times " << factor);
    Net product(1);
    ir::ValueId t =
        product.layer("", "MatMul", {product.input({4, 32}), product.values({32, 16}, weights(size))});
    product.output(product.layer("", "Mul", {t, product.values({}, {factor})}));
    check(product);
    Net gemm(1);
    gemm.output(gemm.layer("", "Gemm", {gemm.input({4, 32}), gemm.values({32, 16}, weights(size))},
                           {{"alpha", static_cast<float>(factor)}}));
    check(gemm);
  }
}

TEST_CASE("a factor that weights cannot take stays a factor of the product") {
  std::vector<Tensor> in{floats({4, 32}, uniform(128, -1e-3, 1e-3, 7))};
  Net net(1);
  ir::ValueId t = net.layer("", "MatMul", {net.input({4, 32}), net.values({32, 16}, uniform(512, -1, 1, 3))});
  net.output(net.layer("", "Mul", {t, net.values({}, {1e5})}));
  Placed p = placed(net, in);
  CHECK(p.on_cpu.empty());
  CHECK(worst(p.outputs[0], reference(net, in)[0], false, 100) <= 6e-3);  // of up to 300
}

TEST_CASE("outputs of a transposed convolution that no pixel reaches are the bias, next to infinities too") {
  Net net(1);
  ir::ValueId y =
      net.layer("", "ConvTranspose", {net.input({1, 2, 3, 3}), net.constant({2, 4, 1, 1}), net.constant({4})},
                {{"strides", std::vector<int64_t>{2, 2}}});
  net.output(y);
  std::vector<double> image(18, kInf);
  Placed p = placed(net, {floats({1, 2, 3, 3}, image)});
  CHECK(p.on_cpu.empty());
  const Tensor expected = reference(net, {floats({1, 2, 3, 3}, image)})[0];
  REQUIRE(expected.elements() == 4 * 5 * 5);
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const bool reached = i / 5 % 5 % 2 == 0 && i % 5 % 2 == 0;
    if (!reached) CHECK(p.outputs[0].as_double(i) == Approx(expected.as_double(i)).margin(1e-3));
  }
}

TEST_CASE("weights that fp16 cannot hold stay on the CPU, with the reason") {
  std::vector<Tensor> in{floats({4, 32}, uniform(128, -1, 1, 7))};
  for (auto [size, said] : {std::pair(3e5, "beyond the range of float16"), std::pair(3e-9, "so small")}) {
    Net net(1);
    net.output(
        net.layer("", "MatMul", {net.input({4, 32}), net.values({32, 16}, uniform(512, -size, size, 3))}));
    Placed p = placed(net, in);
    REQUIRE(p.on_cpu.contains("MatMul"));
    CHECK(p.on_cpu["MatMul"].find(said) != std::string::npos);
    CHECK(worst(p.outputs[0], reference(net, in)[0], false, 1e-12) <= 1e-5);
  }
  // Some that lose digits beside others that do not: a warning.
  std::vector<double> mixed = uniform(512, -1e-4, 1e-4, 3);
  Net net(1);
  net.output(net.layer("", "MatMul", {net.input({4, 32}), net.values({32, 16}, mixed)}));
  Placed p = placed(net, in);
  CHECK(p.on_cpu.empty());
  CHECK(p.warns(DiagCode::MRV0506) ==
        (format_loss(floats({512}, mixed)).lost > 0x1p-20 * format_loss(floats({512}, mixed)).norm));
}

namespace {

Net scaled_image(double factor) {
  Net net(1);
  ir::ValueId t = net.layer("", "Mul", {net.input({1, 3, 16, 16}), net.values({}, {factor})});
  ir::ValueId c = net.layer("", "Conv", {t, net.constant({8, 3, 3, 3}, -2, 2)},
                            {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  net.output(net.layer("", "Relu", {c}));
  return net;
}

}  // namespace

TEST_CASE("images beyond fp16, before or after they are scaled") {
  SECTION("16 bits: scaled in fp32 on the accelerator") {
    Net net = scaled_image(1.0 / 65535);
    std::vector<double> x = uniform(768, 0, 65535, 4);
    x[0] = x[100] = 65535;
    std::vector<Tensor> in{floats({1, 3, 16, 16}, x)};
    Placed p = placed(net, in);
    CHECK(p.on_cpu.empty());
    CHECK(worst(p.outputs[0], reference(net, in)[0]) <= 4e-3);
  }
  SECTION("8 bits: folded into the weights as ever") {
    Net net = scaled_image(1.0 / 255);
    std::vector<Tensor> in{floats({1, 3, 16, 16}, uniform(768, 0, 255, 4))};
    Placed p = placed(net, in);
    CHECK(p.on_cpu.empty());
    CHECK(worst(p.outputs[0], reference(net, in)[0]) <= 4e-3);
  }
  SECTION("made larger: the convolution reads what fp16 does not hold") {
    Net net = scaled_image(65535);
    std::vector<Tensor> in{floats({1, 3, 16, 16}, uniform(768, 0, 2, 4))};
    Placed p = placed(net, in);
    REQUIRE(p.on_cpu.contains("Conv"));
    CHECK(p.on_cpu["Conv"].find("multiplied by 65535") != std::string::npos);
    CHECK(worst(p.outputs[0], reference(net, in)[0]) <= 1e-5);
  }
  SECTION("the result alone is large, and leaves as fp32") {
    Net net(1);
    ir::ValueId c = net.layer("", "Conv", {net.input({1, 3, 16, 16}), net.constant({8, 3, 3, 3}, -2, 2)});
    net.output(net.layer("", "Mul", {c, net.values({}, {65535})}));
    std::vector<Tensor> in{floats({1, 3, 16, 16}, uniform(768, 0, 2, 4))};
    Placed p = placed(net, in);
    CHECK(p.on_cpu.empty());
    CHECK(worst(p.outputs[0], reference(net, in)[0], false, 65535) <= 8e-3);
  }
}

TEST_CASE("a root mean square, written out, of values whose squares are beyond fp16 or below it") {
  for (double size : {300.0, 1.0, 1e-3}) {
    INFO(size);
    Net net(1);
    ir::ValueId t =
        net.layer("", "MatMul", {net.input({4, 32}), net.values({32, 64}, uniform(2048, -size, size, 9))});
    ir::ValueId q = net.layer("", "Pow", {t, net.values({}, {2})});
    ir::ValueId s = net.layer("", "ReduceMean", {q, net.values({1}, {-1}, ElementType::I64)});
    ir::ValueId r = net.layer("", "Sqrt", {net.layer("", "Add", {s, net.values({}, {1e-6})})});
    net.output(net.layer("", "Div", {t, r}));
    std::vector<Tensor> in{floats({4, 32}, uniform(128, -3, 3, 2))};
    Placed p = placed(net, in);
    CHECK(p.on_cpu.empty());
    CHECK(worst(p.outputs[0], reference(net, in)[0]) <= 4e-3);
  }
}

TEST_CASE("normalisations, written out, of values whose squares are beyond fp16") {
  const double size = GENERATE(1.0, 30.0, 3000.0);
  const bool squares = GENERATE(false, true);  // E[t^2] - m^2
  INFO(size << " " << squares);
  Net net(1);
  auto mean = [&](ir::ValueId v) {
    ir::ValueId sum = net.layer("", "ReduceSum", {v, net.values({1}, {-1}, ElementType::I64)});
    return net.layer("", "Mul", {sum, net.values({}, {1.0 / 768})});
  };
  auto square = [&](ir::ValueId v) { return net.layer("", "Mul", {v, v}); };
  ir::ValueId t =
      net.layer("", "MatMul", {net.input({9, 16}), net.values({16, 768}, uniform(16 * 768, -size, size, 9))});
  ir::ValueId m = mean(t), d = net.layer("", "Sub", {t, m});
  ir::ValueId v = squares ? net.layer("", "Sub", {mean(square(t)), square(m)}) : mean(square(d));
  ir::ValueId r = net.layer("", "Sqrt", {net.layer("", "Add", {v, net.values({}, {1e-5})})});
  ir::ValueId y = net.layer("", "Mul", {net.layer("", "Div", {d, r}), net.constant({768}, 0.5, 2)});
  net.output(net.layer("", "Add", {y, net.constant({768})}));
  std::vector<Tensor> in{floats({9, 16}, uniform(144, -1, 1, 2))};
  Placed p = placed(net, in);
  CHECK(p.on_cpu.empty());
  CHECK(p.warnings.empty());
  // With input, weights, product and result rounded to fp16 and all else exact, 1.9e-3 in the mean and up
  // to 2.7e-3.
  CHECK(worst(p.outputs[0], reference(net, in)[0]) <= 4e-3);
}

TEST_CASE("softmax and its logarithms, written out, of values whose exponentials are beyond fp16") {
  const double size = GENERATE(1.0, 40.0, 80.0);  // beyond 88 fp32 itself is infinite where it is written out
  const int form = GENERATE(0, 1, 2);
  INFO(size << " " << form);
  Net net(1);
  ir::ValueId t =
      net.layer("", "MatMul", {net.input({9, 16}), net.values({16, 40}, uniform(640, -0.0625, 0.0625, 9))});
  ir::ValueId e = net.layer("", "Exp", {t});
  ir::ValueId s = net.layer("", "ReduceSum", {e, net.values({1}, {-1}, ElementType::I64)});
  if (form == 0) net.output(net.layer("", "Div", {e, s}));
  if (form == 1) net.output(net.layer("", "Log", {s}));
  if (form == 2) net.output(net.layer("", "Sub", {t, net.layer("", "Log", {s})}));
  std::vector<Tensor> in{floats({9, 16}, uniform(144, -size, size, 2))};
  Placed p = placed(net, in);
  CHECK(p.on_cpu.empty());
  CHECK(p.warnings.empty());
  CHECK(worst(p.outputs[0], reference(net, in)[0]) <= (form == 0 ? 2e-2 : 5e-3));
}

TEST_CASE("log-sum-exp of infinities") {
  Net net(1);
  ir::ValueId t = net.layer("", "MatMul", {net.input({4, 8}), net.constant({8, 6})});
  t = net.layer("", "Add", {t, net.input({4, 6})});
  net.output(net.layer("", "ReduceLogSumExp", {t, net.values({1}, {1}, ElementType::I64)}));
  std::vector<double> mask(24);
  for (size_t i = 0; i < 6; ++i) mask[i] = -kInf;  // all of a row, one of a row, and the other way up
  mask[7] = -kInf;
  mask[14] = kInf;
  std::vector<Tensor> in{floats({4, 8}, uniform(32, -2, 2, 2)), floats({4, 6}, mask)};
  Placed p = placed(net, in);
  CHECK(p.on_cpu.empty());
  Tensor expected = reference(net, in)[0];
  CHECK(worst(p.outputs[0], expected) <= 2e-3);
  CHECK(expected.as_double(0) == -kInf);
  CHECK(expected.as_double(2) == kInf);
}

namespace {

enum class Mask { Computed, Input, Constant };

// softmax(q k^T / sqrt(32) + mask) v: the mask is (1 - keep) * size, computed, given, or constant.
struct Attention {
  Net net{5};
  std::vector<Tensor> inputs;
};

Attention attention(Mask kind, double size) {
  Attention a;
  Net& net = a.net;
  auto weights = [&](uint32_t seed) { return net.values({32, 32}, uniform(1024, -0.5, 0.5, seed)); };
  ir::ValueId x = net.input({2, 16, 32});
  ir::ValueId q = net.layer("", "MatMul", {x, weights(1)}), k = net.layer("", "MatMul", {x, weights(2)});
  ir::ValueId v = net.layer("", "MatMul", {x, weights(3)});
  k = net.layer("", "Transpose", {k}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  ir::ValueId s = net.layer("", "Mul", {net.layer("", "MatMul", {q, k}), net.values({}, {0.17677669})});
  // The first image keeps nothing, the second the first nine positions.
  std::vector<double> keep(32), added(32);
  for (size_t i = 16; i < 25; ++i) keep[i] = 1;
  for (size_t i = 0; i < 32; ++i) added[i] = keep[i] != 0 ? 0 : size;
  ir::ValueId mask;
  if (kind == Mask::Constant) mask = net.values({2, 1, 16}, added);
  if (kind != Mask::Constant) mask = net.input({2, 1, 16});
  if (kind == Mask::Computed) {
    mask = net.layer("", "Sub", {net.values({}, {1}), mask});
    mask = net.layer("", "Mul", {mask, net.values({}, {size})});
  }
  s = net.layer("", "Softmax", {net.layer("", "Add", {s, mask})});
  net.output(net.layer("", "MatMul", {net.layer("", "MatMul", {s, v}), weights(4)}));
  a.inputs.push_back(floats({2, 16, 32}, uniform(1024, -1, 1, 6)));
  if (kind != Mask::Constant) a.inputs.push_back(floats({2, 1, 16}, kind == Mask::Computed ? keep : added));
  return a;
}

}  // namespace

TEST_CASE("masks of attention, rows that are masked altogether included") {
  for (Mask kind : {Mask::Computed, Mask::Input, Mask::Constant})
    for (double size : {-2000.0, -1e4, -65504.0, -1e5, -1e9, -3.4028234663852886e38, -kInf}) {
      if (kind == Mask::Computed && std::isinf(size)) continue;  // 0 * infinity
      INFO("mask " << static_cast<int>(kind) << " of " << size);
      Attention a = attention(kind, size);
      Placed p = placed(a.net, a.inputs);
      CHECK(p.on_cpu.empty());
      CHECK(p.warnings.empty());
      Tensor expected = reference(a.net, a.inputs)[0];
      CHECK(worst(p.outputs[0], expected) <= 1e-2);
      CHECK(std::isnan(expected.as_double(0)) == std::isinf(size));
    }
}

TEST_CASE("a Cast to float16 rounds and overflows") {
  auto input = floats(
      {4, 4}, {0.1, 1.0 / 3, 70000, -70000, 65519, 65520, 1e-8, 1e-7, 2049, 2050, 1, 0, -0.1, 1e30, kInf, 3});
  for (bool host : {false, true}) {
    Net net(1);
    ir::ValueId h = net.layer("", "Cast", {net.input({4, 4})}, {{"to", ElementType::F16}});
    ir::ValueId back = net.layer("", "Cast", {h}, {{"to", ElementType::F32}});
    net.output(net.layer("", "Add", {back, net.values({}, {1})}));
    ir::Graph graph = net.graph;
    auto pipeline = host ? passes::host_pipeline() : passes::default_pipeline();
    REQUIRE(passes::run_passes(graph, pipeline).ok());
    auto got = interp::run(graph, {input});
    REQUIRE(got.ok());
    CHECK(worst((*got)[0], reference(net, {input})[0]) == 0);
    CHECK((*got)[0].as_double(2) == INFINITY);
    CHECK((*got)[0].as_double(0) != Approx(1.1).epsilon(1e-7));
  }
}

TEST_CASE("a warning where fp16 is asked to hold what a constant makes large") {
  Net net(1);
  ir::ValueId c = net.layer("", "Conv", {net.input({1, 3, 16, 16}), net.constant({8, 3, 3, 3}, -2, 2)});
  c = net.layer("", "Mul", {net.layer("", "Relu", {c}), net.values({}, {20000})});
  net.output(net.layer("", "MaxPool", {c}, {{"kernel_shape", std::vector<int64_t>{2, 2}}}));
  Placed p = placed(net, {floats({1, 3, 16, 16}, uniform(768, 0, 1, 4))});
  CHECK(p.warns(DiagCode::MRV0507));
}

}  // namespace mrvlc::accel_test
