// 3x3 convolutions by Winograd's algorithm against the reference, and which ones are.
#include "conv/winograd.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "mrvlc/partition/partition.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

using Ints = std::vector<int64_t>;

ir::ValueId conv3x3(GraphBuilder& b, ir::ValueId x, int64_t channels, int64_t m,
                    const Ints& pads = {1, 1, 1, 1}, bool bias = true) {
  std::vector<ir::ValueId> inputs = {x, b.constant({m, channels, 3, 3})};
  if (bias) inputs.push_back(b.constant({m}));
  return b.node("Conv", inputs, {{"pads", pads}});
}

GraphBuilder odd_sizes() {
  GraphBuilder b;
  auto add = [&](Shape x, int64_t m, const Ints& pads = {1, 1, 1, 1}, bool bias = true) {
    b.output(conv3x3(b, b.input(x), x[1], m, pads, bias));
  };
  add({1, 1, 1, 1}, 1);
  add({1, 17, 2, 3}, 3, {1, 1, 1, 1}, false);
  add({1, 5, 9, 11}, 17);
  add({3, 4, 10, 7}, 25, {0, 2, 1, 0});    // several images, pads that differ
  add({1, 3, 3, 3}, 6, {0, 0, 0, 0});      // one result
  add({1, 2, 4, 5}, 31, {3, 4, 5, 2});     // rows and tiles outside of the image
  add({1, 2, 5, 90}, 7);                   // blocks within a row
  add({1, 40, 6, 210}, 13, {1, 0, 1, 3});  // ... of more than one
  add({1, 6, 70, 3}, 12, {1, 1, 1, 1});    // and over many
  add({1, 130, 13, 14}, 26);               // several blocks of panels
  add({2, 8, 16, 16}, 8);
  return b;
}

