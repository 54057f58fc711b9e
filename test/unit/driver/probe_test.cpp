// What a compile says about accuracy: every model here has something fp16 cannot hold, or nothing.
#include "probe_case.h"

using namespace mrvlc;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using test::add_conv, test::Case, test::conv, test::weights;

TEST_CASE("a network that fp16 holds is told how well, and nothing else") {
  Case c(conv(0.1f));
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(c.warnings() == 0);
  CHECK(a["how"] == "probe");
  CHECK(a["samples"] == 8);
  CHECK(a["expected_error"] > 0);
  CHECK(a["expected_error"] < 2e-3);
  CHECK(a["worst_value"] == "y");
  CHECK(a["outputs"].size() == 1);
  CHECK(a["outputs"][0]["name"] == "y");
  CHECK(a["beyond_fp16"].empty());
}

TEST_CASE("a value that leaves fp16 is named with its node, and what becomes of it is told") {
  Case c(conv(3e4f));
  c.leave_fp16();
  const Json a = c.compile();
  REQUIRE(c.ok);
  REQUIRE(c.find(DiagCode::MRV0902) != nullptr);
  CHECK(c.find(DiagCode::MRV0902)->message.starts_with("'y' reaches "));
  CHECK(c.find(DiagCode::MRV0902)->node == "last");
  REQUIRE(c.find(DiagCode::MRV0901) != nullptr);
  CHECK_THAT(c.find(DiagCode::MRV0901)->message, Catch::Contains("infinite or NaN where float32 is not"));
  CHECK(a["expected_error"] == 1e300);
  CHECK(a["worst_value"] == "y");
  CHECK(a["beyond_fp16"][0]["stored"] == "fp16");
  CHECK(a["beyond_fp16"][0]["max_abs"] > 65504);
  c.options.fail_on_accuracy = true;
  c.compile();
  CHECK_FALSE(c.ok);
  CHECK(c.diagnostics.exit_code() == 5);
}

TEST_CASE("a value that leaves fp16 gets a power of two, and only it") {
  Case c(conv(3e4f));
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(c.warnings() == 0);
  REQUIRE(c.find(DiagCode::MRV0911) != nullptr);
  CHECK_THAT(c.find(DiagCode::MRV0911)->message,
             Catch::StartsWith("'y' reaches ") && Catch::Contains("scale:"));
  CHECK(a["expected_error"] < 2e-3);
  CHECK(a["kept_scaled"] == 1);
  CHECK(a["kept_as_pairs"] == 0);
  CHECK(a["asked"].is_null());
  CHECK(c.compile() == a);
  c.options.accuracy = 5e-3;
  const Json asked = c.compile();
  CHECK(asked["kept_scaled"] == 1);
  CHECK(asked["kept_as_pairs"] == 0);
  CHECK(asked["expected_error"] == a["expected_error"]);
}

// Logarithms of what is small beside the end of the range.
TEST_CASE("the range of an input is a range of amplitudes, too") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 8, 5});
  add_conv(model, "first", "x", "c", 3, 4, 0.1f);
  test::add_node(model, "Mul", {"c", "c"}, {"square"});
  test::add_node(model, "Mul", {"square", "square"}, {"fourth"});
  test::add_node(model, "Mul", {"fourth", "fourth"}, {"power"});
  add_conv(model, "bands", "power", "d", 4, 4, 0.1f);
  test::add_node(model, "Log", {"d"}, {"y"});
  test::add_output(model, "y", {1, 4, 8, 5});
  Case c(model);
  c.options.input_ranges = {{"x", 0, 10}};
  c.compile();
  REQUIRE(c.ok);
  CHECK(c.find(DiagCode::MRV0901) != nullptr);
  c.options.input_ranges = {{"x", 5, 10}};  // without zero: as large as it says
  c.compile();
  CHECK(c.find(DiagCode::MRV0901) == nullptr);
}

