// Operators whose operands decide about the shape.
#include <limits>

#include "../ops/dynamic_case.h"

namespace mrvlc::test {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

Tensor vector(std::vector<int64_t> values) {
  return i64({static_cast<int64_t>(values.size())}, values);
}
TensorType vector_type(int64_t length) {
  return dynamic_type(E::I64, {length});
}

// All lists of `count` of the values.
std::vector<std::vector<int64_t>> lists(const std::vector<int64_t>& values, size_t count) {
  std::vector<std::vector<int64_t>> all{{}};
  for (size_t i = 0; i < count; ++i) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& list : all) {
      for (int64_t v : values) {
        longer.push_back(list);
        longer.back().push_back(v);
      }
    }
    all = longer;
  }
  return all;
}

TEST_CASE("Reshape to a shape known at run time") {
  std::vector<DynamicCase> cases;
  for (int64_t zeros : {0, 1}) {
    DynamicCase c{"Reshape", {dynamic_type(E::F32, {-4, 3}), vector_type(3)}, {}, {{"allowzero", zeros}}};
    for (Shape shape : {Shape{4, 3}, {0, 3}, {2, 3}}) {
      for (const auto& to : lists({-1, 0, 1, 2, 3, 12, -2, kMost}, 3))
        c.runs.push_back({sample(E::F32, shape), vector(to)});
    }
    cases.push_back(c);
  }
  cases.push_back({"Reshape",
                   {dynamic_type(E::I8, {2, 3}), vector_type(1)},
                   {{sample(E::I8, {2, 3}), vector({-1})},
                    {sample(E::I8, {2, 3}), vector({6})},
                    {sample(E::I8, {2, 3}), vector({5})}}});
  cases.push_back({"Reshape",
                   {dynamic_type(E::I8, {-2, 1}), vector_type(0)},
                   {{sample(E::I8, {1, 1}), vector({})}, {sample(E::I8, {2, 1}), vector({})}}});
  for (std::vector<int64_t> to :
       {std::vector<int64_t>{0, -1}, {-1, 0, 1}, {2, -1}, {3, 2, 2}, {-1}, {0, 3, -1}}) {
    cases.push_back({"Reshape", {dynamic_type(E::U8, {-4, 3}), vector(to)}, {}});
    for (int64_t n : {0, 1, 2, 3, 4}) cases.back().runs.push_back({sample(E::U8, {n, 3})});
  }
  check_dynamic(cases);
}

TEST_CASE("Flatten, Squeeze and Unsqueeze of dynamic shapes") {
  std::vector<DynamicCase> cases;
  std::vector<std::vector<Tensor>> runs;
  for (Shape shape : {Shape{2, 1, 3}, {1, 1, 3}, {0, 1, 3}}) runs.push_back({sample(E::F32, shape)});
  TensorType x = dynamic_type(E::F32, {-2, 1, 3});
  for (int64_t axis : {-3, -1, 0, 1, 3}) cases.push_back({"Flatten", {x}, runs, {{"axis", axis}}});
  cases.push_back({"Squeeze", {x}, runs});
  for (std::vector<int64_t> axes : {std::vector<int64_t>{1}, {0}, {0, -2}})
    cases.push_back({"Squeeze", {x, vector(axes)}, runs});
  for (std::vector<int64_t> axes : {std::vector<int64_t>{1}, {0}, {-1, 2}, {}})
    cases.push_back({"Unsqueeze", {x, vector(axes)}, runs});
  for (auto name : {"Squeeze", "Unsqueeze"}) {
    for (int64_t count : {0, 1, 2}) {
      cases.push_back({name, {x, vector_type(count)}, {}});
      for (const auto& axes : lists({-3, -1, 0, 1, 4, -9, kLeast, kMost}, static_cast<size_t>(count))) {
        for (const auto& run : runs) cases.back().runs.push_back({run[0], vector(axes)});
      }
    }
  }
  cases.push_back({"Squeeze",
                   {dynamic_type(E::F32, {1, 1}), vector_type(2)},
                   {{sample(E::F32, {1, 1}), vector({0, 1})}, {sample(E::F32, {1, 1}), vector({1, 1})}}});
  check_dynamic(cases);
}

