// Normalisations by rows and groups, and rotary embeddings, of dynamic shapes.
#include "../ops/dynamic_case.h"

namespace mrvlc::test {
namespace {

TEST_CASE("root mean square normalisation of dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (E elem : {E::F32, E::F64}) {
    for (int64_t axis : {1, 2}) {
      DynamicCase c{"RMSNormalization",
                    {dynamic_type(elem, {-3, -4, -40}), dynamic_type(elem, {-40})},
                    {},
                    {{"axis", axis}}};
      for (const Shape& shape : {Shape{2, 3, 40}, {3, 4, 7}, {1, 1, 1}, {0, 4, 7}})
        c.runs.push_back({sample(elem, shape), sample(elem, {shape[2]}, 3)});
      c.runs.push_back({sample(elem, {2, 3, 7}), sample(elem, {1}, 3)});
      c.runs.push_back({sample(elem, {2, 3, 7}), sample(elem, {6}, 3)});
      cases.push_back(c);
    }
  }
  check_dynamic(cases);
}

TEST_CASE("group normalisation of dynamic shapes") {
  std::vector<DynamicCase> cases;
  TensorType x = dynamic_type(E::F32, {-2, -8, -5, -6}), vector = dynamic_type(E::F32, {-8});
  DynamicCase c{"GroupNormalization", {x, vector, vector}, {}, {{"num_groups", int64_t{2}}}};
  for (int64_t channels : {2, 4, 8}) {
    for (int64_t scales : {int64_t{2}, channels}) {
      c.runs.push_back(
          {sample(E::F32, {2, channels, 3, 6}), sample(E::F32, {scales}, 2), sample(E::F32, {scales}, 3)});
    }
  }
  c.runs.push_back({sample(E::F32, {1, 5, 3, 6}), sample(E::F32, {5}, 2), sample(E::F32, {5}, 3)});
  c.runs.push_back({sample(E::F32, {1, 4, 3, 6}), sample(E::F32, {3}, 2), sample(E::F32, {3}, 3)});
  cases.push_back(c);
  const Tensor scale = sample(E::F32, {4}, 2);
  cases.push_back({"GroupNormalization",
                   {dynamic_type(E::F32, {-2, 4, -6}), scale, scale},
                   {{sample(E::F32, {1, 4, 6})}, {sample(E::F32, {2, 4, 1})}},
                   {{"num_groups", int64_t{2}}}});
  check_dynamic(cases);
}

TEST_CASE("mean and variance over dynamic axes") {
  std::vector<DynamicCase> cases;
  for (const auto& axes : {std::vector<int64_t>{0, 2, 3}, {1}, {-1}, {0, 1, 2, 3}, {}}) {
    DynamicCase c{
        "MeanVarianceNormalization", {dynamic_type(E::F32, {-3, 4, -5, -40}, 900)}, {}, {{"axes", axes}}};
    for (const Shape& s : {Shape{3, 4, 2, 7}, {1, 4, 5, 40}, {0, 4, 5, 40}, {3, 4, 5, 0}})
      c.runs.push_back({sample(E::F32, s)});
    cases.push_back(c);
  }
  cases.push_back({"MeanVarianceNormalization",
                   {dynamic_type(E::F64, {-3, 4})},
                   {{sample(E::F64, {2, 4})}},
                   {{"axes", std::vector<int64_t>{0}}}});
  check_dynamic(cases);
}

TEST_CASE("rotary embeddings of dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (int64_t interleaved : {0, 1}) {
    AttrList attrs{{"interleaved", interleaved}, {"rotary_embedding_dim", int64_t{4}}};
    TensorType cache = dynamic_type(E::F32, {-2, -5, 2});
    DynamicCase c{"RotaryEmbedding", {dynamic_type(E::F32, {-2, -3, -5, -6}), cache, cache}, {}, attrs};
    for (const Shape& s : {Shape{2, 3, 5, 6}, {1, 2, 4, 4}})
      c.runs.push_back(
          {sample(E::F32, s), sample(E::F32, {s[0], s[2], 2}, 2), sample(E::F32, {s[0], s[2], 2}, 3)});
    cases.push_back(c);
    AttrList packed{{"interleaved", interleaved}, {"num_heads", int64_t{2}}};
    TensorType rows = dynamic_type(E::F32, {-9, 2});
    DynamicCase p{"RotaryEmbedding",
                  {dynamic_type(E::F32, {-2, -5, 8}), rows, rows, dynamic_type(E::I64, {-2, -5})},
                  {},
                  packed};
    for (int64_t last : {6, 7}) {
      p.runs.push_back({sample(E::F32, {1, 3, 8}), sample(E::F32, {7, 2}, 2), sample(E::F32, {7, 2}, 3),
                        i64({1, 3}, {0, 2, last})});
    }
    cases.push_back(p);
  }
  check_dynamic(cases);
}

}  // namespace
}  // namespace mrvlc::test
