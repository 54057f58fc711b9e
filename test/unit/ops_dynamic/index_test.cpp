// Operators that read and write at positions held in tensors, and along axes.
#include <limits>

#include "../ops/dynamic_case.h"

namespace mrvlc::test {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

TEST_CASE("Gather on dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (int64_t axis : {0, 1, -1}) {
    AttrList attrs{{"axis", axis}};
    cases.push_back({"Gather", {dynamic_type(E::F32, {-3, 2}), dynamic_type(E::I64, {-2, -2})}, {}, attrs});
    cases.push_back({"Gather", {dynamic_type(E::U8, {-3, 2}), dynamic_type(E::I32, {})}, {}, attrs});
    for (int64_t n : {0, 1, 3}) {
      for (int64_t i :
           {int64_t{-3}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, kLeast, kMost}) {
        cases[cases.size() - 2].runs.push_back({sample(E::F32, {n, 2}), i64({1, 2}, {0, i})});
        if (i < 4 && i > -4) cases.back().runs.push_back({sample(E::U8, {n, 2}), i32({}, {i})});
      }
    }
    cases[cases.size() - 2].runs.push_back({sample(E::F32, {0, 2}), i64({0, 2}, {})});
    cases.push_back(
        {"GatherElements", {dynamic_type(E::F32, {-3, -2}), dynamic_type(E::I64, {-3, -3})}, {}, attrs});
    for (Shape shape : {Shape{1, 2}, {2, 2}, {3, 1}, {0, 2}, {1, 3}}) {
      for (int64_t i : {-4, -1, 0, 1, 2}) {
        Tensor index(TensorType{E::I64, shape});
        for (int64_t k = 0; k < index.elements(); ++k) index.set_int(k, k % 2 == 0 ? 0 : i);
        cases.back().runs.push_back({sample(E::F32, {3, 2}), index});
        cases.back().runs.push_back({sample(E::F32, {0, 2}), index});
      }
    }
  }
  check_dynamic(cases);
}

TEST_CASE("GatherND and ScatterND on dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (int64_t batch : {0, 1}) {
    cases.push_back({"GatherND",
                     {dynamic_type(E::F32, {-2, 3, -2}), dynamic_type(E::I64, {-2, -2, 1})},
                     {},
                     {{"batch_dims", batch}}});
    for (Shape shape : {Shape{2, 2, 1}, {2, 0, 1}, {1, 2, 1}}) {
      for (int64_t i : {int64_t{-3}, int64_t{0}, int64_t{1}, int64_t{2}, kMost, kLeast}) {
        Tensor index(TensorType{E::I64, shape});
        for (int64_t k = 0; k < index.elements(); ++k) index.set_int(k, k % 2 == 0 ? 0 : i);
        cases.back().runs.push_back({sample(E::F32, {2, 3, 2}), index});
      }
    }
  }
  for (std::string reduction : {"none", "add", "max"}) {
    cases.push_back(
        {"ScatterND",
         {dynamic_type(E::F32, {-3, 2, -2}), dynamic_type(E::I64, {-3, 2}), dynamic_type(E::F32, {-3, -2})},
         {},
         {{"reduction", reduction}}});
    for (int64_t i : {int64_t{-3}, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, kMost, kLeast}) {
      for (Shape updates : {Shape{2, 2}, {2, 1}, {3, 2}})
        cases.back().runs.push_back(
            {sample(E::F32, {3, 2, 2}), i64({2, 2}, {i, 1, 0, 0}), sample(E::F32, updates, 5)});
    }
    cases.push_back(
        {"ScatterElements",
         {dynamic_type(E::I32, {-3, 2}), dynamic_type(E::I64, {-3, -2}), dynamic_type(E::I32, {-3, -2})},
         {},
         {{"reduction", reduction}, {"axis", int64_t{1}}}});
    for (int64_t i : {int64_t{-2}, int64_t{0}, int64_t{1}, int64_t{2}, kMost}) {
      for (Shape updates : {Shape{2, 2}, {2, 1}})
        cases.back().runs.push_back(
            {sample(E::I32, {3, 2}), i64({2, 2}, {i, 1, 0, 0}), sample(E::I32, updates, 5)});
    }
  }
  check_dynamic(cases);
}