TEST_CASE("Slice of and by what is known at run time") {
  std::vector<int64_t> edges{-9, -4, -3, -1, 0, 1, 3, 7, kLeast, kMost};
  DynamicCase values{
      "Slice",
      {dynamic_type(E::F32, {3, 2}), vector_type(1), vector_type(1), vector_type(1), vector_type(1)},
      {}};
  for (const auto& edge : lists(edges, 2)) {
    for (int64_t step : {int64_t{-2}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{2}, kMost, kLeast}) {
      values.runs.push_back(
          {sample(E::F32, {3, 2}), vector({edge[0]}), vector({edge[1]}), vector({0}), vector({step})});
    }
  }
  DynamicCase two{
      "Slice",
      {dynamic_type(E::I16, {-4, -5}), vector_type(2), vector_type(2), vector_type(2), vector_type(2)},
      {}};
  for (const auto& axes : lists({-2, -1, 0, 1, 2, kLeast}, 2)) {
    for (Shape shape : {Shape{4, 5}, {0, 2}, {3, 1}})
      two.runs.push_back(
          {sample(E::I16, shape), vector({1, -1}), vector({4, -6}), vector(axes), vector({2, -1})});
  }
  std::vector<DynamicCase> cases{values, two};
  for (const auto& edge : lists(edges, 2)) {
    for (int64_t step : {int64_t{-2}, int64_t{-1}, int64_t{1}, int64_t{2}, kMost, kLeast}) {
      cases.push_back({"Slice",
                       {dynamic_type(E::U8, {-4}), vector({edge[0]}), vector({edge[1]}), {}, vector({step})},
                       {}});
      for (int64_t n : {0, 1, 2, 3, 4}) cases.back().runs.push_back({sample(E::U8, {n})});
    }
  }
  cases.push_back({"Slice",
                   {dynamic_type(E::U8, {-4, 3}), vector({1}), vector({2}), vector({1})},
                   {{sample(E::U8, {4, 3})}}});
  TensorType some = dynamic_type(E::I64, {-3});
  cases.push_back({"Slice", {dynamic_type(E::U8, {3, 3}), some, some, some}, {}});
  for (size_t n : {0u, 1u, 2u, 3u}) {
    cases.back().runs.push_back({sample(E::U8, {3, 3}), vector(std::vector<int64_t>(n, 1)),
                                 vector(std::vector<int64_t>(n, 3)), vector({1})});
    std::vector<int64_t> axes{0, 1, 2};
    axes.resize(n);
    cases.back().runs.push_back({sample(E::U8, {3, 3}), vector(std::vector<int64_t>(n, 1)),
                                 vector(std::vector<int64_t>(n, 3)), vector(axes)});
  }
  check_dynamic(cases);
}

TEST_CASE("Expand and Tile by what is known at run time") {
  std::vector<DynamicCase> cases;
  DynamicCase expand{"Expand", {dynamic_type(E::F32, {-3, 1}), vector_type(3)}, {}};
  DynamicCase tile{"Tile", {dynamic_type(E::F32, {-3, 2}), vector_type(2)}, {}};
  for (int64_t n : {0, 1, 3}) {
    for (const auto& to : lists({-1, 0, 1, 2, 3, kMost, kLeast}, 3))
      expand.runs.push_back({sample(E::F32, {n, 1}), vector(to)});
    for (const auto& to : lists({-1, 0, 1, 3, 4, 13, kMost, kLeast}, 2))
      tile.runs.push_back({sample(E::F32, {n, 2}), vector(to)});
  }
  cases = {expand, tile};
  cases.push_back({"Expand",
                   {dynamic_type(E::I16, {2, 1}), vector_type(1)},
                   {{sample(E::I16, {2, 1}), vector({4})}, {sample(E::I16, {2, 1}), vector({1})}}});
  cases.push_back({"Expand", {dynamic_type(E::I16, {}), vector_type(0)}, {{sample(E::I16, {}), vector({})}}});
  for (std::vector<int64_t> to : {std::vector<int64_t>{3, 2}, {2, 1, 1}, {1, 4}, {4}}) {
    cases.push_back({"Expand", {dynamic_type(E::I16, {-3, 1}), vector(to)}, {}});
    if (to.size() == 2) cases.push_back({"Tile", {dynamic_type(E::I16, {-3, 1}), vector(to)}, {}});
  }
  for (size_t i = 4; i < cases.size(); ++i) {
    for (int64_t n : {0, 1, 2, 3}) cases[i].runs.push_back({sample(E::I16, {n, 1})});
  }
  check_dynamic(cases);
}

TEST_CASE("Pad by what is known at run time") {
  std::vector<DynamicCase> cases;
  for (std::string mode : {"constant", "reflect", "edge", "wrap"}) {
    AttrList attrs{{"mode", mode}};
    DynamicCase all{
        "Pad", {dynamic_type(E::F32, {-3, 4}), vector_type(4), dynamic_type(E::F32, {})}, {}, attrs};
    for (const auto& pads : lists({-2, 0, 1, 5}, 4)) {
      for (int64_t n : {0, 1, 3}) all.runs.push_back({sample(E::F32, {n, 4}), vector(pads), f32({}, {7})});
    }
    all.runs.push_back({sample(E::F32, {1, 4}), vector({kMost, 0, 0, 0}), f32({}, {7})});
    all.runs.push_back({sample(E::F32, {1, 4}), vector({0, 0, 0, kLeast}), f32({}, {7})});
    DynamicCase axes{"Pad", {dynamic_type(E::I8, {2, 3}), vector_type(2), {}, vector_type(1)}, {}, attrs};
    for (int64_t axis : {int64_t{-2}, int64_t{0}, int64_t{1}, int64_t{2}, kLeast, kMost})
      axes.runs.push_back({sample(E::I8, {2, 3}), vector({1, 2}), vector({axis})});
    cases.push_back(all);
    cases.push_back(axes);
    cases.push_back({"Pad", {dynamic_type(E::F32, {-3, 4}), vector({1, 0, 2, -1}), f32({}, {2})}, {}, attrs});
    for (int64_t n : {0, 1, 3}) cases.back().runs.push_back({sample(E::F32, {n, 4})});
  }
  check_dynamic(cases);
}

