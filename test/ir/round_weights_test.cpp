// Rounding to half with the error carried along each output channel, against the plain loop.
#include "mrvlc/passes/round_weights.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "helpers.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::ir {
namespace {

// One node of `op` with weights of `shape` as its second input.
Graph with_weights(const std::string& op, Tensor weights, bool trans_b) {
  Graph g;
  const OpSchema& schema = ops::schema(op);
  SourceId source = g.add_source({"main/0", "n", op, "", {"y"}});
  ValueId x = g.add_input("x", {ElementType::F32, {1, 1}});
  ValueId w = g.add_constant("w", std::move(weights));
  auto attrs = default_attrs(schema);
  if (trans_b) set_attr(schema, attrs, "transB", int64_t{1});
  Lineage lineage;
  lineage.sources = {source};
  lineage.pass = "import";
  NodeId id = g.add_node(schema, "n", {x, w}, attrs, {{ElementType::F32, {1, 1}}}, {"y"}, lineage);
  g.add_output(g.node(id).outputs[0]);
  return g;
}

// Element k of row o is at o * row + k * step.
void plain(std::vector<float>& w, size_t count, size_t length, size_t row, size_t step) {
  for (size_t o = 0; o < count; ++o) {
    float carry = 0;
    for (size_t k = 0; k < length; ++k) {
      float& x = w[o * row + k * step];
      if (x == 0) continue;
      float wanted = x + carry, rounded = half_to_float(float_to_half(wanted));
      if (!std::isfinite(rounded)) break;
      carry = wanted - rounded;
      x = rounded;
    }
  }
}

std::vector<float> mixed(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> w(n);
  for (float& x : w) {
    uint32_t kind = random() % 64;
    float sign = random() % 2 != 0 ? 1.0f : -1.0f;
    auto unit = static_cast<float>(random() % 10'000'019) / 10'000'019;
    x = sign * (kind < 4 ? 0.0f : kind < 10 ? unit * 1e-6f : kind < 12 ? unit * 0x1p-14f : unit);
    if (random() % 5003 == 0) x = sign * 65'504.0f * (1 + unit);
    if (random() % 50'021 == 0) x = sign * std::numeric_limits<float>::infinity();
    if (random() % 50'021 == 0) x = std::numeric_limits<float>::quiet_NaN();
  }
  return w;
}

bool same_bits(const std::vector<float>& a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("weights are rounded as by the plain loop, whatever their number") {
  struct Case {
    const char* op;
    int64_t rows, length;
    bool trans_b;
  };
  for (Case c : {Case{"Conv", 1, 1, false}, Case{"Conv", 7, 65, false}, Case{"Conv", 8, 64, false},
                 Case{"Conv", 67, 577, false}, Case{"Gemm", 19, 129, true}, Case{"Gemm", 19, 129, false},
                 Case{"MatMul", 131, 257, false}}) {
    bool conv = c.op == std::string("Conv"), by_row = conv || c.trans_b;
    auto rows = static_cast<size_t>(c.rows), length = static_cast<size_t>(c.length);
    std::vector<float> w = mixed(rows * length, static_cast<uint32_t>(c.rows));
    Shape shape = conv     ? Shape{c.rows, c.length, 1, 1}
                  : by_row ? Shape{c.rows, c.length}
                           : Shape{c.length, c.rows};
    Tensor t(TensorType{ElementType::F32, shape});
    std::copy(w.begin(), w.end(), t.mutable_data<float>().begin());
    Tensor shared = t;  // must stay as it is
    Graph g = with_weights(c.op, t, c.trans_b);
    passes::round_weights(g, [](const Node&) { return true; });
    std::vector<float> expected = w;
    by_row ? plain(expected, rows, length, length, 1) : plain(expected, rows, length, 1, rows);
    INFO(c.op << " " << c.rows << " x " << c.length);
    CHECK(same_bits(expected, g.constant(g.node(NodeId(size_t{0})).inputs[1])->data<float>()));
    CHECK(same_bits(w, shared.data<float>()));
  }
}

TEST_CASE("every half is a fixed point, every float between two of them goes to the nearer") {
  for (uint32_t h = 0; h < 0x7c00; ++h) {
    float low = half_to_float(static_cast<uint16_t>(h)), high = half_to_float(static_cast<uint16_t>(h + 1));
    if (h + 1 == 0x7c00) high = 65'536;
    float middle = low + (high - low) / 2;
    std::vector<float> w = {low, std::nextafter(middle, 0.0f), middle, std::nextafter(middle, 1e6f), -middle};
    Tensor t(TensorType{ElementType::F32, {5, 1, 1, 1}});
    std::copy(w.begin(), w.end(), t.mutable_data<float>().begin());
    Graph g = with_weights("Conv", t, false);
    passes::round_weights(g, [](const Node&) { return true; });
    std::vector<float> expected = w;
    plain(expected, 5, 1, 1, 1);
    if (same_bits(expected, g.constant(g.node(NodeId(size_t{0})).inputs[1])->data<float>())) continue;
    FAIL("around half " << h);
  }
}

}  // namespace mrvlc::ir
