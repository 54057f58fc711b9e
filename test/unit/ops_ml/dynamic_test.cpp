// Operators of ai.onnx.ml on batches whose size is known at run time only.
#include "../ops/dynamic_case.h"

namespace mrvlc::test {
namespace {

using Texts = std::vector<std::string>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// Rows of `columns` features, of several numbers.
DynamicCase batches(const std::string& op, int64_t columns, AttrList attrs, size_t outputs = 1,
                    E elem = E::F32) {
  DynamicCase c{op, {dynamic_type(elem, {-6, columns})}, {}, std::move(attrs), outputs};
  for (int64_t rows : {6, 0, 1, 5}) c.runs.push_back({sample(elem, {rows, columns}, 3)});
  return c;
}

// One tree: feature 1 against 0.25, then feature 0 against -0.5.
AttrList tree(const std::string& votes, Ints ids, Floats weights) {
  return {{"nodes_treeids", Ints{0, 0, 0, 0, 0}},
          {"nodes_nodeids", Ints{0, 1, 2, 3, 4}},
          {"nodes_featureids", Ints{1, 0, 0, 0, 0}},
          {"nodes_values", Floats{0.25F, -0.5F, 0, 0, 0}},
          {"nodes_modes", Texts{"BRANCH_LEQ", "BRANCH_LT", "LEAF", "LEAF", "LEAF"}},
          {"nodes_truenodeids", Ints{1, 2, 0, 0, 0}},
          {"nodes_falsenodeids", Ints{4, 3, 0, 0, 0}},
          {votes == "target" ? "target_treeids" : "class_treeids", Ints{0, 0, 0}},
          {votes == "target" ? "target_nodeids" : "class_nodeids", Ints{2, 3, 4}},
          {votes == "target" ? "target_ids" : "class_ids", std::move(ids)},
          {votes == "target" ? "target_weights" : "class_weights", std::move(weights)}};
}

AttrList with(AttrList attrs, const AttrList& more) {
  attrs.insert(attrs.end(), more.begin(), more.end());
  return attrs;
}

std::string text(const char* value) {
  return value;
}

}  // namespace

TEST_CASE("features of dynamic batches", "[dynamic]") {
  std::vector<DynamicCase> cases{
      batches("Scaler", 3, {{"offset", Floats{1, 2, 3}}, {"scale", Floats{0.5F}}}),
      batches("Scaler", 3, {{"scale", Floats{1, 2, 3}}}, 1, E::I64),
      batches("Binarizer", 2, {{"threshold", 0.5F}}),
      batches("Imputer", 2, {{"imputed_value_floats", Floats{7, 8}}, {"replaced_value_float", 0.0F}}),
      batches("Imputer", 2, {{"imputed_value_int64s", Ints{9}}, {"replaced_value_int64", int64_t{1}}}, 1,
              E::I64)};
  for (const char* norm : {"MAX", "L1", "L2"})
    cases.push_back(batches("Normalizer", 5, {{"norm", text(norm)}}));
  // Dynamic features: as many as there are numbers, or any.
  for (const char* op : {"Scaler", "Normalizer"}) {
    DynamicCase c{op, {dynamic_type(E::F32, {-4, -3})}, {}};
    if (c.op == "Scaler") c.attrs = {{"offset", Floats{1, 2, 3}}};
    for (const Shape& shape : {Shape{4, 3}, Shape{2, 1}, Shape{0, 3}})
      c.runs.push_back({sample(E::F32, shape)});
    cases.push_back(c);
  }
  check_dynamic(cases);
}

TEST_CASE("features picked and joined of dynamic batches", "[dynamic]") {
  DynamicCase known{"ArrayFeatureExtractor", {dynamic_type(E::F32, {-6, 4}), i64({3}, {3, 0, -1})}, {}};
  DynamicCase given{
      "ArrayFeatureExtractor", {dynamic_type(E::F32, {-6, -4}), dynamic_type(E::I64, {-3})}, {}};
  for (int64_t rows : {6, 1, 0}) {
    known.runs.push_back({sample(E::F32, {rows, 4})});
    given.runs.push_back({sample(E::F32, {rows, 3}), i64({2}, {2, 1})});
  }
  given.runs.push_back({sample(E::F32, {2, 3}), i64({1}, {3})});
  DynamicCase joined{
      "FeatureVectorizer", {dynamic_type(E::F32, {-6, 2}), dynamic_type(E::F32, {-4, -3})}, {}};
  for (auto [a, b, columns] : {std::tuple{4, 4, 3}, {0, 0, 1}, {1, 1, 2}, {3, 2, 1}})
    joined.runs.push_back({sample(E::F32, {a, 2}), sample(E::F32, {b, columns}, 2)});
  DynamicCase sized = joined;
  sized.attrs = {{"inputdimensions", Ints{2, 1}}};
  check_dynamic({known, given, joined, sized});
}

TEST_CASE("categories of dynamic batches", "[dynamic]") {
  AttrList encode{{"keys_int64s", Ints{1, -2, 0}}, {"values_floats", Floats{5, 6, 7}}};
  DynamicCase strict{"OneHotEncoder", {dynamic_type(E::I64, {-3, -2})}, {}, {}};
  strict.attrs = {{"cats_int64s", Ints{4, 2, 9}}, {"zeros", int64_t{0}}};
  strict.runs = {{i64({2, 2}, {9, 2, 4, 4})}, {i64({1, 2}, {2, 3})}, {i64({0, 1}, {})}};
  check_dynamic({batches("LabelEncoder", 2, encode, 1, E::I64),
                 batches("OneHotEncoder", 2, {{"cats_int64s", Ints{0, 1, -1}}}, 1, E::I64),
                 batches("OneHotEncoder", 2, {{"cats_int64s", Ints{0, 1, -1}}}), strict});
}

TEST_CASE("linear models of dynamic batches", "[dynamic]") {
  Floats weights{1, -2, 0.5F, 3, 1, -1};
  AttrList classes = {{"coefficients", weights}, {"classlabels_ints", Ints{4, 9}}};
  AttrList shared = {{"coefficients", Floats{1, -2, 0.5F}}, {"classlabels_ints", Ints{4, 9}}};
  check_dynamic(
      {batches("LinearRegressor", 3,
               {{"coefficients", weights}, {"targets", int64_t{2}}, {"post_transform", text("LOGISTIC")}}),
       batches("LinearClassifier", 3, with(classes, {{"post_transform", text("SOFTMAX")}}), 2),
       batches("LinearClassifier", 3, classes, 1, E::I64),
       batches("LinearClassifier", 3, with(shared, {{"post_transform", text("LOGISTIC")}}), 2)});
}

TEST_CASE("support vectors of dynamic batches", "[dynamic]") {
  AttrList machine{{"support_vectors", Floats{1, 0, 0, 1, -1, 1}},
                   {"kernel_type", text("RBF")},
                   {"kernel_params", Floats{0.5F, 0, 0}}};
  AttrList pairs = with(machine, {{"vectors_per_class", Ints{1, 1, 1}},
                                  {"coefficients", Floats{1, -1, 0.5F, 0.25F, -0.75F, 1}},
                                  {"rho", Floats{0.1F, 0.2F, -0.1F}},
                                  {"classlabels_ints", Ints{4, 5, 6}}});
  AttrList probabilities = with(pairs, {{"prob_a", Floats{-1, -2, -1}}, {"prob_b", Floats{0, 0.5F, 0}}});
  AttrList regressor =
      with(machine, {{"coefficients", Floats{1, 2, 3}}, {"rho", Floats{0.5F}}, {"n_supports", int64_t{3}}});
  check_dynamic({batches("SVMRegressor", 2, regressor), batches("SVMClassifier", 2, pairs, 2),
                 batches("SVMClassifier", 2, probabilities, 2)});
}

TEST_CASE("trees of dynamic batches", "[dynamic]") {
  AttrList target = with(tree("target", {0, 1, 0}, {1, 2, 3}), {{"n_targets", int64_t{2}}});
  AttrList two = with(tree("class", {0, 0, 0}, {0.25F, 0.5F, 0.75F}), {{"classlabels_int64s", Ints{7, 8}}});
  AttrList three = with(tree("class", {0, 1, 2}, {1, 2, 3}),
                        {{"classlabels_int64s", Ints{7, 8, 9}}, {"post_transform", text("SOFTMAX")}});
  AttrList ensemble{{"tree_roots", Ints{0}},
                    {"nodes_featureids", Ints{1}},
                    {"nodes_modes", Tensor::of(E::U8, {1}, Ints{0})},
                    {"nodes_splits", f32({1}, {0.25})},
                    {"nodes_truenodeids", Ints{0}},
                    {"nodes_trueleafs", Ints{1}},
                    {"nodes_falsenodeids", Ints{1}},
                    {"nodes_falseleafs", Ints{1}},
                    {"leaf_targetids", Ints{0, 0}},
                    {"leaf_weights", f32({2}, {1, 2})}};
  check_dynamic({batches("TreeEnsembleRegressor", 2, target),
                 batches("TreeEnsembleRegressor", 2, with(target, {{"aggregate_function", text("MAX")}})),
                 batches("TreeEnsembleClassifier", 2, two, 2), batches("TreeEnsembleClassifier", 2, three, 2),
                 batches("TreeEnsembleClassifier", 2, three), batches("TreeEnsemble", 2, ensemble)});
}

}  // namespace mrvlc::test
