// Host models as files: what is wrong is refused, and what is right is used.
#include "mrvlc/partition/host_model.h"

#include "mrvlc/partition/costs.h"
#include "partition/build.h"

using namespace mrvlc;

namespace {

std::string with(const std::string& more) {
  return R"({"name": "n", "description": "d", "call_ns": 5, "constant_byte_ns": 0, "to_device_ns": 1,
             "from_device_ns": 1, "operators": {"default": {"mac_ns": 1, "step_ns": 1})" +
         more + "}}";
}

std::string refusal(const std::string& text) {
  auto m = partition::parse_host_model(text, "file");
  return m.ok() ? "" : m.error().message;
}

}  // namespace

TEST_CASE("the built-in host model is read") {
  CHECK(partition::parse_host_model(partition::default_host_model(), "built in").ok());
}

TEST_CASE("faulty host models") {
  CHECK(refusal(with("")).empty());
  CHECK(refusal("{").find("not valid JSON") != std::string::npos);
  CHECK(refusal("[]").find("not a JSON object") != std::string::npos);
  CHECK(refusal("{}").find("is missing") != std::string::npos);
  CHECK(refusal(with(R"(, "Relu": {"step_ns": -1})")).find("between") != std::string::npos);
  CHECK(refusal(with(R"(, "Relu": {"step_ns": "1"})")).find("not a number") != std::string::npos);
  CHECK(refusal(with(R"(, "Relu": {"speed": 1})")).find("unknown") != std::string::npos);
  CHECK(refusal(with(R"(, "Relu": 3)")).find("not an object") != std::string::npos);
  CHECK(refusal(with(R"(, "default": {})")).find("twice") != std::string::npos);
}

TEST_CASE("an operator's own rate, and that of its form") {
  const ir::Graph g =
      test::image_graph(" %a = Conv(%x, %w) : f32[1,4,8,8]\n %b = Relu(%a) : f32[1,4,8,8]\n output %b\n");
  auto model = partition::parse_host_model(
      with(R"(, "Relu": {"step_ns": 3}, "Conv/pointwise": {"mac_ns": 2})"), "file");
  REQUIRE(model.ok());
  auto seconds = [&](std::string_view value) {
    return partition::host_seconds(*model, partition::HostKernels(g),
                                   g.node(g.value(*g.find_value(value)).producer));
  };
  CHECK(seconds("b") == Approx(1e-9 * 3 * 256));  // in the loop of the convolution
  CHECK(seconds("a") == Approx(1e-9 * (5 + 2 * 4 * 256)));
}

TEST_CASE("rates at a border: both, a cast or a permutation alone, and those of older files") {
  const ir::Graph g = test::image_graph(" %a = Relu(%x) : f32[1,4,8,8]\n output %a\n");
  const ir::ValueId x = *g.find_value("x");
  auto seconds = [&](const partition::HostModel& m, bool to_device, bool casts, bool permutes) {
    return partition::crossing_seconds(m, {0, x, to_device, casts, permutes}, g.value(x).type.elements());
  };
  std::string text = with("");
  auto older = partition::parse_host_model(text, "file");
  text.insert(1, R"("cast_to_device_ns": 7, "cast_from_device_ns": 8, "permute_ns": 9, )");
  auto newer = partition::parse_host_model(text, "file");
  REQUIRE((older.ok() && newer.ok()));
  for (bool to_device : {true, false}) {
    CHECK(seconds(*newer, to_device, true, true) == Approx(1e-9 * (5 + 256)));
    CHECK(seconds(*newer, to_device, true, false) == Approx(1e-9 * (5 + (to_device ? 7 : 8) * 256)));
    CHECK(seconds(*newer, to_device, false, true) == Approx(1e-9 * (5 + 9 * 256)));
    CHECK(seconds(*newer, to_device, false, false) == 0);
    CHECK(seconds(*older, to_device, true, false) == Approx(1e-9 * (5 + 256)));
  }
}

TEST_CASE("a depthwise convolution takes rows, and 16 outputs of each at once") {
  const ir::Graph g = test::image_graph(
      " const %d : f32[4,1,1,1] = [1, 2, 3, 4]\n %a = Conv(%x, %d) {group = 4} : f32[1,4,8,8]\n output %a\n");
  auto model =
      partition::parse_host_model(with(R"(, "Conv/depthwise": {"mac_ns": 2, "step_ns": 3})"), "file");
  REQUIRE(model.ok());
  const ir::Node& conv = g.node(g.value(*g.find_value("a")).producer);
  CHECK(partition::host_form(partition::HostKernels(g), conv) == "depthwise-any");
  // Elements of both images, and 16 for each row of the result.
  CHECK(partition::host_seconds(*model, partition::HostKernels(g), conv) ==
        Approx(1e-9 * (5 + 2 * 4 * 8 * 16 + 3 * (2 * 4 * 64 + 16 * 4 * 8))));
}

