// `mrvlc verify` sees what is wrong: every set here has one mistake.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "mrvlc/driver/driver.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/tensor/npy.h"
#include "onnx/model_util.h"
#include "run/process.h"

using namespace mrvlc;
namespace fs = std::filesystem;

namespace {

Tensor floats(const Shape& shape, const std::vector<double>& values) {
  return Tensor::of<double>(ElementType::F32, shape, values);
}
Tensor ints(const std::vector<int64_t>& values, ElementType elem = ElementType::I64) {
  return Tensor::of<int64_t>(elem, {static_cast<int64_t>(values.size())}, values);
}

// A model in a folder with sets of data, written one by one.
class Case {
 public:
  explicit Case(const test::pb::ModelProto& model) {
    dir_.write("model.onnx", model.SerializeAsString());
    options.compile.model = dir_.path() / "model.onnx";
    options.compile.targets = {"host"};
    options.data = {dir_.path()};
  }
  void set(const std::vector<std::pair<std::string, Tensor>>& files) {
    const fs::path folder = dir_.path() / fmt::format("test_data_set_{:02}", count_++);
    fs::create_directories(folder);
    for (const auto& [name, value] : files) std::ofstream(folder / (name + ".npy")) << to_npy(value);
  }
  void write(const std::string& name, std::string_view text) { dir_.write(name, text); }
  fs::path path() const { return dir_.path(); }

  const std::vector<driver::Comparison>& verify() {
    diagnostics = {};
    comparisons = driver::verify(options, diagnostics);
    return comparisons;
  }
  const driver::Comparison& of(int set, const std::string& output) const {
    for (const auto& c : comparisons)
      if (c.set == fmt::format("test_data_set_{:02}", set) && c.output == output) return c;
    FAIL("no comparison of " << output << " in set " << set);
    return comparisons.front();
  }
  // The first error.
  const Diag& error() const {
    for (const Diag& d : diagnostics.list())
      if (d.severity() == Severity::Error) return d;
    FAIL("no error");
    return diagnostics.list().front();
  }

  driver::VerifyOptions options;
  Diagnostics diagnostics;
  std::vector<driver::Comparison> comparisons;

 private:
  test::TempDir dir_;
  int count_ = 0;
};

// y = -x of floats, n = -i of integers.
test::pb::ModelProto two_outputs() {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {2, 2});
  test::add_input(model, "i", {2}, 7);
  test::add_node(model, "Neg", {"x"}, {"y"}).set_name("negate");
  test::add_node(model, "Neg", {"i"}, {"n"}).set_name("opposite");
  test::add_output(model, "y", {2, 2});
  test::add_output(model, "n", {2}, 7);
  return model;
}

const Tensor kX = floats({2, 2}, {1, -2, 3, 4}), kY = floats({2, 2}, {-1, 2, -3, -4});
const Tensor kI = ints({5, -6}), kN = ints({-5, 6});

}  // namespace

TEST_CASE("a reference that is beyond memory is refused before its inputs are made") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {int64_t{1} << 26, 32});
  test::add_node(model, "Neg", {"x"}, {"y"}).set_name("negate");
  test::add_output(model, "y", {int64_t{1} << 26, 32});
  Case c(model);
  c.options.data.clear();
  c.verify();
  CHECK(c.error().code == DiagCode::MRV0008);
  CHECK(c.error().node == "negate");  // the input alone would do
}

