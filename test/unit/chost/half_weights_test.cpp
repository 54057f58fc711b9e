// Weights of 16 bits: what they stand for, every one, on several machines; and programs that unpack them
// against the reference of the same network whose weights were rounded here, by the definition.
#include <catch2/catch.hpp>
#include <cmath>

#include "kernel_pieces.h"
#include "library.h"
#include "mrvlc/partition/partition.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

using Ints = std::vector<int64_t>;

// Of 11 significant bits, the last one worth 2^-24 at the least; ties to even.
float nearest_half(float v) {
  if (v == 0) return v;
  const int exponent = std::max(std::ilogb(v), -14) - 10;
  return static_cast<float>(
      std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(v), -exponent)), exponent));
}

// The same graph twice: with weights as they are drawn, and rounded.
class WeightsBuilder : public GraphBuilder {
 public:
  explicit WeightsBuilder(bool rounded) : rounded_(rounded) {}
  ir::ValueId weights(Shape shape, double scale = 1) {
    Tensor t = random({ElementType::F32, std::move(shape)}, scale);
    for (float& v : t.mutable_data<float>())
      if (rounded_) v = nearest_half(v);
    return constant(std::move(t));
  }

 private:
  bool rounded_;
};
using Layers = void (*)(WeightsBuilder&);

void add_conv(WeightsBuilder& b, const Shape& x, const Shape& w, Ints strides, Ints pads, int64_t group = 1,
              bool bias = true) {
  std::vector<ir::ValueId> inputs = {b.input(x), b.weights(w)};
  if (bias) inputs.push_back(b.constant({w[0]}));
  b.output(b.node("Conv", inputs, {{"strides", strides}, {"pads", pads}, {"group", group}}));
}

// By rows and by columns; ends of blocks of few pixels; panels of six and four, last ones not full.
void add_convs(WeightsBuilder& b) {
  add_conv(b, {2, 9, 20, 15}, {13, 9, 3, 3}, {1, 1}, {1, 1, 1, 1});
  add_conv(b, {1, 70, 11, 23}, {17, 70, 3, 3}, {1, 1}, {1, 1, 1, 1});
  add_conv(b, {1, 10, 31, 33}, {20, 5, 5, 3}, {2, 2}, {2, 1, 1, 0}, 2);
  add_conv(b, {1, 16, 8, 8}, {13, 16, 1, 1}, {1, 1}, {0, 0, 0, 0}, 1, false);
  add_conv(b, {1, 350, 7, 7}, {31, 350, 1, 1}, {1, 1}, {0, 0, 0, 0});   // one pixel left over
  add_conv(b, {2, 11, 3, 6}, {18, 11, 1, 1}, {1, 1}, {0, 0, 0, 0});     // two
  add_conv(b, {1, 700, 2, 13}, {29, 700, 1, 1}, {1, 1}, {0, 0, 0, 0});  // ten, and an odd number of panels
  add_conv(b, {1, 400, 1, 27}, {24, 400, 1, 1}, {1, 1}, {0, 0, 0, 0});  // eleven
  add_conv(b, {1, 60, 5, 5}, {24, 30, 1, 1}, {1, 1}, {0, 0, 0, 0}, 2);
  add_conv(b, {2, 33, 1, 1}, {11, 33, 1, 1}, {1, 1}, {0, 0, 0, 0});
  add_conv(b, {2, 12, 15, 15}, {18, 4, 3, 3}, {1, 1}, {1, 1, 1, 1}, 3);
  add_conv(b, {1, 5, 30}, {6, 5, 7}, {2}, {3, 3});
  add_conv(b, {1, 130, 12, 12}, {26, 130, 1, 1}, {1, 1}, {0, 0, 0, 0});
  add_conv(b, {1, 16, 32, 32}, {50, 16, 1, 1}, {1, 1}, {0, 0, 0, 0});
  add_conv(b, {1, 16, 48, 48}, {24, 16, 3, 3}, {1, 1}, {1, 1, 1, 1});  // Winograd's algorithm, of floats
  b.output(b.node("Relu", {b.node("Add", {b.node("Conv", {b.input({1, 8, 10, 77}), b.weights({5, 8, 3, 3})},
                                                 {{"pads", Ints{1, 1, 1, 1}}}),
                                          b.input({1, 5, 10, 77})})}));
}