// Its instruction writes fp16 alone.
TEST_CASE("what cannot be kept otherwise moves to the CPU, with the reason, unless it is held") {
  test::pb::ModelProto model = conv(3e4f, "Identity");
  model.mutable_graph()->mutable_node(1)->set_op_type("AveragePool");
  test::add_ints(*model.mutable_graph()->mutable_node(1), "kernel_shape", {1, 3});
  test::add_ints(*model.mutable_graph()->mutable_node(1), "pads", {0, 1, 0, 1});
  Case c(model);
  c.options.accel = {};
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["expected_error"] < 2e-3);
  CHECK(c.find(DiagCode::MRV0902) == nullptr);
  const Json placement = Json::parse(*read_file(c.options.out / "placement.json"));
  CAPTURE(placement.dump(1));
  for (const Json& n : placement.at("nodes"))
    if (n.at("name") == "last") {
      CHECK(n.at("where") == "cpu");
      CHECK_THAT(n.at("reason").get<std::string>(), Catch::Contains("beyond the range of fp16 (65504)"));
    }
  c.options.accel = {"last"};
  c.compile();
  REQUIRE(c.ok);
  CHECK(c.find(DiagCode::MRV0902) != nullptr);
}

TEST_CASE("inputs are tried to where outputs are no longer accurate, and the program knows") {
  Case c(conv(0.1f));
  Json a = c.compile();
  REQUIRE(c.ok);
  REQUIRE(a["input_limits"].size() == 1);
  CHECK(a["input_limits"][0]["input"] == "x");
  // Sums of 27 products of up to 0.175 x leave fp16 at about 20 000.
  CHECK(a["input_limits"][0]["max"] >= 4096);
  CHECK(a["input_limits"][0]["max"] <= 16384);
  CHECK(a["input_limits"][0]["min"] == -a["input_limits"][0]["max"].get<double>());
  CHECK_THAT(*read_file(c.options.out / "model.c"), Catch::Contains("model_beyond(inputs->x"));
  c.options.input_ranges = {{"x", -1, 3}};  // is taken at its word
  a = c.compile();
  CHECK(a["input_limits"][0]["max"] == Approx(3).epsilon(0.01));
  CHECK(a["input_limits"][0]["min"] == Approx(-1).epsilon(0.01));
  c.options.input_limits = false;
  CHECK(c.compile()["input_limits"].empty());
  CHECK_THAT(*read_file(c.options.out / "model.c"), !Catch::Contains("model_beyond"));
}

TEST_CASE("what is warned of anyway is not searched") {
  Case c(conv(3e4f));
  c.leave_fp16();
  CHECK(c.compile()["input_limits"].empty());
}

TEST_CASE("the range of an input decides") {
  Case c(conv(1.0f));
  c.compile();
  CHECK(c.warnings() == 0);
  c.options.input_ranges = {{"x", 0, 6e4}};
  c.leave_fp16();
  const Json a = c.compile();
  CHECK(a["how"] == "input-range");
  CHECK(c.find(DiagCode::MRV0902) != nullptr);
}

TEST_CASE("a value that is kept as fp32 is no loss, and said of an input only") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 8, 5});
  *model.mutable_graph()->add_initializer() = test::float_tensor("k", {}, {1 / 65535.0f});
  test::add_node(model, "Mul", {"x", "k"}, {"s"}).set_name("scale");
  test::add_node(model, "Softmax", {"s"}, {"y"}).set_name("soft");
  test::add_output(model, "y", {1, 3, 8, 5});
  Case c(model);
  CHECK(c.compile()["expected_error"] < 1e-3);
  CHECK(c.warnings() == 0);
  c.options.input_ranges = {{"x", 0, 65535}};
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["expected_error"] < 1e-3);
  REQUIRE(a["beyond_fp16"].size() == 1);  // the range says so, whatever was drawn
  CHECK(a["beyond_fp16"][0]["stored"] == "fp32");
  CHECK(a["beyond_fp16"][0]["max_abs"] == 65535);
  CHECK(c.find(DiagCode::MRV0903) != nullptr);
  CHECK(c.warnings() == 1);
  c.options.fail_on_accuracy = true;
  c.compile();
  CHECK(c.ok);
}

TEST_CASE("nodes on the CPU between regions have their part, in the layout of the model") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 8, 5});
  add_conv(model, "first", "x", "a", 3, 4, 0.2f);
  test::add_node(model, "Sin", {"a"}, {"b"}).set_name("middle");
  add_conv(model, "second", "b", "y", 4, 2, 0.3f);
  test::add_output(model, "y", {1, 2, 8, 5});
  test::add_output(model, "b", {1, 4, 8, 5});
  Case c(model);
  c.options.accel.clear();
  c.options.accel = {"Conv"};
  c.options.cpu = {"middle"};
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["samples"] == 8);
  CHECK(a["expected_error"] < 5e-3);
  CHECK(a["outputs"].size() == 2);
}

