// The generated C of every operator here, compiled with the warnings users compile with, against the
// reference.
#include <array>
#include <cmath>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/tensor/narrow.h"
#include "node_code.h"
#include "one_node.h"

namespace mrvlc::test {
namespace {

std::vector<OneNode> unary_cases() {
  std::vector<OneNode> cases;
  for (const ops::OpDef* op : ops::all_ops()) {
    if (op->scalar == nullptr || op->max_inputs != 1 || op->name == "Cast") continue;
    for (E elem : {E::F32, E::F64, E::I8, E::U8, E::I32, E::U32, E::I64, E::U64, E::Bool}) {
      if (op->types.has(elem)) cases.emplace_back(op->name, std::vector<Operand>{{sample(elem, {3, 7}, 5)}});
    }
    // Where the exponential of either sign is infinite or nothing, in both types.
    for (E elem : {E::F32, E::F64}) {
      if (op->types.has(elem))
        cases.emplace_back(
            op->name, std::vector<Operand>{{Tensor::of<double>(
                          elem, {9}, {-0.0, 100, -100, 1000, -1000, 1e30, -1e30, INFINITY, -INFINITY})}});
    }
  }
  return cases;
}

// By nothing, by the last bit, by the width and by more: C defines the first two.
void add_shifts(std::vector<OneNode>& cases, E elem) {
  const int64_t width = byte_size(elem) * 8;
  for (const char* direction : {"LEFT", "RIGHT"})
    cases.emplace_back(
        "BitShift",
        std::vector<Operand>{{Tensor::of<int64_t>(elem, {4}, {127, 127, 127, 127})},
                             {Tensor::of<int64_t>(elem, {4}, {0, width - 1, width, width + 1})}},
        AttrList{{"direction", std::string(direction)}});
}

std::vector<OneNode> binary_cases() {
  std::vector<OneNode> cases;
  for (const ops::OpDef* op : ops::all_ops()) {
    bool pair = op->scalar != nullptr && (op->max_inputs == 2 || op->max_inputs < 0);
    if (!pair) continue;
    for (E elem : {E::F32, E::F64, E::I8, E::U8, E::I16, E::I32, E::U32, E::I64, E::U64, E::Bool}) {
      if (!op->types.has(elem)) continue;
      AttrList attrs;
      if (op->name == "BitShift") attrs = {{"direction", std::string("LEFT")}};
      if (op->name == "Mod" && is_float(elem)) attrs = {{"fmod", int64_t{1}}};
      Tensor a = sample(elem, {2, 3, 1, 4}, 1), b = sample(elem, {3, 1, 1}, 2);
      cases.emplace_back(op->name, std::vector<Operand>{{a}, {b}}, attrs);
      cases.emplace_back(op->name, std::vector<Operand>{{a}, {sample(elem, {}, 3), true}}, attrs);
      if (op->kind == Op::BitShift) add_shifts(cases, elem);
      if (op->name != "PRelu")
        cases.emplace_back(op->name, std::vector<Operand>{{b}, {sample(elem, {2, 1}, 4)}}, attrs);
    }
  }
  return cases;
}

Tensor every_code(E elem) {
  std::string codes(elem == E::F4E2M1 ? 16 : 256, '\0');
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<char>(i);
  return Tensor(TensorType{elem, {static_cast<int64_t>(codes.size())}}, codes);
}

// To narrow floats: around every value of the format, ties and what lies beyond.
std::vector<OneNode> narrowing_cases() {
  std::vector<OneNode> cases;
  for (E to : {E::F8E4M3FN, E::F8E4M3FNUZ, E::F8E5M2, E::F8E5M2FNUZ, E::F8E8M0, E::F4E2M1}) {
    std::vector<double> values{0.0, -0.0, INFINITY, -INFINITY, std::nan(""), 1e300, -1e300, 1e-300};
    Tensor codes = every_code(to);
    for (int64_t i = 0; i + 1 < codes.elements(); ++i) {
      const double middle = (codes.as_double(i) + codes.as_double(i + 1)) / 2;
      for (double v : {codes.as_double(i), middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9)})
        values.push_back(v);
    }
    Tensor x = Tensor::of(E::F64, {static_cast<int64_t>(values.size())}, values);
    for (int64_t saturate : {0, 1}) {
      for (auto mode : {"up", "down", "nearest"}) {
        cases.emplace_back("Cast", std::vector<Operand>{{x}},
                           AttrList{{"to", to}, {"saturate", saturate}, {"round_mode", std::string(mode)}});
      }
    }
  }
  return cases;
}

std::vector<OneNode> narrow_quantising_cases() {
  std::vector<OneNode> cases;
  Tensor scale = f32({}, {0.375});
  for (E elem : {E::F8E4M3FN, E::F8E4M3FNUZ, E::F8E5M2, E::F8E5M2FNUZ, E::F4E2M1}) {
    Tensor zero(TensorType{elem, {}});
    cases.emplace_back("DequantizeLinear", std::vector<Operand>{{every_code(elem)}, {scale}});
    for (int64_t saturate : {0, 1}) {
      cases.emplace_back(
          "QuantizeLinear",
          std::vector<Operand>{
              {f32({8}, {0, -0.0, 1, -3.7, 1e9, -1e9, INFINITY, std::nan("")})}, {scale}, {zero}},
          AttrList{{"saturate", saturate}});
    }
  }
  Tensor powers = Tensor::of<double>(E::F8E8M0, {2}, {0.25, 8});
  cases.emplace_back("DequantizeLinear", std::vector<Operand>{{sample(E::I4, {2, 5}, 1)}, {powers}},
                     AttrList{{"axis", int64_t{0}}, {"output_dtype", E::F32}});
  return cases;
}

std::vector<OneNode> cast_cases() {
  std::vector<OneNode> cases;
  std::array all{E::F32, E::F64,      E::F16,        E::BF16,   E::I8,         E::U8,     E::I16,   E::U16,
                 E::I32, E::U32,      E::I64,        E::U64,    E::Bool,       E::U4,     E::I4,    E::U2,
                 E::I2,  E::F8E4M3FN, E::F8E4M3FNUZ, E::F8E5M2, E::F8E5M2FNUZ, E::F8E8M0, E::F4E2M1};
  for (E from : all) {
    for (E to : all) {
      Tensor x = sample(from, {9}, 6);
      if (from == E::F32) x = f32({9}, {0.5, -1.5, 300, -300, 1e10, -1e10, 1e20, -1e20, std::nan("")});
      if (is_narrow_float(from)) x = every_code(from);
      cases.emplace_back("Cast", std::vector<Operand>{{x}}, AttrList{{"to", to}});
      cases.emplace_back("CastLike", std::vector<Operand>{{x}, {sample(to, {2, 1}, 1)}});
    }
  }
  return cases;
}

// Of the types that have no packed kernel.
std::vector<OneNode> product_cases() {
  std::vector<OneNode> cases;
  for (E elem : {E::F64, E::I32, E::U32, E::I64, E::U64}) {
    Tensor a = sample(elem, {4, 3}, 1), b = sample(elem, {3, 5}, 2), c = sample(elem, {5}, 3);
    cases.emplace_back("Gemm", std::vector<Operand>{{a}, {b}, {c}});
    cases.emplace_back("Gemm", std::vector<Operand>{{a}, {b}, {sample(elem, {4, 1}, 3)}},
                       AttrList{{"alpha", 0.75f}, {"beta", -2.5f}});
    cases.emplace_back("Gemm", std::vector<Operand>{{sample(elem, {3, 4}, 1)}, {sample(elem, {5, 3}, 2)}},
                       AttrList{{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 3.0f}});
    cases.emplace_back("MatMul", std::vector<Operand>{{a}, {b}});
    cases.emplace_back("MatMul", std::vector<Operand>{{sample(elem, {3}, 4)}, {sample(elem, {2, 3, 2}, 5)}});
    cases.emplace_back("MatMul",
                       std::vector<Operand>{{sample(elem, {2, 1, 4, 3}, 1)}, {sample(elem, {6, 3, 2}, 2)}});
  }
  return cases;
}

std::vector<OneNode> selection_cases() {
  std::vector<OneNode> cases;
  Tensor x = sample(E::F32, {5, 40}, 7);
  for (E elem : {E::F32, E::I8, E::U8, E::I64}) {
    cases.emplace_back(
        "Where",
        std::vector<Operand>{{sample(E::Bool, {2, 1}, 1)}, {sample(elem, {3}, 2)}, {sample(elem, {}, 3)}});
    cases.emplace_back(
        "Clip", std::vector<Operand>{{sample(elem, {9}, 2)}, {Tensor::of<int64_t>(elem, {}, {1})}, {}});
    cases.emplace_back("Clip", std::vector<Operand>{{sample(elem, {9}, 2)},
                                                    {Tensor::of<int64_t>(elem, {}, {1}), true},
                                                    {Tensor::of<int64_t>(elem, {}, {2}), true}});
    for (auto name : {"ArgMax", "ArgMin"}) {
      for (int64_t axis : {0, 1}) {
        AttrList attrs{{"axis", axis}, {"select_last_index", axis}};
        cases.emplace_back(name, std::vector<Operand>{{sample(elem, {3, 5}, 4)}}, attrs);
      }
    }
    cases.emplace_back("Max", std::vector<Operand>{
                                  {sample(elem, {3, 1}, 2)}, {sample(elem, {5}, 3)}, {sample(elem, {}, 4)}});
  }
  cases.emplace_back("Mean", std::vector<Operand>{{x}, {sample(E::F32, {40}, 1)}, {sample(E::F32, {1}, 2)}});
  cases.emplace_back("Identity", std::vector<Operand>{{x}});
  cases.emplace_back("Dropout", std::vector<Operand>{{x}}, AttrList{}, 2);
  cases.emplace_back("Gelu", std::vector<Operand>{{x}}, AttrList{{"approximate", std::string("tanh")}});
  for (double e : {1.0, 2.0, 3.0, 0.5}) {
    cases.emplace_back("Pow", std::vector<Operand>{{f32({3}, {1, 2, 3})}, {f32({}, {e}), true}});
  }
  cases.emplace_back("Pow", std::vector<Operand>{{f32({3}, {1, 2, 3})}, {i64({3}, {3, 2, -1})}});
  for (E elem : {E::I8, E::I32, E::I64, E::U32}) {
    cases.emplace_back("Pow", std::vector<Operand>{{Tensor::of<int64_t>(elem, {4}, {4, 9, 3, 0})},
                                                   {f32({4}, {0.5, 1.5, 50, -1})}});
  }
  cases.emplace_back("Mod", std::vector<Operand>{{i32({4}, {7, -7, 7, -7})}, {i32({4}, {3, 3, -3, -3})}},
                     AttrList{{"fmod", int64_t{1}}});
  return cases;
}

std::vector<OneNode> reduction_cases() {
  std::vector<OneNode> cases;
  for (const ops::OpDef* op : ops::all_ops()) {
    if (!op->name.starts_with("Reduce")) continue;
    for (std::vector<int64_t> axes : {std::vector<int64_t>{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}}) {
      for (E elem : {E::F32, E::F64, E::I32, E::I64, E::U32, E::U64, E::I8, E::Bool}) {
        bool integer_text =
            op->name != "ReduceL2" && op->name != "ReduceLogSum" && op->name != "ReduceLogSumExp";
        if (!op->types.has(elem) || (!is_float(elem) && !integer_text)) continue;
        Operand list{i64({static_cast<int64_t>(axes.size())}, axes), true};
        cases.emplace_back(op->name, std::vector<Operand>{{sample(elem, {2, 3, 37}, 9)}, list});
      }
    }
  }
  return cases;
}

std::vector<OneNode> norm_cases() {
  std::vector<OneNode> cases;
  for (E elem : {E::F32, E::F64}) {
    Tensor x = sample(elem, {2, 3, 37}, 8), c = sample(elem, {3}, 1), row = sample(elem, {37}, 3);
    Tensor var = Tensor::of<double>(elem, {3}, {0.5, 1, 4});
    for (auto name : {"Softmax", "LogSoftmax", "Hardmax"}) {
      for (int64_t axis : {0, 1, 2})
        cases.emplace_back(name, std::vector<Operand>{{x}}, AttrList{{"axis", axis}});
    }
    cases.emplace_back("BatchNormalization", std::vector<Operand>{{x}, {c}, {c}, {c}, {var}});
    cases.emplace_back("InstanceNormalization", std::vector<Operand>{{x}, {c}, {c}});
    cases.emplace_back("LayerNormalization", std::vector<Operand>{{x}, {row}, {row}}, AttrList{}, 3);
    cases.emplace_back("LayerNormalization", std::vector<Operand>{{x}, {sample(elem, {3, 1}, 4)}},
                       AttrList{{"axis", int64_t{1}}});
    cases.emplace_back("LayerNormalization", std::vector<Operand>{{x}, {sample(elem, {3, 37}, 4)}},
                       AttrList{{"axis", int64_t{1}}});
    for (int64_t p : {1, 2})
      cases.emplace_back("LpNormalization", std::vector<Operand>{{x}}, AttrList{{"p", p}, {"axis", p - 2}});
    for (int64_t size : {1, 2, 3})
      cases.emplace_back("LRN", std::vector<Operand>{{x}}, AttrList{{"size", size}});
  }
  return cases;
}

void check_cases(const std::vector<OneNode>& cases) {
  std::string code;
  std::vector<std::vector<TensorType>> types(cases.size());
  for (size_t k = 0; k < cases.size(); ++k) {
    const OneNode& c = cases[k];
    if (!c.error.ok()) FAIL(k << ": " << c.error.error().message);
    for (ir::ValueId v : c.node().outputs) types[k].push_back(c.graph.value(v).type);
    code += code_of(ops::infer_context(c.graph, c.node()), types[k], k);
  }
  CLibrary library(code);
  for (size_t k = 0; k < cases.size(); ++k) {
    CAPTURE(cases[k].node().op->name, k, to_string(cases[k].graph.value(cases[k].node().inputs[0]).type));
    auto expected = cases[k].run();
    if (!expected.ok()) FAIL(expected.error().message);
    std::vector<Tensor> results = call(library, k, cases[k].operands(), types[k]);
    for (size_t i = 0; i < results.size(); ++i) check_same((*expected)[i], results[i]);
  }
}

TEST_CASE("C of unary operators") {
  check_cases(unary_cases());
}
TEST_CASE("C of binary operators") {
  check_cases(binary_cases());
}
TEST_CASE("C of conversions") {
  check_cases(cast_cases());
  check_cases(narrowing_cases());
  check_cases(narrow_quantising_cases());
}
TEST_CASE("C of products in plain loops") {
  check_cases(product_cases());
}
TEST_CASE("C of selections") {
  check_cases(selection_cases());
}
TEST_CASE("C of reductions") {
  check_cases(reduction_cases());
}
TEST_CASE("C of normalisations") {
  check_cases(norm_cases());
}

}  // namespace
}  // namespace mrvlc::test
