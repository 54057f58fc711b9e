// Operators of networks: reductions, products, windows, normalisations.
#include <limits>

#include "../ops/dynamic_case.h"

namespace mrvlc::test {
namespace {

using Runs = std::vector<std::vector<Tensor>>;
using Ints = std::vector<int64_t>;

// One tensor of each shape.
Runs images(E elem, const std::vector<Shape>& shapes) {
  Runs runs;
  uint32_t seed = 1;
  for (const Shape& shape : shapes) runs.push_back({sample(elem, shape, seed++)});
  return runs;
}

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST_CASE("reductions of dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (auto name : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                    "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    for (E elem : {E::F32, E::F64, E::I32, E::I64}) {
      Runs runs = images(elem, {{2, 3, 4}, {1, 3, 1}, {4, 3, 5}, {2, 3, 1}, {1, 3, 70}});
      TensorType x = dynamic_type(elem, {-4, 3, -70});
      for (const Ints& axes : {Ints{0}, {1}, {2}, {0, 2}, {-1, 1}, {0, 1, 2}}) {
        for (int64_t keep : {0, 1})
          cases.push_back(
              {name, {x, i64({static_cast<int64_t>(axes.size())}, axes)}, runs, {{"keepdims", keep}}});
      }
      cases.push_back({name, {x}, runs, {{"keepdims", int64_t{0}}}});
      cases.push_back({name,
                       {dynamic_type(elem, {-4, 3, 6}), i64({2}, {1, 2})},
                       images(elem, {{2, 3, 6}, {0, 3, 6}, {4, 3, 6}})});
    }
  }
  check_dynamic(cases);
}

TEST_CASE("reductions along axes that are values") {
  std::vector<DynamicCase> cases;
  for (int64_t keep : {0, 1}) {
    for (int64_t noop : {0, 1}) {
      AttrList attrs{{"keepdims", keep}, {"noop_with_empty_axes", noop}};
      for (int64_t count : {0, 1, 2}) {
        DynamicCase c{
            "ReduceSum", {dynamic_type(E::F32, {-2, 3, 4}), dynamic_type(E::I64, {count})}, {}, attrs};
        for (int64_t a : {int64_t{-4}, int64_t{-3}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{2},
                          int64_t{3}, kLeast}) {
          for (int64_t b : {-2, 0, 2}) {
            Ints axes{a, b};
            axes.resize(static_cast<size_t>(count));
            for (int64_t n : {0, 1, 2}) c.runs.push_back({sample(E::F32, {n, 3, 4}), i64({count}, axes)});
          }
        }
        cases.push_back(c);
        c.operands[0] = dynamic_type(E::F32, {2, 3, 4});
        std::erase_if(c.runs, [](const auto& run) { return run[0].shape()[0] != 2; });
        cases.push_back(c);
      }
      if (keep == 0) continue;
      DynamicCase some{"ReduceMax", {dynamic_type(E::I64, {2, -3}), dynamic_type(E::I64, {-2})}, {}, attrs};
      for (const Ints& axes : {Ints{}, {0}, {1}, {0, 1}, {1, 1}, {-1}})
        some.runs.push_back({sample(E::I64, {2, 3}), i64({static_cast<int64_t>(axes.size())}, axes)});
      cases.push_back(some);
    }
  }
  check_dynamic(cases);
}

TEST_CASE("lanes of dynamic shapes") {
  std::vector<DynamicCase> cases;
  const std::vector<Shape> shapes{{2, 3, 4}, {1, 1, 1}, {3, 2, 40}, {0, 3, 4}};
  for (E elem : {E::F32, E::F64}) {
    TensorType x = dynamic_type(elem, {-3, -3, -40});
    for (int64_t axis : {0, 1, 2, -1}) {
      AttrList attrs{{"axis", axis}};
      for (auto name : {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"})
        cases.push_back({name, {x}, images(elem, shapes), attrs});
      cases.push_back({"LpNormalization", {x}, images(elem, shapes), {{"axis", axis}, {"p", int64_t{1}}}});
      for (int64_t keep : {0, 1}) {
        for (auto name : {"ArgMax", "ArgMin"})
          cases.push_back({name, {x}, images(elem, shapes), {{"axis", axis}, {"keepdims", keep}}});
      }
    }
    cases.push_back({"LRN", {x}, images(elem, shapes), {{"size", int64_t{3}}}});
  }
  check_dynamic(cases);
}

TEST_CASE("normalisations of dynamic shapes") {
  std::vector<DynamicCase> cases;
  const std::vector<Shape> shapes{{2, 3, 4, 5}, {1, 3, 1, 1}, {0, 3, 2, 2}, {2, 2, 4, 5}};
  TensorType x = dynamic_type(E::F32, {-2, -3, -4, -5}), vector = dynamic_type(E::F32, {-3});
  Tensor scale = sample(E::F32, {3}, 7), bias = sample(E::F32, {3}, 8), variance = f32({3}, {1, 2, 0.5});
  Runs runs = images(E::F32, shapes);
  cases.push_back({"BatchNormalization", {x, scale, bias, bias, variance}, runs});
  cases.push_back({"InstanceNormalization", {x, scale, bias}, runs});
  for (auto& run : runs) run.insert(run.end(), {scale, bias});
  cases.push_back({"InstanceNormalization", {x, vector, vector}, runs});
  for (auto& run : runs) run.insert(run.end(), {bias, variance});
  cases.push_back({"BatchNormalization", {x, vector, vector, vector, vector}, runs});
  const AttrList training{{"training_mode", int64_t{1}}};
  cases.push_back({"BatchNormalization", {x, vector, vector, vector, vector}, runs, training, 3});
  cases.push_back({"BatchNormalization", {x, scale, bias, bias, variance}, images(E::F32, shapes), training});
  for (int64_t axis : {1, 2, 3}) {
    AttrList attrs{{"axis", axis}};
    cases.push_back({"LayerNormalization", {x, sample(E::F32, {5}, 3)}, images(E::F32, shapes), attrs});
    cases.push_back(
        {"LayerNormalization", {x, dynamic_type(E::F32, {-4, -5}), sample(E::F32, {1}, 4)}, {}, attrs, 3});
    for (const Shape& s : {Shape{4, 5}, {1, 5}, {4, 1}, {2, 5}, {1, 1}})
      cases.back().runs.push_back({sample(E::F32, {2, 3, 4, 5}), sample(E::F32, s, 5)});
  }
  check_dynamic(cases);
}

TEST_CASE("products of dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (E elem : {E::F64, E::I32, E::U64, E::I64}) {
    DynamicCase c{"MatMul", {dynamic_type(elem, {-2, -3, -4}), dynamic_type(elem, {-4, -5})}, {}};
    for (auto [m, k, n] : {std::array<int64_t, 3>{3, 4, 5}, {1, 1, 1}, {2, 0, 5}, {0, 4, 1}, {3, 4, 0}})
      c.runs.push_back({sample(elem, {2, m, k}, 1), sample(elem, {k, n}, 2)});
    c.runs.push_back({sample(elem, {2, 3, 4}), sample(elem, {3, 5})});
    cases.push_back(c);
    DynamicCase batches{
        "MatMul", {dynamic_type(elem, {-2, 1, 3, -4}), dynamic_type(elem, {-2, -3, -4, 5})}, {}};
    for (auto [a, b, g] : {std::array<int64_t, 3>{2, 2, 3}, {1, 2, 1}, {2, 1, 2}, {0, 1, 2}, {1, 1, 1}})
      batches.runs.push_back({sample(elem, {a, 1, 3, 4}, 1), sample(elem, {b, g, 4, 5}, 2)});
    cases.push_back(batches);
    cases.push_back(
        {"MatMul",
         {dynamic_type(elem, {-4}), dynamic_type(elem, {-2, 4, 3})},
         {{sample(elem, {4}), sample(elem, {2, 4, 3})}, {sample(elem, {3}), sample(elem, {2, 4, 3})}}});
    cases.push_back({"MatMul",
                     {dynamic_type(elem, {-4}), dynamic_type(elem, {-4})},
                     {{sample(elem, {4}), sample(elem, {4}, 3)}, {sample(elem, {0}), sample(elem, {0})}}});
    for (int64_t trans_a : {0, 1}) {
      for (int64_t trans_b : {0, 1}) {
        AttrList attrs{{"transA", trans_a}, {"transB", trans_b}};
        DynamicCase gemm{
            "Gemm",
            {dynamic_type(elem, {-4, -4}), dynamic_type(elem, {-4, -4}), dynamic_type(elem, {-4, -4})},
            {},
            attrs};
        for (auto [m, k, n] : {std::array<int64_t, 3>{3, 4, 2}, {1, 2, 1}, {4, 0, 2}}) {
          for (const Shape& other : {Shape{m, n}, {1, n}, {m, 1}, {1, 1}, {2, 2}}) {
            gemm.runs.push_back({sample(elem, trans_a ? Shape{k, m} : Shape{m, k}, 1),
                                 sample(elem, trans_b ? Shape{n, k} : Shape{k, n}, 2),
                                 sample(elem, other, 3)});
          }
        }
        cases.push_back(gemm);
        if (elem == E::F64) {
          gemm.attrs.insert(gemm.attrs.end(), {{"alpha", 0.5f}, {"beta", 2.0f}});
          cases.push_back(gemm);
        }
      }
    }
  }
  DynamicCase integers{"MatMulInteger",
                       {dynamic_type(E::U8, {-2, -3, -4}), dynamic_type(E::I8, {-4, -5}),
                        dynamic_type(E::U8, {-3}), dynamic_type(E::I8, {})},
                       {}};
  for (int64_t m : {1, 3})
    integers.runs.push_back(
        {sample(E::U8, {2, m, 4}), sample(E::I8, {4, 5}), sample(E::U8, {m}), sample(E::I8, {})});
  integers.runs.push_back(
      {sample(E::U8, {2, 3, 4}), sample(E::I8, {4, 5}), sample(E::U8, {2}), sample(E::I8, {})});
  cases.push_back(integers);
  check_dynamic(cases);
}

std::vector<AttrList> windows() {
  using Text = std::string;
  return {{},
          {{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}},
          {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 3}}, {"dilations", Ints{1, 2}}},
          {{"auto_pad", Text("SAME_UPPER")}, {"strides", Ints{2, 2}}},
          {{"auto_pad", Text("SAME_LOWER")}, {"strides", Ints{3, 2}}},
          {{"auto_pad", Text("VALID")}, {"strides", Ints{2, 2}}}};
}

