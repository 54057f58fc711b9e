// Arithmetic whose operands are not just any: reductions, sorting, quantisation, integers that divide.
#include <algorithm>

#include "grow.h"

namespace mrvlc::graphs {
namespace {

using E = ElementType;
using Ints = std::vector<int64_t>;

constexpr ops::TypeSet kFloats = ops::types_of({E::F32, E::F64, E::F16});
constexpr ops::TypeSet kNumbers = ops::types_of({E::F32, E::F64, E::F16, E::I32, E::I64});
constexpr ops::TypeSet kOrdered =
    ops::types_of({E::F32, E::F64, E::F16, E::I8, E::U8, E::I32, E::I64, E::U32});
constexpr ops::TypeSet kAll = ops::types_of(
    {E::F32, E::F64, E::F16, E::BF16, E::I8, E::U8, E::I16, E::U16, E::I32, E::U32, E::I64, E::U64, E::Bool});

int64_t axis_of(Grower& g, int v) {
  return g.dice.pick(-g.rank(v), g.rank(v) - 1);
}

int64_t dim(const Grower& g, int v, int64_t axis) {
  return g.shape(v)[static_cast<size_t>(axis < 0 ? axis + g.rank(v) : axis)];
}

bool has_elements(const Grower& g, int v) {
  return element_count(g.shape(v)) > 0;
}

int reduce(Grower& g, std::string_view op) {
  const bool extreme = op == "ReduceMax" || op == "ReduceMin";
  const bool whole = op == "ReduceSum" || op == "ReduceProd" || op == "ReduceSumSquare" || op == "ReduceL1";
  const int x = g.pick(extreme ? kOrdered : whole ? kNumbers : kFloats);
  if (!has_elements(g, x)) return -1;
  Ints axes;
  for (int64_t d = 0; d < g.rank(x); ++d)
    if (g.dice.chance(50)) axes.push_back(g.dice.chance(20) ? d - g.rank(x) : d);
  const Attrs attrs = {{"keepdims", g.dice.pick(0, 1)}, {"noop_with_empty_axes", int64_t{g.dice.chance(10)}}};
  return axes.empty() ? g.add(op, {x}, attrs) : g.add(op, {x, g.ints(axes)}, attrs);
}

// A recipe is a plain function: one for each name.
#define MRVLC_NAMED(function, name)                   \
  {                                                   \
    name, [](Grower& g) { return function(g, name); } \
  }

int arg_extreme(Grower& g, std::string_view op) {
  const int x = g.pick(ops::types_of({E::F32, E::F64, E::F16, E::I8, E::U8, E::I32, E::I64}), 1);
  if (!has_elements(g, x)) return -1;  // of which ONNX Runtime drops no dimension
  const int64_t axis = axis_of(g, x);
  if (dim(g, x, axis) == 0) return -1;
  return g.add(op, {x},
               {{"axis", axis}, {"keepdims", g.dice.pick(0, 1)}, {"select_last_index", g.dice.pick(0, 1)}});
}

int softmax(Grower& g, std::string_view op) {
  const int x = g.pick(kFloats, 1);
  return g.add(op, {x}, {{"axis", axis_of(g, x)}});
}

int top_k(Grower& g) {
  const int x = g.pick(ops::types_of({E::F32, E::F64, E::F16, E::I32, E::I64, E::U8}), 1);
  const int64_t axis = axis_of(g, x);
  return g.add("TopK", {x, g.ints({g.dice.pick(0, dim(g, x, axis))})},
               {{"axis", axis}, {"largest", g.dice.pick(0, 1)}, {"sorted", int64_t{1}}}, 2);
}

int cumulate(Grower& g, std::string_view op) {
  const int x = g.pick(kNumbers, 1);
  const int axis =
      g.make(Tensor::of<int64_t>(g.dice.chance(50) ? E::I64 : E::I32, {}, {axis_of(g, x)}), true);
  return g.add(op, {x, axis}, {{"exclusive", g.dice.pick(0, 1)}, {"reverse", g.dice.pick(0, 1)}});
}

bool divides(const Grower& g, int v) {
  for (int64_t i = 0; i < g.data(v).elements(); ++i) {
    if (g.data(v).as_double(i) == 0) return false;
  }
  return true;
}

// Integers divide when the divisor is a constant without zeros.
int divide(Grower& g, std::string_view op) {
  const int x = g.pick(ops::find_op("", op)->types);
  if (is_float(g.elem(x))) {
    const Attrs attrs = op == "Mod" ? Attrs{{"fmod", int64_t{1}}} : Attrs{};
    return g.add(op, {x, g.operand(x, g.elem(x))}, attrs);
  }
  Tensor divisor = g.random_tensor(g.elem(x), g.shape(g.operand(x, g.elem(x))));
  const int y = g.constant(std::move(divisor));
  if (!divides(g, y)) return -1;
  return op == "Mod" ? g.add(op, {x, y}, {{"fmod", g.dice.pick(0, 1)}}) : g.add(op, {x, y});
}

int power(Grower& g) {
  const int x = g.pick(kNumbers);
  const E of = g.dice.chance(70) ? g.elem(x) : g.random_type(kNumbers);
  Tensor exponent = g.random_tensor(of, g.dice.chance(50) ? Shape{} : g.shape(x));
  for (int64_t i = 0; i < exponent.elements(); ++i)
    exponent.set_double(i, static_cast<double>(g.dice.pick(0, 3)));
  return g.add("Pow", {x, g.make(std::move(exponent), g.dice.chance(70))});
}

int shift(Grower& g) {
  const int x = g.pick(ops::types_of({E::U8, E::U16, E::U32, E::U64}));
  Tensor by(TensorType{g.elem(x), g.shape(x)});
  for (int64_t i = 0; i < by.elements(); ++i) by.set_int(i, g.dice.pick(0, 7));
  return g.add("BitShift", {x, g.make(std::move(by), g.dice.chance(50))},
               {{"direction", std::string(g.dice.chance(50) ? "LEFT" : "RIGHT")}});
}

int clip(Grower& g) {
  const int x = g.pick(ops::types_of({E::F32, E::F64, E::F16, E::I8, E::U8, E::I32, E::I64}));
  const int low = g.dice.chance(70) ? g.scalar(g.elem(x), static_cast<double>(g.dice.pick(0, 1))) : -1;
  const int high = g.dice.chance(70) ? g.scalar(g.elem(x), static_cast<double>(g.dice.pick(1, 4))) : -1;
  return g.add("Clip", {x, low, high});
}

int cast(Grower& g) {
  const E to = g.random_type(kAll);
  const int x = g.pick(kAll);
  // Out of range is not defined.
  for (int64_t i = 0; i < g.data(x).elements() && is_integer(to); ++i) {
    const double v = g.data(x).as_double(i);
    if (v > 100 || v < (is_signed_integer(to) ? -100 : 0)) return -1;
  }
  return g.add("Cast", {x}, {{"to", static_cast<E>(to)}});
}

int prelu(Grower& g) {
  const int x = g.pick(ops::types_of({E::F32, E::F64, E::F16, E::I32}), 1);
  Shape s = g.shape(x);
  for (int64_t& d : s) d = g.dice.chance(50) ? 1 : d;
  s.erase(s.begin(), s.begin() + static_cast<ptrdiff_t>(g.dice.pick(0, g.rank(x) - 1)));
  return g.add("PRelu", {x, g.of_type(g.elem(x), s)});
}

int dropout(Grower& g) {
  return g.add("Dropout", {g.pick(kFloats)}, {}, static_cast<size_t>(g.dice.pick(1, 2)));
}

// The scale and zero point of an axis, or of all.
struct Quant {
  int scale, zero;
};

Quant quant(Grower& g, E elem, const Shape& s) {
  Tensor scale(TensorType{E::F32, s});
  for (int64_t i = 0; i < scale.elements(); ++i)
    scale.set_double(i, g.dice.of<double>({0.25, 0.5, 0.125, 1}));
  return {g.constant(std::move(scale)), g.constant(g.random_tensor(elem, s))};
}

int quantize(Grower& g) {
  const int x = g.pick(E::F32);
  const bool by_axis = g.rank(x) > 0 && g.dice.chance(40);
  const int64_t axis = by_axis ? axis_of(g, x) : 0;
  const Quant q =
      quant(g, g.dice.of({E::I8, E::U8, E::I16, E::U16}), by_axis ? Shape{dim(g, x, axis)} : Shape{});
  return g.add("QuantizeLinear", {x, q.scale, q.zero}, {{"axis", by_axis ? axis : 1}});
}

int dequantize(Grower& g) {
  const int x = g.pick(ops::types_of({E::I8, E::U8, E::I16, E::U16}));
  const bool by_axis = g.rank(x) > 0 && g.dice.chance(40);
  const int64_t axis = by_axis ? axis_of(g, x) : 0;
  const Quant q = quant(g, g.elem(x), by_axis ? Shape{dim(g, x, axis)} : Shape{});
  std::vector<int> inputs = {x, q.scale};
  if (g.dice.chance(80)) inputs.push_back(q.zero);
  return g.add("DequantizeLinear", inputs, {{"axis", by_axis ? axis : 1}});
}

int is_inf(Grower& g) {
  return g.add("IsInf", {g.pick(ops::types_of({E::F32, E::F64}))});
}

int gelu(Grower& g) {
  return g.add("Gelu", {g.pick(kFloats)},
               {{"approximate", std::string(g.dice.chance(50) ? "none" : "tanh")}});
}

int einsum(Grower& g) {
  const int64_t a = g.dice.pick(1, 4), b = g.dice.pick(1, 4), c = g.dice.pick(1, 4), n = g.dice.pick(1, 3);
  const E e = g.random_type(kFloats);
  switch (g.dice.pick(0, 5)) {
    case 0:
      return g.add("Einsum", {g.of_type(e, {a, b}), g.of_type(e, {b, c})},
                   {{"equation", std::string("ij,jk->ik")}});
    case 1:
      return g.add("Einsum", {g.of_type(e, {n, a, b}), g.of_type(e, {n, c, b})},
                   {{"equation", std::string("bij,bkj->bik")}});
    case 2:
      return g.add("Einsum", {g.of_type(e, {a, a})}, {{"equation", std::string("ii->i")}});
    case 3:
      return g.add("Einsum", {g.of_type(e, {n, a, b}), g.of_type(e, {b})},
                   {{"equation", std::string("...i,i->...")}});
    case 4:
      return g.add("Einsum", {g.of_type(e, {a, b, c})}, {{"equation", std::string("abc->ca")}});
    default:
      return g.add("Einsum", {g.of_type(e, {a}), g.of_type(e, {b})}, {{"equation", std::string("i,j->ji")}});
  }
}

int det(Grower& g) {
  const int64_t n = g.dice.pick(1, 4);
  return g.add("Det", {g.of_type(g.random_type(ops::types_of({E::F32, E::F64})), {g.dice.pick(1, 3), n, n})});
}

}  // namespace

void add_math_recipes(std::map<std::string_view, Recipe>& table) {
  table.insert({MRVLC_NAMED(reduce, "ReduceL1"),
                MRVLC_NAMED(reduce, "ReduceL2"),
                MRVLC_NAMED(reduce, "ReduceLogSum"),
                MRVLC_NAMED(reduce, "ReduceLogSumExp"),
                MRVLC_NAMED(reduce, "ReduceMax"),
                MRVLC_NAMED(reduce, "ReduceMean"),
                MRVLC_NAMED(reduce, "ReduceMin"),
                MRVLC_NAMED(reduce, "ReduceProd"),
                MRVLC_NAMED(reduce, "ReduceSum"),
                MRVLC_NAMED(reduce, "ReduceSumSquare"),
                MRVLC_NAMED(arg_extreme, "ArgMax"),
                MRVLC_NAMED(arg_extreme, "ArgMin"),
                MRVLC_NAMED(softmax, "Softmax"),
                MRVLC_NAMED(softmax, "LogSoftmax"),
                MRVLC_NAMED(softmax, "Hardmax"),
                MRVLC_NAMED(cumulate, "CumSum"),
                MRVLC_NAMED(cumulate, "CumProd"),
                MRVLC_NAMED(divide, "Div"),
                MRVLC_NAMED(divide, "Mod"),
                {"TopK", top_k},
                {"Pow", power},
                {"BitShift", shift},
                {"Clip", clip},
                {"Cast", cast},
                {"PRelu", prelu},
                {"Dropout", dropout},
                {"QuantizeLinear", quantize},
                {"DequantizeLinear", dequantize},
                {"IsInf", is_inf},
                {"Gelu", gelu},
                {"Einsum", einsum},
                {"Det", det}});
}

}  // namespace mrvlc::graphs
