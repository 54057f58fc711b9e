// Layers with several variants: which ones there are, every one of them against the reference, and what a
// tuning changes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "choice/choice.h"
#include "mrvlc/partition/partition.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

using Ints = std::vector<int64_t>;

struct Conv {
  Shape x, w;
  Ints pads = {0, 0, 0, 0};
  Ints strides = {1, 1}, dilations = {1, 1};
  int64_t group = 1;
};

ir::ValueId add_conv(GraphBuilder& b, const Conv& c) {
  return b.node("Conv", {b.input(c.x), b.constant(c.w, 0.2), b.constant({c.w[0]})},
                {{"pads", c.pads}, {"strides", c.strides}, {"dilations", c.dilations}, {"group", c.group}});
}

GraphBuilder single(const Conv& c) {
  GraphBuilder b;
  b.output(add_conv(b, c));
  return b;
}

// Sizes at and between those that kernels and blocks are made for.
GraphBuilder odd_layers() {
  GraphBuilder b;
  const std::vector<Conv> convs = {
      {{1, 5, 19, 23}, {7, 5, 3, 3}, {1, 1, 1, 1}},
      {{2, 40, 21, 35}, {13, 40, 3, 3}, {0, 2, 1, 0}},        // images, pads that differ
      {{1, 6, 70, 9}, {25, 6, 3, 3}, {1, 1, 1, 1}},           // many rows of one piece and a bit
      {{1, 3, 41, 130}, {8, 3, 5, 3}, {2, 1, 2, 1}, {2, 2}},  // phases
      {{1, 8, 33, 30}, {12, 4, 3, 3}, {2, 2, 2, 2}, {1, 1}, {2, 2}, 2},
      {{1, 4, 12, 7}, {6, 4, 3, 3}, {1, 1, 1, 1}},  // rows narrower than a piece
      {{1, 70, 14, 29}, {31, 70, 1, 1}},
      {{1, 130, 32, 32}, {50, 130, 1, 1}},          // channels that collide
      {{1, 9, 200}, {11, 9, 3}, {1, 1}, {1}, {1}},  // one dimension
      {{1, 24, 13, 11}, {24, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 24},
      {{1, 11, 30, 41}, {11, 1, 3, 3}, {1, 1, 1, 1}, {2, 2}, {1, 1}, 11},
      {{2, 9, 7, 7}, {9, 1, 5, 5}, {2, 2, 2, 2}, {1, 1}, {1, 1}, 9},
      {{1, 10, 3, 3}, {10, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 10},
      {{1, 6, 16, 21}, {12, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 6},  // two results a channel
  };
  for (const Conv& c : convs) b.output(b.node("Relu", {add_conv(b, c)}));
  const ir::ValueId rows = b.input({61, 33});
  b.output(b.node("MatMul", {rows, b.constant({33, 19})}));
  b.output(b.node("Sigmoid", {b.node("MatMul", {b.input({3, 47, 130}), b.constant({130, 50}, 0.1)})}));
  b.output(b.node("Gemm", {b.input({40, 130}), b.constant({40, 50}, 0.1), b.constant({50})},
                  {{"transA", int64_t{1}}}));
  return b;
}

HostCode generate_tuned(const ir::Graph& graph, const Tuning& tuning, WinogradUse use = WinogradUse::Chosen,
                        int64_t arena_limit = INT64_MAX, int threads = 1) {
  Options options{.name = "net", .file_stem = "net"};
  options.tuning = tuning;
  options.winograd = use;
  options.arena_limit = arena_limit;
  options.threads = threads;
  auto code = generate(graph, partition::host_partition(graph), {}, options);
  if (!code.ok()) FAIL(code.error().message);
  return std::move(code).value();
}

std::vector<LayerChoice> listed(const ir::Graph& graph, WinogradUse use = WinogradUse::Chosen,
                                int threads = 1) {
  Tuning tuning;
  tuning.measuring = true;
  return generate_tuned(graph, tuning, use, INT64_MAX, threads).choices;
}

std::set<std::string> texts(const std::vector<Variant>& variants) {
  std::set<std::string> out;
  for (const Variant v : variants) out.insert(to_text(v));
  return out;
}

std::set<std::string> legal_of(const Conv& c, WinogradUse use = WinogradUse::Chosen, int threads = 1) {
  const GraphBuilder b = single(c);
  return texts(listed(b.graph, use, threads).at(0).legal);
}

// Every layer by its k-th variant, for each k that some layer has: what was computed so is what was asked
// for.
void check_all(const std::string& compiler) {
  GraphBuilder b = odd_layers();
  std::vector<Tensor> inputs;
  for (ir::ValueId v : b.graph.inputs()) inputs.push_back(b.random(b.graph.value(v).type));
  const std::vector<Tensor> expected = reference(b.graph, inputs);
  const std::vector<LayerChoice> layers = listed(b.graph);
  REQUIRE(layers.size() == 17);
  size_t most = 0;
  for (const LayerChoice& c : layers) most = std::max(most, c.legal.size());
  for (size_t k = 0; k < most; ++k) {
    Tuning tuning;
    for (const LayerChoice& c : layers) tuning.variants[c.layer] = c.legal[k % c.legal.size()];
    const HostCode code = generate_tuned(b.graph, tuning);
    const std::vector<Tensor> actual = build_and_run(code, b.graph, inputs, compiler);
    for (size_t i = 0; i < expected.size(); ++i) {
      const LayerChoice& c = code.choices[i];
      INFO(compiler << ", " << c.layer << " by " << to_text(c.taken));
      CHECK(c.tuned);
      CHECK(c.taken == tuning.variants.at(c.layer));
      CHECK(distance(actual[i], expected[i]) <= 1e-5);
    }
  }
}

}  // namespace

TEST_CASE("variants: every legal one computes its layer") {
  check_all("gcc -O2 -march=native");
  check_all("gcc -O1 -DMRVL_NO_VECTORS");
}

TEST_CASE("variants: every legal one stays within its memory") {
  check_all("gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -march=native");
}

TEST_CASE("variants: texts") {
  std::set<std::string> seen;
  for (size_t k = 0; k <= static_cast<size_t>(Kernel::AllRows); ++k) {
    for (const Blocks blocks : {Blocks::Usual, Blocks::Half, Blocks::Double}) {
      const Variant v{static_cast<Kernel>(k), blocks};
      CHECK(parse_variant(to_text(v)) == v);
      CHECK(seen.insert(to_text(v)).second);
    }
  }
  CHECK(to_text({Kernel::Winograd4, Blocks::Half}) == "winograd4-half");
  for (const char* text : {"", "rows-", "row", "rows-quarter", "-half", "Rows"}) CHECK(!parse_variant(text));
}

TEST_CASE("variants: what is legal") {
  const Conv wide{{1, 16, 48, 48}, {16, 16, 3, 3}, {1, 1, 1, 1}};
  const std::set<std::string> all = legal_of(wide);
  for (const char* text :
       {"columns", "columns-half", "columns-double", "rows", "rows-half", "winograd4", "winograd2"})
    CHECK(all.contains(text));
  for (const char* text : {"in-place", "copied", "plane", "windows", "lanes"}) CHECK(!all.contains(text));
  // As they are defined; a stride; rows narrower than a piece; an image of one block, which has no half.
  CHECK(!legal_of(wide, WinogradUse::Never).contains("winograd4"));
  CHECK(!legal_of({{1, 16, 48, 48}, {16, 16, 3, 3}, {1, 1, 1, 1}, {2, 2}}).contains("winograd2"));
  CHECK(!legal_of({{1, 16, 48, 7}, {16, 16, 3, 3}, {1, 1, 1, 1}}).contains("rows"));
  CHECK(!legal_of({{1, 16, 8, 8}, {16, 16, 3, 3}, {1, 1, 1, 1}}).contains("columns-half"));
  CHECK(legal_of({{1, 16, 48, 48}, {16, 16, 1, 1}}).contains("copied"));
  CHECK(!legal_of({{1, 16, 48, 48}, {16, 16, 1, 1}}).contains("columns"));
  // Depthwise: more results than channels, channels that no eight are, what threads share.
  const Conv narrow{{1, 32, 40, 40}, {32, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 32};
  CHECK(legal_of(narrow) == std::set<std::string>{"plane", "windows", "lanes"});
  CHECK(legal_of(narrow, WinogradUse::Chosen, 4) == std::set<std::string>{"plane", "windows"});
  CHECK(!legal_of({{1, 7, 40, 40}, {7, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 7}).contains("lanes"));
  CHECK(!legal_of({{1, 8, 40, 40}, {16, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 8}).contains("lanes"));
  CHECK(legal_of({{1, 8, 40, 40}, {8, 1, 5, 5}, {2, 2, 2, 2}, {1, 1}, {1, 1}, 8}) ==
        std::set<std::string>{"plane", "lanes"});
}

TEST_CASE("variants: what the model of costs takes is legal") {
  const GraphBuilder b = odd_layers();
  for (const LayerChoice& c : listed(b.graph)) {
    INFO(c.layer);
    CHECK(c.taken == c.expected);
    CHECK(std::ranges::find(c.legal, c.expected) != c.legal.end());
  }
}

TEST_CASE("variants: transformed weights that are too inexact are not legal") {
  const Conv deep{{1, 2048, 24, 24}, {32, 2048, 3, 3}};
  CHECK(!legal_of(deep).contains("winograd4"));
  CHECK(legal_of(deep).contains("winograd2"));
  const GraphBuilder b = single(deep);
  Tuning tuning;
  tuning.variants[listed(b.graph).at(0).layer] = {Kernel::Winograd4};
  const HostCode code = generate_tuned(b.graph, tuning);
  CHECK(code.choices.at(0).refused == Variant{Kernel::Winograd4});
  CHECK(code.choices.at(0).taken == Variant{Kernel::Winograd2});
}

TEST_CASE("variants: layers of one text may differ in what is legal") {
  GraphBuilder b;
  Tensor weights(TensorType{ElementType::F32, {8, 8, 3, 3}});
  for (const double first : {0.5, 1e31}) {  // the second overflows when it is transformed
    weights.set_double(0, first);
    b.output(b.node("Conv", {b.input({1, 8, 32, 32}), b.constant(weights)}, {{"pads", Ints{1, 1, 1, 1}}}));
  }
  const auto layers = listed(b.graph);
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].layer == layers[1].layer);
  CHECK(texts(layers[0].legal).contains("winograd4"));
  CHECK(!texts(layers[1].legal).contains("winograd4"));
  Tuning tuning;
  tuning.variants[layers[0].layer] = {Kernel::Winograd4};
  const HostCode code = generate_tuned(b.graph, tuning);
  CHECK(code.choices[0].tuned);
  CHECK(!code.choices[1].tuned);
  CHECK(code.choices[1].refused == Variant{Kernel::Winograd4});
  CHECK(code.choices[1].taken.kernel != Kernel::Winograd4);
}

TEST_CASE("variants: a tuning of other layers changes nothing") {
  const GraphBuilder b = odd_layers();
  const HostCode plain = generate_tuned(b.graph, {});
  Tuning other;
  other.variants["Conv 1x1x1x1"] = {Kernel::Rows};
  const HostCode code = generate_tuned(b.graph, other);
  CHECK(code.files == plain.files);
  CHECK(std::ranges::none_of(code.choices, &LayerChoice::tuned));
  // What is illegal everywhere leaves the code as it is, too.
  Tuning wrong;
  for (const LayerChoice& c : plain.choices)
    wrong.variants[c.layer] = {c.taken.kernel == Kernel::Lanes ? Kernel::Rows : Kernel::Lanes, Blocks::Half};
  const HostCode refused = generate_tuned(b.graph, wrong);
  CHECK(refused.files == plain.files);
  CHECK(std::ranges::all_of(refused.choices, [](const LayerChoice& c) { return c.refused.has_value(); }));
}

TEST_CASE("variants: the key says what is computed, and by which options") {
  const Conv c{{1, 16, 48, 48}, {16, 16, 3, 3}, {1, 1, 1, 1}};
  const GraphBuilder b = single(c);
  const std::string key = listed(b.graph).at(0).layer;
  CHECK(key == "Conv 1x16x48x48 -> 1x16x48x48, kernel 3x3, stride 1x1, dilation 1x1, pads 1x1, groups 1");
  CHECK(listed(b.graph, WinogradUse::Never).at(0).layer == key + ", exact");
  CHECK(listed(b.graph, WinogradUse::Chosen, 4).at(0).layer == key + ", threads 4");
}

TEST_CASE("variants: a limit of the arena comes before a tuning") {
  const Conv c{{1, 64, 64, 64}, {64, 64, 3, 3}, {1, 1, 1, 1}};
  const GraphBuilder b = single(c);
  const LayerChoice layer = listed(b.graph).at(0);
  Tuning tuning;
  tuning.variants[layer.layer] = {Kernel::Winograd4, Blocks::Double};
  Tuning columns;
  columns.variants[layer.layer] = {Kernel::Columns};
  const int64_t large = generate_tuned(b.graph, tuning).arena_bytes,
                usual = generate_tuned(b.graph, {}).arena_bytes;
  REQUIRE(large > usual);
  const HostCode code = generate_tuned(b.graph, tuning, WinogradUse::Chosen, large - 1);
  CHECK(code.arena_bytes == usual);
  CHECK(std::ranges::none_of(code.choices, &LayerChoice::tuned));
}

// What transformed weights may take of memory holds for a tuning as well, but not where one measures.
TEST_CASE("variants: memory for transformed weights is limited") {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 320, 10, 10});
  for (int i = 0; i < 6; ++i)
    b.output(b.node("Conv", {x, b.constant({320, 320, 3, 3}, 0.05)}, {{"pads", Ints{1, 1, 1, 1}}}));
  const auto layers = listed(b.graph);
  Tuning tuning;
  tuning.variants[layers.at(0).layer] = {Kernel::Winograd4};
  const auto taken = [&] {
    return std::ranges::count_if(generate_tuned(b.graph, tuning).choices, &LayerChoice::tuned);
  };
  CHECK(taken() == 1);  // 11 MB each beyond the sums' own, of 16 MiB
  tuning.measuring = true;
  CHECK(taken() == 6);
}