const std::vector<Shape> kImages{{2, 4, 7, 6}, {1, 4, 3, 5}, {0, 4, 9, 9},
                                 {2, 4, 9, 2}, {1, 4, 1, 9}, {1, 3, 5, 5}};

TEST_CASE("convolutions of dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (const AttrList& window : windows()) {
    for (E elem : {E::F32, E::F64}) {
      AttrList attrs = window;
      TensorType x = dynamic_type(elem, {-2, -4, -9, -9});
      Tensor w = sample(elem, {6, 4, 3, 2}, 5), bias = sample(elem, {6}, 6);
      cases.push_back({"Conv", {x, w, bias}, images(elem, kImages), attrs});
      cases.push_back({"ConvTranspose",
                       {x, sample(elem, {4, 3, 3, 2}, 5), sample(elem, {3}, 2)},
                       images(elem, kImages),
                       attrs});
      attrs.emplace_back("group", int64_t{2});
      cases.push_back({"Conv", {x, sample(elem, {6, 2, 3, 2}, 5)}, images(elem, kImages), attrs});
      cases.push_back({"ConvTranspose", {x, sample(elem, {4, 3, 3, 2}, 5)}, images(elem, kImages), attrs});
    }
  }
  TensorType line = dynamic_type(E::F32, {-2, 2, -8}), weights = dynamic_type(E::F32, {-3, 2, -4});
  DynamicCase any{"Conv", {line, weights, dynamic_type(E::F32, {-3})}, {}, {{"pads", Ints{1, 1}}}};
  for (int64_t k : {1, 2, 4}) {
    for (int64_t m : {1, 3}) {
      for (int64_t n : {1, 2, 8})
        any.runs.push_back({sample(E::F32, {2, 2, n}), sample(E::F32, {m, 2, k}), sample(E::F32, {m})});
    }
  }
  any.runs.push_back({sample(E::F32, {2, 2, 3}), sample(E::F32, {2, 2, 1}), sample(E::F32, {3})});
  cases.push_back(any);
  for (const AttrList& window : windows()) {
    cases.push_back({"ConvInteger",
                     {dynamic_type(E::U8, {-2, 4, -9, -9}), sample(E::I8, {6, 4, 3, 2}), sample(E::U8, {}),
                      sample(E::I8, {6})},
                     images(E::U8, {{2, 4, 7, 6}, {1, 4, 3, 5}}),
                     window});
  }
  check_dynamic(cases);
}