TEST_CASE("a convolution gathers its input once, however many channels of its output read that") {
  std::string weights = "1";
  for (int i = 1; i < 8 * 2 * 9; ++i) weights += ", 1";
  const ir::Graph g = test::image_graph(" const %d : f32[8,2,3,3] = [" + weights +
                                        "]\n %a = Conv(%x, %d) {group = 2} : f32[1,8,6,6]\n output %a\n");
  auto model = partition::parse_host_model(with(R"(, "Conv": {"mac_ns": 2, "step_ns": 3})"), "file");
  REQUIRE(model.ok());
  const ir::Node& conv = g.node(g.value(*g.find_value("a")).producer);
  const double taps = 4 * 9 * 36;  // channels of the input, window, outputs of a channel
  // Each of two groups makes 4 channels; its 36 pixels are computed as 40.
  const double products = 2 * 4 * 2 * 9 * 40;
  CHECK(partition::host_seconds(*model, partition::HostKernels(g), conv) ==
        Approx(1e-9 * (5 + 2 * products + 3 * taps)));
}

TEST_CASE("elements of 8 bytes have a form of their own") {
  const ir::Graph g = test::image_graph(
      " %a = Cast(%x) {to = i64} : i64[1,4,8,8]\n %b = Cast(%a) {to = f32} : f32[1,4,8,8]\n"
      " %c = Abs(%b) : f32[1,4,8,8]\n output %c\n");
  auto model = partition::parse_host_model(
      with(R"(, "Cast/wide": {"mac_ns": 0, "step_ns": 7}, "Cast": {"mac_ns": 0, "step_ns": 2})"), "file");
  REQUIRE(model.ok());
  auto form = [&](const char* name) {
    return partition::host_form(partition::HostKernels(g), g.node(g.value(*g.find_value(name)).producer));
  };
  CHECK(form("a") == "wide");
  CHECK(form("b") == "wide");
  CHECK(form("c").empty());
  const ir::Node& cast = g.node(g.value(*g.find_value("a")).producer);
  CHECK(partition::host_seconds(*model, partition::HostKernels(g), cast) == Approx(1e-9 * (5 + 7 * 256)));
}

TEST_CASE("forms of convolutions, as the host's kernels differ") {
  const auto form = [](const std::string& attributes, const std::string& image, const std::string& result,
                       int elements, const std::string& filter) {
    std::string weights = "1";
    for (int i = 1; i < elements; ++i) weights += ", 1";
    const std::string text = "graph \"g\" {\n input %x : f32[1,16," + image + "]\n const %w : f32[16," +
                             filter + "] = [" + weights + "]\n %a = Conv(%x, %w)" + attributes +
                             " : f32[1,16," + result + "]\n output %a\n}\n";
    const auto g = ir::parse(text, ops::registry());
    if (!g.ok()) FAIL(g.error().message);
    return std::string(
        partition::host_form(partition::HostKernels(*g), g->node(g->value(*g->find_value("a")).producer)));
  };
  CHECK(form("", "66,66", "64,64", 2304, "16,3,3") == "winograd");
  CHECK(form("", "42,42", "40,40", 2304, "16,3,3") == "strip");  // saves too little for the program
  CHECK(form(" {strides = [2, 2]}", "42,42", "20,20", 2304, "16,3,3") == "strip");
  CHECK(form(" {dilations = [2, 2]}", "42,42", "38,38", 2304, "16,3,3") == "strip");
  CHECK(form("", "7,7", "5,5", 2304, "16,3,3")
            .empty());  // too few pixels for its weights, or for pieces of rows
  CHECK(form("", "42,42", "42,42", 256, "16,1,1") == "pointwise");
  CHECK(form(" {group = 16}", "42,42", "40,40", 144, "1,3,3") == "depthwise");
  CHECK(form(" {group = 16}", "42,42", "38,38", 400, "1,5,5") == "depthwise-any");
  CHECK(form(" {group = 16, strides = [2, 2]}", "42,42", "20,20", 144, "1,3,3") == "depthwise-strided");
  CHECK(form(" {group = 16}", "8,8", "6,6", 144, "1,3,3") == "depthwise-lanes");
  CHECK(form(" {group = 2}", "42,42", "40,40", 1152, "8,3,3") == "strip");
  CHECK(form(" {group = 2}", "8,8", "6,6", 1152, "8,3,3") == "grouped");
}

