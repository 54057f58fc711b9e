// Kernels of the library against the reference semantics of the operators.
#include <catch2/catch.hpp>

#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

using Ints = std::vector<int64_t>;

struct ConvCase {
  Shape x, w;
  Ints strides, pads, dilations;
  int64_t group = 1;
  bool bias = true;
};

void add_conv(GraphBuilder& b, const ConvCase& c) {
  std::vector<ir::ValueId> inputs = {b.input(c.x), b.constant(c.w)};
  if (c.bias) inputs.push_back(b.constant({c.w[0]}));
  b.output(
      b.node("Conv", inputs,
             {{"strides", c.strides}, {"pads", c.pads}, {"dilations", c.dilations}, {"group", c.group}}));
}

GraphBuilder conv_graph() {
  GraphBuilder b;
  add_conv(b, {{1, 3, 9, 11}, {8, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}});
  add_conv(b, {{2, 4, 12, 10}, {7, 4, 3, 2}, {2, 3}, {0, 1, 2, 0}, {1, 1}});
  add_conv(b, {{1, 16, 8, 8}, {13, 16, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1, false});
  add_conv(b, {{1, 40, 7, 7}, {5, 40, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}});  // reduction in two blocks
  add_conv(b, {{2, 12, 15, 15}, {18, 4, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 3});
  add_conv(b, {{1, 5, 30}, {6, 5, 7}, {2}, {3, 3}, {1}});
  add_conv(b, {{1, 2, 3, 3}, {4, 2, 3, 3}, {1, 1}, {4, 4, 4, 4}, {1, 1}});  // whole rows outside
  add_conv(b, {{1, 130, 12, 12}, {26, 130, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
  add_conv(b, {{1, 6, 20, 20}, {3, 6, 1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}});
  add_conv(b, {{1, 8, 17, 19}, {8, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 8});   // depthwise
  add_conv(b, {{2, 8, 17, 19}, {16, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 8});  // with multiplier
  add_conv(b, {{1, 4, 21, 40}, {4, 1, 5, 3}, {3, 2}, {2, 0, 1, 4}, {2, 3}, 4});
  add_conv(b, {{1, 4, 9, 9}, {4, 1, 3, 3}, {3, 3}, {0, 0, 0, 0}, {1, 1}, 4});
  add_conv(b, {{1, 4, 50}, {4, 1, 9}, {1}, {8, 0}, {1}, 4});
  add_conv(b, {{1, 3, 40, 21}, {5, 3, 3, 3}, {1, 1}, {13, 2, 13, 0}, {13, 2}});  // rows of taps far apart
  add_conv(b, {{1, 3, 50, 47}, {6, 3, 11, 10}, {7, 5}, {1, 2, 3, 4}, {1, 1}});   // stride above a vector
  add_conv(b, {{1, 3, 33, 300}, {7, 3, 1, 5}, {2, 2}, {0, 2, 0, 2}, {1, 1}});    // blocks within a row
  add_conv(b, {{1, 9, 31, 1}, {6, 9, 5, 1}, {1, 1}, {2, 0, 2, 0}, {1, 1}});      // one column
  add_conv(b, {{2, 3, 7, 3}, {3, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 3});    // rows below a vector
  add_conv(b, {{1, 3, 9, 10}, {6, 1, 3, 3}, {2, 2}, {0, 0, 1, 1}, {1, 1}, 3});
  add_conv(b, {{1, 2, 2, 5}, {2, 1, 5, 5}, {1, 1}, {4, 4, 2, 2}, {1, 1}, 2});  // more padding than rows
  add_conv(b, {{1, 2, 5, 6, 7}, {4, 2, 3, 2, 3}, {1, 2, 1}, {1, 0, 1, 1, 0, 1}, {1, 1, 1}});  // 3-D
  add_conv(b, {{2, 6, 7, 9, 21}, {10, 3, 3, 3, 3}, {2, 1, 2}, {0, 1, 2, 3, 1, 0}, {2, 1, 1}, 2});
  add_conv(b, {{1, 4, 5, 6, 8}, {7, 4, 1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}});
  add_conv(b, {{1, 5, 6, 7, 9}, {5, 1, 3, 3, 3}, {1, 1, 1}, {4, 1, 1, 4, 1, 1}, {1, 1, 1}, 5});
  return b;
}

// What K_conv_rows takes, and the ends of blocks of K_conv.
GraphBuilder conv_rows_graph() {
  GraphBuilder b;
  add_conv(b, {{2, 9, 20, 15}, {13, 9, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}});    // a last panel not full
  add_conv(b, {{1, 40, 9, 24}, {6, 40, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}});    // two blocks of channels
  add_conv(b, {{1, 70, 11, 23}, {17, 70, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}});  // and pieces that overlap
  add_conv(b, {{1, 10, 31, 33}, {10, 5, 5, 3}, {2, 2}, {2, 1, 1, 0}, {1, 1}, 2});
  add_conv(b, {{1, 8, 40, 50}, {8, 8, 3, 3}, {3, 2}, {2, 2, 2, 2}, {2, 2}});
  add_conv(b, {{2, 8, 3, 8}, {4, 8, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1, false});  // one piece a row
  add_conv(b, {{1, 8, 1, 70}, {7, 8, 1, 9}, {1, 2}, {0, 4, 0, 4}, {1, 1}});
  add_conv(b, {{1, 3, 30, 31}, {5, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}, {1, 1}});
  add_conv(b, {{1, 350, 7, 7}, {31, 350, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});  // one pixel left over
  add_conv(b, {{1, 9, 7, 7}, {36, 9, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}});
  // ends of blocks: two pixels, a vector and two, more; of an odd number of panels; and one pixel alone
  add_conv(b, {{2, 11, 3, 6}, {18, 11, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
  add_conv(b, {{1, 700, 2, 13}, {29, 700, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
  add_conv(b, {{1, 20, 1, 27}, {18, 20, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
  add_conv(b, {{1, 30, 5, 5}, {24, 15, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 2});
  add_conv(b, {{2, 33, 1, 1}, {11, 33, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
  add_conv(b, {{1, 3, 1, 1}, {6, 3, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1, false});
  add_conv(b, {{1, 16, 32, 32}, {50, 16, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});  // channels that collide
  add_conv(b, {{1, 3, 13, 14}, {3, 1, 5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 3});  // depthwise, five rows
  add_conv(b, {{1, 3, 22, 22}, {3, 1, 5, 4}, {2, 2}, {2, 2, 2, 2}, {2, 1}, 3});
  add_conv(b, {{1, 2, 5, 6}, {2, 1, 5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 2});
  add_conv(b, {{1, 2, 70, 19}, {2, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2});   // columns of several blocks
  add_conv(b, {{1, 2, 150, 90}, {2, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 2});  // a large plane
  // what follows a block does so once, also where its first piece overlaps the block before
  ir::ValueId x = b.input({1, 8, 10, 77});
  ir::ValueId y = b.node("Conv", {x, b.constant({5, 8, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  b.output(b.node("Sub", {b.constant({1}), b.node("Sigmoid", {y})}));
  return b;
}

// Depthwise, of small channels.
GraphBuilder lanes_graph() {
  GraphBuilder b;
  auto add = [&](Shape x, Shape kernel, const Ints& strides, const Ints& pads,
                 const Ints& dilations = {1, 1}) {
    add_conv(b, {x, x.size() == 3 ? Shape{x[1], 1, kernel[1]} : Shape{x[1], 1, kernel[0], kernel[1]}, strides,
                 pads, dilations, x[1], x[0] == 1});
  };
  add({1, 8, 3, 3}, {3, 3}, {1, 1}, {1, 1, 1, 1});
  add({2, 13, 5, 7}, {3, 3}, {1, 1}, {1, 1, 1, 1});  // the last eight begin within the ones before
  add({3, 9, 2, 4}, {3, 3}, {1, 1}, {2, 0, 0, 3});   // no more elements than a vector has
  add({1, 17, 9, 11}, {3, 3}, {2, 2}, {1, 1, 1, 1});
  add({1, 24, 28, 28}, {3, 3}, {2, 1}, {0, 1, 1, 0});
  add({1, 8, 3, 3}, {3, 3}, {1, 1}, {0, 0, 0, 0});  // one result
  add({2, 10, 11, 11}, {5, 5}, {1, 1}, {2, 2, 2, 2});
  add({1, 16, 8, 7}, {4, 2}, {3, 2}, {3, 1, 2, 0}, {2, 3});
  add({1, 11, 50}, {1, 9}, {1}, {4, 4}, {1});
  ir::ValueId x = b.input({2, 12, 6, 6}), r = b.input({2, 12, 6, 6});
  ir::ValueId y =
      b.node("Conv", {x, b.constant({12, 1, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{12}}});
  b.output(b.node("Relu", {b.node("Add", {b.node("Sigmoid", {y}), r})}));
  ir::ValueId z =
      b.node("Conv", {x, b.constant({12, 1, 3, 3})}, {{"strides", Ints{2, 2}}, {"group", int64_t{12}}});
  b.output(b.node("Relu", {b.node("Mul", {z, b.constant({12, 1, 1})})}));
  return b;
}

// Depthwise 3x3 windows whose middle taps lie within the image.
GraphBuilder windows3_graph() {
  GraphBuilder b;
  auto add = [&](Shape x, int64_t stride, const Ints& pads, int64_t multiplier = 1) {
    add_conv(b, {x, {x[1] * multiplier, 1, 3, 3}, {stride, stride}, pads, {1, 1}, x[1], x[0] == 1});
  };
  add({1, 5, 9, 8}, 1, {1, 1, 1, 1});  // one vector a row, masked on both sides
  add({2, 3, 8, 19}, 1, {1, 1, 1, 1});
  add({1, 1, 40, 21}, 1, {0, 1, 1, 0});  // one channel, more rows than a block
  add({1, 4, 11, 13}, 1, {1, 0, 0, 1}, 2);
  add({1, 2, 12, 10}, 1, {0, 0, 0, 0});
  add({1, 3, 1, 9}, 1, {1, 1, 1, 1});  // one row
  add({2, 4, 30, 31}, 2, {1, 1, 1, 1});
  add({1, 3, 17, 16}, 2, {1, 1, 1, 1}, 3);
  add({1, 2, 80, 40}, 2, {0, 0, 1, 1});  // as TensorFlow pads
  add({1, 3, 31, 35}, 2, {0, 0, 0, 0});
  add({1, 2, 16, 17}, 2, {1, 0, 0, 1});
  ir::ValueId x = b.input({1, 6, 10, 20});
  ir::ValueId y =
      b.node("Conv", {x, b.constant({6, 1, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{6}}});
  b.output(b.node("Relu", {b.node("Add", {b.node("Sigmoid", {y}), b.input({1, 6, 10, 20})})}));
  return b;
}

GraphBuilder recurrent_graph() {
  GraphBuilder b;
  add_recurrent_layers(b, [&](const Shape& shape, double scale) { return b.constant(shape, scale); });
  return b;
}

GraphBuilder pool_graph() {
  GraphBuilder b;
  auto add = [&](std::string_view op, Shape x, Ints kernel, Ints strides, Ints pads, int64_t ceil,
                 const Attrs& more = {}) {
    Attrs attrs = {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}, {"ceil_mode", ceil}};
    attrs.insert(attrs.end(), more.begin(), more.end());
    b.output(b.node(op, {b.input(x)}, attrs));
  };
  for (std::string_view op : {"MaxPool", "AveragePool"}) {
    add(op, {2, 3, 15, 17}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 0);
    add(op, {1, 2, 9, 5}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 1);
    add(op, {1, 2, 21, 30}, {5, 4}, {1, 3}, {2, 1, 0, 3}, 0);
    add(op, {1, 1, 90, 90}, {3, 3}, {1, 2}, {1, 0, 1, 0}, 0);  // a large plane
    add(op, {1, 2, 7, 40}, {3, 3}, {1, 1}, {0, 0, 0, 0}, 0);
    add(op, {1, 2, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0);
    add(op, {1, 2, 4, 9}, {4, 3}, {1, 1}, {0, 1, 0, 1}, 0);  // one row
    add(op, {1, 2, 30, 30}, {3, 3}, {2, 2}, {0, 0, 0, 0}, 0, {{"dilations", Ints{2, 3}}});
  }
  add("AveragePool", {1, 2, 9, 10}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0, {{"count_include_pad", int64_t{1}}});
  return b;
}

GraphBuilder conv_transpose_graph() {
  GraphBuilder b;
  auto add = [&](Shape x, Shape w, Ints strides, Ints pads, Ints dilations, Ints output_padding,
                 int64_t group) {
    int64_t m = w[1] * group;
    b.output(b.node("ConvTranspose", {b.input(x), b.constant(w), b.constant({m})},
                    {{"strides", strides},
                     {"pads", pads},
                     {"dilations", dilations},
                     {"output_padding", output_padding},
                     {"group", group}}));
  };
  add({1, 3, 5, 6}, {3, 4, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 1);
  add({2, 4, 5, 4}, {4, 3, 2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}, {0, 0}, 2);
  add({1, 2, 4, 4}, {2, 2, 1, 1}, {3, 2}, {0, 0, 0, 0}, {1, 1}, {2, 1}, 1);  // phases without any tap
  add({1, 2, 6, 5}, {2, 3, 3, 4}, {1, 3}, {2, 1, 0, 2}, {2, 1}, {0, 0}, 1);
  add({2, 5, 7, 9}, {5, 3, 2, 3}, {2, 3}, {0, 0, 0, 0}, {1, 1}, {0, 0}, 1);  // blocks of the result
  add({1, 3, 11}, {3, 2, 2}, {2}, {0, 0}, {1}, {0}, 1);
  add({1, 3, 9}, {3, 2, 4}, {2}, {1, 1}, {1}, {0}, 1);
  add({1, 2, 3, 3, 3}, {2, 2, 2, 2, 2}, {2, 1, 2}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1);
  return b;
}

// Operands that are transposed: read where they lie, or made.
void add_transposed(GraphBuilder& b) {
  const auto turned = [&](Shape source, Ints perm) {
    return b.node("Transpose", {b.input(source)}, {{"perm", perm}});
  };
  const auto product = [&](ir::ValueId x, ir::ValueId y) { b.output(b.node("MatMul", {x, y})); };
  for (int64_t rows : {1, 9}) {
    product(b.input({2, 3, rows, 20}), turned({2, 3, 33, 20}, {0, 1, 3, 2}));
    product(b.input({2, 5, rows, 7}), turned({1, 11, 5, 7}, {0, 2, 3, 1}));   // keys, for several batches
    product(b.input({1, 5, rows, 11}), turned({1, 11, 5, 7}, {0, 2, 1, 3}));  // values
    product(turned({1, rows, 5, 11}, {0, 2, 1, 3}), b.input({1, 5, 11, 6}));
    product(turned({1, rows, 5, 11}, {0, 2, 1, 3}), turned({1, 6, 5, 11}, {0, 2, 3, 1}));
    product(b.input({rows, 20}), turned({13, 20}, {1, 0}));
    product(b.input({3, 2, rows, 20}), turned({13, 20}, {1, 0}));
    product(turned({20, rows}, {1, 0}), b.input({20, 13}));  // of the left operand, columns: made
    product(b.input({3, rows, 5}), turned({6, 5, 3}, {2, 1, 0}));
  }
  const ir::ValueId twice = turned({4, 8, 5}, {0, 2, 1});
  product(b.input({4, 1, 5}), twice);
  b.output(b.node("Relu", {b.node("MatMul", {b.input({4, 6, 5}), twice})}));
  const ir::ValueId read = turned({4, 8, 5}, {0, 2, 1});  // by others, too
  product(b.input({4, 1, 5}), read);
  b.output(b.node("Tanh", {read}));
  const ir::ValueId shown = turned({4, 8, 5}, {0, 2, 1});
  product(b.input({4, 1, 5}), shown);
  b.output(shown);
  const ir::ValueId square = turned({3, 7, 7}, {0, 2, 1});
  product(square, b.node("MatMul", {b.input({3, 7, 7}), square}));
}

GraphBuilder product_graph() {
  GraphBuilder b;
  auto gemm = [&](Shape a, Shape w, Shape c, int64_t ta, int64_t tb, float alpha, float beta, bool constant) {
    std::vector<ir::ValueId> inputs = {b.input(a), constant ? b.constant(w) : b.input(w)};
    if (!c.empty()) inputs.push_back(constant ? b.constant(c) : b.input(c));
    b.output(b.node("Gemm", inputs, {{"transA", ta}, {"transB", tb}, {"alpha", alpha}, {"beta", beta}}));
  };
  for (bool constant : {true, false}) {
    gemm({1, 70}, {70, 100}, {100}, 0, 0, 1, 1, constant);
    gemm({1, 33}, {10, 33}, {1, 10}, 0, 1, 0.5f, 2, constant);
    gemm({23, 40}, {40, 50}, {50}, 0, 0, 1, 1, constant);
    gemm({40, 11}, {17, 40}, {11, 17}, 1, 1, 2, 0.5f, constant);
    gemm({6, 400}, {400, 16}, {}, 0, 0, 1, 1, constant);
    gemm({5, 4}, {4, 3}, {5, 1}, 0, 0, 1, 1, constant);
    gemm({101, 350}, {350, 37}, {37}, 0, 0, 1, 1, constant);  // several blocks of rows and of the sum
  }
  auto matmul = [&](Shape a, Shape w, bool constant) {
    b.output(b.node("MatMul", {b.input(a), constant ? b.constant(w) : b.input(w)}));
  };
  for (bool constant : {true, false}) {
    matmul({2, 3, 9, 20}, {20, 31}, constant);
    matmul({2, 1, 9, 20}, {3, 20, 8}, constant);
    matmul({7}, {7, 19}, constant);
    matmul({4, 7}, {7}, constant);
    matmul({7}, {7}, constant);
    matmul({3, 5, 7}, {3, 7, 5}, constant);
  }
  for (int64_t n : {1, 3, 4, 9, 17, 70}) {  // one row by rows, and columns, that lie where they are
    gemm({1, 2 * n + 1}, {2 * n + 1, n}, {n}, 0, 0, 1, 1, false);
    gemm({1, 2 * n + 1}, {n, 2 * n + 1}, {}, 0, 1, 1, 1, false);
  }
  const ir::ValueId y = b.node("MatMul", {b.input({301, 60}), b.constant({60, 70})});  // what follows, too
  b.output(b.node("Add", {b.node("Tanh", {y}), b.input({301, 70})}));
  add_transposed(b);
  return b;
}

void add_epilogues(GraphBuilder& b) {
  auto conv = [&](ir::ValueId x) {
    return b.node("Conv", {x, b.constant({8, 4, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  };
  ir::ValueId x = b.input({2, 4, 10, 13}), r = b.input({2, 8, 10, 13});
  // bias, clamp
  b.output(b.node("Relu", {b.node("Add", {conv(x), b.constant({8, 1, 1})})}));
  // clamp, then a residual, then clamp
  b.output(b.node(
      "Relu",
      {b.node("Add", {r, b.node("Clip", {conv(x), b.constant(Tensor::of<float>(ElementType::F32, {}, {0})),
                                         b.constant(Tensor::of<float>(ElementType::F32, {}, {6}))})})}));
  // clamp, then a constant, which must not come before it; then a clamp again
  auto number = [&](float v) { return b.constant(Tensor::of<float>(ElementType::F32, {}, {v})); };
  ir::ValueId clamped = b.node("Clip", {conv(x), number(-0.25f), number(0.5f)});
  b.output(b.node("Clip", {b.node("Add", {clamped, b.constant({8, 1, 1})}), number(-1.0f), number(0.25f)}));
  b.output(b.node("Add", {b.node("Relu", {conv(x)}), number(-3.0f)}));
  // clamps one after the other, of which the second leaves one value only, or is turned round
  b.output(b.node("Clip",
                  {b.node("Clip", {conv(x), number(-0.25f), number(0.25f)}), number(0.5f), number(0.75f)}));
  b.output(b.node("Clip",
                  {b.node("Clip", {conv(x), number(0.5f), number(0.75f)}), number(-0.25f), number(0.25f)}));
  b.output(b.node("Clip", {b.node("Relu", {conv(x)}), number(0.75f), number(0.25f)}));
  // scale a row, subtract from a scalar, sigmoid
  ir::ValueId scaled = b.node("Mul", {conv(x), b.constant({1, 8, 1, 1})});
  b.output(b.node("Sigmoid", {b.node("Sub", {b.constant({1}), scaled})}));
  // an operand that varies with the column is not taken into the kernel
  b.output(b.node("Add", {conv(x), b.constant({13})}));
  // depthwise with a residual
  ir::ValueId dw =
      b.node("Conv", {r, b.constant({8, 1, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{8}}});
  b.output(b.node("Tanh", {b.node("Add", {dw, r})}));
  // products: column bias, full residual
  ir::ValueId p = b.input({9, 21}), q = b.input({9, 18});
  ir::ValueId m = b.node("Add", {b.node("MatMul", {p, b.constant({21, 18})}), b.constant({18})});
  b.output(b.node("Relu", {b.node("Add", {m, q})}));
  b.output(b.node("Mul", {b.node("MatMul", {b.input({1, 30}), b.constant({30, 70})}), b.constant({70})}));
  // transposed
  ir::ValueId t = b.node("ConvTranspose", {x, b.constant({4, 3, 2, 2})}, {{"strides", Ints{2, 2}}});
  b.output(b.node("LeakyRelu", {b.node("Mul", {t, b.constant({3, 1, 1})})}, {{"alpha", 0.3f}}));
}

void add_elementwise(GraphBuilder& b) {
  ir::ValueId x = b.input({2, 3, 4, 5}), y = b.input({3, 1, 5}), z = b.input({4, 1});
  ir::ValueId s = b.node("Add", {x, y});
  ir::ValueId t = b.node("Mul", {b.node("Sub", {s, z}), b.constant({1})});
  b.output(b.node("Max", {b.node("Exp", {t}), x, z}));
  b.output(b.node("Neg", {s}));
  b.output(b.node("Abs", {b.node("Add", {z, y})}));
}

std::vector<std::string> compilers() {
  std::vector<std::string> list = {"gcc -O2", "gcc -O3 -march=native"};
  if (have_tool("clang")) list.push_back("clang -O2 -march=native");
  return list;
}

}  // namespace

TEST_CASE("convolutions") {
  for (const std::string& compiler : compilers()) {
    GraphBuilder b = conv_graph();
    check_graph(b, compiler);
  }
}

TEST_CASE("convolutions by rows, and ends of blocks") {
  for (const std::string& compiler : compilers()) {
    GraphBuilder b = conv_rows_graph();
    check_graph(b, compiler);
  }
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  GraphBuilder b = conv_rows_graph();
  check_graph(b, "gcc -O2 -march=haswell");
#endif
}

TEST_CASE("depthwise convolutions of small channels") {
  for (const std::string& compiler : compilers()) {
    GraphBuilder b = lanes_graph();
    check_graph(b, compiler);
  }
  GraphBuilder b = lanes_graph();
  const std::string text = file_of(generate_host(b.graph), "net.c");
  CHECK(text.find("net_depthwise_lanes(&p") != std::string::npos);
  CHECK(text.find("net_depthwise(&p") == std::string::npos);
}

TEST_CASE("depthwise windows of 3x3") {
  for (const std::string& compiler : compilers()) {
    GraphBuilder b = windows3_graph();
    check_graph(b, compiler);
  }
  GraphBuilder b = windows3_graph();
  const std::string text = file_of(generate_host(b.graph), "net.c");
  CHECK(text.find("net_depthwise3(&p") != std::string::npos);
  CHECK(text.find("net_depthwise(&p") == std::string::npos);
}

TEST_CASE("recurrent layers") {
  for (const std::string& compiler : compilers()) {
    GraphBuilder b = recurrent_graph();
    check_graph(b, compiler);
  }
}

TEST_CASE("pools") {
  for (const std::string& compiler : compilers()) {
    GraphBuilder b = pool_graph();
    check_graph(b, compiler);
  }
}

TEST_CASE("transposed convolutions") {
  for (const std::string& compiler : compilers()) {
    GraphBuilder b = conv_transpose_graph();
    check_graph(b, compiler);
  }
}

TEST_CASE("matrix products") {
  for (const std::string& compiler : compilers()) {
    GraphBuilder b = product_graph();
    check_graph(b, compiler);
  }
}

TEST_CASE("transposes that products read through make no code") {
  GraphBuilder b;
  add_transposed(b);
  const HostCode code = generate_host(b.graph);
  const std::string& text = file_of(code, "net.c");
  // Three left operands with columns, two right ones whose rows and columns both lie apart, one that Tanh
  // reads, an output.
  size_t made = 0;
  for (size_t at = 0; (at = text.find("_Transpose(float", at)) != text.npos; ++at) ++made;
  CHECK(made == 7);
}

TEST_CASE("fused epilogues and element-wise groups") {
  for (const std::string& compiler : compilers()) {
    GraphBuilder b;
    add_epilogues(b);
    add_elementwise(b);
    check_graph(b, compiler);
  }
}

TEST_CASE("plain C without vectors gives the same") {
  for (auto make : {conv_graph, conv_rows_graph, lanes_graph, windows3_graph, recurrent_graph, pool_graph,
                    conv_transpose_graph, product_graph}) {
    GraphBuilder b = make();
    check_graph(b, "gcc -O1 -DMRVL_NO_VECTORS");
  }
}

TEST_CASE("no kernel reads or writes out of bounds") {
  for (auto make : {conv_graph, conv_rows_graph, lanes_graph, windows3_graph, recurrent_graph, pool_graph,
                    conv_transpose_graph, product_graph}) {
    GraphBuilder b = make();
    check_graph(b, "gcc -O1 -g -march=native -fsanitize=address,undefined -fno-sanitize-recover=all");
  }
  GraphBuilder b;
  add_epilogues(b);
  add_elementwise(b);
  check_graph(b, "gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all");
}

TEST_CASE("aarch64") {
  if (!have_tool("aarch64-linux-gnu-gcc") || !have_tool("qemu-aarch64")) return;
  for (auto make : {conv_graph, conv_rows_graph, lanes_graph, windows3_graph, recurrent_graph, pool_graph,
                    product_graph}) {
    GraphBuilder b = make();
    check_graph(b, "aarch64-linux-gnu-gcc -O2 -static", 1e-5, "qemu-aarch64");
  }
}
