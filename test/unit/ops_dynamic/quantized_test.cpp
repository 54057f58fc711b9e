// Quantised products of dynamic shapes.
#include "../ops/dynamic_case.h"

namespace mrvlc::test {
namespace {

using Ints = std::vector<int64_t>;

Tensor same(int64_t count, double value) {
  return f32({count}, std::vector<double>(static_cast<size_t>(count), value));
}

Tensor none(E elem) {
  return Tensor::of(elem, {}, std::vector<double>{0});
}

TEST_CASE("quantised matrix products of dynamic shapes") {
  std::vector<DynamicCase> cases;
  const Tensor one = f32({}, {0.125}), zero = sample(E::U8, {});
  for (E y : {E::I8, E::F8E4M3FN}) {
    DynamicCase bytes{"QLinearMatMul",
                      {dynamic_type(E::U8, {-2, -3, -4}), dynamic_type(E::F32, {-3}), zero,
                       dynamic_type(E::I8, {-4, -5}), one, sample(E::I8, {}), one, none(y)},
                      {}};
    for (int64_t m : {1, 3})
      bytes.runs.push_back({sample(E::U8, {2, m, 4}), same(m, 0.5), sample(E::I8, {4, 5})});
    bytes.runs.push_back({sample(E::U8, {2, 3, 4}), same(2, 1), sample(E::I8, {4, 5})});
    cases.push_back(bytes);
    const Tensor nothing = none(E::F8E5M2);
    DynamicCase floats{"QLinearMatMul",
                       {dynamic_type(E::F8E5M2, {-3, 4}), one, nothing, dynamic_type(E::F8E5M2, {4, -5}), one,
                        nothing, one, none(y)},
                       {}};
    for (int64_t m : {1, 3})
      floats.runs.push_back({sample(E::F8E5M2, {m, 4}), sample(E::F8E5M2, {4, 2 + m})});
    cases.push_back(floats);
  }
  check_dynamic(cases);
}

TEST_CASE("quantised convolutions of dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (const AttrList& window : {AttrList{}, AttrList{{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}},
                                 AttrList{{"group", int64_t{2}}, {"dilations", Ints{1, 2}}}}) {
    const int64_t channels = window.empty() || window[0].first != "group" ? 4 : 2;
    DynamicCase c{"QLinearConv",
                  {dynamic_type(E::U8, {-2, 4, -9, -9}), f32({}, {0.02}), sample(E::U8, {}),
                   dynamic_type(E::I8, {-6, channels, 3, 2}), dynamic_type(E::F32, {-6}), sample(E::I8, {}),
                   f32({}, {0.5}), sample(E::I8, {}), dynamic_type(E::I32, {-6})},
                  {},
                  window};
    for (int64_t m : {4, 6}) {
      c.runs.push_back({sample(E::U8, {2, 4, 7, 6}), sample(E::I8, {m, channels, 3, 2}), same(m, 0.25),
                        sample(E::I32, {m})});
    }
    Tensor weights = sample(E::I8, {4, channels, 3, 2});
    c.runs.push_back({sample(E::U8, {1, 4, 9, 9}), weights, same(4, 0.25), sample(E::I32, {6})});
    c.runs.push_back({sample(E::U8, {1, 4, 9, 9}), weights, same(3, 0.25), sample(E::I32, {4})});
    cases.push_back(c);
  }
  check_dynamic(cases);
}

}  // namespace
}  // namespace mrvlc::test
