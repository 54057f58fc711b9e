// Operators of ai.onnx.ml by hand.
#include <cmath>

#include "evaluate.h"

namespace mrvlc::test {
namespace {

constexpr std::string_view kMl = "ai.onnx.ml";

// Two stumps on feature 0: at 1 and, where `missing`, NaN goes to the true branch.
AttrList stumps(Floats weights, const std::string& kind, Ints ids, bool missing = false) {
  AttrList a{{"nodes_treeids", Ints{0, 0, 0, 1, 1, 1}},
             {"nodes_nodeids", Ints{0, 1, 2, 0, 1, 2}},
             {"nodes_featureids", Ints{0, 0, 0, 1, 0, 0}},
             {"nodes_values", Floats{1, 0, 0, 2, 0, 0}},
             {"nodes_modes", Texts{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"}},
             {"nodes_truenodeids", Ints{1, 0, 0, 1, 0, 0}},
             {"nodes_falsenodeids", Ints{2, 0, 0, 2, 0, 0}}};
  if (missing) a.emplace_back("nodes_missing_value_tracks_true", Ints{1, 0, 0, 1, 0, 0});
  a.emplace_back(kind == "target" ? "target_treeids" : "class_treeids", Ints{0, 0, 1, 1});
  a.emplace_back(kind == "target" ? "target_nodeids" : "class_nodeids", Ints{1, 2, 1, 2});
  a.emplace_back(kind == "target" ? "target_ids" : "class_ids", std::move(ids));
  a.emplace_back(kind == "target" ? "target_weights" : "class_weights", std::move(weights));
  return a;
}

AttrList with(AttrList attrs, const AttrList& more) {
  attrs.insert(attrs.end(), more.begin(), more.end());
  return attrs;
}

}  // namespace

TEST_CASE("trees branch, vote and add up") {
  Tensor x = f32({3, 2}, {1, 2, 1.5, 3, NAN, NAN});
  AttrList sum = with(stumps({1, 2, 10, 20}, "target", {0, 0, 0, 0}), {{"n_targets", int64_t{1}}});
  check_close(results_of(kMl, "TreeEnsembleRegressor", {x}, sum)[0], {21, 12, 22});
  AttrList missing = with(stumps({1, 2, 10, 20}, "target", {0, 0, 0, 0}, true), {{"n_targets", int64_t{1}}});
  check_close(results_of(kMl, "TreeEnsembleRegressor", {x}, missing)[0], {21, 12, 11});
  for (auto [name, expected] : {std::pair{"AVERAGE", 10.5}, {"MIN", 1.0}, {"MAX", 20.0}}) {
    AttrList a = with(sum, {{"aggregate_function", std::string(name)}});
    CHECK(results_of(kMl, "TreeEnsembleRegressor", {x}, a)[0].as_double(0) == expected);
  }
}

TEST_CASE("trees vote for classes") {
  Tensor x = f32({2, 2}, {1, 2, 1.5, 3});
  AttrList three =
      with(stumps({1, 2, 10, 20}, "class", {0, 1, 2, 1}), {{"classlabels_strings", Texts{"a", "b", "c"}}});
  auto y = results_of(kMl, "TreeEnsembleClassifier", {x}, three, 2);
  CHECK(y[0].string_data() == Texts{"b", "c"});
  check_close(y[1], {1, 20, 0, 0, 2, 10});
  AttrList two =
      with(stumps({0.2F, 0.3F, 0.1F, 0.4F}, "class", {0, 0, 0, 0}), {{"classlabels_int64s", Ints{5, 6}}});
  y = results_of(kMl, "TreeEnsembleClassifier", {x}, two, 2);
  CHECK(y[0].to_ints() == Ints{6, 5});
  check_close(y[1], {0.4, 0.6, 0.6, 0.4});
}

TEST_CASE("trees that are none are refused") {
  Tensor x = f32({1, 2}, {1, 2});
  AttrList good = with(stumps({1, 2, 10, 20}, "target", {0, 0, 0, 0}), {{"n_targets", int64_t{1}}});
  for (const AttrList& bad : {AttrList{{"nodes_truenodeids", Ints{0, 0, 0, 1, 0, 0}}},  // its own child
                              AttrList{{"nodes_truenodeids", Ints{9, 0, 0, 1, 0, 0}}},  // no such node
                              AttrList{{"nodes_featureids", Ints{2, 0, 0, 1, 0, 0}}},   // no such feature
                              AttrList{{"target_ids", Ints{1, 0, 0, 0}}},               // no such target
                              AttrList{{"nodes_nodeids", Ints{0, 0, 2, 0, 1, 2}}}})     // one node twice
    CHECK(refusal_of(kMl, "TreeEnsembleRegressor", {x}, with(good, bad)) == DiagCode::MRV0208);
  CHECK(refusal_of(kMl, "TreeEnsembleRegressor", {x}, with(good, {{"nodes_values", Floats{1}}})) ==
        DiagCode::MRV0204);
}

TEST_CASE("TreeEnsemble tests membership") {
  Tensor weights = f32({2}, {1, 2}), modes = Tensor::of(E::U8, {1}, Ints{6});
  AttrList a{{"tree_roots", Ints{0}},         {"nodes_featureids", Ints{0}},
             {"nodes_modes", modes},          {"nodes_splits", f32({1}, {0})},
             {"nodes_truenodeids", Ints{0}},  {"nodes_trueleafs", Ints{1}},
             {"nodes_falsenodeids", Ints{1}}, {"nodes_falseleafs", Ints{1}},
             {"leaf_targetids", Ints{0, 0}},  {"leaf_weights", weights},
             {"n_targets", int64_t{1}},       {"membership_values", f32({3}, {3, 5, NAN})}};
  check_close(results_of(kMl, "TreeEnsemble", {f32({3, 1}, {5, 4, NAN})}, a)[0], {1, 2, 2});
  CHECK(refusal_of(kMl, "TreeEnsemble", {f32({1, 1}, {5})}, with(a, {{"nodes_trueleafs", Ints{0}}})) ==
        DiagCode::MRV0208);
}

TEST_CASE("LabelEncoder maps both ways, with a default") {
  AttrList a{{"keys_strings", Texts{"b", "a", "b"}}, {"values_int64s", Ints{1, 2, 3}}};
  CHECK(results_of(kMl, "LabelEncoder", {texts({"a", "b", "c"})}, a)[0].to_ints() == Ints{2, 1, -1});
  AttrList back{{"keys_floats", Floats{1, NAN}}, {"values_strings", Texts{"one", "none"}}};
  CHECK(results_of(kMl, "LabelEncoder", {f32({3}, {NAN, 1, 2})}, back)[0].string_data() ==
        Texts{"none", "one", "_Unused"});
  CHECK(refusal_of(kMl, "LabelEncoder", {i64({1}, {1})}, a) == DiagCode::MRV0208);
  CHECK(refusal_of(kMl, "LabelEncoder", {texts({"a"})}, {{"keys_strings", Texts{"a"}}}) == DiagCode::MRV0204);
}

TEST_CASE("the rest of the domain") {
  Tensor x = f32({2, 2}, {1, -2, 3, 4});
  check_close(results_of(kMl, "Scaler", {x}, {{"offset", Floats{1, 2}}, {"scale", Floats{2}}})[0],
              {0, -8, 4, 4});
  check_close(results_of(kMl, "Normalizer", {x}, {{"norm", std::string("L1")}})[0],
              {1 / 3.0, -2 / 3.0, 3 / 7.0, 4 / 7.0});
  check_close(results_of(kMl, "FeatureVectorizer", {x, f32({2, 1}, {8, 9})})[0], {1, -2, 8, 3, 4, 9});
  check_close(results_of(kMl, "LinearRegressor", {x},
                         {{"coefficients", Floats{1, 2}}, {"intercepts", Floats{10}}})[0],
              {7, 21});
  check_close(results_of(kMl, "OneHotEncoder", {i64({2}, {7, 5})}, {{"cats_int64s", Ints{5, 6}}})[0],
              {0, 0, 1, 0});
  check_close(results_of(kMl, "Imputer", {f32({2}, {NAN, 2})},
                         {{"imputed_value_floats", Floats{9}}, {"replaced_value_float", NAN}})[0],
              {9, 2});
  CHECK(results_of(kMl, "ArrayFeatureExtractor", {texts({"a", "b"}), i64({1}, {1})})[0].string_data() ==
        Texts{"b"});
  CHECK(refusal_of(kMl, "ArrayFeatureExtractor", {x, i64({1}, {2})}) == DiagCode::MRV0208);
  CHECK(refusal_of(kMl, "ZipMap", {x}) == DiagCode::MRV0208);
}

TEST_CASE("support vectors vote") {
  // One vector a class; the kernel is the dot product.
  AttrList a{{"support_vectors", Floats{1, 0, 0, 1}},
             {"vectors_per_class", Ints{1, 1}},
             {"coefficients", Floats{1, -1}},
             {"rho", Floats{0}},
             {"classlabels_ints", Ints{4, 5}}};
  auto y = results_of(kMl, "SVMClassifier", {f32({2, 2}, {2, 1, 1, 3})}, a, 2);
  CHECK(y[0].to_ints() == Ints{4, 5});
  check_close(y[1], {-1, 1, 2, -2});
  CHECK(refusal_of(kMl, "SVMClassifier", {f32({1, 2}, {2, 1})}, with(a, {{"rho", Floats{}}}), 2) ==
        DiagCode::MRV0204);
}

}  // namespace mrvlc::test
