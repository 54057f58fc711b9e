// The packed kernels on shapes known at run time only: one program for many batches, with fused epilogues.
#include <catch2/catch.hpp>
#include <functional>

#include "stub.h"

namespace mrvlc::chost::test {
namespace {

using Build = std::function<ir::ValueId(GraphBuilder& g, ir::ValueId x)>;
using Ints = std::vector<int64_t>;

// The program of an input of type `dynamic` against the reference of static graphs, for each shape.
void check_shapes(TensorType dynamic, const std::vector<Shape>& shapes, const Build& build) {
  GraphBuilder whole;
  whole.output(build(whole, whole.graph.add_input("x", dynamic)));
  HostCode code = generate_host(whole.graph);
  for (const Shape& shape : shapes) {
    GraphBuilder part;
    part.output(build(part, part.graph.add_input("x", TensorType{dynamic.elem, shape})));
    Tensor x = part.random(TensorType{dynamic.elem, shape});
    Tensor actual = build_and_run(code, whole.graph, {x}, "gcc -O1 -fsanitize=address,undefined").at(0);
    INFO(to_string(shape));
    CHECK(distance(actual, reference(part.graph, {x}).at(0)) <= 1e-5);
  }
}

TensorType batch(Shape shape) {
  return TensorType{ElementType::F32, std::move(shape), 1u};
}

// What a product takes as its epilogue: vectors of channels or columns, numbers, activations.
ir::ValueId epilogue(GraphBuilder& g, ir::ValueId x, const Shape& vector) {
  x = g.node("Add", {x, g.constant(vector)});
  x = g.node("Relu", {x});
  x = g.node("Mul", {g.constant(vector), x});
  x = g.node("PRelu", {x, g.constant(vector)});
  return g.node("Sigmoid", {x});
}

TEST_CASE("convolutions of a dynamic batch") {
  check_shapes(batch({3, 4, 9, 7}), {{1, 4, 9, 7}, {3, 4, 9, 7}}, [](GraphBuilder& g, ir::ValueId x) {
    x = g.node("Conv", {x, g.constant({7, 4, 3, 3}), g.constant({7})}, {{"pads", Ints{1, 1, 1, 1}}});
    x = epilogue(g, x, {7, 1, 1});
    x = g.node("Conv", {x, g.constant({7, 1, 3, 3})}, {{"group", int64_t{7}}, {"strides", Ints{2, 2}}});
    x = epilogue(g, x, {7, 1, 1});
    x = g.node("ConvTranspose", {x, g.constant({7, 5, 2, 3})}, {{"strides", Ints{2, 1}}});
    return epilogue(g, x, {5, 1, 1});
  });
}

TEST_CASE("matrix products of dynamic sizes") {
  check_shapes(batch({9, 24}), {{1, 24}, {9, 24}, {7, 24}}, [](GraphBuilder& g, ir::ValueId x) {
    x = g.node("Gemm", {x, g.constant({40, 24}), g.constant({40})},
               {{"transB", int64_t{1}}, {"alpha", 0.5f}});
    x = epilogue(g, x, {40});
    x = g.node("MatMul", {x, g.constant({40, 19})});
    x = epilogue(g, x, {1, 19});
    x = g.node("Gemm", {x, x, g.constant({1, 19})}, {{"transA", int64_t{1}}, {"beta", 0.25f}});
    return g.node("Gemm", {x, x}, {{"alpha", 0.125f}});
  });
  TensorType sequences{ElementType::F32, {2, 11, 6}, 3u};
  check_shapes(sequences, {{2, 11, 6}, {1, 1, 6}, {2, 5, 6}}, [](GraphBuilder& g, ir::ValueId x) {
    ir::ValueId q = g.node("MatMul", {x, g.constant({6, 8})}), k = g.node("MatMul", {x, g.constant({6, 8})});
    ir::ValueId t = g.node("Transpose", {k}, {{"perm", Ints{0, 2, 1}}});
    ir::ValueId p = g.node("Softmax", {g.node("MatMul", {q, t})}, {{"axis", int64_t{-1}}});
    return epilogue(g, g.node("MatMul", {p, k}), {8});
  });
}

}  // namespace
}  // namespace mrvlc::chost::test
