// Operators that move elements: shapes, indices, slices.
#include <algorithm>
#include <numeric>

#include "grow.h"

namespace mrvlc::graphs {
namespace {

using E = ElementType;
using Ints = std::vector<int64_t>;

constexpr ops::TypeSet kMoved = ops::types_of(
    {E::F32, E::F64, E::F16, E::BF16, E::I8, E::U8, E::I16, E::U16, E::I32, E::U32, E::I64, E::U64, E::Bool});
constexpr ops::TypeSet kNumbers = ops::types_of({E::F32, E::F64, E::F16, E::I32, E::I64});

int moved(Grower& g, int64_t min_rank = 0, int64_t max_rank = 5) {
  return g.pick(kMoved, min_rank, max_rank);
}

// From the back as often as from the front.
int64_t axis_of(Grower& g, int v) {
  return g.dice.pick(-g.rank(v), g.rank(v) - 1);
}

int64_t dim(const Grower& g, int v, int64_t axis) {
  return g.shape(v)[static_cast<size_t>(axis < 0 ? axis + g.rank(v) : axis)];
}

Ints some_axes(Grower& g, int v, int percent) {
  Ints axes;
  for (int64_t d = 0; d < g.rank(v); ++d)
    if (g.dice.chance(percent)) axes.push_back(g.dice.chance(20) ? d - g.rank(v) : d);
  return axes;
}

int64_t clamped(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

// Indices into `size` elements, from the back too; constants or an input.
int indices(Grower& g, const Shape& shape, int64_t size) {
  Tensor t(TensorType{g.dice.chance(70) ? E::I64 : E::I32, shape});
  for (int64_t i = 0; i < t.elements(); ++i)
    t.set_int(i, g.dice.pick(g.dice.chance(20) ? -size : 0, size - 1));
  return g.make(std::move(t), g.dice.chance(50));
}

int transpose(Grower& g) {
  const int x = moved(g);
  Ints perm(static_cast<size_t>(g.rank(x)));
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i-- > 1;)
    std::swap(perm[i], perm[static_cast<size_t>(g.dice.pick(0, static_cast<int64_t>(i)))]);
  return g.dice.chance(15) ? g.add("Transpose", {x}) : g.add("Transpose", {x}, {{"perm", perm}});
}

int concat(Grower& g) {
  const int x = moved(g, 1);
  const int64_t axis = axis_of(g, x);
  std::vector<int> inputs = {x};
  for (int64_t n = g.dice.pick(0, 3); n > 0; --n) {
    Shape s = g.shape(x);
    s[static_cast<size_t>(clamped(axis, g.rank(x)))] = g.dice.pick(0, 4);
    inputs.push_back(g.of_type(g.elem(x), s));
  }
  return g.add("Concat", inputs, {{"axis", axis}});
}

int split(Grower& g) {
  const int x = moved(g, 1);
  const int64_t axis = axis_of(g, x), size = dim(g, x, axis), parts = g.dice.pick(1, 3);
  if (g.dice.chance(50))
    return g.add("Split", {x}, {{"axis", axis}, {"num_outputs", parts}}, static_cast<size_t>(parts));
  Ints sizes(static_cast<size_t>(parts), 0);
  for (int64_t i = 0; i < size; ++i) ++sizes[static_cast<size_t>(g.dice.pick(0, parts - 1))];
  return g.add("Split", {x, g.ints(sizes)}, {{"axis", axis}}, static_cast<size_t>(parts));
}

int slice(Grower& g) {
  const int x = moved(g, 1);
  Ints axes = some_axes(g, x, 60), starts, ends, steps;
  for (int64_t axis : axes) {
    const int64_t size = dim(g, x, axis), step = g.dice.of<int64_t>({1, 1, 1, 2, 3, -1, -2});
    starts.push_back(g.dice.pick(-size - 1, size + 1));
    ends.push_back(g.dice.chance(20) ? (step > 0 ? INT64_MAX : INT64_MIN) : g.dice.pick(-size - 1, size + 1));
    steps.push_back(step);
  }
  if (axes.empty()) return -1;
  return g.add("Slice", {x, g.ints(starts), g.ints(ends), g.ints(axes), g.ints(steps)});
}

int expand(Grower& g) {
  const int x = moved(g);
  Shape s = g.shape(x);
  for (int64_t& d : s) d = d == 1 && g.dice.chance(60) ? g.dice.pick(1, 4) : g.dice.chance(20) ? 1 : d;
  if (g.dice.chance(30) && s.size() < 5) s.insert(s.begin(), g.dice.pick(1, 3));
  return g.add("Expand", {x, g.ints(s)});
}

int tile(Grower& g) {
  const int x = moved(g, 1, 4);
  Ints repeats;
  for (int64_t d = 0; d < g.rank(x); ++d) repeats.push_back(g.dice.pick(g.dice.chance(5) ? 0 : 1, 3));
  return g.add("Tile", {x, g.ints(repeats)});
}

// The factors of the elements, dealt out again.
int reshape(Grower& g) {
  const int x = moved(g);
  Shape s(static_cast<size_t>(g.dice.pick(1, 5)), 1);
  int64_t left = element_count(g.shape(x));
  if (left == 0) return g.add("Reshape", {x, g.ints({0, 3})}, {{"allowzero", int64_t{1}}});
  for (int64_t p = 2; p <= left; ++p)
    for (; left % p == 0; left /= p)
      s[static_cast<size_t>(g.dice.pick(0, static_cast<int64_t>(s.size()) - 1))] *= p;
  if (g.dice.chance(30)) s[static_cast<size_t>(g.dice.pick(0, static_cast<int64_t>(s.size()) - 1))] = -1;
  return g.add("Reshape", {x, g.ints(s)});
}

int flatten(Grower& g) {
  const int x = moved(g);
  return g.add("Flatten", {x}, {{"axis", g.dice.pick(-g.rank(x), g.rank(x))}});
}

int squeeze(Grower& g) {
  const int x = moved(g);
  Ints axes;
  for (int64_t d = 0; d < g.rank(x); ++d)
    if (dim(g, x, d) == 1 && g.dice.chance(60)) axes.push_back(g.dice.chance(30) ? d - g.rank(x) : d);
  return axes.empty() ? g.add("Squeeze", {x}) : g.add("Squeeze", {x, g.ints(axes)});
}

int unsqueeze(Grower& g) {
  const int x = moved(g, 0, 4);
  return g.add("Unsqueeze", {x, g.ints({g.dice.pick(-g.rank(x) - 1, g.rank(x))})});
}

int gather(Grower& g) {
  const int x = moved(g, 1, 4);
  const int64_t axis = axis_of(g, x), size = dim(g, x, axis);
  if (size == 0) return -1;
  return g.add("Gather", {x, indices(g, g.random_shape(0, 2), size)}, {{"axis", axis}});
}

int gather_elements(Grower& g) {
  const int x = moved(g, 1);
  const int64_t axis = axis_of(g, x), size = dim(g, x, axis);
  Shape s = g.shape(x);
  s[static_cast<size_t>(clamped(axis, g.rank(x)))] = g.dice.pick(1, 4);
  return size == 0 ? -1 : g.add("GatherElements", {x, indices(g, s, size)}, {{"axis", axis}});
}

int scatter_elements(Grower& g) {
  const int x = g.pick(kNumbers, 1, 4);
  const int64_t axis = axis_of(g, x), size = dim(g, x, axis);
  if (element_count(g.shape(x)) == 0) return -1;
  Shape s = g.shape(x);
  const std::string reduction = g.dice.of<const char*>({"none", "add", "mul", "max", "min"});
  const int64_t count = reduction == "none" ? 1 : g.dice.pick(1, 4);  // what is written twice is not defined
  s[static_cast<size_t>(clamped(axis, g.rank(x)))] = std::min(count, size);
  return g.add("ScatterElements", {x, indices(g, s, size), g.of_type(g.elem(x), s)},
               {{"axis", axis}, {"reduction", reduction}});
}

// Tuples of `depth` indices into the dimensions from `first` on.
int tuples(Grower& g, int x, Shape shape, size_t first, int64_t depth) {
  shape.push_back(depth);
  Tensor t(TensorType{E::I64, shape});
  for (int64_t i = 0; i < t.elements(); ++i) {
    const int64_t size = g.shape(x)[first + static_cast<size_t>(i % depth)];
    t.set_int(i, g.dice.pick(g.dice.chance(20) ? -size : 0, size - 1));
  }
  return g.make(std::move(t), g.dice.chance(50));
}

int gather_nd(Grower& g) {
  const int x = moved(g, 1, 4);
  if (element_count(g.shape(x)) == 0) return -1;
  const int64_t batch = g.rank(x) > 1 && g.dice.chance(30) ? 1 : 0;
  Shape s;
  if (batch == 1) s.push_back(g.shape(x)[0]);
  s.push_back(g.dice.pick(1, 4));
  const int index = tuples(g, x, s, static_cast<size_t>(batch), g.dice.pick(1, g.rank(x) - batch));
  return g.add("GatherND", {x, index}, {{"batch_dims", batch}});
}

int scatter_nd(Grower& g) {
  const int x = g.pick(kNumbers, 1, 4);
  if (element_count(g.shape(x)) == 0) return -1;
  const int64_t depth = g.dice.pick(1, g.rank(x));
  const std::string reduction = g.dice.of<const char*>({"none", "add", "mul", "max", "min"});
  const int64_t count = reduction == "none" ? 1 : g.dice.pick(1, 4);
  Shape s = {count};
  s.insert(s.end(), g.shape(x).begin() + static_cast<ptrdiff_t>(depth), g.shape(x).end());
  return g.add("ScatterND", {x, tuples(g, x, {count}, 0, depth), g.of_type(g.elem(x), s)},
               {{"reduction", reduction}});
}

int pad(Grower& g) {
  const int x = moved(g, 1, 4);
  const std::string mode = g.dice.of<const char*>({"constant", "reflect", "edge", "wrap", "constant"});
  Ints begin, end;
  for (int64_t d : g.shape(x)) {
    // Wrapping around more than once is understood in more than one way.
    const int64_t most = mode == "reflect"             ? std::min<int64_t>(d - 1, 2)
                         : mode == "wrap"              ? std::min<int64_t>(d, 2)
                         : mode == "constant" || d > 0 ? 2
                                                       : 0;
    const int64_t low = mode == "constant" && g.dice.chance(10) ? -std::min<int64_t>(1, d / 2) : 0;
    begin.push_back(g.dice.pick(low, std::max<int64_t>(most, 0)));
    end.push_back(g.dice.pick(low, std::max<int64_t>(most, 0)));
  }
  begin.insert(begin.end(), end.begin(), end.end());
  std::vector<int> inputs = {x, g.ints(begin)};
  if (mode == "constant" && g.dice.chance(60)) inputs.push_back(g.scalar(g.elem(x), 1));
  return g.add("Pad", inputs, {{"mode", mode}});
}

int one_hot(Grower& g) {
  const int64_t depth = g.dice.pick(1, 6);
  const int index = indices(g, g.random_shape(0, 3), depth + 1);
  const int values = g.of_type(g.random_type(kNumbers), {2});
  return g.add("OneHot", {index, g.scalar(E::I64, static_cast<double>(depth)), values},
               {{"axis", g.dice.pick(-g.rank(index) - 1, g.rank(index))}});
}

int blocks(Grower& g, std::string_view op) {
  const int64_t b = g.dice.pick(1, 3);
  const bool to_space = op == "DepthToSpace";
  Shape s = {g.dice.pick(1, 2), g.dice.pick(1, 3), g.dice.pick(1, 3), g.dice.pick(1, 3)};
  for (size_t d = to_space ? 1 : 2; d < (to_space ? 2u : 4u); ++d) s[d] *= to_space ? b * b : b;
  const int x = g.of_type(g.random_type(ops::types_of({E::F32, E::F64, E::F16, E::I32})), s);
  return to_space
             ? g.add(op, {x}, {{"blocksize", b}, {"mode", std::string(g.dice.chance(50) ? "DCR" : "CRD")}})
             : g.add(op, {x}, {{"blocksize", b}});
}

int shape_of(Grower& g) {
  const int x = moved(g);
  return g.add("Shape", {x}, {{"start", g.dice.pick(-2, 2)}});
}

int constant_of_shape(Grower& g) {
  const E elem = g.random_type(kMoved);
  return g.add("ConstantOfShape", {g.ints(g.random_shape(1, 4))}, {{"value", g.random_tensor(elem, {1})}});
}

int range(Grower& g) {
  const E elem = g.random_type(ops::types_of({E::F32, E::F64, E::I16, E::I32, E::I64}));
  const double step = g.dice.of<double>({1, 2, -1, -3});
  const double start = static_cast<double>(g.dice.pick(-4, 4));
  return g.add("Range",
               {g.scalar(elem, start), g.scalar(elem, start + step * static_cast<double>(g.dice.pick(0, 9))),
                g.scalar(elem, step)});
}

int reverse_sequence(Grower& g) {
  const int x = moved(g, 2, 4);
  const int64_t time = g.dice.pick(0, 1), batches = g.shape(x)[static_cast<size_t>(1 - time)];
  Tensor lengths(TensorType{E::I64, {batches}});
  if (dim(g, x, time) == 0) return -1;
  for (int64_t i = 0; i < batches; ++i) lengths.set_int(i, g.dice.pick(1, dim(g, x, time)));
  return g.add("ReverseSequence", {x, g.make(std::move(lengths), g.dice.chance(50))},
               {{"time_axis", time}, {"batch_axis", 1 - time}});
}

int trilu(Grower& g) {
  const int x = moved(g, 2);
  std::vector<int> inputs = {x};
  if (g.dice.chance(60))
    inputs.push_back(g.make(Tensor::of<int64_t>(E::I64, {}, {g.dice.pick(-4, 4)}), g.dice.chance(50)));
  return g.add("Trilu", inputs, {{"upper", g.dice.pick(0, 1)}});
}

int center_crop_pad(Grower& g) {
  const int x = moved(g, 1, 4);
  Ints axes = some_axes(g, x, 60), sizes;
  if (axes.empty()) return -1;
  for (size_t i = 0; i < axes.size(); ++i) sizes.push_back(g.dice.pick(1, 7));
  return g.add("CenterCropPad", {x, g.ints(sizes)}, {{"axes", axes}});
}

int where(Grower& g) {
  const int x = moved(g);
  return g.add("Where", {g.operand(x, E::Bool), x, g.operand(x, g.elem(x))});
}

int compress(Grower& g) {
  const int x = moved(g, 1, 4);
  const int64_t axis = axis_of(g, x);
  return g.add("Compress", {x, g.constant(g.random_tensor(E::Bool, {dim(g, x, axis)}))}, {{"axis", axis}});
}

int eye_like(Grower& g) {
  return g.add("EyeLike", {moved(g, 2, 2)}, {{"k", g.dice.pick(-2, 2)}});
}

}  // namespace

void add_move_recipes(std::map<std::string_view, Recipe>& table) {
  table.insert({{"Transpose", transpose},
                {"Concat", concat},
                {"Split", split},
                {"Slice", slice},
                {"Expand", expand},
                {"Tile", tile},
                {"Reshape", reshape},
                {"Flatten", flatten},
                {"Squeeze", squeeze},
                {"Unsqueeze", unsqueeze},
                {"Gather", gather},
                {"GatherElements", gather_elements},
                {"GatherND", gather_nd},
                {"ScatterElements", scatter_elements},
                {"ScatterND", scatter_nd},
                {"Pad", pad},
                {"OneHot", one_hot},
                {"DepthToSpace", [](Grower& g) { return blocks(g, "DepthToSpace"); }},
                {"SpaceToDepth", [](Grower& g) { return blocks(g, "SpaceToDepth"); }},
                {"Shape", shape_of},
                {"Size", [](Grower& g) { return g.add("Size", {moved(g)}); }},
                {"ConstantOfShape", constant_of_shape},
                {"Range", range},
                {"ReverseSequence", reverse_sequence},
                {"Trilu", trilu},
                {"CenterCropPad", center_crop_pad},
                {"Where", where},
                {"Compress", compress},
                {"EyeLike", eye_like}});
}

}  // namespace mrvlc::graphs
