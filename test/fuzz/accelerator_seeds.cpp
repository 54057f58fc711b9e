// Models that the accelerator runs, with every kind of layer it has.
#include "maker.h"
#include "seeds.h"

namespace mrvlc::fuzz {
namespace {

using Ints = std::vector<int64_t>;

// Behind a convolution: the accelerator takes nothing without one.
class Behind : public Maker {
 public:
  explicit Behind(int64_t channels = 8) {
    in("x", kF32, {1, 4, 10, 12}).floats("w0", {channels, 4, 3, 3}, 0.05f);
    set(node("Conv", {"x", "w0"}, {"c"}), "pads", Ints{1, 1, 1, 1});
    out("y");
  }
};

Seed windows(const std::string& op) {
  Behind m;
  if (op == "Conv" || op == "depthwise" || op == "grouped") {
    const int64_t groups = op == "Conv" ? 1 : op == "grouped" ? 2 : 8;
    m.floats("w", {8, 8 / groups, 3, 3}, 0.1f).floats("b", {8}, 1);
    auto& node = m.node("Conv", {"c", "w", "b"}, {"t"});
    set(node, "kernel_shape", Ints{3, 3});
    set(node, "strides", Ints{2, 1});
    set(node, "dilations", Ints{1, 2});
    set(node, "pads", Ints{1, 1, 1, 1});
    set(node, "group", groups);
    m.node("Relu", {"t"}, {"y"});
  } else if (op == "ConvTranspose") {
    m.floats("w", {8, 4, 3, 3}, 0.1f);
    auto& node = m.node("ConvTranspose", {"c", "w"}, {"y"});
    set(node, "strides", Ints{2, 3});
    set(node, "dilations", Ints{1, 1});
    set(node, "pads", Ints{0, 1, 1, 0});
  } else {
    auto& node = m.node(op, {"c"}, {"y"});
    if (op[0] != 'G') {
      set(node, "kernel_shape", Ints{3, 2});
      set(node, "strides", Ints{2, 2});
      set(node, "pads", Ints{1, 0, 1, 1});
      set(node, "ceil_mode", 1);
      if (op[0] == 'A') set(node, "count_include_pad", 1);
    }
  }
  return {"accelerator/" + op, m.bytes()};
}

Seed one_dimension(bool transposed) {
  Maker m;
  m.in("x", kF32, {2, 4, 50}).floats("w", {4, 4, 5}, 0.1f).out("y");
  auto& node = m.node(transposed ? "ConvTranspose" : "Conv", {"x", "w"}, {"y"});
  set(node, "strides", Ints{transposed ? 4 : 1});
  set(node, "dilations", Ints{2});
  set(node, "pads", Ints{1, 1});
  return {transposed ? "accelerator/transposed_1d" : "accelerator/conv_1d", m.bytes()};
}

Seed products(const std::string& kind) {
  Maker m(20);
  m.out("y");
  if (kind == "Gemm") {
    m.in("x", kF32, {6, 20})
        .floats("w", {20, 30}, 0.1f)
        .floats("b", {30}, 1)
        .node("Gemm", {"x", "w", "b"}, {"y"});
  } else if (kind == "fc") {
    m.in("x", kF32, {3, 6, 20}).floats("w", {20, 30}, 0.1f).floats("b", {30}, 1);
    m.node("MatMul", {"x", "w"}, {"p"});
    m.node("Add", {"p", "b"}, {"s"});
    m.node("Gelu", {"s"}, {"y"});
  } else {
    m.in("x", kF32, {3, 6, 20}).in("z", kF32, {3, 20, 6}).node("MatMul", {"x", "z"}, {"p"});
    set(m.node("Softmax", {"p"}, {"s"}), "axis", -1);
    m.node("MatMul", {"s", "x"}, {"y"});
  }
  return {"accelerator/" + kind, m.bytes()};
}

Seed elements(const std::string& op) {
  Behind m;
  if (op == "Sigmoid" || op == "Softmax" || op == "LogSoftmax") {
    auto& node = m.node(op, {"c"}, {"y"});
    if (op[0] != 'S' || op[1] == 'o') set(node, "axis", 1);
  } else if (op == "broadcast") {
    m.in("z", kF32, {1, 8, 1, 12}).node("Mul", {"c", "z"}, {"p"});
    m.floats("s", {8, 1, 1}, 2).node("Add", {"p", "s"}, {"y"});
  } else if (op == "InstanceNormalization") {
    m.floats("s", {8}, 1).node(op, {"c", "s", "s"}, {"y"});
  } else if (op == "LayerNormalization") {
    m.floats("s", {12}, 1).node(op, {"c", "s"}, {"y"});
  } else {
    m.ints("axes", {2}, {2, 3});
    m.node(op, {"c", "axes"}, {"y"});
  }
  return {"accelerator/" + op, m.bytes()};
}

Seed moves(const std::string& op) {
  Behind m(16);
  if (op == "nearest" || op == "linear") {
    m.ints("to", {4}, {1, 16, 20, 36});
    set(m.node("Resize", {"c", "", "", "to"}, {"y"}), "mode", op);
  } else if (op == "scaled") {
    auto& scales = *m.floats("s", {4}, 1).graph().mutable_initializer(1);
    scales.set_float_data(2, 1.5f);
    scales.set_float_data(3, 3);
    set(m.node("Resize", {"c", "", "s"}, {"y"}), "mode", std::string("linear"));
  } else if (op == "Concat") {
    m.node("Relu", {"c"}, {"r"});
    set(m.node("Concat", {"c", "r"}, {"y"}), "axis", 1);
  } else if (op == "Split") {
    auto& node = m.node("Split", {"c"}, {"a", "b"});
    set(node, "axis", 1);
    set(node, "num_outputs", 2);
    m.node("Add", {"a", "b"}, {"y"});
  } else if (op == "Slice") {
    m.ints("from", {2}, {1, 2}).ints("end", {2}, {9, 11}).ints("axes", {2}, {2, 3}).ints("step", {2}, {2, 3});
    m.node("Slice", {"c", "from", "end", "axes", "step"}, {"s"});
    m.node("Relu", {"s"}, {"y"});
  } else if (op == "Pad") {
    m.ints("p", {8}, {0, 0, 1, 2, 0, 1, 0, 1}).node("Pad", {"c", "p"}, {"y"});
  } else if (op == "Transpose") {
    set(m.node("Transpose", {"c"}, {"t"}), "perm", Ints{0, 2, 1, 3});
    m.node("Relu", {"t"}, {"y"});
  } else if (op == "Expand") {
    m.node("GlobalAveragePool", {"c"}, {"g"});
    m.ints("s", {4}, {1, 16, 5, 7}).node("Expand", {"g", "s"}, {"y"});
  } else if (op == "Tile") {
    m.ints("r", {4}, {1, 1, 2, 3}).node("Tile", {"c", "r"}, {"y"});
  } else if (op == "Reshape") {
    m.ints("s", {3}, {0, 4, -1}).node("Reshape", {"c", "s"}, {"r"});
    m.node("Relu", {"r"}, {"y"});
  } else if (op == "Flatten") {
    m.node("Flatten", {"c"}, {"f"});
    m.floats("g", {1920, 5}, 0.1f).node("MatMul", {"f", "g"}, {"y"});
  } else {
    set(m.node(op, {"c"}, {"y"}), "blocksize", 2);
  }
  return {"accelerator/" + op, m.bytes()};
}

}  // namespace

std::vector<Seed> accelerator_seeds() {
  std::vector<Seed> seeds;
  for (const char* op : {"Conv", "depthwise", "grouped", "ConvTranspose", "MaxPool", "AveragePool",
                         "GlobalMaxPool", "GlobalAveragePool"})
    seeds.push_back(windows(op));
  for (bool transposed : {false, true}) seeds.push_back(one_dimension(transposed));
  for (const char* kind : {"Gemm", "fc", "matmul"}) seeds.push_back(products(kind));
  for (const char* op : {"Sigmoid", "Softmax", "LogSoftmax", "broadcast", "InstanceNormalization",
                         "LayerNormalization", "ReduceMean", "ReduceMax", "ReduceSumSquare"})
    seeds.push_back(elements(op));
  for (const char* op : {"nearest", "linear", "scaled", "Concat", "Split", "Slice", "Pad", "Transpose",
                         "Expand", "Tile", "Reshape", "Flatten", "DepthToSpace", "SpaceToDepth"})
    seeds.push_back(moves(op));
  return seeds;
}

}  // namespace mrvlc::fuzz
