// Layers of networks: convolutions, pools, products of matrices, normalisation, recurrence.
#include <algorithm>

#include "grow.h"

namespace mrvlc::graphs {
namespace {

using E = ElementType;
using Ints = std::vector<int64_t>;

constexpr ops::TypeSet kFloats = ops::types_of({E::F32, E::F64, E::F16});

// A window over the last dimensions.
struct Window {
  Ints kernel, strides, dilations, pads;
  std::string auto_pad = "NOTSET";
};

Window window(Grower& g, size_t dims) {
  Window w;
  for (size_t d = 0; d < dims; ++d) {
    w.kernel.push_back(g.dice.pick(1, 3));
    w.strides.push_back(g.dice.pick(1, 2));
    w.dilations.push_back(g.dice.chance(80) ? 1 : 2);
  }
  for (size_t d = 0; d < 2 * dims; ++d) w.pads.push_back(g.dice.pick(0, w.kernel[d % dims] - 1));
  if (g.dice.chance(25)) w.auto_pad = g.dice.of<const char*>({"SAME_UPPER", "SAME_LOWER", "VALID"});
  return w;
}

Attrs window_attrs(const Window& w) {
  Attrs attrs = {{"kernel_shape", w.kernel}, {"strides", w.strides}, {"dilations", w.dilations}};
  if (w.auto_pad == "NOTSET") {
    attrs.list.emplace_back("pads", w.pads);
  } else {
    attrs.list.emplace_back("auto_pad", w.auto_pad);
  }
  return attrs;
}

// [n, c, spatial...] with so many dimensions behind the channels.
int image(Grower& g, E elem, int64_t channels, int64_t dims) {
  Shape s = {g.dice.pick(1, 2), channels};
  for (int64_t d = 0; d < dims; ++d) s.push_back(g.dice.pick(3, dims > 2 ? 4 : 7));
  return g.of_type(elem, s);
}

int picked_image(Grower& g, ops::TypeSet types) {
  return g.dice.chance(50) ? g.pick(types, 3, 5)
                           : image(g, g.random_type(types), g.dice.pick(1, 4), g.dice.pick(1, 3));
}

int conv(Grower& g, std::string_view op) {
  const bool transposed = op == "ConvTranspose";
  const int64_t dims = g.dice.pick(1, 3), groups = g.dice.chance(60) ? 1 : g.dice.pick(2, 3);
  const int64_t in = groups * g.dice.pick(1, 3), out = groups * g.dice.pick(1, 3);
  const E elem = g.random_type(kFloats);
  Window w = window(g, static_cast<size_t>(dims));
  // SAME would ask for negative padding, which ONNX leaves open.
  for (size_t d = 0; transposed && d < w.kernel.size(); ++d)
    w.strides[d] = std::min(w.strides[d], w.kernel[d]);
  Shape s = transposed ? Shape{in, out / groups} : Shape{out, in / groups};
  for (int64_t k : w.kernel) s.push_back(k);
  std::vector<int> inputs = {image(g, elem, in, dims), g.of_type(elem, s)};
  if (g.dice.chance(50)) inputs.push_back(g.of_type(elem, {out}));
  Attrs attrs = window_attrs(w);
  attrs.list.emplace_back("group", groups);
  return g.add(op, inputs, attrs);
}

int conv_integer(Grower& g) {
  const int64_t in = g.dice.pick(1, 3), out = g.dice.pick(1, 3);
  const Window w = window(g, 2);
  const E x = g.dice.of({E::U8, E::I8}), k = g.dice.of({E::U8, E::I8});
  std::vector<int> inputs = {image(g, x, in, 2), g.of_type(k, {out, in, w.kernel[0], w.kernel[1]})};
  if (g.dice.chance(50)) inputs.push_back(g.constant(g.random_tensor(x, {})));
  return g.add("ConvInteger", inputs, window_attrs(w));
}

int pool(Grower& g, std::string_view op) {
  const int x =
      picked_image(g, op == "MaxPool" ? ops::types_of({E::F32, E::F64, E::F16, E::I8, E::U8}) : kFloats);
  Window w = window(g, static_cast<size_t>(g.rank(x)) - 2);
  // ONNX Runtime forgets the dilations of pools when it works out the padding of SAME.
  if (w.auto_pad != "NOTSET") w.dilations.assign(w.dilations.size(), 1);
  Attrs attrs = window_attrs(w);
  attrs.list.emplace_back("ceil_mode", g.dice.pick(0, 1));
  if (op == "LpPool") attrs.list.emplace_back("p", g.dice.pick(1, 3));
  if (op != "MaxPool") attrs.list.emplace_back("count_include_pad", g.dice.pick(0, 1));
  return g.add(op, {x}, attrs, op == "MaxPool" && g.exact(x) && g.dice.chance(25) ? 2 : 1);
}

int global_pool(Grower& g, std::string_view op) {
  return g.add(op, {picked_image(g, kFloats)});
}

int matmul(Grower& g) {
  const int a = g.pick(ops::types_of({E::F32, E::F64, E::F16, E::I32, E::I64}), 1, 4);
  Shape s = g.shape(a);
  const int64_t inner = s.back();
  if (s.size() < 2 || g.dice.chance(40)) {
    s = {inner, g.dice.pick(1, 5)};
  } else {
    s[s.size() - 2] = inner;
    s.back() = g.dice.pick(1, 5);
    for (size_t d = 0; d + 2 < s.size(); ++d) s[d] = g.dice.chance(30) ? 1 : s[d];
  }
  if (g.dice.chance(10)) s = {inner};
  return g.add("MatMul", {a, g.of_type(g.elem(a), s)});
}

int matmul_integer(Grower& g) {
  const int a = g.pick(ops::types_of({E::U8, E::I8}), 2, 3);
  if (element_count(g.shape(a)) == 0) return -1;  // ONNX Runtime leaves the sum of nothing uninitialised
  const E e = g.dice.of({E::U8, E::I8});
  std::vector<int> inputs = {a, g.of_type(e, {g.shape(a).back(), g.dice.pick(1, 5)})};
  if (g.dice.chance(60)) inputs.push_back(g.constant(g.random_tensor(g.elem(a), {})));
  if (inputs.size() == 3 && g.dice.chance(60)) inputs.push_back(g.constant(g.random_tensor(e, {})));
  return g.add("MatMulInteger", inputs);
}

int gemm(Grower& g) {
  const int64_t m = g.dice.pick(1, 6), n = g.dice.pick(1, 6), k = g.dice.pick(1, 6), ta = g.dice.pick(0, 1),
                tb = g.dice.pick(0, 1);
  const E e = g.random_type(ops::types_of({E::F32, E::F64, E::F16, E::I32}));
  std::vector<int> inputs = {g.of_type(e, ta != 0 ? Shape{k, m} : Shape{m, k}),
                             g.of_type(e, tb != 0 ? Shape{n, k} : Shape{k, n})};
  if (g.dice.chance(70)) {
    const std::vector<Shape> shapes = {{m, n}, {n}, {1, n}, {m, 1}, {}, {1}};
    inputs.push_back(g.of_type(e, g.dice.of(shapes)));
  }
  const bool whole = is_integer(e);
  return g.add("Gemm", inputs,
               {{"transA", ta},
                {"transB", tb},
                {"alpha", whole || g.dice.chance(50) ? 1.0f : 0.5f},
                {"beta", whole || g.dice.chance(50) ? 1.0f : 0.25f}});
}

int batch_norm(Grower& g) {
  const int x = g.pick(kFloats, 2, 5);
  const E e = g.elem(x);
  const Shape s = {g.shape(x)[1]};
  Tensor variance(TensorType{e, s});
  for (int64_t i = 0; i < variance.elements(); ++i) variance.set_double(i, g.dice.real(0.5, 2));
  return g.add("BatchNormalization", {x, g.of_type(e, s), g.of_type(e, s), g.of_type(e, s),
                                      g.make(std::move(variance), g.dice.chance(80))});
}

int instance_norm(Grower& g) {
  const int x = picked_image(g, kFloats);
  const Shape s = {g.shape(x)[1]};
  return g.add("InstanceNormalization", {x, g.of_type(g.elem(x), s), g.of_type(g.elem(x), s)});
}

int group_norm(Grower& g) {
  const int64_t groups = g.dice.pick(1, 3), channels = groups * g.dice.pick(1, 2);
  const int x = image(g, g.random_type(kFloats), channels, g.dice.pick(1, 2));
  return g.add("GroupNormalization", {x, g.of_type(g.elem(x), {channels}), g.of_type(g.elem(x), {channels})},
               {{"num_groups", groups}});
}

int row_norm(Grower& g, std::string_view op) {
  const int x = g.pick(kFloats, 1, 4);
  const int64_t axis = g.dice.pick(0, g.rank(x) - 1);
  const Shape s(g.shape(x).begin() + static_cast<ptrdiff_t>(axis), g.shape(x).end());
  std::vector<int> inputs = {x, g.of_type(g.elem(x), s)};
  if (op == "LayerNormalization" && g.dice.chance(60)) inputs.push_back(g.of_type(g.elem(x), s));
  return g.add(op, inputs, {{"axis", g.dice.chance(50) ? axis : axis - g.rank(x)}});
}

int lrn(Grower& g) {
  return g.add("LRN", {picked_image(g, ops::types_of({E::F32}))},
               {{"size", g.dice.of<int64_t>({1, 3, 5})}, {"alpha", 0.1f}});
}

int lp_norm(Grower& g) {
  const int x = g.pick(kFloats, 1);
  return g.add("LpNormalization", {x},
               {{"axis", g.dice.pick(-g.rank(x), g.rank(x) - 1)}, {"p", g.dice.pick(1, 2)}});
}

int mean_variance_norm(Grower& g) {
  const int x = g.pick(E::F32, 4, 4);
  const Shape& s = g.shape(x);
  if (s[0] * s[2] * s[3] < 2) return -1;  // 0 / 0 in ONNX Runtime
  return g.add("MeanVarianceNormalization", {x});
}

int resize(Grower& g) {
  const int x = g.dice.chance(70) ? picked_image(g, ops::types_of({E::F32, E::F64})) : g.pick(E::F32, 1, 4);
  const std::string mode = g.dice.of<const char*>({"nearest", "linear", "cubic"});
  const std::string place =
      g.dice.of<const char*>({"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"});
  Ints sizes = g.shape(x);
  for (size_t d = sizes.size() > 2 ? sizes.size() - 2 : 0; d < sizes.size(); ++d)
    sizes[d] = g.dice.pick(1, 8);
  Attrs attrs = {{"mode", mode}, {"coordinate_transformation_mode", place}};
  if (mode == "nearest")
    attrs.list.emplace_back(
        "nearest_mode",
        std::string(g.dice.of<const char*>({"round_prefer_floor", "floor", "ceil", "round_prefer_ceil"})));
  // ONNX's own implementation aligns the corners of a size that scales make a fraction, others round it
  // first.
  if (place == "align_corners" || g.dice.chance(50))
    return g.add("Resize", {x, -1, -1, g.ints(sizes)}, attrs);
  Tensor scales(TensorType{E::F32, {g.rank(x)}});
  for (int64_t d = 0; d < g.rank(x); ++d)
    scales.set_double(d, d + 2 < g.rank(x) ? 1 : g.dice.of<double>({1, 2, 0.5, 1.5, 3}));
  return g.add("Resize", {x, -1, g.constant(std::move(scales))}, attrs);
}

int recurrent(Grower& g, std::string_view op) {
  const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  const int64_t steps = g.dice.pick(1, 4), batch = g.dice.pick(1, 2), in = g.dice.pick(1, 3),
                hidden = g.dice.pick(1, 3);
  const std::string direction = g.dice.of<const char*>({"forward", "reverse", "bidirectional"});
  const int64_t dirs = direction == "bidirectional" ? 2 : 1;
  std::vector<int> inputs = {g.of_type(E::F32, {steps, batch, in}),
                             g.of_type(E::F32, {dirs, gates * hidden, in}),
                             g.of_type(E::F32, {dirs, gates * hidden, hidden})};
  inputs.push_back(g.dice.chance(50) ? g.of_type(E::F32, {dirs, 2 * gates * hidden}) : -1);
  inputs.push_back(-1);
  inputs.push_back(g.dice.chance(50) ? g.of_type(E::F32, {dirs, batch, hidden}) : -1);
  Attrs attrs = {{"hidden_size", hidden}, {"direction", direction}};
  if (op == "GRU") attrs.list.emplace_back("linear_before_reset", g.dice.pick(0, 1));
  return g.add(op, inputs, attrs, static_cast<size_t>(op == "LSTM" ? g.dice.pick(1, 3) : g.dice.pick(1, 2)));
}

int grid_sample(Grower& g) {
  const int x = image(g, E::F32, g.dice.pick(1, 2), 2);
  Tensor grid(TensorType{E::F32, {g.shape(x)[0], g.dice.pick(1, 3), g.dice.pick(1, 3), 2}});
  for (int64_t i = 0; i < grid.elements(); ++i) grid.set_double(i, g.dice.real(-1.2, 1.2));
  return g.add("GridSample", {x, g.make(std::move(grid), g.dice.chance(50))},
               {{"mode", std::string(g.dice.of<const char*>({"linear", "cubic"}))},
                {"padding_mode", std::string(g.dice.of<const char*>({"zeros", "border", "reflection"}))},
                {"align_corners", g.dice.pick(0, 1)}});
}

#define MRVLC_NAMED(function, name)                   \
  {                                                   \
    name, [](Grower& g) { return function(g, name); } \
  }

}  // namespace

void add_layer_recipes(std::map<std::string_view, Recipe>& table) {
  table.insert({MRVLC_NAMED(conv, "Conv"),
                MRVLC_NAMED(conv, "ConvTranspose"),
                MRVLC_NAMED(pool, "MaxPool"),
                MRVLC_NAMED(pool, "AveragePool"),
                MRVLC_NAMED(pool, "LpPool"),
                MRVLC_NAMED(global_pool, "GlobalMaxPool"),
                MRVLC_NAMED(global_pool, "GlobalAveragePool"),
                MRVLC_NAMED(row_norm, "LayerNormalization"),
                MRVLC_NAMED(row_norm, "RMSNormalization"),
                MRVLC_NAMED(recurrent, "LSTM"),
                MRVLC_NAMED(recurrent, "GRU"),
                MRVLC_NAMED(recurrent, "RNN"),
                {"ConvInteger", conv_integer},
                {"MatMul", matmul},
                {"MatMulInteger", matmul_integer},
                {"Gemm", gemm},
                {"BatchNormalization", batch_norm},
                {"InstanceNormalization", instance_norm},
                {"GroupNormalization", group_norm},
                {"LRN", lrn},
                {"LpNormalization", lp_norm},
                {"MeanVarianceNormalization", mean_variance_norm},
                {"Resize", resize},
                {"GridSample", grid_sample}});
}

}  // namespace mrvlc::graphs