TEST_CASE("what kernels of convolutions make and read") {
  const auto effort = [](const std::string& attributes, int64_t channels, int64_t side) {
    const int64_t own = attributes.empty() ? channels : 1;
    std::string weights = "0.5";
    for (int64_t i = 1; i < channels * own * 9; ++i) weights += ", 0.5";
    const std::string text = fmt::format(
        "graph \"g\" {{\n input %x : f32[1,{0},{1},{1}]\n const %w : f32[{0},{2},3,3] = [{3}]\n"
        " %a = Conv(%x, %w) {{pads = [1, 1, 1, 1]{4}}} : f32[1,{0},{1},{1}]\n output %a\n}}\n",
        channels, side, own, weights, attributes);
    const auto g = ir::parse(text, ops::registry());
    if (!g.ok()) FAIL(g.error().message);
    const partition::HostKernels kernels(*g);
    return partition::host_effort(kernels, g->node(g->topological_order().front()));
  };
  // Tiles of 2 x 2, as 8 x 8 results are four tiles of 4 x 4, half of a vector.
  const partition::HostEffort small = effort("", 128, 8);
  CHECK(small.form == "winograd-small");
  CHECK(small.products == 16 * 128 * 128 * 16);
  CHECK(small.steps == 16 * 16 * 256);
  CHECK(small.constant_bytes == 4 * 16 * 128 * 128);
  // Two pieces of 8 where a row has 15 results; rows are copied once.
  const partition::HostEffort strip = effort("", 8, 15);
  CHECK(strip.form == "strip");
  CHECK(strip.products == 8 * 8 * 9 * 15 * 16);
  CHECK(strip.steps == 8 * 225 + 8 * 225);
  // Nine channels are two times eight; 25 results seven times four.
  const partition::HostEffort lanes = effort(", group = 9", 9, 5);
  CHECK(lanes.form == "depthwise-lanes");
  CHECK(lanes.products == 16 * 9 * 28);
  CHECK(lanes.steps == 9 * (25 + 25));
}

TEST_CASE("depthwise convolutions of bytes are runs over a padded channel") {
  const auto g = ir::parse(
      "graph \"g\" {\n input %x : i8[1,2,4,6]\n const %s : f32[] = [0.5]\n const %z : i8[] = [0]\n"
      " const %w : i8[2,1,3,3] = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n"
      " %y = QLinearConv(%x, %s, %z, %w, %s, %z, %s, %z) {group = 2, pads = [1, 1, 1, 1]} : i8[1,2,4,6]\n"
      " output %y\n}\n",
      ops::registry());
  if (!g.ok()) FAIL(g.error().message);
  const partition::HostEffort e =
      partition::host_effort(partition::HostKernels(*g), g->node(g->topological_order().front()));
  CHECK(e.form == "depthwise");
  // Rows are 8 apart: 3 of these and 6 results, 30, are made as 32 by 3 quads; quads of 6 rows of 8.
  CHECK(e.products == 2 * 3 * 4 * 32);
  CHECK(e.steps == 2 * (128 + 48 + 16 * 4) + 2 * (32 + 16 * 4));
}

TEST_CASE("which entry of a host model a node goes by") {
  const ir::Graph g =
      test::image_graph(" %a = Transpose(%x) {perm = [0, 2, 1, 3]} : f32[1,8,4,8]\n output %a\n");
  const ir::Node& node = g.node(g.topological_order().front());
  auto model = partition::parse_host_model(with(""), "file");
  REQUIRE(model.ok());
  const auto rate = [&](std::string_view form) { return partition::host_rate(*model, node, form); };
  CHECK(partition::host_form(partition::HostKernels(g), node) == "rows");
  CHECK(rate("rows") == "default");
  model->rates["Transpose"] = {};
  CHECK(rate("rows") == "Transpose");
  model->rates["Transpose/depthwise"] = {};
  CHECK(rate("depthwise-strided") == "Transpose/depthwise");
  model->rates["Transpose/rows"] = {};
  CHECK(rate("rows") == "Transpose/rows");
}

TEST_CASE("views take nothing, and a function in another one's loop no call") {
  const ir::Graph g = test::image_graph(
      " const %s : i64[2] = [4, 64]\n %a = Tanh(%x) : f32[1,4,8,8]\n %b = Abs(%a) : f32[1,4,8,8]\n"
      " %c = Reshape(%b, %s) : f32[4,64]\n %d = Softmax(%c) {axis = 0} : f32[4,64]\n output %d\n");
  const auto effort = [&](const char* name) {
    return partition::host_effort(partition::HostKernels(g), g.node(g.value(*g.find_value(name)).producer));
  };
  CHECK(effort("a").calls == 1);
  CHECK(effort("b").calls == 0);
  CHECK(effort("b").steps == 256);
  CHECK(effort("c").calls == 0);
  CHECK(effort("d").calls == 1);
  CHECK(effort("d").form == "columns");
}