TEST_CASE("pools of dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (AttrList attrs : windows()) {
    attrs.emplace_back("kernel_shape", Ints{3, 2});
    for (int64_t up : {0, 1}) {
      AttrList all = attrs;
      all.emplace_back("ceil_mode", up);
      TensorType x = dynamic_type(E::F32, {-2, -4, -9, -9}), batch = dynamic_type(E::F32, {-3, 2, 7, 5});
      Runs batches = images(E::F32, {{1, 2, 7, 5}, {3, 2, 7, 5}, {0, 2, 7, 5}});
      cases.push_back({"MaxPool", {x}, images(E::F32, kImages), all});
      cases.push_back({"MaxPool", {x}, images(E::F32, kImages), all, 2});
      cases.push_back({"MaxPool", {batch}, batches, all});
      cases.push_back({"LpPool", {x}, images(E::F32, kImages), all});
      for (int64_t padding : {0, 1}) {
        AttrList average = all;
        average.emplace_back("count_include_pad", padding);
        cases.push_back({"AveragePool", {x}, images(E::F32, kImages), average});
        cases.push_back({"AveragePool", {batch}, batches, average});
      }
      all.emplace_back("storage_order", int64_t{1});
      cases.push_back({"MaxPool", {x}, images(E::F32, kImages), all, 2});
    }
  }
  for (auto name : {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"}) {
    cases.push_back({name, {dynamic_type(E::F32, {-2, -4, -9, -9})}, images(E::F32, kImages)});
    cases.push_back(
        {name, {dynamic_type(E::F64, {-2, 3, 5, 9})}, images(E::F64, {{1, 3, 5, 9}, {2, 3, 5, 9}})});
  }
  check_dynamic(cases);
}

