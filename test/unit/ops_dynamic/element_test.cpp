// Element-wise operators and plain movement.
#include "../ops/dynamic_case.h"

namespace mrvlc::test {
namespace {

// Every pair of shapes of up to two dimensions out of 0, 1, 3.
std::vector<std::vector<Tensor>> shape_pairs(E elem) {
  std::vector<std::vector<Tensor>> runs;
  for (int64_t a : {0, 1, 3}) {
    for (int64_t b : {0, 1, 3}) {
      for (int64_t c : {0, 1, 3}) runs.push_back({sample(elem, {a, b}, 1), sample(elem, {c}, 2)});
    }
  }
  return runs;
}

TEST_CASE("element-wise operators on dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (const ops::OpDef* op : ops::all_ops()) {
    bool pair = op->domain.empty() && op->scalar != nullptr && (op->max_inputs == 2 || op->max_inputs < 0);
    if (!pair) continue;
    for (E elem : {E::F32, E::I32, E::U64, E::Bool}) {
      if (!op->types.has(elem)) continue;
      AttrList attrs;
      if (op->name == "BitShift") attrs = {{"direction", std::string("LEFT")}};
      if (op->name == "Mod" && is_float(elem)) attrs = {{"fmod", int64_t{1}}};
      cases.push_back({std::string(op->name),
                       {dynamic_type(elem, {-4, -4}), dynamic_type(elem, {-4})},
                       shape_pairs(elem),
                       attrs});
      cases.push_back(
          {std::string(op->name), {dynamic_type(elem, {3, -4}), dynamic_type(elem, {-4})}, {}, attrs});
      for (auto& run : shape_pairs(elem)) {
        if (run[0].shape()[0] == 3) cases.back().runs.push_back(run);
      }
    }
  }
  check_dynamic(cases);
}

TEST_CASE("one and three operands on dynamic shapes") {
  std::vector<DynamicCase> cases;
  TensorType x = dynamic_type(E::F32, {-4, 3}), flags = dynamic_type(E::Bool, {-4, 1, -4}),
             row = dynamic_type(E::F32, {-4});
  std::vector<std::vector<Tensor>> ones{
      {sample(E::F32, {4, 3})}, {sample(E::F32, {0, 3})}, {sample(E::F32, {1, 3})}};
  for (auto name : {"Exp", "Relu", "Identity", "Sign", "Dropout", "IsNaN"})
    cases.push_back({name, {x}, ones});
  cases.push_back({"Cast", {x}, ones, {{"to", E::I8}}});
  cases.push_back({"CastLike", {x, dynamic_type(E::Bool, {-9})}, {}});
  for (const auto& run : ones) cases.back().runs.push_back({run[0], booleans({2}, {0, 1})});
  cases.push_back({"Clip", {x, dynamic_type(E::F32, {-1}), f32({}, {1})}, {}});
  for (const auto& run : ones) {
    cases.back().runs.push_back({run[0], f32({1}, {-0.5})});
  }
  cases.push_back({"Where",
                   {flags, row, dynamic_type(E::F32, {})},
                   {{sample(E::Bool, {2, 1, 3}), sample(E::F32, {3}), sample(E::F32, {})},
                    {sample(E::Bool, {2, 1, 1}), sample(E::F32, {3}), sample(E::F32, {})},
                    {sample(E::Bool, {2, 1, 2}), sample(E::F32, {3}), sample(E::F32, {})},
                    {sample(E::Bool, {0, 1, 4}), sample(E::F32, {1}), sample(E::F32, {})}}});
  for (auto name : {"Max", "Min", "Sum", "Mean"}) {
    cases.push_back({name,
                     {row, row, dynamic_type(E::F32, {-4, 1})},
                     {{sample(E::F32, {3}, 1), sample(E::F32, {3}, 2), sample(E::F32, {2, 1}, 3)},
                      {sample(E::F32, {1}, 1), sample(E::F32, {4}, 2), sample(E::F32, {2, 1}, 3)},
                      {sample(E::F32, {2}, 1), sample(E::F32, {4}, 2), sample(E::F32, {2, 1}, 3)}}});
  }
  TensorType packed = dynamic_type(E::F32, {-6, -6}, 6);
  cases.push_back(
      {"Abs", {packed}, {{sample(E::F32, {2, 3})}, {sample(E::F32, {6, 1})}, {sample(E::F32, {0, 6})}}});
  check_dynamic(cases);
}

TEST_CASE("permutations of dynamic shapes") {
  std::vector<DynamicCase> cases;
  std::vector<std::vector<Tensor>> runs;
  for (Shape shape : {Shape{2, 3, 4}, {1, 3, 4}, {0, 3, 1}, {2, 3, 1}})
    runs.push_back({sample(E::I16, shape)});
  TensorType x = dynamic_type(E::I16, {-2, 3, -4});
  for (std::vector<int64_t> perm :
       {std::vector<int64_t>{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}, {0, 2, 1}})
    cases.push_back({"Transpose", {x}, runs, {{"perm", perm}}});
  cases.push_back({"Transpose", {dynamic_type(E::F64, {})}, {{Tensor::of<double>(E::F64, {}, {3})}}});
  std::vector<std::vector<Tensor>> images;
  for (Shape shape : {Shape{1, 8, 2, 4}, {2, 4, 4, 2}, {1, 6, 2, 2}, {1, 4, 3, 2}, {1, 0, 2, 2}})
    images.push_back({sample(E::F32, shape)});
  TensorType image = dynamic_type(E::F32, {-2, -8, -4, -4});
  for (auto mode : {"DCR", "CRD"}) {
    cases.push_back(
        {"DepthToSpace", {image}, images, {{"blocksize", int64_t{2}}, {"mode", std::string(mode)}}});
  }
  cases.push_back({"SpaceToDepth", {image}, images, {{"blocksize", int64_t{2}}}});
  check_dynamic(cases);
}

}  // namespace
}  // namespace mrvlc::test