TEST_CASE("each mistake in the expected outputs is found, and nothing else") {
  Case c(two_outputs());
  const Tensor odd = floats({2, 2}, {NAN, INFINITY, -INFINITY, 0});
  const auto expect = [&](const Tensor& x, const Tensor& y, const Tensor& n) {
    c.set({{"input_0", x}, {"input_1", kI}, {"output_0", y}, {"output_1", n}});
  };
  expect(kX, kY, kN);                                                      // 0: right
  expect(odd, floats({2, 2}, {NAN, -INFINITY, INFINITY, 0}), kN);          // 1: right
  expect(odd, floats({2, 2}, {0, -INFINITY, INFINITY, 0}), kN);            // 2: a NaN of ours
  expect(kX, floats({2, 2}, {-1, 2, -3, NAN}), kN);                        // 3: a NaN of theirs
  expect(odd, floats({2, 2}, {NAN, INFINITY, INFINITY, 0}), kN);           // 4: the sign of an infinity
  expect(kX, floats({2, 2}, {-1, 2, -3, -4 - 0.9e-4 * 5}), kN);            // 5: just within 1e-4
  expect(kX, floats({2, 2}, {-1, 2, -3, -4 - 1.1e-4 * 5}), kN);            // 6: just beyond
  expect(kX, kY, ints({-5, 7}));                                           // 7: the second output
  expect(kX, kY.reshaped({4}), kN);                                        // 8: the shape
  expect(kX, kY, ints({-5, 6}, ElementType::I32));                         // 9: the type
  c.set({{"input_0", kX}, {"input_1", kI}, {"output_0", kY}});             // 10: nothing of the second output
  c.set({{"input_0", kX}, {"input_1", kI}, {"output_1", ints({5, -6})}});  // 11: nothing of the first
  c.verify();
  INFO(c.diagnostics.list().size());
  const std::vector<std::pair<int, std::string>> wrong = {{2, "y"}, {3, "y"}, {4, "y"}, {6, "y"},
                                                          {7, "n"}, {8, "y"}, {9, "n"}, {11, "n"}};
  CHECK(c.comparisons.size() == 22);
  size_t found = 0;
  for (const auto& comparison : c.comparisons) found += comparison.same ? 0 : 1;
  CHECK(found == wrong.size());
  for (const auto& [set, output] : wrong) {
    INFO(set);
    CHECK_FALSE(c.of(set, output).same);
    CHECK(c.of(set, output).error > c.of(set, output).tolerance);
  }
  CHECK(c.diagnostics.exit_code() == 5);
  CHECK(c.error().code == DiagCode::MRV0009);
  CHECK(c.error().node == "negate");
  CHECK(c.error().op_type == "Neg");
  CHECK_THAT(c.error().message, Catch::Contains("test_data_set_02: output 'y'") &&
                                    Catch::Contains("element [0,0] is nan, not 0; 1 of 4 elements differ"));
  CHECK(c.of(7, "n").note == "element [1] is 6, not 7; 1 of 2 elements differ");
  CHECK(c.of(8, "y").note == "it is f32[2,2], not f32[4]");
  CHECK(c.of(0, "y").tolerance == 1e-4);
  CHECK(c.of(0, "n").tolerance == 0);
  std::vector<std::string> warnings;
  for (const Diag& d : c.diagnostics.list())
    if (d.code == DiagCode::MRV0711) warnings.push_back(d.message);
  CHECK(warnings ==
        std::vector<std::string>{"--data: test_data_set_10 has no output_1: 'n' is not compared",
                                 "--data: test_data_set_11 has no output_0: 'y' is not compared"});
}

