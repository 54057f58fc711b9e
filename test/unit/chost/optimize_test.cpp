// Programs for speed, for size and in between (Optimize): each against the reference, and what their text
// has and lacks.
#include <catch2/catch.hpp>

#include "mrvlc/partition/partition.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

using Ints = std::vector<int64_t>;

HostCode generate_for(const ir::Graph& graph, Optimize optimize) {
  Options options{.name = "net", .file_stem = "net"};
  options.optimize = optimize;
  auto code = generate(graph, partition::host_partition(graph), {}, options);
  if (!code.ok()) FAIL(code.error().message);
  return std::move(code).value();
}

void add_conv(GraphBuilder& b, const Shape& x, const Shape& w, int64_t stride = 1, int64_t group = 1) {
  const int64_t pad = w.back() / 2;
  b.output(b.node("Conv", {b.input(x), b.constant(w, 0.2), b.constant({w[0]})},
                  {{"pads", Ints{pad, pad, pad, pad}}, {"strides", Ints{stride, stride}}, {"group", group}}));
}

void add_products(GraphBuilder& b) {
  b.output(b.node("MatMul", {b.input({61, 33}), b.constant({33, 19})}));
  for (int64_t n : {10, 48, 49, 130})  // on both sides of what several panels pay for
    b.output(b.node("MatMul", {b.input({1, 77}), b.constant({77, n})}));
}

void add_recurrent(GraphBuilder& b) {
  b.output(b.node("LSTM", {b.input({9, 1, 21}), b.constant({2, 76, 21}), b.constant({2, 76, 19})},
                  {{"direction", std::string("bidirectional")}}));
  b.output(b.node("GRU", {b.input({9, 2, 21}), b.constant({1, 57, 21}), b.constant({1, 57, 19})}));
}

// Of every kind of layer that has several kernels.
GraphBuilder all_kinds() {
  GraphBuilder b;
  add_conv(b, {1, 16, 48, 48}, {24, 16, 3, 3});  // Winograd's algorithm
  add_conv(b, {1, 40, 19, 23}, {14, 40, 3, 3}, 2);
  add_conv(b, {1, 31, 9, 9}, {17, 31, 1, 1});
  add_conv(b, {1, 12, 30, 31}, {12, 1, 3, 3}, 1, 12);
  add_conv(b, {1, 12, 30, 31}, {12, 1, 3, 3}, 2, 12);
  add_conv(b, {1, 9, 11, 13}, {9, 1, 5, 5}, 1, 9);
  add_conv(b, {1, 16, 3, 3}, {16, 1, 3, 3}, 1, 16);
  add_products(b);
  add_recurrent(b);
  for (int64_t n : {7, 40, 1023, 1024, 3000}) b.output(b.node("Softmax", {b.input({3, n})}));
  for (const char* op : {"MaxPool", "AveragePool"})
    b.output(b.node(op, {b.input({1, 8, 33, 29})}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}}));
  for (const char* op : {"Exp", "Tanh", "Erf", "Sin", "Softplus"}) b.output(b.node(op, {b.input({5, 37})}));
  return b;
}

void check(Optimize optimize, const std::string& compiler) {
  GraphBuilder b = all_kinds();
  std::vector<Tensor> inputs;
  for (ir::ValueId v : b.graph.inputs()) inputs.push_back(b.random(b.graph.value(v).type));
  const std::vector<Tensor> expected = reference(b.graph, inputs);
  const std::vector<Tensor> actual =
      build_and_run(generate_for(b.graph, optimize), b.graph, inputs, compiler);
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO(kOptimize[static_cast<size_t>(optimize)] << ", output " << i << ", " << compiler);
    CHECK(distance(actual[i], expected[i]) <= 1e-5);
  }
}

std::string text_for(const ir::Graph& graph, Optimize optimize) {
  return file_of(generate_for(graph, optimize), "net.c");
}

}  // namespace