void add_transposed(WeightsBuilder& b) {
  auto add = [&](Shape x, Shape w, Ints strides, Ints pads, int64_t group) {
    b.output(b.node("ConvTranspose", {b.input(x), b.weights(w), b.constant({w[1] * group})},
                    {{"strides", strides}, {"pads", pads}, {"group", group}}));
  };
  add({1, 3, 5, 6}, {3, 4, 3, 3}, {2, 2}, {1, 1, 1, 1}, 1);
  add({2, 4, 5, 4}, {4, 3, 2, 2}, {2, 2}, {0, 0, 0, 0}, 2);
  add({2, 5, 7, 9}, {5, 3, 2, 3}, {2, 3}, {0, 0, 0, 0}, 1);  // blocks of the result
  add({1, 3, 9}, {3, 2, 4}, {2}, {1, 1}, 1);
  add({1, 4, 6, 6}, {4, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, 4);
}

void add_products(WeightsBuilder& b) {
  for (int64_t n : {1, 10, 48, 49, 64, 65, 130})  // vectors: one panel, several, some not full
    b.output(b.node("MatMul", {b.input({1, n < 20 ? 3 : 77}), b.weights({n < 20 ? 3 : 77, n})}));
  b.output(
      b.node("Gemm", {b.input({1, 70}), b.weights({100, 70}), b.constant({100})}, {{"transB", int64_t{1}}}));
  b.output(b.node("Mul", {b.node("MatMul", {b.input({1, 30}), b.weights({30, 70})}), b.constant({70})}));
  for (int64_t m : {2, 5, 6, 23})
    b.output(b.node("Tanh", {b.node("MatMul", {b.input({m, 340}), b.weights({340, 50})})}));
  b.output(b.node("MatMul", {b.input({101, 350}), b.weights({350, 37})}));  // several blocks of rows
  b.output(b.node("MatMul", {b.input({2, 3, 9, 20}), b.weights({20, 31})}));
  b.output(b.node("MatMul", {b.input({4, 7}), b.weights({7})}));
  // what is folded into weights of floats follows the sum
  b.output(b.node("Relu", {b.node("Gemm", {b.input({1, 33}), b.weights({10, 33}), b.constant({1, 10})},
                                  {{"transB", int64_t{1}}, {"alpha", 0.3f}, {"beta", 2.0f}})}));
  b.output(b.node("Gemm", {b.input({11, 40}), b.weights({40, 17})}, {{"alpha", 0.7f}}));
  b.output(b.node("Gemm", {b.input({40, 11}), b.weights({17, 40}), b.input({11, 17})},
                  {{"transA", int64_t{1}}, {"transB", int64_t{1}}}));
}

void add_recurrent(WeightsBuilder& b) {
  add_recurrent_layers(b, [&](const Shape& shape, double scale) { return b.weights(shape, scale); });
}

// Rounded by the compiler; `tensors`: how many it says.
HostCode generate_half(ir::Graph graph, Options options = {}, std::vector<HalfWeights>* said = nullptr) {
  options.name = options.file_stem = "net";
  options.host_weights = WeightType::F16;
  const partition::Partition placed = partition::host_partition(graph);
  std::vector<ir::Graph> parts;
  std::vector<HalfWeights> rounded = round_weights(graph, placed, parts);
  auto code = generate(graph, placed, {}, options);
  if (!code.ok()) FAIL(code.error().message);
  if (said != nullptr) *said = std::move(rounded);
  return std::move(code).value();
}

void check(Layers layers, const std::string& compiler, const Options& options = {},
           const std::string& runner = {}) {
  WeightsBuilder drawn(false), rounded(true);
  layers(drawn);
  layers(rounded);
  std::vector<Tensor> inputs;
  for (ir::ValueId v : drawn.graph.inputs()) inputs.push_back(drawn.random(drawn.graph.value(v).type));
  const std::vector<Tensor> expected = reference(rounded.graph, inputs);
  const std::vector<Tensor> actual =
      build_and_run(generate_half(drawn.graph, options), drawn.graph, inputs, compiler, runner);
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("output " << i << ", " << compiler);
    CHECK(distance(actual[i], expected[i]) <= 1e-5);
  }
}