GraphBuilder epilogues() {
  GraphBuilder b;
  const ir::ValueId x = b.input({2, 4, 10, 13}), r = b.input({2, 8, 10, 13});
  auto conv = [&] { return conv3x3(b, x, 4, 8); };
  auto number = [&](float v) { return b.constant(Tensor::of<float>(ElementType::F32, {}, {v})); };
  b.output(b.node("Relu", {conv()}));
  b.output(b.node("Clip", {conv(), number(-0.25f), number(0.5f)}));
  b.output(b.node("Relu", {b.node("Add", {r, b.node("Relu", {conv()})})}));  // a residual
  for (std::string_view op : {"Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "Elu", "Softplus"})
    b.output(b.node(op, {conv()}));
  b.output(b.node("Sub", {number(1), b.node("Mul", {conv(), b.constant({1, 8, 1, 1})})}));
  return b;
}

HostCode generate_with(const ir::Graph& graph, WinogradUse use, int threads = 1) {
  Options options{.name = "net", .file_stem = "net"};
  options.winograd = use;
  options.threads = threads;
  auto code = generate(graph, partition::host_partition(graph), {}, options);
  if (!code.ok()) FAIL(code.error().message);
  return std::move(code).value();
}

size_t convolutions(const ir::Graph& graph) {
  size_t n = 0;
  for (ir::NodeId id : graph.topological_order()) n += graph.node(id).op->name == "Conv" ? 1 : 0;
  return n;
}

void check_tiles(GraphBuilder (*make)(), const std::string& compiler, const std::string& runner = {}) {
  for (WinogradUse use : {WinogradUse::Tile2, WinogradUse::Tile4}) {
    GraphBuilder b = make();
    std::vector<Tensor> inputs;
    for (ir::ValueId v : b.graph.inputs()) inputs.push_back(b.random(b.graph.value(v).type));
    const HostCode code = generate_with(b.graph, use);
    CHECK(code.transformed.size() == convolutions(b.graph));
    const std::vector<Tensor> actual = build_and_run(code, b.graph, inputs, compiler, runner),
                              expected = reference(b.graph, inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      INFO(compiler << ", tiles of " << (use == WinogradUse::Tile2 ? 2 : 4) << ", output " << i);
      CHECK(distance(actual[i], expected[i]) <= 1e-5);
    }
  }
}

constexpr const char* kSanitize = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all";

// What the default makes of a single convolution: 4, 2, or 0 for sums.
int64_t tile_of(const Shape& x, const Shape& w, const Attrs& attrs, double scale = 1) {
  GraphBuilder b;
  b.output(b.node("Conv", {b.input(x), b.constant(w, scale)}, attrs));
  const HostCode code = generate_with(b.graph, WinogradUse::Chosen);
  return code.transformed.empty() ? 0 : code.transformed[0].tile;
}

bool is_number(double v) {
  return std::isfinite(v);
}

}  // namespace

TEST_CASE("Winograd: odd sizes and what follows") {
  std::vector<std::string> compilers = {"gcc -O2", "gcc -O3 -march=native"};
  if (have_tool("clang")) compilers.emplace_back("clang -O2 -march=native");
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    compilers.emplace_back("gcc -O2 -march=haswell");
#endif
  for (const std::string& compiler : compilers)
    for (auto make : {odd_sizes, epilogues}) check_tiles(make, compiler);
}

TEST_CASE("Winograd: plain C without vectors") {
  for (auto make : {odd_sizes, epilogues}) check_tiles(make, "gcc -O1 -DMRVL_NO_VECTORS");
}

TEST_CASE("Winograd: nothing out of bounds") {
  for (const char* more : {"", " -march=native", " -DMRVL_NO_VECTORS"})
    check_tiles(odd_sizes, std::string("gcc ") + kSanitize + more);
  if (have_tool("clang")) check_tiles(odd_sizes, std::string("clang ") + kSanitize + " -march=native");
  check_tiles(epilogues, std::string("gcc ") + kSanitize + " -march=native");
}

TEST_CASE("Winograd: aarch64") {
  if (!have_tool("aarch64-linux-gnu-gcc") || !have_tool("qemu-aarch64")) return;
  for (auto make : {odd_sizes, epilogues})
    check_tiles(make, "aarch64-linux-gnu-gcc -O2 -static", "qemu-aarch64");
}

// A tile's transform spreads what is no number, and what overflows, over all its results.
TEST_CASE("Winograd: what is no number is where sums have it") {
  GraphBuilder b;
  const ir::ValueId x = b.input({1, 3, 23, 29});
  b.output(conv3x3(b, x, 3, 7));
  b.output(b.node("Clip", {conv3x3(b, x, 3, 5), b.constant(Tensor::of<float>(ElementType::F32, {}, {-1})),
                           b.constant(Tensor::of<float>(ElementType::F32, {}, {6}))}));
  const ir::ValueId weights = b.constant({16, 3, 3, 3}, 0.05);
  auto small = [&] { return b.node("Conv", {x, weights}, {{"pads", Ints{1, 1, 1, 1}}}); };
  b.output(small());
  b.output(b.node("Clip", {small(), b.constant(Tensor::of<float>(ElementType::F32, {}, {-1})),
                           b.constant(Tensor::of<float>(ElementType::F32, {}, {6}))}));
  Tensor image = b.random(b.graph.value(x).type);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  image.set_double(0, std::nan(""));
  image.set_double(5 * 29 + 7, kInfinity);
  image.set_double(23 * 29 + 17 * 29 + 28, -kInfinity);
  image.set_double(2 * 23 * 29 + 12 * 29 + 14, 3e37);  // of which a transform makes more than a float holds
  image.set_double(2 * 23 * 29 + 12 * 29 + 15, -3e37);
  image.set_double(2 * 23 * 29 + 21 * 29 + 3, 1e38);
  // In the middle of a tile: the product of one place alone overflows, so results are infinite, not NaN, and
  // of either sign, which a clamp would hide.
  image.set_double(2 * 23 * 29 + 13 * 29 + 9, 5.5e37);
  for (const char* compiler : {"gcc -O3 -march=native", "gcc -O2", "gcc -O1 -DMRVL_NO_VECTORS"}) {
    const std::vector<Tensor> sums =
        build_and_run(generate_with(b.graph, WinogradUse::Never), b.graph, {image}, compiler);
    for (WinogradUse use : {WinogradUse::Tile2, WinogradUse::Tile4}) {
      const std::vector<Tensor> actual =
          build_and_run(generate_with(b.graph, use), b.graph, {image}, compiler);
      for (size_t k = 0; k < sums.size(); ++k) {
        size_t wrong = 0, no_numbers = 0;
        for (int64_t i = 0; i < sums[k].elements(); ++i) {
          const double a = actual[k].as_double(i), e = sums[k].as_double(i);
          no_numbers += is_number(e) ? 0 : 1;
          // beside 1e38 there is nothing left of 1: results are right to the tile's largest value
          const bool large = k == 3 && std::abs(sums[2].as_double(i)) >= 1e34;
          const bool same = is_number(e)
                                ? std::abs(a - e) <= (large ? 1e-5 : std::max(1e33, 1e-5 * std::abs(e)))
                            : std::isnan(e) ? std::isnan(a)
                                            : a == e;
          wrong += same ? 0 : 1;
        }
        INFO(compiler << ", output " << k);
        CHECK(no_numbers > 0);
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("Winograd: errors are as large as they are estimated") {
  for (WinogradUse use : {WinogradUse::Tile2, WinogradUse::Tile4}) {
    GraphBuilder b;
    b.output(conv3x3(b, b.input({1, 96, 48, 48}), 96, 32, {0, 0, 0, 0}, false));
    const HostCode code = generate_with(b.graph, use);
    const Tensor x = b.random(b.graph.value(b.graph.inputs()[0]).type);
    const Tensor actual = build_and_run(code, b.graph, {x}, "gcc -O2")[0], exact = reference(b.graph, {x})[0];
    double error = 0, size = 0;
    for (int64_t i = 0; i < exact.elements(); ++i) {
      error += std::pow(actual.as_double(i) - exact.as_double(i), 2);
      size += std::pow(exact.as_double(i), 2);
    }
    const double measured = std::sqrt(error / size), estimated = code.transformed.at(0).error;
    INFO(measured << " measured, " << estimated << " estimated");
    CHECK(measured <= estimated);
    CHECK(measured >= estimated / 2);
  }
}

TEST_CASE("Winograd: where it is chosen") {
  const Attrs same = {{"pads", Ints{1, 1, 1, 1}}};
  CHECK(tile_of({1, 64, 56, 56}, {64, 64, 3, 3}, same) == 4);
  CHECK(tile_of({1, 128, 28, 28}, {128, 128, 3, 3}, same) == 4);
  CHECK(tile_of({1, 256, 14, 14}, {256, 256, 3, 3}, same) == 4);
  CHECK(tile_of({1, 512, 7, 7}, {512, 512, 3, 3}, same) == 0);  // saves little for 7 MB more
  CHECK(tile_of({1, 128, 8, 8}, {128, 128, 3, 3}, same) == 2);  // half of the lanes of 4 x 4 would be empty
  CHECK(tile_of({1, 16, 16, 16}, {16, 16, 3, 3}, same) == 0);   // too little for more text and memory
  CHECK(tile_of({1, 3, 112, 112}, {32, 3, 3, 3}, same) == 0);   // transforms cost more than they save
  CHECK(tile_of({1, 64, 56, 56}, {1, 64, 3, 3}, same) == 0);
  CHECK(tile_of({1, 512, 3, 3}, {512, 512, 3, 3}, same) == 0);  // bound by the bytes of the weights
  CHECK(tile_of({1, 64, 56, 56}, {64, 64, 5, 5}, same) == 0);
  CHECK(tile_of({1, 64, 56, 56}, {64, 64, 1, 3}, {}) == 0);
  CHECK(tile_of({1, 64, 56, 56}, {64, 64, 3, 3}, {{"strides", Ints{2, 1}}}) == 0);
  CHECK(tile_of({1, 64, 56, 56}, {64, 64, 3, 3}, {{"dilations", Ints{1, 2}}}) == 0);
  CHECK(tile_of({1, 64, 56, 56}, {64, 32, 3, 3}, {{"group", int64_t{2}}}) == 0);
  CHECK(tile_of({1, 64, 56, 56}, {64, 64, 3, 3}, same, 1e35) == 0);  // transforms would overflow
}

TEST_CASE("Winograd: transformed weights have a limit, first come, first served") {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 256, 14, 14});
  for (int i = 0; i < 4; ++i)
    x = b.node("Relu",
               {b.node("Conv", {x, b.constant({256, 256, 3, 3}, 0.05)}, {{"pads", Ints{1, 1, 1, 1}}})});
  b.output(x);
  const HostCode code = generate_host(b.graph);
  std::vector<int64_t> tiles;
  for (const Transformed& t : code.transformed) tiles.push_back(t.tile);
  // of 16 MiB: twice 6.75 MiB more than 2.25 MiB, and 1.75 MiB
  CHECK(tiles == std::vector<int64_t>{4, 4, 2});
  const partition::HostKernels kernels(b.graph);  // by which the time is estimated
  std::vector<int64_t> expected;
  for (ir::NodeId n : b.graph.topological_order())
    if (kernels.tile(n) != 0) expected.push_back(kernels.tile(n));
  CHECK(expected == tiles);
}

TEST_CASE("Winograd: sums of many channels are made in smaller tiles, as they round less") {
  CHECK(tile_of({1, 256, 24, 24}, {32, 256, 3, 3}, {}) == 4);
  CHECK(tile_of({1, 2048, 24, 24}, {32, 2048, 3, 3}, {}) == 2);
}

TEST_CASE("Winograd: transformed weights of one tap") {
  // F(2x2, 3x3): G' = (-1, 0, 0), (1, 1, 1) / 2, (1, -1, 1) / 2, (0, 0, 1), worked out by hand from the
  // points
  const std::vector<float> centre = {0, 0, 0, 0, 1, 0, 0, 0, 0};
  CHECK(transform_weights(2, centre) ==
        std::vector<double>{0, 0, 0, 0, 0, 0.25, -0.25, 0, 0, -0.25, 0.25, 0, 0, 0, 0, 0});
  const std::vector<float> corner = {1, 0, 0, 0, 0, 0, 0, 0, 0};
  CHECK(transform_weights(2, corner) ==
        std::vector<double>{1, -0.5, -0.5, 0, -0.5, 0.25, 0.25, 0, -0.5, 0.25, 0.25, 0, 0, 0, 0, 0});
}

TEST_CASE("Winograd: what the report is told") {
  GraphBuilder b;
  const ir::ValueId x = b.node("Conv", {b.input({1, 64, 56, 56}), b.constant({62, 64, 3, 3})}, {}, "first");
  b.output(b.node("Conv", {x, b.constant({8, 62, 1, 1})}, {}, "last"));
  const HostCode code = generate_with(b.graph, WinogradUse::Chosen);
  REQUIRE(code.transformed.size() == 1);
  CHECK(code.transformed[0].name == "first");
  CHECK(code.transformed[0].weights_bytes == 36 * 64 * 62 * 4);
  CHECK(code.transformed[0].error > 1e-8);
  CHECK(code.transformed[0].error <= 0x1p-18);
  const HostCode exact = generate_with(b.graph, WinogradUse::Never);
  CHECK(exact.transformed.empty());
  CHECK(file_of(exact, "net.c").find("winograd") == std::string::npos);
  CHECK(exact.arena_bytes < code.arena_bytes);
}

TEST_CASE("Winograd: none where the arena would be too large") {
  GraphBuilder b;
  b.output(b.node("Conv", {b.input({1, 64, 56, 56}), b.constant({64, 64, 3, 3})}));
  const HostCode exact = generate_with(b.graph, WinogradUse::Never);
  Options options{.name = "net", .file_stem = "net"};
  options.arena_limit = exact.arena_bytes;
  auto code = generate(b.graph, partition::host_partition(b.graph), {}, options);
  REQUIRE(code.ok());
  CHECK(code->files == exact.files);
  CHECK(code->transformed.empty());
}
