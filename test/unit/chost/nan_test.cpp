// Operators that compare, on numbers among which are NaN and infinities: the rules of docs/special-values.md,
// in the reference, and in C with vectors and without.
#include <catch2/catch.hpp>
#include <cmath>

#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

using Ints = std::vector<int64_t>;
const double kNaN = NAN, kInf = INFINITY;

Tensor f32(const Shape& shape, const std::vector<double>& values) {
  return Tensor::of(ElementType::F32, shape, values);
}

// The reference's result of one operator.
std::vector<double> result(std::string_view op, const std::vector<Tensor>& inputs, const Attrs& attrs = {},
                           size_t constant_from = 1) {
  GraphBuilder b;
  std::vector<ir::ValueId> ids;
  for (size_t i = 0; i < inputs.size(); ++i)
    ids.push_back(i < constant_from ? b.input(inputs[i].shape(), inputs[i].elem()) : b.constant(inputs[i]));
  b.output(b.node(op, ids, attrs));
  return reference(b.graph, {inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(constant_from)})
      .at(0)
      .to_doubles();
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b,
                            [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

const Tensor kRow = f32({6}, {8, kNaN, 3, kInf, 1, -kInf});

// Every tenth number is NaN, others infinite or equal.
Tensor spoilt(const Shape& shape, uint32_t seed) {
  Tensor t(TensorType{ElementType::F32, shape});
  for (int64_t i = 0; i < t.elements(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    const uint32_t k = seed >> 24;
    t.set_double(i, k < 25 ? kNaN : k < 40 ? kInf : k < 55 ? -kInf : static_cast<double>(k % 32) - 16);
  }
  return t;
}

void add_pools(GraphBuilder& b) {
  auto pool = [&](const Shape& shape, const Ints& kernel, const Ints& strides) {
    b.output(b.node("MaxPool", {b.input(shape)}, {{"kernel_shape", kernel}, {"strides", strides}}));
  };
  pool({1, 8, 33, 29}, {3, 3}, {2, 2});
  pool({1, 3, 40, 40}, {2, 2}, {2, 2});
  pool({1, 2, 30, 31}, {3, 3}, {1, 1});
  pool({1, 2, 5, 5}, {2, 2}, {1, 1});
  pool({2, 2, 19}, {3}, {1});
  pool({1, 1, 4, 5, 6}, {2, 2, 2}, {1, 1, 1});
  pool({1, 1, 40}, {17}, {1});
  b.output(b.node("GlobalMaxPool", {b.input({1, 3, 7, 9})}));
  b.output(b.node("GlobalMaxPool", {b.input({1, 3, 2, 3})}));
}

void add_orders(GraphBuilder& b) {
  for (int64_t largest : {0, 1}) {
    const ir::ValueId best =
        b.node("TopK", {b.input({7, 31}), b.constant(Tensor::of(ElementType::I64, {1}, Ints{9}))},
               {{"largest", largest}});
    for (ir::ValueId v : b.graph.node(b.graph.value(best).producer).outputs) b.output(v);
  }
  for (const char* op : {"ArgMax", "ArgMin"})
    for (int64_t last : {0, 1})
      b.output(b.node(op, {b.input({9, 21})}, {{"axis", int64_t{1}}, {"select_last_index", last}}));
  for (const char* op : {"ReduceMax", "ReduceMin"})
    for (int64_t axis : {0, 1})
      b.output(b.node(op, {b.input({20, 37}), b.constant(Tensor::of(ElementType::I64, {1}, Ints{axis}))}));
  for (int64_t axis : {0, 1}) b.output(b.node("Hardmax", {b.input({20, 7})}, {{"axis", axis}}));
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (int64_t axis : {0, 1}) b.output(b.node(op, {b.input({20, 7})}, {{"axis", axis}}));
  b.output(b.node("LRN", {b.input({2, 9, 5})}, {{"size", int64_t{3}}}));
  for (int64_t axis : {0, 1}) {
    b.output(b.node("LpNormalization", {b.input({20, 7})}, {{"axis", axis}}));
    b.output(b.node("ReduceLogSumExp",
                    {b.input({20, 7}), b.constant(Tensor::of(ElementType::I64, {1}, Ints{axis}))}));
  }
  for (const char* mode : {"max", "min"})
    b.output(
        b.node("ScatterElements",
               {b.input({4, 3}), b.constant(Tensor::of(ElementType::I64, {2, 3}, Ints{0, 1, 2, 3, 3, 0})),
                b.input({2, 3})},
               {{"reduction", std::string(mode)}}));
}

void add_functions_by_parts(GraphBuilder& b) {
  for (const char* op : {"Max", "Min"}) b.output(b.node(op, {b.input({5, 37}), b.input({5, 37})}));
  b.output(b.node("Clip", {b.input({5, 37}), b.constant(f32({}, {-2})), b.constant(f32({}, {3}))}));
  for (const char* op : {"Relu", "LeakyRelu", "HardSwish", "HardSigmoid", "Sign", "Elu", "Softplus",
                         "Sigmoid", "Tanh", "Abs", "Gelu"})
    b.output(b.node(op, {b.input({5, 37})}));
}

}  // namespace

TEST_CASE("NaN: the rules by hand, in the reference") {
  const Tensor k = Tensor::of(ElementType::I64, {1}, Ints{4});
  CHECK(same(result("TopK", {kRow, k}), {kNaN, kInf, 8, 3}));
  CHECK(same(result("TopK", {kRow, k}, {{"largest", int64_t{0}}}), {-kInf, 1, 3, 8}));
  CHECK(same(result("ArgMax", {kRow}), {1}));
  CHECK(same(result("ArgMin", {kRow}), {1}));
  CHECK(same(result("Hardmax", {kRow}), {0, 1, 0, 0, 0, 0}));
  CHECK(same(result("MaxPool", {kRow.reshaped({1, 1, 6})}, {{"kernel_shape", Ints{2}}}),
             {kNaN, kNaN, kInf, kInf, 1}));
  CHECK(same(result("GlobalMaxPool", {kRow.reshaped({1, 1, 6})}), {kNaN}));
  CHECK(same(result("ReduceMax", {kRow}), {kNaN}));
  CHECK(std::isnan(result("HardSwish", {f32({1}, {-kInf})})[0]));
  CHECK(same(result("HardSwish", {f32({3}, {kInf, -3, -100})}), {kInf, 0, 0}));
  const Tensor one = Tensor::of(ElementType::I64, {1}, Ints{0});
  for (const char* mode : {"max", "min"}) {
    CHECK(same(
        result("ScatterElements", {f32({1}, {2}), one, f32({1}, {kNaN})}, {{"reduction", std::string(mode)}}),
        {kNaN}));
    CHECK(same(
        result("ScatterElements", {f32({1}, {kNaN}), one, f32({1}, {2})}, {{"reduction", std::string(mode)}}),
        {kNaN}));
  }
}

TEST_CASE("NaN: generated C keeps the rules") {
  GraphBuilder b;
  add_pools(b);
  add_orders(b);
  add_functions_by_parts(b);
  std::vector<Tensor> inputs;
  uint32_t seed = 1;
  for (ir::ValueId v : b.graph.inputs()) inputs.push_back(spoilt(b.graph.value(v).type.shape, seed++));
  const HostCode code = generate_host(b.graph);
  const std::vector<Tensor> expected = reference(b.graph, inputs);
  for (const char* compiler : {"gcc -O3 -march=native", "gcc -O2 -DMRVL_NO_VECTORS"}) {
    const std::vector<Tensor> actual = build_and_run(code, b.graph, inputs, compiler);
    for (size_t i = 0; i < expected.size(); ++i) {
      INFO(compiler << ", output " << i << ": "
                    << b.graph.node(b.graph.value(b.graph.outputs()[i]).producer).op->name);
      bool all = true;
      for (int64_t k = 0; k < expected[i].elements(); ++k) {
        const double e = expected[i].as_double(k), a = actual[i].as_double(k);
        all = all && (e == a || (std::isnan(e) && std::isnan(a)) ||
                      std::fabs(e - a) <= 1e-5 * std::max(1.0, std::fabs(e)));
      }
      CHECK(all);
    }
  }
}

TEST_CASE("LogSoftmax and losses of large scores") {
  for (double v : {1e4, 1e6, 1e8}) {
    GraphBuilder b;
    const ir::ValueId x = b.input({2, 2});
    for (int64_t axis : {0, 1}) b.output(b.node("LogSoftmax", {x}, {{"axis", axis}}));
    b.output(
        b.node("SoftmaxCrossEntropyLoss", {x, b.constant(Tensor::of(ElementType::I64, {2}, Ints{1, 0}))}));
    const auto out = build_and_run(generate_host(b.graph), b.graph, {f32({2, 2}, {v, v, v, v})}, "gcc -O2");
    for (const Tensor& t : out)
      for (int64_t k = 0; k < t.elements(); ++k)
        CHECK(std::fabs(std::fabs(t.as_double(k)) - std::log(2)) < 1e-6);
  }
}

TEST_CASE("Gelu is right to six digits far below zero") {
  GraphBuilder b;
  const ir::ValueId x = b.input({1000});
  b.output(b.node("Gelu", {x}));
  b.output(b.node("Gelu", {x}, {{"approximate", std::string("tanh")}}));
  Tensor values(TensorType{ElementType::F32, {1000}});
  for (int64_t i = 0; i < 1000; ++i) values.set_double(i, static_cast<double>(i - 800) / 64);
  const auto expected = reference(b.graph, {values});
  const auto actual = build_and_run(generate_host(b.graph), b.graph, {values}, "gcc -O2");
  for (int64_t i = 0; i < 1000; ++i) {
    const double v = values.as_double(i), right = 0.5 * v * std::erfc(-v / std::sqrt(2));
    CAPTURE(v);
    CHECK(std::fabs(expected[0].as_double(i) - right) <= 1e-6 * std::fabs(right));
    for (size_t k = 0; k < 2 && v > -10; ++k)  // below, e^88 has no float
      CHECK(std::fabs(actual[k].as_double(i) - expected[k].as_double(i)) <=
            (k == 0 ? 5e-6 : 1e-4) * std::fabs(expected[k].as_double(i)));
  }
}

TEST_CASE("a value that a function reads twice is one parameter") {
  GraphBuilder b;
  const ir::ValueId x = b.node("Relu", {b.input({4, 6})});
  b.output(b.node("Concat", {x, x}, {{"axis", int64_t{1}}}));
  b.output(b.node("Concat",
                  {x, b.node("Reshape", {x, b.constant(Tensor::of(ElementType::I64, {2}, Ints{4, 6}))})},
                  {{"axis", int64_t{0}}}));
  b.output(b.node("MatMul",
                  {x, b.node("Reshape", {x, b.constant(Tensor::of(ElementType::I64, {2}, Ints{6, 4}))})}));
  const ir::ValueId image = b.node("Conv", {b.input({1, 4, 3, 3}), b.constant({4, 4, 1, 1})});
  b.output(b.node("Concat", {image, image}, {{"axis", int64_t{1}}}));
  const ir::ValueId heads = b.node("Relu", {b.input({1, 2, 3, 4})});
  b.output(b.node("Attention", {heads, heads, heads}));
  check_graph(b, "gcc -O2 -Wall -Wextra -Wrestrict -Werror");
}
