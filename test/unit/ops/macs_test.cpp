// Multiply-accumulates by operator, counted by hand. The comment of each case is the arithmetic.
#include "mrvlc/ops/work.h"
#include "one_node.h"

namespace mrvlc::test {
namespace {

using Ints = std::vector<int64_t>;

Operand zeros(Shape shape, ElementType elem = E::F32) {
  return {Tensor::of(elem, shape, std::vector<double>(static_cast<size_t>(element_count(shape)), 0.0)),
          false};
}

Operand scalar(double value, ElementType elem) {
  return {Tensor::of(elem, {}, std::vector<double>{value}), true};
}

int64_t macs_of(std::string_view op, const std::vector<Operand>& operands, const AttrList& attrs = {},
                size_t outputs = 1) {
  OneNode one(op, operands, attrs, outputs);
  if (!one.error.ok()) FAIL(op << ": " << one.error.error().message);
  return ops::macs(one.graph, one.node());
}

int64_t work_of(std::string_view op, const std::vector<Operand>& operands, const AttrList& attrs = {},
                size_t outputs = 1) {
  OneNode one(op, operands, attrs, outputs);
  if (!one.error.ok()) FAIL(op << ": " << one.error.error().message);
  return ops::evaluation_work(one.graph, one.node());
}

Operand integers(const std::vector<double>& values) {
  return {Tensor::of(ElementType::I64, {static_cast<int64_t>(values.size())}, values), true};
}

}  // namespace

TEST_CASE("work is what is looked at: results of a table, a sort, taps of a resize, boxes that are kept") {
  // 16 rows of 8 of a table of 30 000
  CHECK(work_of("Gather", {zeros({30000, 8}), zeros({16}, ElementType::I64)}) < 1000);
  // 262 144 elements, 18 or 19 comparisons each: never elements times results
  const int64_t sort = work_of("TopK", {zeros({1, 256, 1024}), integers({16})}, {}, 2);
  CHECK(sort > 262144 * 17);
  CHECK(sort < 262144 * 24);
  // 64 x 64 results of up to 8 x 8 elements; not of all 32 x 32
  const Operand roi{f32({0}, {}), true}, scales{f32({4}, {1, 1, 2, 2}), true};
  const int64_t resize =
      work_of("Resize", {zeros({1, 2, 32, 32}), roi, scales}, {{"mode", std::string("linear")}});
  CHECK(resize >= 2 * 64 * 64 * 4);
  CHECK(resize <= 2 * 64 * 64 * 65 + 4000);
}

TEST_CASE("a product of few terms is arithmetic, a long one is not") {
  const auto many = [](std::string_view op, const std::vector<Operand>& operands,
                       const AttrList& attrs = {}) {
    OneNode one(op, operands, attrs, 1);
    if (!one.error.ok()) FAIL(op << ": " << one.error.error().message);
    return ops::sums_many_products(one.graph, one.node());
  };
  CHECK_FALSE(many("MatMul", {zeros({32, 1}), zeros({1, 7})}));
  CHECK_FALSE(many("MatMul", {zeros({32, 3}), zeros({3, 7})}));
  CHECK(many("MatMul", {zeros({32, 4}), zeros({4, 7})}));
  CHECK(many("Conv", {zeros({1, 1, 8, 8}), zeros({1, 1, 3, 3})}));
  CHECK_FALSE(many("Conv", {zeros({1, 3, 8, 8}), zeros({2, 3, 1, 1})}));
  CHECK_FALSE(many("Mul", {zeros({32}), zeros({32})}));
}

TEST_CASE("MACs of convolutions") {
  // 4 x 6 x 6 results of 3 x 3 x 3 taps
  CHECK(macs_of("Conv", {zeros({1, 3, 8, 8}), zeros({4, 3, 3, 3})}) == 144 * 27);
  // padding counts: 4 x 8 x 8 results
  CHECK(macs_of("Conv", {zeros({1, 3, 8, 8}), zeros({4, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}}) ==
        256 * 27);
  // two images, two groups of 2 -> 3 channels: 2 x 6 x 5 x 5 results of 2 x 3 x 3
  CHECK(macs_of("Conv", {zeros({2, 4, 5, 5}), zeros({6, 2, 3, 3})},
                {{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}}) == 300 * 18);
  // depthwise, stride 2: 4 x 4 x 4 results of 3 x 3
  CHECK(macs_of("Conv", {zeros({1, 4, 8, 8}), zeros({4, 1, 3, 3})},
                {{"group", int64_t{4}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}) == 64 * 9);
  // a bias adds nothing; one dimension: 2 x 6 results of 5 x 3
  CHECK(macs_of("Conv", {zeros({1, 5, 8}), zeros({2, 5, 3}), zeros({2})}) == 12 * 15);
  CHECK(macs_of("ConvInteger", {zeros({1, 3, 8, 8}, E::U8), zeros({4, 3, 3, 3}, E::U8)}) == 144 * 27);
  CHECK(macs_of("QLinearConv",
                {zeros({1, 3, 8, 8}, E::U8), scalar(1, E::F32), scalar(0, E::U8), zeros({4, 3, 3, 3}, E::U8),
                 scalar(1, E::F32), scalar(0, E::U8), scalar(1, E::F32), scalar(0, E::U8)}) == 144 * 27);
  // 3 channels of 10 steps, 4 taps each
  CHECK(macs_of("CausalConvWithState", {zeros({1, 3, 10}), zeros({3, 1, 4})}, {}, 2) == 30 * 4);
}

TEST_CASE("MACs of transposed convolutions") {
  // every one of 3 x 4 x 4 operands goes into 5 channels of 2 x 2
  CHECK(macs_of("ConvTranspose", {zeros({1, 3, 4, 4}), zeros({3, 5, 2, 2})}) == 48 * 20);
  // two groups: 4 x 3 x 3 operands into 3 of the 6 channels, 2 x 2
  CHECK(macs_of("ConvTranspose", {zeros({1, 4, 3, 3}), zeros({4, 3, 2, 2})}, {{"group", int64_t{2}}}) ==
        36 * 12);
  // the stride makes more results, not more products
  CHECK(macs_of("ConvTranspose", {zeros({1, 3, 4, 4}), zeros({3, 5, 2, 2})}, {{"strides", Ints{3, 3}}}) ==
        48 * 20);
}

TEST_CASE("MACs of matrix products") {
  // 5 x 3 results of 7, whichever way the operands lie
  CHECK(macs_of("Gemm", {zeros({5, 7}), zeros({7, 3})}) == 105);
  CHECK(macs_of("Gemm", {zeros({7, 5}), zeros({7, 3})}, {{"transA", int64_t{1}}}) == 105);
  CHECK(macs_of("Gemm", {zeros({5, 7}), zeros({3, 7}), zeros({3})}, {{"transB", int64_t{1}}}) == 105);
  // 2 x 4 products of 5 x 6 by 6 x 7
  CHECK(macs_of("MatMul", {zeros({2, 4, 5, 6}), zeros({6, 7})}) == 8 * 210);
  // vectors: 6 products; 7 results of 6
  CHECK(macs_of("MatMul", {zeros({6}), zeros({6})}) == 6);
  CHECK(macs_of("MatMul", {zeros({6}), zeros({6, 7})}) == 42);
  CHECK(macs_of("MatMul", {zeros({7, 6}), zeros({6})}) == 42);
  // broadcast on the left: 3 products of 5 x 6 by 6 x 7
  CHECK(macs_of("MatMul", {zeros({5, 6}), zeros({3, 6, 7})}) == 3 * 210);
  CHECK(macs_of("MatMulInteger", {zeros({5, 6}, E::U8), zeros({6, 7}, E::U8)}) == 210);
  CHECK(macs_of("QLinearMatMul",
                {zeros({5, 6}, E::U8), scalar(1, E::F32), scalar(0, E::U8), zeros({6, 7}, E::U8),
                 scalar(1, E::F32), scalar(0, E::U8), scalar(1, E::F32), scalar(0, E::U8)}) == 210);
}

TEST_CASE("MACs of recurrences") {
  const AttrList four = {{"hidden_size", int64_t{4}}};
  // 5 steps x 2 sequences x 4 gates x 4 rows of 3 inputs and 4 states
  CHECK(macs_of("LSTM", {zeros({5, 2, 3}), zeros({1, 16, 3}), zeros({1, 16, 4})}, four) == 10 * 16 * 7);
  // 4 steps x 1 sequence x 2 directions x 3 gates x 3 rows of 2 inputs and 3 states
  CHECK(macs_of("GRU", {zeros({4, 1, 2}), zeros({2, 9, 2}), zeros({2, 9, 3})},
                {{"hidden_size", int64_t{3}}, {"direction", std::string("bidirectional")}}) == 4 * 18 * 5);
  // sequences first: 2 sequences x 5 steps x 4 rows of 3 inputs and 4 states
  CHECK(macs_of("RNN", {zeros({2, 5, 3}), zeros({1, 4, 3}), zeros({1, 4, 4})},
                {{"hidden_size", int64_t{4}}, {"layout", int64_t{1}}}) == 10 * 4 * 7);
}

TEST_CASE("MACs of attention") {
  // 2 heads, 3 queries by 5 keys: 4 products for the score, 6 for the values
  CHECK(macs_of("Attention", {zeros({1, 2, 3, 4}), zeros({1, 2, 5, 4}), zeros({1, 2, 5, 6})}) == 2 * 15 * 10);
  // 2 earlier keys: 3 x 7
  CHECK(macs_of("Attention",
                {zeros({1, 2, 3, 4}),
                 zeros({1, 2, 5, 4}),
                 zeros({1, 2, 5, 6}),
                 {Tensor(), false},
                 zeros({1, 2, 2, 4}),
                 zeros({1, 2, 2, 6})},
                {}, 3) == 2 * 21 * 10);
  // 5 steps, states of 2 x 3: 2 key heads write, 4 query heads read
  const AttrList heads = {
      {"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"update_rule", std::string("linear")}};
  CHECK(macs_of("LinearAttention", {zeros({1, 5, 8}), zeros({1, 5, 4}), zeros({1, 5, 6})}, heads, 2) ==
        5 * 6 * (2 + 4));
}

TEST_CASE("MACs of Einsum") {
  auto einsum = [](std::string equation, const std::vector<Operand>& operands) {
    return macs_of("Einsum", operands, {{"equation", std::move(equation)}});
  };
  CHECK(einsum("ij,jk->ik", {zeros({2, 3}), zeros({3, 4})}) == 24);
  // two multiplications for each of 2 x 3 x 4 x 5 combinations
  CHECK(einsum("ij,jk,kl->il", {zeros({2, 3}), zeros({3, 4}), zeros({4, 5})}) == 240);
  CHECK(einsum("...ij,...jk->...ik", {zeros({7, 2, 3}), zeros({1, 3, 4})}) == 7 * 24);
  // nothing is summed, nothing is multiplied
  CHECK(einsum("i,j->ij", {zeros({2}), zeros({3})}) == 0);
  CHECK(einsum("ij->i", {zeros({2, 3})}) == 0);
}

TEST_CASE("operators that sum no products have no MACs") {
  CHECK(macs_of("Add", {zeros({4, 4}), zeros({4, 4})}) == 0);
  CHECK(macs_of("Mul", {zeros({4, 4}), zeros({4, 4})}) == 0);
  CHECK(macs_of("ReduceSum", {zeros({4, 4})}) == 0);
  CHECK(macs_of("AveragePool", {zeros({1, 1, 4, 4})}, {{"kernel_shape", Ints{2, 2}}}) == 0);
}

}  // namespace mrvlc::test