TEST_CASE("recurrences of dynamic sequences") {
  std::vector<DynamicCase> cases;
  for (int64_t layout : {0, 1}) {
    for (auto [name, gates] : {std::pair<const char*, int64_t>{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}}) {
      for (int64_t directions : {1, 2}) {
        AttrList attrs{{"layout", layout},
                       {"direction", std::string(directions == 2 ? "bidirectional" : "reverse")}};
        Tensor w = sample(E::F32, {directions, gates * 3, 4}, 1),
               r = sample(E::F32, {directions, gates * 3, 3}, 2),
               b = sample(E::F32, {directions, 2 * gates * 3}, 3);
        const size_t outputs = gates == 4 ? 3 : 2;
        DynamicCase plain{name, {dynamic_type(E::F32, {-3, -3, 4}), w, r, b}, {}, attrs, outputs};
        DynamicCase lengths{name,
                            {dynamic_type(E::F32, {-3, -3, 4}), w, r, b, dynamic_type(E::I32, {-3}),
                             layout == 0 ? dynamic_type(E::F32, {directions, -3, 3})
                                         : dynamic_type(E::F32, {-3, directions, 3})},
                            {},
                            attrs,
                            outputs};
        for (Shape shape : {Shape{3, 3, 4}, {1, 2, 4}, {2, 1, 4}, {2, 0, 4}}) {
          Tensor x = sample(E::F32, shape, 4);
          int64_t batch = shape[layout == 0 ? 1 : 0], steps = shape[layout == 0 ? 0 : 1];
          Tensor state =
              sample(E::F32, layout == 0 ? Shape{directions, batch, 3} : Shape{batch, directions, 3}, 5);
          Tensor each(TensorType{E::I32, {batch}}), fewer(TensorType{E::I32, {batch + 1}});
          for (int64_t i = 0; i < batch; ++i) each.set_int(i, (i + 1) % (steps + 1));
          plain.runs.push_back({x});
          lengths.runs.push_back({x, each, state});
          if (batch < 3) lengths.runs.push_back({x, fewer, state});
        }
        // Weights that are inputs may come for another size of x.
        DynamicCase sized{
            name,
            {dynamic_type(E::F32, {2, 2, -5}), dynamic_type(E::F32, {directions, gates * 3, -5}), r, b},
            {},
            attrs,
            outputs};
        for (int64_t size : {5, 1, 3})
          sized.runs.push_back(
              {sample(E::F32, {2, 2, size}, 6), sample(E::F32, {directions, gates * 3, size}, 7)});
        cases.push_back(plain);
        cases.push_back(lengths);
        cases.push_back(sized);
      }
    }
  }
  check_dynamic(cases);
}