TEST_CASE("data that do not fit the model are refused before anything is built") {
  Case c(two_outputs());
  const auto refused = [&](DiagId code, const std::string& text) {
    CHECK(c.verify().empty());
    CHECK(c.error().code == code);
    CHECK_THAT(c.error().message, Catch::Contains(text));
  };
  SECTION("too many outputs") {
    c.set({{"input_0", kX}, {"input_1", kI}, {"output_0", kY}, {"output_1", kN}, {"output_2", kN}});
    refused(DiagCode::MRV0004, "holds output_2, the model has 2 outputs");
  }
  SECTION("an input is missing") {
    c.set({{"input_0", kX}, {"output_0", kY}});
    refused(DiagCode::MRV0004, "holds 1 inputs, the model takes 2");
  }
  SECTION("an input is missing between others") {
    c.set({{"input_1", kI}, {"output_0", kY}});
    refused(DiagCode::MRV0003, "input_0 is missing beside input_1");
  }
  SECTION("two files are one input") {
    c.set({{"input_0", kX}, {"in_0_x", kX}, {"input_1", kI}, {"output_0", kY}});
    refused(DiagCode::MRV0003, "are both number 0");
  }
  SECTION("an input of another shape") {
    c.set({{"input_0", kX.reshaped({4, 1})}, {"input_1", kI}, {"output_0", kY}});
    refused(DiagCode::MRV0004, "input_0 of test_data_set_00 is f32[4,1], input 'x' takes f32[2,2]");
  }
  SECTION("an input of another type") {
    c.set({{"input_0", kX}, {"input_1", ints({1, 2}, ElementType::I32)}, {"output_0", kY}});
    refused(DiagCode::MRV0004, "is i32[2], input 'i' takes i64[2]");
  }
  SECTION("no output") {
    c.set({{"input_0", kX}, {"input_1", kI}});
    refused(DiagCode::MRV0003, "it holds no output_K");
  }
}

TEST_CASE("tolerances are those that were given") {
  Case c(two_outputs());
  c.set({{"input_0", kX},
         {"input_1", kI},
         {"output_0", floats({2, 2}, {-1, 2, -3, -4.1})},
         {"output_1", ints({-5, 8})}});
  c.options.tolerance = 0.0197;  // the error is 0.1 / 5.1
  c.verify();
  CHECK(c.of(0, "y").same);
  CHECK_FALSE(c.of(0, "n").same);
  c.options.tolerance = 0.0195;
  c.options.integer_tolerance = 2;
  c.verify();
  CHECK_FALSE(c.of(0, "y").same);
  CHECK(c.of(0, "n").same);
  CHECK(c.diagnostics.exit_code() == 5);
}

TEST_CASE("files are taken by their numbers") {
  test::pb::ModelProto model = test::empty_model();
  std::vector<std::pair<std::string, Tensor>> files = {{"input_0", floats({1}, {2})}};
  test::add_input(model, "x", {1});
  for (int k = 0; k < 12; ++k) {
    const std::string name = fmt::format("y{}", k);
    *model.mutable_graph()->add_initializer() = test::float_tensor("c" + name, {1}, {static_cast<float>(k)});
    test::add_node(model, "Mul", {"x", "c" + name}, {name});
    test::add_output(model, name, {1});
    files.emplace_back(fmt::format("out_{}_any", k), floats({1}, {2.0 * k}));
  }
  Case c(model);
  c.set(files);
  files.erase(files.begin() + 4);  // out_3
  c.set(files);
  CHECK(c.verify().size() == 23);
  CHECK(c.diagnostics.exit_code() == 0);
}

namespace {

std::vector<std::string> sets_of(const std::vector<driver::Comparison>& comparisons) {
  std::vector<std::string> names;
  for (const auto& c : comparisons)
    if (names.empty() || names.back() != c.set) names.push_back(c.set);
  return names;
}

const Diag* find(const Diagnostics& diagnostics, DiagId code) {
  for (const Diag& d : diagnostics.list())
    if (d.code == code) return &d;
  return nullptr;
}

}  // namespace

TEST_CASE("without data inputs at the edges are made") {
  Case c(two_outputs());
  c.options.data.clear();
  c.verify();
  CHECK(c.diagnostics.exit_code() == 0);
  CHECK(sets_of(c.comparisons) == std::vector<std::string>{"uniform seed 1", "normal seed 1", "large seed 1",
                                                           "zeros", "negative seed 1", "tiny seed 1",
                                                           "constant", "highest seed 1", "lowest seed 1",
                                                           "normal seed 2", "normal seed 3"});
  c.options.sets = {"large", "normal"};
  c.options.seeds = {7, 9};
  std::vector<std::string> told;
  c.options.progress = [&](const std::string& set, size_t number, size_t of) {
    told.push_back(fmt::format("{} {}/{}", set, number, of));
  };
  CHECK(sets_of(c.verify()) == std::vector<std::string>{"normal seed 7", "large seed 7", "normal seed 9"});
  CHECK(told == std::vector<std::string>{"normal seed 7 1/3", "large seed 7 2/3", "normal seed 9 3/3"});
  c.options.sets = {"huge"};
  CHECK(c.verify().empty());
  CHECK(c.error().code == DiagCode::MRV0004);
  CHECK_THAT(c.error().message, Catch::Contains("no set 'huge'; sets are all, uniform, normal"));
}

