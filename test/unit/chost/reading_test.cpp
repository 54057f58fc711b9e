// What a person reads in NAME.c: names of buffers and functions, and comments.
#include <catch2/catch.hpp>

#include "mrvlc/ir/text.h"
#include "mrvlc/partition/partition.h"
#include "naming/common_path.h"
#include "naming/public_names.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

bool reads(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A strided convolution, a Relu that is part of its function, and a layer behind it.
GraphBuilder two_layers(const std::string& first, const std::string& relu, const std::string& second) {
  GraphBuilder b;
  const ir::ValueId x = b.input({1, 4, 16, 16});
  const Attrs strided{{"strides", std::vector<int64_t>{2, 2}}};
  ir::ValueId y = b.node("Conv", {x, b.constant({8, 4, 1, 1}), b.constant({8})}, strided, first);
  y = b.node("Relu", {y}, {}, relu);
  b.output(b.node("Softmax", {b.node("Softmax", {y}, {}, second)}, {}, "last"));
  return b;
}

std::string c_of(const ir::Graph& graph) {
  return file_of(generate_host(graph), "net.c");
}

}  // namespace

TEST_CASE("a program reads as a list of layers between named buffers") {
  const std::string c = c_of(two_layers("conv1", "relu1", "soft").graph);
  CHECK(reads(c, "    K_BUFFER(relu1_out, "));
  CHECK(reads(c, ", 2048), /* f0 to f2 */\n"));
  CHECK(reads(c, "    K_BUFFER(soft_out, "));
  CHECK(reads(c, ", 2048) /* f2 to f3 */\n  };\n"));
  CHECK(reads(c, "  K_LAYER(2, net_f2_Softmax(K_DATA(relu1_out), K_DATA(soft_out)));\n"));
  CHECK(reads(c, "  K_LAYER(3, net_f3_Softmax(K_DATA(soft_out), (void*)outputs->"));
}

TEST_CASE("above a layer stand its nodes, shapes, products and kernel") {
  const GraphBuilder b = two_layers("conv1", "relu1", "soft");
  const std::string c = c_of(b.graph);
  const std::string weights = b.graph.value(b.graph.node(ir::NodeId(size_t{0})).inputs[1]).name;
  const std::string comment =
      "/* Conv 'conv1' + Relu 'relu1': 1x4x16x16 (NCHW), '" + weights +
      "' 8x4x1x1 (MCHW), stride 2x2 -> 1x8x8x8; 2048 MAC; kernel conv, expected fastest. */\n"
      "static void net_f0_Conv(";
  CHECK(reads(c, comment));
  CHECK(reads(c, "/* Softmax 'soft': 1x8x8x8 -> 1x8x8x8. */\nstatic void net_f2_Softmax("));
  CHECK(reads(c, "\n/* For Conv, ConvTranspose: "));  // once, above the kernel
  Options size{"net", "net"};
  size.optimize = Optimize::Size;
  const auto common = generate(b.graph, partition::host_partition(b.graph), {}, size);
  REQUIRE(common.ok());
  CHECK(reads(file_of(*common, "net.c"), "; kernel conv, one for all. */"));
}

TEST_CASE("comments tell of padding") {
  const auto pooled = [](std::vector<int64_t> pads) {
    GraphBuilder b;
    const Attrs attrs{{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::move(pads)}};
    b.output(b.node("MaxPool", {b.input({1, 4, 16, 16})}, attrs, "pool"));
    return c_of(b.graph);
  };
  CHECK(reads(pooled({1, 1, 1, 1}),
              "/* MaxPool 'pool': 1x4x16x16 (NCHW), pad 1 -> 1x4x16x16; kernel pool_planes"));
  CHECK(reads(pooled({0, 0, 1, 1}), "(NCHW), pad 0 0 1 1 -> 1x4x15x15; kernel pool_planes"));
  CHECK(reads(pooled({0, 0, 0, 0}), "(NCHW) -> 1x4x14x14; kernel pool_planes"));
}