TEST_CASE("OneHot, TopK, CumSum and Trilu with operands known at run time") {
  std::vector<DynamicCase> cases;
  TensorType x = dynamic_type(E::F32, {-2, -4});
  for (int64_t axis : {0, 1, -1}) {
    cases.push_back({"OneHot",
                     {dynamic_type(E::I64, {-3, 2}), dynamic_type(E::I64, {1}), dynamic_type(E::I8, {2})},
                     {},
                     {{"axis", axis}}});
    for (int64_t depth : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{3}, int64_t{24}, int64_t{25}, kMost}) {
      cases.back().runs.push_back(
          {i64({2, 2}, {0, -1, 2, 9}), i64({1}, {depth}), Tensor::of<int64_t>(E::I8, {2}, {1, 5})});
    }
    cases.push_back({"OneHot",
                     {dynamic_type(E::F32, {-3, 2}), f32({}, {3}), dynamic_type(E::F32, {2})},
                     {},
                     {{"axis", axis}}});
    cases.back().runs.push_back({f32({2, 2}, {0.5, -1, 2, 9}), f32({2}, {0, 1})});
    for (int64_t largest : {0, 1}) {
      cases.push_back(
          {"TopK", {x, dynamic_type(E::I64, {1})}, {}, {{"axis", axis}, {"largest", largest}}, 2});
      for (int64_t k : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{4}, int64_t{5}, kMost})
        cases.back().runs.push_back({sample(E::F32, {2, 4}), i64({1}, {k})});
    }
    cases.push_back({"TopK", {x, i64({1}, {2})}, {}, {{"axis", axis}}, 2});
    for (Shape shape : {Shape{2, 4}, {1, 2}, {0, 3}}) cases.back().runs.push_back({sample(E::F32, shape)});
  }
  for (int64_t flags = 0; flags < 4; ++flags) {
    AttrList attrs{{"exclusive", flags & 1}, {"reverse", flags >> 1}};
    cases.push_back({"CumSum", {x, dynamic_type(E::I64, {})}, {}, attrs});
    cases.push_back(
        {"CumSum", {dynamic_type(E::I32, {-2, 3, 2}), i32({}, {1})}, {{sample(E::I32, {2, 3, 2})}}, attrs});
    for (int64_t axis : {int64_t{-3}, int64_t{-2}, int64_t{0}, int64_t{1}, int64_t{2}, kLeast}) {
      for (Shape shape : {Shape{2, 4}, {0, 3}, {1, 0}})
        cases[cases.size() - 2].runs.push_back({sample(E::F32, shape), i64({}, {axis})});
    }
  }
  for (int64_t upper : {0, 1}) {
    cases.push_back(
        {"Trilu", {dynamic_type(E::F32, {2, -3, -4}), dynamic_type(E::I64, {})}, {}, {{"upper", upper}}});
    for (int64_t k : {int64_t{-2}, int64_t{0}, int64_t{1}, int64_t{9}, kMost, kLeast}) {
      for (Shape shape : {Shape{2, 3, 4}, {2, 1, 4}, {2, 0, 1}})
        cases.back().runs.push_back({sample(E::F32, shape), i64({}, {k})});
    }
    cases.push_back({"Trilu",
                     {dynamic_type(E::F32, {-3, 3})},
                     {{sample(E::F32, {3, 3})}, {sample(E::F32, {1, 3})}},
                     {{"upper", upper}}});
    for (Shape empty : {Shape{0, 3}, {3, 0}, {2, 0, 1}}) {
      cases.push_back({"Trilu",
                       {dynamic_type(E::F32, empty), dynamic_type(E::I64, {})},
                       {{sample(E::F32, empty), i64({}, {1})}},
                       {{"upper", upper}}});
    }
  }
  check_dynamic(cases);
}

}  // namespace
}  // namespace mrvlc::test