TEST_CASE("integers that a model compares with take each branch, and leave out one that cannot run") {
  // A branch for 16000, one for all others; the latter's weights may not fit.
  const bool fits = GENERATE(true, false);
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "rate", {}, 7);
  test::add_input(model, "x", {2, 3});
  for (const auto& [name, rows] : {std::pair("w", 3), std::pair("v", fits ? 3 : 4)})
    *model.mutable_graph()->add_initializer() =
        test::float_tensor(name, {rows, 2}, std::vector<float>(static_cast<size_t>(rows) * 2, 1.f));
  auto* sixteen = model.mutable_graph()->add_initializer();
  sixteen->set_name("k16000");
  sixteen->set_data_type(7);
  sixteen->add_int64_data(16000);
  test::add_node(model, "Equal", {"rate", "k16000"}, {"is"});
  auto& branch = test::add_node(model, "If", {"is"}, {"y"});
  for (const auto& [attribute, weights] : {std::pair("then_branch", "w"), std::pair("else_branch", "v")}) {
    auto* a = branch.add_attribute();
    a->set_name(attribute);
    a->set_type(test::pb::AttributeProto::GRAPH);
    auto* node = a->mutable_g()->add_node();
    node->set_op_type("MatMul");
    node->add_input("x");
    node->add_input(weights);
    node->add_output(std::string(attribute) + "_y");
    a->mutable_g()->set_name(attribute);
    a->mutable_g()->add_output()->set_name(std::string(attribute) + "_y");
  }
  test::add_output(model, "y", {2, 2});
  Case c(model);
  c.options.data.clear();
  c.options.sets = {"uniform", "normal"};
  c.options.seeds = {1};
  const auto sets = sets_of(c.verify());
  INFO((c.diagnostics.list().empty() ? "" : c.diagnostics.list().front().message));
  CHECK(c.diagnostics.exit_code() == 0);
  REQUIRE(sets.size() == 2);
  CHECK(sets[0] == "uniform seed 1 (rate = 16000)");
  CHECK((sets[1] == "normal seed 1 (rate = 16000)") != fits);
}

TEST_CASE("indices go as far as the model admits, masks open and shut") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "i", {2}, 7);
  test::add_input(model, "attention_mask", {3});
  *model.mutable_graph()->add_initializer() = test::float_tensor("table", {5, 3}, std::vector<float>(15, 2));
  test::add_node(model, "Gather", {"table", "i"}, {"rows"});
  test::add_node(model, "Add", {"rows", "attention_mask"}, {"y"});
  test::add_output(model, "y", {2, 3});
  Case c(model);
  c.options.data.clear();
  c.options.sets = {"highest", "lowest", "mask-shut", "mask-open", "mask-mixed"};
  CHECK(sets_of(c.verify()) == std::vector<std::string>{"mask-mixed seed 1", "mask-shut seed 1",
                                                        "mask-open seed 1", "highest seed 1 (to 4)",
                                                        "lowest seed 1 (to 5)"});
  CHECK(c.diagnostics.exit_code() == 0);
}