TEST_CASE("optimize: every program computes the same") {
  for (Optimize optimize : {Optimize::Speed, Optimize::Balanced, Optimize::Size})
    for (const char* compiler : {"gcc -O3 -march=native", "gcc -Os -DMRVL_NO_VECTORS",
                                 "gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"})
      check(optimize, compiler);
}

TEST_CASE("optimize: kernels that serve one layer faster are left out") {
  const GraphBuilder b = all_kinds();
  const std::string speed = text_for(b.graph, Optimize::Speed),
                    balanced = text_for(b.graph, Optimize::Balanced),
                    size = text_for(b.graph, Optimize::Size);
  CHECK(size.size() < balanced.size());
  CHECK(balanced.size() < speed.size());
  auto has = [](const std::string& text, const std::string& function) {
    return text.find(" net_" + function + "(") != std::string::npos;
  };
  for (const char* kernel : {"conv_rows", "conv_rest", "depthwise3", "depthwise_lanes"}) {
    INFO(kernel);
    CHECK(has(speed, kernel));
    CHECK(!has(balanced, kernel));
    CHECK(!has(size, kernel));
  }
  for (const char* kernel :
       {"exp", "tanh", "recurrent_step", "gemv_panels", "pool_units", "depthwise_columns3"}) {
    INFO(kernel);
    CHECK(has(speed, kernel));
    CHECK(has(balanced, kernel));
    CHECK(!has(size, kernel));
  }
  // Maximum and sum of a long Softmax lie side by side in lanes whatever the program is for.
  auto lanes = [](const std::string& text) {
    size_t n = 0;
    for (size_t at = 0; (at = text.find("float lanes[16];", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  CHECK(lanes(speed) == 8);
  CHECK(lanes(size) == 4);
  CHECK(speed.find("winograd") != std::string::npos);
  CHECK(balanced.find("winograd") == std::string::npos);
}

TEST_CASE("optimize: convolutions by rows where these serve all of a program") {
  GraphBuilder b;
  add_conv(b, {1, 16, 48, 48}, {24, 16, 3, 3});
  add_conv(b, {1, 40, 19, 23}, {14, 40, 3, 3}, 2);
  for (const LayerChoice& c : generate_for(b.graph, Optimize::Size).choices)
    CHECK(c.taken.kernel == Kernel::Rows);
  add_conv(b, {1, 31, 9, 9}, {17, 31, 1, 1});
  for (const LayerChoice& c : generate_for(b.graph, Optimize::Size).choices)
    CHECK((c.taken.kernel == Kernel::Columns || c.taken.kernel == Kernel::InPlace));
}

TEST_CASE("optimize: depthwise layers that agree have the kernel that is fastest for them") {
  GraphBuilder b;
  for (int64_t side : {30, 40}) add_conv(b, {1, 12, side, side}, {12, 1, 3, 3}, 1, 12);
  CHECK(generate_for(b.graph, Optimize::Balanced).choices.at(0).taken.kernel == Kernel::Windows);
  add_conv(b, {1, 9, 11, 13}, {9, 1, 5, 5}, 1, 9);
  for (const LayerChoice& c : generate_for(b.graph, Optimize::Balanced).choices)
    CHECK(c.taken.kernel == Kernel::Plane);
}

TEST_CASE("optimize: a tuning's choice is taken where it needs no other kernel") {
  GraphBuilder b;
  add_conv(b, {1, 16, 48, 48}, {24, 16, 3, 3});
  auto with = [&](Variant asked) {
    Options options{.name = "net", .file_stem = "net"};
    options.optimize = Optimize::Balanced;
    options.tuning.variants[generate_for(b.graph, Optimize::Balanced).choices.at(0).layer] = asked;
    return generate(b.graph, partition::host_partition(b.graph), {}, options).value().choices.at(0);
  };
  CHECK(with({Kernel::Rows, Blocks::Half}).tuned);
  CHECK(with({Kernel::Columns}).refused == Variant{Kernel::Columns});
  CHECK(with({Kernel::Columns}).taken == Variant{Kernel::Rows});
}
