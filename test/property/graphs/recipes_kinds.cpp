// Values other than tensors of the usual types: sequences, optionals, floats of eight bits and less, integers
// of four and two; and models out of ai.onnx.ml. What has no file format of its own stays between two
// operators.
#include <algorithm>

#include "grow.h"

namespace mrvlc::graphs {
namespace {

using E = ElementType;

constexpr ops::TypeSet kHeld = ops::types_of({E::F32, E::F64, E::F16, E::I32, E::I64, E::U8, E::Bool});

// Of one rank and, along all axes but the first, one shape.
int sequence(Grower& g, int64_t& count) {
  const int first = g.pick(kHeld, 1, 4);
  count = g.dice.pick(1, 4);
  std::vector<int> inputs = {first};
  while (static_cast<int64_t>(inputs.size()) < count) {
    Shape shape = g.shape(first);
    shape[0] = g.dice.pick(1, 4);
    inputs.push_back(g.of_type(g.elem(first), shape));
  }
  const int made = g.add("SequenceConstruct", inputs);
  if (made < 0 || !g.dice.chance(50)) return made;
  const int at = g.make(Tensor::of<int64_t>(E::I64, {}, {g.dice.pick(-count, count - 1)}), g.dice.chance(50));
  const bool erases = count > 1 && g.dice.chance(50);
  const int changed =
      erases ? g.add("SequenceErase", {made, at}) : g.add("SequenceInsert", {made, first, at});
  if (changed >= 0) count += erases ? -1 : 1;
  return changed < 0 ? made : changed;
}

int split_to_sequence(Grower& g, int64_t& count) {
  const int x = g.pick(kHeld, 1, 4);
  const int64_t axis = g.dice.pick(0, g.rank(x) - 1), size = g.shape(x)[static_cast<size_t>(axis)];
  if (size < 1) return -1;
  const int64_t part = g.dice.pick(1, size);
  count = (size + part - 1) / part;
  return g.add("SplitToSequence", {x, g.scalar(E::I64, static_cast<double>(part))}, {{"axis", axis}});
}

int from_sequence(Grower& g) {
  int64_t count = 0;
  const int s = g.dice.chance(60) ? sequence(g, count) : split_to_sequence(g, count);
  if (s < 0) return -1;
  switch (g.dice.pick(0, 3)) {
    case 0:
      return g.add("SequenceLength", {s});
    case 1:
      return g.add("ConcatFromSequence", {s}, {{"axis", int64_t{0}}});
    default:
      return g.add("SequenceAt", {s, g.make(Tensor::of<int64_t>(E::I64, {}, {g.dice.pick(-count, count - 1)}),
                                            g.dice.chance(50))});
  }
}

int optional(Grower& g) {
  const int made = g.add("Optional", {g.pick(kHeld, 0, 4)});
  if (made < 0) return -1;
  return g.add(g.dice.chance(70) ? "OptionalGetElement" : "OptionalHasElement", {made});
}

// There, moved, and back.
int small_type(Grower& g) {
  const E small =
      g.dice.of({E::F8E4M3FN, E::F8E4M3FNUZ, E::F8E5M2, E::F8E5M2FNUZ, E::F4E2M1, E::I4, E::U4, E::BF16});
  const bool whole = small == E::I4 || small == E::U4;
  const int x = whole ? g.pick(ops::types_of({E::I8, E::U8, E::I32}), 0, 4) : g.pick(E::F32, 0, 4);
  for (int64_t i = 0; whole && i < g.data(x).elements(); ++i) {
    const double v = g.data(x).as_double(i);
    if (v > 7 || v < (small == E::U4 ? 0 : -8)) return -1;  // what becomes of others is not defined
  }
  int y = g.add("Cast", {x}, {{"to", small}});
  if (y >= 0 && g.rank(x) > 0 && g.dice.chance(50)) {
    const int moved = g.dice.chance(50) ? g.add("Transpose", {y}) : g.add("Flatten", {y});
    y = moved < 0 ? y : moved;
  }
  return y < 0 ? -1 : g.add("Cast", {y}, {{"to", whole ? E::I32 : E::F32}});
}

std::vector<float> floats(Grower& g, int64_t n) {
  std::vector<float> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<float>(g.dice.pick(-8, 8)) * 0.25f);
  return out;
}

int features(Grower& g) {
  return g.of_type(E::F32, {g.dice.pick(1, 4), g.dice.pick(1, 5)});
}

int scaler(Grower& g) {
  const int x = features(g);
  return g.add("Scaler", {x}, {{"offset", floats(g, g.shape(x)[1])}, {"scale", floats(g, g.shape(x)[1])}});
}

int normalizer(Grower& g) {
  return g.add("Normalizer", {features(g)}, {{"norm", std::string(g.dice.of<const char*>({"L1", "L2"}))}});
}

int binarizer(Grower& g) {
  const int x = g.pick(E::F32, 1, 4);
  return g.exact(x) ? g.add("Binarizer", {x}, {{"threshold", 0.3f}}) : -1;
}

int linear_regressor(Grower& g) {
  const int x = features(g);
  const int64_t targets = g.dice.pick(1, 3);
  return g.add("LinearRegressor", {x},
               {{"coefficients", floats(g, targets * g.shape(x)[1])},
                {"intercepts", floats(g, targets)},
                {"targets", targets}});
}

int feature_extractor(Grower& g) {
  const int x = features(g);
  return g.add("ArrayFeatureExtractor",
               {x, g.make(Tensor::of<int64_t>(E::I64, {2}, {0, g.dice.pick(0, g.shape(x)[1] - 1)}), true)});
}

int one_hot_encoder(Grower& g) {
  return g.add("OneHotEncoder", {g.pick(E::I64, 1, 3)}, {{"cats_int64s", std::vector<int64_t>{0, 1, 2, -3}}});
}

}  // namespace

void add_kinds_recipes(std::map<std::string_view, Recipe>& table) {
  table.insert({{"SequenceConstruct", from_sequence},
                {"Optional", optional},
                {"CastLike", small_type},
                {"Scaler", scaler},
                {"Normalizer", normalizer},
                {"Binarizer", binarizer},
                {"LinearRegressor", linear_regressor},
                {"ArrayFeatureExtractor", feature_extractor},
                {"OneHotEncoder", one_hot_encoder}});
}

}  // namespace mrvlc::graphs