constexpr Layers kAllLayers[] = {add_convs, add_transposed, add_products, add_recurrent};

// A program that asks K_half and K_LOAD_HALF for the number of every 16 bits that are one.
std::string asks_all() {
  std::string text = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n";
  Library library("K");
  library.require(Piece::half_panels, ir::ExprId());
  text += library.source().take_text();
  return text + R"(
static uint16_t all[65536 + 64];
int main(void) {
  static float to[65536];
  ptrdiff_t n = 0;
  for (uint32_t h = 0; h < 65536; ++h)
    if ((h >> 10 & 31u) != 31u) all[n++] = (uint16_t)h;
  const float* const first = (const float*)(const void*)all;
  for (int odd = 0; odd < 2; ++odd) {
    if (K_panel_at(first, 2 * odd, n - 5 * odd, to) != to) return 2;
    for (ptrdiff_t i = 0; i < n - 5 * odd; ++i) {
      const uint32_t h = all[i + 2 * odd], e = h >> 10 & 31u;
      const double v = ldexp((double)((h & 1023u) + (e ? 1024u : 0u)), (int)(e ? e : 1u) - 25);
      const float expected = (float)(h >> 15 ? -v : v);
      if (memcmp(&expected, to + i, 4) != 0) return 3;
      const float alone = K_half((uint16_t)h);
      if (memcmp(&expected, &alone, 4) != 0) return 4;
    }
  }
  return K_panel_at(first, 6, 8, NULL) == first + 6 ? 0 : 5;
}
)";
}

void check_all_halves(const std::string& compiler, const std::string& runner = {}) {
  INFO(compiler);
  TempDir dir;
  dir.write("all.c", asks_all());
  std::string log;
  if (shell(dir.path(), fmt::format("{} {} -o all all.c -lm", compiler, kStrict), &log) != 0) FAIL(log);
  CHECK(shell(dir.path(), runner + " ./all", &log) == 0);
}

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("half weights: each of 16 bits is its number") {
  for (const char* flags : {"-O3 -march=native", "-O2", "-O1 -DMRVL_NO_VECTORS", "-O3 -ffast-math"}) {
    check_all_halves(std::string("gcc ") + flags);
    if (have_tool("clang")) check_all_halves(std::string("clang ") + flags);
  }
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) check_all_halves("gcc -O2 -mavx2 -mno-f16c");
  if (__builtin_cpu_supports("avx512f")) check_all_halves("gcc -O2 -mavx512f");
#endif
  if (have_tool("aarch64-linux-gnu-gcc") && have_tool("qemu-aarch64"))
    for (const char* flags : {"-O3", "-O1 -DMRVL_NO_VECTORS", "-O3 -ffast-math"})
      check_all_halves(std::string("aarch64-linux-gnu-gcc -static ") + flags, "qemu-aarch64");
}

TEST_CASE("half weights: programs compute with the nearest halves") {
  for (Layers layers : kAllLayers) {
    check(layers, "gcc -O3 -march=native");
    check(layers, "gcc -O2");
    check(layers, "gcc -O2 -DMRVL_NO_VECTORS");
    if (have_tool("clang")) check(layers, "clang -O2 -march=native");
  }
}

TEST_CASE("half weights: programs for size and in between") {
  for (Optimize optimize : {Optimize::Balanced, Optimize::Size}) {
    Options options;
    options.optimize = optimize;
    for (Layers layers : kAllLayers) check(layers, "gcc -O2 -march=native", options);
  }
}