TEST_CASE("what is no number in float32 says nothing about fp16") {
  Case c(conv(-1.0f, "Sqrt"));
  c.options.input_ranges = {{"x", 0, 1}};  // others, which have roots, are searched
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["expected_error"].is_null());
  CHECK(a["reason"].get<std::string>().find("is NaN or infinite all over") != std::string::npos);
  CHECK(c.warnings() == 1);
}

TEST_CASE("a small output that loses much of its own size is told of") {
  const auto scaled = [](float factor) {
    test::pb::ModelProto model = test::empty_model();
    test::add_input(model, "x", {1, 3, 8, 5});
    add_conv(model, "first", "x", "c", 3, 4, 0.1f);
    *model.mutable_graph()->add_initializer() = test::float_tensor("k", {1}, {factor});
    test::add_node(model, "Mul", {"c", "k"}, {"y"}).set_name("last");
    test::add_output(model, "y", {1, 4, 8, 5});
    return model;
  };
  Case c(scaled(1e-7f));
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["expected_error"] < 1e-6);  // nothing, by the usual measure
  CHECK(a["outputs"][0]["relative"] > 0.05);
  CHECK(c.find(DiagCode::MRV0932) != nullptr);
  Case large(scaled(1));
  CHECK_FALSE(large.compile()["outputs"][0].contains("relative"));
  CHECK(large.find(DiagCode::MRV0932) == nullptr);
}

TEST_CASE("outputs that are no floats are compared where the accelerator hands over") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 8, 5});
  add_conv(model, "first", "x", "c", 3, 4, 3e4f);
  test::add_int(test::add_node(model, "ArgMax", {"c"}, {"y"}), "axis", 1);
  test::add_output(model, "y", {1, 1, 8, 5}, 7);
  Case c(model);
  c.options.accel = {"Conv"};
  c.leave_fp16();
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["outputs"][0]["name"] == "c");
  CHECK(a["expected_error"] == 1e300);
}

// Scores that are kept are others, and another number, once they are rounded: no element stands for another.
TEST_CASE("outputs whose elements are counted by values are compared where the accelerator hands over") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 8, 5});
  add_conv(model, "first", "x", "c", 3, 4, 1.0f);
  *model.mutable_graph()->add_initializer() = test::float_tensor("limit", {}, {0});
  test::add_node(model, "Greater", {"c", "limit"}, {"kept"});
  *model.mutable_graph()->add_initializer() = test::int64_tensor("flat", {1}, {-1});
  test::add_node(model, "Reshape", {"kept", "flat"}, {"row"});
  test::add_node(model, "Compress", {"c", "row"}, {"y"});
  test::add_output(model, "y", {1}, 1);
  auto* shape =
      model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("kept");
  Case c(model);
  c.options.accel = {"Conv"};
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["outputs"][0]["name"] == "c");
  CHECK(a["outputs"][0]["elements_differing"] == 0);
  CHECK(a["expected_error"] > 0);
}

TEST_CASE("a loop whose end depends on data is not entered, and a gate stays shut") {
  test::pb::ModelProto model = conv(0.1f);
  test::add_input(model, "n", {}, 7);
  *model.mutable_graph()->add_initializer() = test::float_tensor("start", {1}, {1});
  test::pb::NodeProto& loop = test::add_node(model, "Loop", {"n", "", "start"}, {"z"});
  test::pb::AttributeProto& body = *loop.add_attribute();
  body.set_name("body");
  body.set_type(test::pb::AttributeProto::GRAPH);
  test::pb::GraphProto& g = *body.mutable_g();
  g.set_name("body");
  *g.add_input() = test::value_info("i", {}, 7);
  *g.add_input() = test::value_info("go", {}, 9);
  *g.add_input() = test::value_info("v", {1});
  *g.add_node() = test::make_node("Identity", {"go"}, {"on"});
  *g.add_node() = test::make_node("Add", {"v", "v"}, {"w"});
  *g.add_output() = test::value_info("on", {}, 9);
  *g.add_output() = test::value_info("w", {1});
  test::add_output(model, "z", {1});
  Case c(model);
  c.options.accel = {"Conv"};
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["how"] == "none");
  CHECK(a["expected_error"].is_null());
  CHECK_THAT(a["reason"].get<std::string>(), Catch::Contains("how often a Loop runs depends on data"));
  REQUIRE(c.find(DiagCode::MRV0930) != nullptr);  // the convolution has most of the work
  CHECK(c.find(DiagCode::MRV0930)->severity() == Severity::Warning);
  c.options.fail_on_accuracy = true;
  c.compile();
  CHECK_FALSE(c.ok);
  CHECK(c.diagnostics.exit_code() == 5);
  c.options.probe = driver::CompileOptions::Probe::Always;
  CHECK(c.compile()["how"] == "probe");
}