TEST_CASE("what fp16 cannot hold is a warning, what the tolerance forbids is not") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 8, 8, 8});
  *model.mutable_graph()->add_initializer() = test::float_tensor("factor", {1}, {5000});
  test::add_node(model, "Mul", {"x", "factor"}, {"big"}).set_name("amplify");
  test::add_node(model, "MaxPool", {"big"}, {"y"}).set_name("pool");
  auto& kernel = *model.mutable_graph()->mutable_node(1);
  test::add_ints(kernel, "kernel_shape", {2, 2});
  test::add_output(model, "y", {1, 8, 7, 7});
  Case c(model);
  c.options.data.clear();
  c.options.compile.targets = {"cn10ka"};
  c.options.compile.accel = {"Mul", "MaxPool"};
  c.options.sets = {"large"};
  REQUIRE(c.verify().size() == 1);
  CHECK(c.comparisons[0].beyond_fp16);
  CHECK_FALSE(c.comparisons[0].same);
  CHECK(c.diagnostics.exit_code() == 0);
  const Diag* warning = find(c.diagnostics, DiagCode::MRV0714);
  REQUIRE(warning != nullptr);
  CHECK_THAT(warning->message, Catch::Contains("large seed 1: output 'y'") &&
                                   Catch::Contains("node 'amplify' (Mul): 'big' reaches") &&
                                   Catch::Contains("65504"));
  c.options.sets = {"uniform"};
  REQUIRE(c.verify().size() == 1);
  CHECK(c.comparisons[0].same);
  CHECK(find(c.diagnostics, DiagCode::MRV0714) == nullptr);
  c.options.tolerance = 0;
  REQUIRE(c.verify().size() == 1);
  CHECK_FALSE(c.comparisons[0].beyond_fp16);
  CHECK(c.diagnostics.exit_code() == 5);
}

namespace {

// The difference of two products that are nearly the same: sums in another order change most of its digits.
test::pb::ModelProto cancelling() {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {4, 512});
  std::vector<float> w(512 * 8), v;
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i)));
  for (float f : w) v.push_back(f * 1.000001f);
  *model.mutable_graph()->add_initializer() = test::float_tensor("w", {512, 8}, w);
  *model.mutable_graph()->add_initializer() = test::float_tensor("v", {512, 8}, v);
  test::add_node(model, "MatMul", {"x", "w"}, {"a"}).set_name("first");
  test::add_node(model, "MatMul", {"x", "v"}, {"b"}).set_name("second");
  test::add_node(model, "Sub", {"a", "b"}, {"y"}).set_name("difference");
  test::add_output(model, "y", {4, 8});
  return model;
}

// A C compiler of two words that writes down its arguments.
std::string written_down(Case& c, const std::string& then) {
  c.write("cc.sh", "printf '%s ' \"$@\" >'" + (c.path() / "args").string() + "'\n" + then + "\n");
  return "sh " + (c.path() / "cc.sh").string();
}