TEST_CASE("Concat and Split of dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (int64_t axis : {0, 1, -1}) {
    TensorType x = dynamic_type(E::I32, {-3, -3});
    cases.push_back({"Concat", {x, dynamic_type(E::I32, {-3, 2}), x}, {}, {{"axis", axis}}});
    for (const auto& n : lists({0, 2, 3}, 3)) {
      cases.back().runs.push_back(
          {sample(E::I32, {n[0], n[1]}), sample(E::I32, {2, 2}, 2), sample(E::I32, {n[2], 2}, 3)});
    }
    cases.push_back({"Split", {x, vector_type(2)}, {}, {{"axis", axis}}, 2});
    for (const auto& n : lists({-1, 0, 1, 2, 4, kMost}, 2))
      cases.back().runs.push_back({sample(E::I32, {3, 2}), vector(n)});
    cases.push_back({"Split", {x}, {}, {{"axis", axis}, {"num_outputs", int64_t{2}}}, 2});
    cases.push_back({"Split", {x, vector({1, 2})}, {}, {{"axis", axis}}, 2});
    for (size_t i : {cases.size() - 2, cases.size() - 1}) {
      for (const auto& n : lists({0, 1, 2, 3}, 2)) cases[i].runs.push_back({sample(E::I32, {n[0], n[1]})});
    }
  }
  check_dynamic(cases);
}

TEST_CASE("shapes and fills known at run time") {
  std::vector<DynamicCase> cases;
  TensorType x = dynamic_type(E::F32, {-3, 4, -2});
  std::vector<std::vector<Tensor>> runs;
  for (Shape shape : {Shape{3, 4, 2}, {0, 4, 1}, {1, 4, 0}}) runs.push_back({sample(E::F32, shape)});
  cases.push_back({"Size", {x}, runs});
  for (int64_t start : {-9, -1, 0, 1, 3}) {
    cases.push_back({"Shape", {x}, runs, {{"start", start}}});
    cases.push_back({"Shape", {x}, runs, {{"start", start}, {"end", int64_t{-1}}}});
  }
  cases.push_back({"ConstantOfShape", {vector_type(2)}, {}});
  cases.push_back({"ConstantOfShape", {vector_type(2)}, {}, {{"value", i64({1}, {kLeast})}}});
  for (DynamicCase* c : {&cases[cases.size() - 2], &cases.back()}) {
    for (const auto& to : lists({-1, 0, 3, 24, 25, kMost, kLeast}, 2)) c->runs.push_back({vector(to)});
  }
  cases.push_back({"ConstantOfShape", {vector_type(0)}, {{vector({})}}});
  for (E elem : {E::F32, E::F64, E::I16, E::I32, E::I64}) {
    TensorType one = dynamic_type(elem, {});
    cases.push_back({"Range", {one, one, one}, {}});
    for (const auto& v : lists({-3, 0, 1, 5, 30}, 3)) {
      cases.back().runs.push_back({Tensor::of<int64_t>(elem, {}, {v[0]}),
                                   Tensor::of<int64_t>(elem, {}, {v[1]}),
                                   Tensor::of<int64_t>(elem, {}, {v[2]})});
    }
  }
  cases.push_back(
      {"Range", {dynamic_type(E::I64, {}), dynamic_type(E::I64, {}), dynamic_type(E::I64, {})}, {}});
  for (const auto& v : lists({kLeast, kMost, -1, 0}, 3))
    cases.back().runs.push_back({i64({}, {v[0]}), i64({}, {v[1]}), i64({}, {v[2]})});
  for (int64_t k : {-1, 0, 2}) {
    cases.push_back({"EyeLike", {dynamic_type(E::F32, {-3, -4})}, {}, {{"k", k}, {"dtype", E::I8}}});
    for (const auto& n : lists({0, 1, 3}, 2)) cases.back().runs.push_back({sample(E::F32, {n[0], n[1]})});
  }
  check_dynamic(cases);
}

}  // namespace
}  // namespace mrvlc::test
