#include "mrvlc/interp/input_sets.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace mrvlc;
using interp::InputKind;

namespace {

ir::Graph graph_with(const std::vector<std::pair<std::string, TensorType>>& inputs) {
  ir::Graph graph;
  for (const auto& [name, type] : inputs) graph.add_input(name, type);
  return graph;
}

TensorType wrapped(Wrapper wrapper, TensorType type, int64_t length) {
  type.wrapper = wrapper;
  type.length = length;
  return type;
}

double most(const Tensor& t) {
  double out = 0;
  for (double v : t.to_doubles()) out = std::max(out, std::abs(v));
  return out;
}

}  // namespace

TEST_CASE("integers stand at both ends of their types") {
  using Elem = ElementType;
  const std::pair<Elem, std::pair<int64_t, int64_t>> kEnds[] = {{Elem::I8, {-128, 127}},
                                                                {Elem::U8, {0, 255}},
                                                                {Elem::I16, {-32768, 32767}},
                                                                {Elem::U16, {0, 65535}},
                                                                {Elem::I32, {INT32_MIN, INT32_MAX}},
                                                                {Elem::U32, {0, UINT32_MAX}},
                                                                {Elem::I64, {INT64_MIN, INT64_MAX}},
                                                                {Elem::U64, {0, -1}}};
  for (const auto& [type, ends] : kEnds) {
    INFO(name(type));
    const ir::Graph g = graph_with({{"x", {type, {3}}}});
    CHECK(interp::make_inputs(g, InputKind::Lowest, 1)[0].to_ints() == std::vector<int64_t>(3, ends.first));
    CHECK(interp::make_inputs(g, InputKind::Highest, 1)[0].to_ints() == std::vector<int64_t>(3, ends.second));
    CHECK(interp::make_inputs(g, InputKind::Highest, 1, 41)[0].to_ints() == std::vector<int64_t>(3, 41));
    CHECK(interp::concerns(InputKind::Highest, g));
    CHECK_FALSE(interp::concerns(InputKind::Large, g));
    CHECK_FALSE(interp::concerns(InputKind::MaskOpen, g));
  }
}

TEST_CASE("floats have the amplitude of their set, the same for the same seed") {
  const ir::Graph g = graph_with({{"x", {ElementType::F32, {1000}}}});
  const auto at = [&](InputKind kind, uint32_t seed = 1) { return interp::make_inputs(g, kind, seed)[0]; };
  CHECK(most(at(InputKind::Normal)) > 2);
  CHECK(most(at(InputKind::Normal)) < 6.1);
  CHECK(most(at(InputKind::Large)) == Approx(1e4 * most(at(InputKind::Normal))));
  CHECK(most(at(InputKind::Tiny)) == Approx(1e-6 * most(at(InputKind::Normal))));
  CHECK(most(at(InputKind::Zeros)) == 0);
  CHECK(at(InputKind::Normal) == at(InputKind::Normal));
  CHECK_FALSE(at(InputKind::Normal) == at(InputKind::Normal, 2));
  const auto negative = at(InputKind::Negative).to_doubles();
  CHECK(std::all_of(negative.begin(), negative.end(), [](double v) { return v <= 0 && v > -1; }));
}

TEST_CASE("masks are all open, all shut, or mixed") {
  const ir::Graph g = graph_with({{"x", {ElementType::Bool, {64}}},
                                  {"attn_Mask", {ElementType::F32, {64}}},
                                  {"other", {ElementType::F32, {64}}}});
  const auto at = [&](InputKind kind, size_t i) { return interp::make_inputs(g, kind, 1)[i].to_doubles(); };
  CHECK(at(InputKind::MaskOpen, 0) == std::vector<double>(64, 1));
  CHECK(at(InputKind::MaskOpen, 1) == std::vector<double>(64, 0));
  CHECK(at(InputKind::MaskShut, 0) == std::vector<double>(64, 0));
  CHECK(at(InputKind::MaskShut, 1) == std::vector<double>(64, -1e4));
  const auto mixed = at(InputKind::MaskMixed, 1), other = at(InputKind::MaskShut, 2);
  const auto shut = std::count(mixed.begin(), mixed.end(), -1e9),
             open = std::count(mixed.begin(), mixed.end(), 0);
  CHECK((shut > 10 && open > 10 && shut + open == 64));
  CHECK(*std::min_element(other.begin(), other.end()) >= 0);
  CHECK(interp::concerns(InputKind::MaskShut, g));
}

TEST_CASE("texts and sequences are made, too") {
  const ir::Graph g = graph_with({{"s", {ElementType::String, {5}}},
                                  {"q", wrapped(Wrapper::Sequence, {ElementType::F32, {2, 3}, 2}, 16)},
                                  {"o", wrapped(Wrapper::Optional, {ElementType::I64, {2}}, 0)}});
  const auto inputs = interp::make_inputs(g, InputKind::Uniform, 1);
  CHECK(inputs[0].string_data().size() == 5);
  CHECK(inputs[1].items().size() == 3);
  CHECK(inputs[1].items()[0].shape() == Shape{2, 3});
  CHECK(inputs[2].items().size() == 1);
  for (size_t i = 0; i < inputs.size(); ++i) CHECK(admits(g.value(g.inputs()[i]).type, inputs[i].type()));
}