TEST_CASE("what would take too long is not probed, and why is told") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 320, 256, 256});
  add_conv(model, "large", "x", "y", 320, 320, 0.001f);
  test::add_output(model, "y", {1, 320, 256, 256});
  Case c(model);
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["how"] == "none");
  CHECK_THAT(a["reason"].get<std::string>(),
             Catch::Contains("not probed: 60397977600 multiply-accumulates") &&
                 Catch::Contains("--probe runs it anyway"));
  REQUIRE(c.find(DiagCode::MRV0930) != nullptr);
  CHECK_THAT(c.find(DiagCode::MRV0930)->message, Catch::Contains("100 % of the multiply-accumulates"));
  c.options.given = {"--no-probe"};  // who says so knows
  c.options.probe = driver::CompileOptions::Probe::Never;
  c.compile();
  CHECK(c.find(DiagCode::MRV0930) == nullptr);
  CHECK(c.find(DiagCode::MRV0904) != nullptr);
}

namespace {

// A convolution whose results are so large that a Sigmoid behind them is 1, or 0, for the probe's inputs.
test::pb::ModelProto saturated(float bias) {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 32, 32});
  add_conv(model, "first", "x", "c", 3, 4, 0.3f);
  *model.mutable_graph()->add_initializer() = test::float_tensor("b", {1}, {bias});
  test::add_node(model, "Add", {"c", "b"}, {"d"});
  test::add_node(model, "Sigmoid", {"d"}, {"y"}).set_name("last");
  test::add_output(model, "y", {1, 4, 32, 32});
  return model;
}

}  // namespace

TEST_CASE("an output that is at an end of a Sigmoid is judged in front of it, and said to be blind") {
  Case c(saturated(60));
  const Json a = c.compile();
  REQUIRE(c.ok);
  const Json& y = a["outputs"][0];
  CHECK(y["hardly_moves"] == true);
  CHECK(c.find(DiagCode::MRV0931) != nullptr);
  CHECK(y["error"] < 1e-6);
  CHECK(y["in_front"] > 1e-5);
  CHECK(a["expected_error"] == y["in_front"]);
  CHECK_THAT(a["reason"].get<std::string>(), Catch::Contains("'y' hardly moves"));
}

TEST_CASE("an output that goes all the way is judged as it is") {
  const Json a = Case(saturated(-8)).compile();
  CHECK(a["outputs"][0]["hardly_moves"] == false);
  CHECK(a["outputs"][0]["in_front"].is_null());
}

TEST_CASE("samples of --data say what is expected of them, and warnings go by all but the worst") {
  Case c(conv(0.1f));
  for (int k = 0; k < 40; ++k) {
    Tensor t(TensorType{ElementType::F32, {1, 3, 8, 5}});
    for (int64_t i = 0; i < t.elements(); ++i)
      t.set_double(i, (k == 7 ? 100 : 1) * (1 + static_cast<double>(i % 11)));
    const fs::path file = c.path() / "data" / fmt::format("{:02}", k) / "input_0.npy";
    fs::create_directories(file.parent_path());
    std::ofstream(file) << to_npy(t);
  }
  c.options.data = c.path() / "data";
  c.options.precision = "fp16";
  const Json a = c.compile();
  INFO((c.diagnostics.list().empty() ? std::string() : c.diagnostics.list().back().message));
  REQUIRE(c.ok);
  CHECK(a["how"] == "calibration");
  CHECK(a["samples"] == 40);
  CHECK(a["median_error"] <= a["p95_error"]);
  CHECK(a["p95_error"] < a["expected_error"]);
}