TEST_CASE("half weights: no kernel reads or writes out of bounds") {
  for (Layers layers : kAllLayers)
    check(layers, "gcc -O1 -g -march=native -fsanitize=address,undefined -fno-sanitize-recover=all");
}

TEST_CASE("half weights: aarch64") {
  if (!have_tool("aarch64-linux-gnu-gcc") || !have_tool("qemu-aarch64")) return;
  for (Layers layers : kAllLayers) check(layers, "aarch64-linux-gnu-gcc -O2 -static", {}, "qemu-aarch64");
}

TEST_CASE("half weights: they take half the bytes, and no others change") {
  WeightsBuilder b(false);
  b.output(b.node("Gemm", {b.input({1, 128}), b.weights({128, 256}), b.constant({256})}));
  b.output(b.node("Conv", {b.input({1, 64, 9, 9}), b.weights({24, 64, 1, 1}), b.constant({24})}));
  add_conv(b, {1, 12, 30, 31}, {12, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, 12);  // depthwise
  std::vector<HalfWeights> said;
  const HostCode half = generate_half(b.graph, {}, &said), whole = generate_host(b.graph);
  const int64_t weights = 128 * 256 + 24 * 64;
  CHECK(half.half_bytes == 2 * weights);
  CHECK(whole.half_bytes == 0);
  CHECK(whole.weights_bytes - half.weights_bytes == 2 * weights);
  REQUIRE(said.size() == 2);
  CHECK(said[0].op == "Gemm");
  CHECK(said[0].elements == 128 * 256);
  CHECK((said[0].error > 0 && said[0].error <= 0x1p-11));
  CHECK(!has(file_of(whole, "net.c"), "half"));
  for (const auto& [name, bytes] : generate_half(b.graph).files) CHECK(file_of(half, name) == bytes);
}

TEST_CASE("half weights: a tensor beyond their range stays as it is, beside others") {
  WeightsBuilder b(false);
  auto with = [&](float v) {
    Tensor t = b.random({ElementType::F32, {3, 70}});
    t.mutable_data<float>()[17] = v;
    return b.constant(std::move(t));
  };
  for (float v : {65504.0f, 65505.0f, -1e6f, INFINITY, 1e-9f})
    b.output(b.node("MatMul", {b.input({1, 3}), with(v)}));
  std::vector<HalfWeights> said;
  const HostCode code = generate_half(b.graph, {}, &said);
  REQUIRE(said.size() == 5);
  const bool kept[] = {false, true, true, true, false};
  for (size_t i = 0; i < 5; ++i) CHECK(said[i].kept == kept[i]);
  CHECK(said[3].most == INFINITY);
  CHECK(said[4].zeros == 1);
  CHECK(said[0].zeros == 0);
  CHECK(code.half_bytes == 2 * 2 * 3 * 80);
  CHECK(has(file_of(code, "net.c"), "net_gemv(70"));
  CHECK(has(file_of(code, "net.c"), "net_gemv_half(70"));
}

TEST_CASE("half weights: what else reads a constant finds it unchanged") {
  WeightsBuilder b(false);
  const ir::ValueId w = b.weights({7, 9});
  b.output(b.node("MatMul", {b.input({1, 7}), w}));
  b.output(b.node("MatMul", {b.input({5, 7}), w}));
  b.output(b.node("Add", {b.input({7, 9}), w}));
  std::vector<ir::Graph> parts;
  ir::Graph graph = b.graph;
  CHECK(round_weights(graph, partition::host_partition(graph), parts).size() == 1);
  const auto nodes = graph.topological_order();
  CHECK(graph.node(nodes[0]).inputs[1] == graph.node(nodes[1]).inputs[1]);
  CHECK(graph.node(nodes[2]).inputs[1] == w);
  CHECK(graph.constant(w)->data<float>()[0] == b.graph.constant(w)->data<float>()[0]);
  CHECK(generate_half(b.graph).half_bytes == 2 * 7 * 16);  // once
}