TEST_CASE("quantisation of dynamic shapes") {
  std::vector<DynamicCase> cases;
  Runs runs = images(E::F32, {{2, 3, 4}, {0, 3, 1}, {1, 3, 7}});
  cases.push_back({"DynamicQuantizeLinear", {dynamic_type(E::F32, {-2, 3, -7})}, runs, {}, 3});
  TensorType x = dynamic_type(E::F32, {-2, 3, -7}), codes = dynamic_type(E::U8, {-2, -3, -7});
  Tensor scales = f32({3}, {0.5, 0.25, 2}), zeros = Tensor::of<int64_t>(E::U8, {3}, {0, 128, 7});
  Tensor scale = f32({}, {0.125}), zero = Tensor::of<int64_t>(E::U8, {}, {100});
  cases.push_back({"QuantizeLinear", {x, scale, zero}, runs});
  cases.push_back({"QuantizeLinear", {x, scales, zeros}, runs, {{"axis", int64_t{-2}}}});
  cases.push_back({"QuantizeLinear", {x, scales}, runs});
  Runs bytes = images(E::U8, {{2, 3, 4}, {0, 3, 1}, {1, 2, 7}});
  cases.push_back({"DequantizeLinear", {codes, scale, zero}, bytes});
  cases.push_back({"DequantizeLinear", {codes, scales, zeros}, bytes});
  DynamicCase blocks{"DequantizeLinear",
                     {codes, dynamic_type(E::F32, {-2, -3, -3}), dynamic_type(E::U8, {-2, -3, -3})},
                     {},
                     {{"axis", int64_t{2}}, {"block_size", int64_t{3}}}};
  for (int64_t n : {1, 3, 4, 7}) {
    for (int64_t k : {1, 2, 3}) {
      Shape shape{2, 3, k};
      blocks.runs.push_back({sample(E::U8, {2, 3, n}), sample(E::F32, shape), sample(E::U8, shape)});
    }
  }
  cases.push_back(blocks);
  check_dynamic(cases);
}

}  // namespace
}  // namespace mrvlc::test