namespace {

// "x" of the samples in the folder, as calibrate sees it; nullopt: refused.
std::optional<calibration::Calibration> calibrate(Case& c, const fs::path& data) {
  driver::CalibrateOptions o;
  o.compile.model = c.options.model;
  o.data = data;
  o.out = c.path() / "cal.json";
  c.diagnostics = {};
  if (!driver::calibrate(o, c.diagnostics)) return std::nullopt;
  auto text = read_file(o.out);
  REQUIRE(text.ok());
  auto read = calibration::parse(*text, "cal.json");
  REQUIRE(read.ok());
  return *std::move(read);
}

Tensor rising(const Shape& shape) {
  Tensor t(TensorType{ElementType::F32, shape});
  for (int64_t i = 0; i < t.elements(); ++i) t.set_double(i, static_cast<double>(i));
  return t;
}

void write(const fs::path& file, const Tensor& t) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << to_npy(t);
}

}  // namespace

TEST_CASE("samples lie along a leading dimension, in folders, or are alone") {
  Case c(conv(1.0f));
  write(c.path() / "extra/x.npy", rising({3, 1, 3, 8, 5}));
  write(c.path() / "leading/x.npy", rising({3, 3, 8, 5}));
  write(c.path() / "alone/input_0.npy", rising({1, 3, 8, 5}));
  write(c.path() / "folders/b/x.npy", rising({1, 3, 8, 5}));
  write(c.path() / "folders/a/input_0.npy", rising({1, 3, 8, 5}));
  const std::vector<std::tuple<std::string, int64_t, double>> expected = {
      {"extra", 3, 359}, {"leading", 3, 359}, {"alone", 1, 119}, {"folders", 2, 119}};
  for (const auto& [folder, samples, most] : expected) {
    INFO(folder);
    const auto got = calibrate(c, c.path() / folder);
    REQUIRE(got);
    CHECK(got->samples == samples);
    CHECK(got->find("x")->summary.max == most);
    CHECK(got->find("x")->summary.elements == 120 * samples);
    CHECK(got->find("y")->summary.max > 1000);
  }
  write(c.path() / "none/x.npy", rising({0, 1, 3, 8, 5}));
  CHECK_FALSE(calibrate(c, c.path() / "none"));
  write(c.path() / "shape/x.npy", rising({1, 3, 8, 4}));
  CHECK_FALSE(calibrate(c, c.path() / "shape"));
}

TEST_CASE("values that the data took beyond fp16 are named, though a probe of them is not made") {
  Case c(conv(1.0f));
  Tensor x = rising({1, 3, 8, 5});
  for (int64_t i = 0; i < x.elements(); ++i) x.set_double(i, 5e4);
  write(c.path() / "data/x.npy", x);
  REQUIRE(calibrate(c, c.path() / "data"));
  c.options.calibration = c.path() / "cal.json";
  c.options.probe = driver::CompileOptions::Probe::Never;
  c.leave_fp16();
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["how"] == "none");
  CHECK(a["beyond_fp16"].size() == 1);
  CHECK(a["beyond_fp16"][0]["value"] == "y");
  CHECK(a["beyond_fp16"][0]["seen_in"] == "calibration");
  REQUIRE(c.find(DiagCode::MRV0902) != nullptr);
  c.options.probe = driver::CompileOptions::Probe::WithinBudget;
  const Json probed = c.compile();
  CHECK(probed["how"] == "calibration");
  CHECK(probed["expected_error"] == 1e300);
}

namespace {

// Two convolutions, of which the second takes small differences of large values apart: all that fp16 loses in
// "loud" is large behind it.
test::pb::ModelProto sensitive() {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 8, 5});
  test::add_input(model, "z", {1, 3, 8, 5});
  add_conv(model, "quiet", "z", "a", 3, 4, 0.01f);
  add_conv(model, "loud", "x", "b", 3, 4, 30.0f);
  std::vector<float> apart(16 * 9);
  for (size_t i = 0; i < apart.size(); ++i) apart[i] = i % 2 == 0 ? 1.0f : -1.0f;
  *model.mutable_graph()->add_initializer() = test::float_tensor("apart_w", {4, 4, 3, 3}, apart);
  test::pb::NodeProto& node = test::add_node(model, "Conv", {"b", "apart_w"}, {"d"});
  node.set_name("apart");
  test::add_ints(node, "pads", {1, 1, 1, 1});
  test::add_output(model, "a", {1, 4, 8, 5});
  test::add_output(model, "d", {1, 4, 8, 5});
  return model;
}