TEST_CASE("what most names begin with stands in the text once") {
  const std::string path = "StatefulPartitionedCall/model/";
  const GraphBuilder b = two_layers(path + "conv1/Conv", path + "relu1", "elsewhere/" + path);
  CHECK(common_path(b.graph) == path);
  const std::string c = c_of(b.graph);
  CHECK(reads(c, "\n * '.../' is '" + path + "'. */"));
  CHECK(reads(c, "/* Conv '.../conv1/Conv' + Relu '.../relu1': "));
  CHECK(reads(c, "K_DATA(relu1_out)"));
  CHECK(reads(c, "/* Softmax 'elsewhere/"));
  CHECK(common_path(two_layers("a/b", "c/d", "e/f").graph).empty());
  CHECK(common_path(two_layers("a/b", "", "").graph).empty());
  // Components are whole, and a name is more than its path.
  CHECK(common_path(two_layers("a/bc/d", "a/bd/d", "a/be").graph) == "a/");
  CHECK_FALSE(is_below("a/", "a/"));
  CHECK_FALSE(is_below("b/a", "a/"));
  // Hostile ones are looked at as far as a few components go.
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "a/";
  CHECK(common_path(two_layers(deep, deep, deep).graph).size() == 160);
}

TEST_CASE("names of the model neither break the text nor meet its own names") {
  const std::string evil = "*/ int x; /* \"'\\\n#error\n?\?/";
  const std::string longer(300, 'y');
  const std::vector<std::vector<std::string>> names = {{evil, evil, evil},
                                                       {"net", "net_device", "net_run"},
                                                       {"K_run", "K", "K_DATA"},
                                                       {"port", "cpu", "a"},
                                                       {"x", "x_out", "x_out_bytes"},
                                                       {longer + "1", longer + "2", longer + "2"},
                                                       {"9", "int", "//"},
                                                       {"a", "rc", "v0"}};
  for (const auto& n : names) {
    CAPTURE(n[0], n[1], n[2]);
    GraphBuilder b = two_layers(n[0], n[1], n[2]);
    const std::string c = c_of(b.graph);
    CHECK_FALSE(reads(c, "\n#error\n"));
    CHECK_FALSE(reads(c, "'*/"));
    check_graph(b, "gcc -O1 " + std::string(kStrict));
  }
}

// Among the members of NAME.h is one that would be the beginning of the names of nodes.
TEST_CASE("inputs may have names that begin as those of the program do") {
  GraphBuilder b;
  ir::ValueId sum;
  for (const char* name : {"net_n", "net_run", "net_error", "K_n", "net_view", "n", "net_HOOK"}) {
    const ir::ValueId x = b.input({4, 4}, ElementType::F32, name);
    sum = sum.valid() ? b.node("MatMul", {sum, x}) : x;
  }
  b.output(sum);
  check_graph(b, "gcc -O1 " + std::string(kStrict));
}

TEST_CASE("names that others see have the program's prefix, texts stay") {
  const PublicNames names(
      "net",
      "#define net_MAX 3\n/* net_not */\ntypedef struct net_error {\n  int net_n;\n} net_error;\n"
      "int net_run(const net_error* e);\nextern \"C\" {\nvoid net_end(void);\n}\n");
  CHECK(names.published("K_run(K_MAX, K_n##id, K_conv, aK_run, K_runs)") ==
        "net_run(net_MAX, net_n##id, net_conv, aK_run, net_runs)");
  CHECK(names.published("K_error K_DATA(K_end) K_weights") == "net_error K_DATA(net_end) net_weights");
  CHECK(names.published("\"K_run\\\"K_run\" 'K_run' /* K_run ' */ K_run") ==
        "\"K_run\\\"K_run\" 'K_run' /* K_run ' */ net_run");
  CHECK(names.published("#include <K_run>\nK_run") == "#include <K_run>\nnet_run");
  CHECK(names.published("\"K_run") == "\"K_run");
  CHECK(names.published("/* K_run") == "/* K_run");
  CHECK(names.published("\"\\") == "\"\\");
  CHECK(names.published("") == "");
}

// More than enumerators hold: the text has the numbers.
TEST_CASE("an arena of more than 2 GiB has no table") {
  GraphBuilder b;
  const ir::ValueId x = b.input({1 << 28, 4});
  b.output(b.node("Softmax", {b.node("Softmax", {x}, {}, "one")}));
  const std::string c = c_of(b.graph);
  CHECK_FALSE(reads(c, "    K_BUFFER("));
  CHECK(reads(c, "(void*)MRVL_AT(a, 0, 4294967296)"));
}