std::string args_of(const Case& c) {
  std::ifstream file(c.path() / "args");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("what float32 cannot tell is no difference, and what roundings do not move is one") {
  Case c(cancelling());
  c.options.data.clear();
  c.options.sets = {"large"};
  REQUIRE(c.verify().size() == 1);
  CHECK(c.comparisons[0].same);
  CHECK(c.comparisons[0].error > 1e-4);
  CHECK(c.comparisons[0].limit == driver::Comparison::Limit::Condition);
  CHECK(c.diagnostics.exit_code() == 0);
  c.options.tolerance = 1e-4;  // who names a tolerance gets that one
  CHECK_FALSE(c.verify()[0].same);
  CHECK(c.comparisons[0].limit == driver::Comparison::Limit::Given);
  c.options.tolerance.reset();
  c.options.sets = {"large"};
  c.options.layers.emplace();
  std::optional<driver::LayerErrors> layers;
  Diagnostics said;
  driver::verify(c.options, said, &layers);
  REQUIRE(layers);
  CHECK_FALSE(layers->first_bad);  // as the outputs
}

TEST_CASE("an expected value beyond what roundings move is found among such that they move") {
  Case c(cancelling());
  const Tensor x = floats({4, 512}, std::vector<double>(4 * 512, 12345.678));
  std::vector<double> y(32, 1e6);  // about 1e1 of them are right
  c.set({{"input_0", x}, {"output_0", floats({4, 8}, y)}});
  REQUIRE(c.verify().size() == 1);
  CHECK_FALSE(c.comparisons[0].same);
  CHECK(c.diagnostics.exit_code() == 5);
  CHECK_THAT(c.error().message, Catch::Contains("32 of 32 elements differ"));
}

TEST_CASE("units in the last place are counted, and may be a limit") {
  Case c(two_outputs());
  const float off = std::nextafter(std::nextafter(-4.0f, -5.0f), -5.0f);
  c.set({{"input_0", kX},
         {"input_1", kI},
         {"output_0", floats({2, 2}, {-1, 2, -3, static_cast<double>(off)})},
         {"output_1", kN}});
  c.verify();
  CHECK(c.of(0, "y").same);
  CHECK(c.of(0, "y").ulp == 2);
  CHECK_FALSE(c.of(0, "n").ulp);
  c.options.max_ulp = 2;
  c.verify();
  CHECK(c.diagnostics.exit_code() == 0);
  c.options.max_ulp = 1;
  c.verify();
  CHECK_FALSE(c.of(0, "y").same);
  CHECK(c.diagnostics.exit_code() == 5);
  CHECK_THAT(c.error().message, Catch::Contains("is off by 2 ulp, more than 1"));
}

TEST_CASE("flags of the user are behind ours, and those of the compiler's own words stay") {
  Case c(two_outputs());
  c.options.data.clear();
  c.options.sets = {"uniform"};
  c.options.run.cc = written_down(c, "exec cc \"$@\"") + " -O1 -std=gnu99";
  c.verify();
  CHECK(c.diagnostics.exit_code() == 0);
  CHECK_THAT(args_of(c), Catch::StartsWith("-O1 -std=gnu99 -X"));
  c.options.run.cc = written_down(c, "exec cc \"$@\"");
  c.options.run.cflags = "-O3 -std=gnu11";
  c.verify();
  CHECK_THAT(args_of(c), Catch::StartsWith("-std=c99 -O3 -std=gnu11 -X"));
  c.options.run.cflags.clear();
  c.verify();
  CHECK_THAT(args_of(c), Catch::StartsWith("-O2 -std=c99 -X"));
}

TEST_CASE("a program that takes too long is ended with its children") {
  const auto begin = std::chrono::steady_clock::now();
  auto ran = driver::run_process({"sh", "-c", "sleep 47 & sleep 47"}, {}, 0.2);
  REQUIRE(ran.ok());
  CHECK(ran->late);
  Case c(two_outputs());
  c.options.data.clear();
  c.options.sets = {"uniform"};
  c.options.run.timeout = 0.2;
  c.options.run.cc = written_down(c,
                                  "while [ \"$1\" != -o ]; do shift; done\n"
                                  "printf '#!/bin/sh\\nsleep 47\\n' >\"$2\" && chmod +x \"$2\"");
  c.verify();
  CHECK(c.error().code == DiagCode::MRV0718);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(40));
}

TEST_CASE("ONNX Runtime that is not at hand is an error of its own, one that is gives what is expected") {
  Case c(two_outputs());
  c.options.data.clear();
  c.options.sets = {"normal"};
  c.options.against_ort = true;
  const char* given = std::getenv("ORT_DIR");
  if (given != nullptr) {
    CHECK(c.verify().size() == 6);
    CHECK(c.diagnostics.exit_code() == 0);
  }
  const std::string place = given == nullptr ? "" : given, path = std::getenv("PATH");
  setenv("ORT_DIR", c.path().c_str(), 1);
  setenv("PATH", c.path().c_str(), 1);
  c.verify();
  setenv("PATH", path.c_str(), 1);
  given == nullptr ? unsetenv("ORT_DIR") : setenv("ORT_DIR", place.c_str(), 1);
  CHECK(c.error().code == DiagCode::MRV0719);
  CHECK(c.comparisons.empty());
}