std::string where(const fs::path& out, const std::string& node) {
  auto text = read_file(out / "placement.json");
  REQUIRE(text.ok());
  const Json placement = Json::parse(*text);
  for (const Json& n : placement.at("nodes"))
    if (n.at("name") == node)
      return n.at("where").get<std::string>() + ": " + n.at("reason").get<std::string>();
  return "";
}

}  // namespace

TEST_CASE("an accuracy that is met changes nothing") {
  Case c(conv(0.1f));
  c.options.accel = {};
  c.options.cpu = {};
  const Json plain = c.compile();
  REQUIRE(c.ok);
  auto before = read_file(c.options.out / "model.region0.mrvl");
  c.options.accuracy = 1e-2;
  const Json asked = c.compile();
  REQUIRE(c.ok);
  CHECK(asked["asked"] == 1e-2);
  CHECK(asked["expected_error"] == plain["expected_error"]);
  auto after = read_file(c.options.out / "model.region0.mrvl");
  REQUIRE(before.ok());
  REQUIRE(after.ok());
  CHECK(*before == *after);
}

TEST_CASE("what costs accuracy becomes a pair, and what does not stays") {
  Case c(sensitive());
  c.options.accel = {};
  c.options.input_ranges = {{"*", 0, 1}};  // the weights of "quiet" ask for large ones
  const Json plain = c.compile();
  REQUIRE(c.ok);
  REQUIRE(plain["expected_error"] > 2e-3);
  c.options.accuracy = 1e-3;
  const Json asked = c.compile();
  REQUIRE(c.ok);
  CHECK(asked["expected_error"] <= 1e-3);
  CHECK(asked["predicted"] > 0);
  CHECK(asked["predicted"] < plain["expected_error"]);
  CHECK(asked["runs"] >= 2);
  CHECK_THAT(where(c.options.out, "quiet"), Catch::StartsWith("accelerator"));
  // What "apart" reads is a pair.
  CHECK_THAT(where(c.options.out, "loud"), Catch::StartsWith("accelerator"));
  auto placement = read_file(c.options.out / "placement.json");
  REQUIRE(placement.ok());
  std::map<std::string, std::string> precisions;
  const Json decided = Json::parse(*placement);
  for (const Json& p : decided.at("precisions"))
    precisions[p.at("value").get<std::string>()] = p.at("precision").get<std::string>();
  CAPTURE(precisions);
  CHECK(precisions["b"] == "pair");
  CHECK(precisions.count("a") == 0);
  const Json again = c.compile();
  CHECK(again == asked);
}

TEST_CASE("an accuracy that cannot be had is an error") {
  Case c(sensitive());
  c.options.accuracy = 1e-9;
  c.options.accel = {"*"};  // it may not leave the accelerator
  c.compile();
  CHECK_FALSE(c.ok);
  REQUIRE(c.find(DiagCode::MRV0909) != nullptr);
  CHECK(c.diagnostics.exit_code() == 5);
}

// The average cannot be a pair, and its rounding is felt behind it: what makes and reads it moves.
TEST_CASE("a layer that --accel names stays, and the others may move") {
  test::pb::ModelProto model = sensitive();
  for (test::pb::NodeProto& node : *model.mutable_graph()->mutable_node())
    if (node.name() == "apart") node.set_input(0, "averaged");
  test::pb::NodeProto& pool = test::add_node(model, "AveragePool", {"b"}, {"averaged"});
  pool.set_name("pool");
  test::add_ints(pool, "kernel_shape", {1, 3});
  test::add_ints(pool, "pads", {0, 1, 0, 1});
  model.mutable_graph()->mutable_node()->SwapElements(2, 3);
  Case c(model);
  c.options.accuracy = 1e-4;
  c.options.accel = {"quiet"};
  const Json asked = c.compile();
  REQUIRE(c.ok);
  CHECK(asked["expected_error"] <= 1e-4);
  CHECK_THAT(where(c.options.out, "quiet"), Catch::StartsWith("accelerator"));
  CHECK_THAT(where(c.options.out, "apart"), Catch::StartsWith("cpu"));
  c.options.accel = {"pool"};
  c.compile();
  CHECK_FALSE(c.ok);
  CHECK(c.find(DiagCode::MRV0909) != nullptr);
}
