// `mrvlc verify --layers` names the layer that computes something else. Faults are put into the weights of
// the accelerator's copy, found by where the binary's own transfers read them.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

#include "mrvlc/accel/accel.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/isa/identity.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/tensor/npy.h"
#include "onnx/model_util.h"

using namespace mrvlc;
using State = driver::LayerError::State;

namespace {

std::vector<float> random_weights(size_t n, float scale, uint32_t seed) {
  std::mt19937 draw(seed);
  std::vector<float> out(n);
  for (float& v : out) v = scale * (static_cast<float>(draw()) / 2147483648.0f - 1);
  return out;
}

struct ConvShape {
  int64_t from, to, kernel, group;
};

void add_conv(test::pb::ModelProto& model, const std::string& name, const std::string& in,
              const std::string& out, const ConvShape& s, float scale = 1) {
  const auto count = static_cast<size_t>(s.to * s.from / s.group * s.kernel * s.kernel);
  const float size = scale * std::sqrt(3.0f / static_cast<float>(s.from / s.group * s.kernel * s.kernel));
  const auto seed = std::accumulate(name.begin(), name.end(), 0u,
                                    [](uint32_t h, char c) { return 31 * h + static_cast<uint32_t>(c); });
  *model.mutable_graph()->add_initializer() = test::float_tensor(
      name + "_w", {s.to, s.from / s.group, s.kernel, s.kernel}, random_weights(count, size, seed));
  test::pb::NodeProto& node = test::add_node(model, "Conv", {in, name + "_w"}, {out});
  node.set_name(name);
  test::add_int(node, "group", s.group);
  const int64_t pad = s.kernel / 2;
  test::add_ints(node, "pads", {pad, pad, pad, pad});
}

// Convolutions of all sorts with a skip connection, a pool and a product.
test::pb::ModelProto network() {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 12, 12});
  add_conv(model, "stem", "x", "a0", {3, 16, 3, 1});
  test::add_node(model, "Relu", {"a0"}, {"a"}).set_name("stem_relu");
  add_conv(model, "wide", "a", "b", {16, 32, 1, 1});
  add_conv(model, "depth", "b", "c", {32, 32, 3, 32});
  test::add_node(model, "Sigmoid", {"c"}, {"c1"}).set_name("gate");
  add_conv(model, "narrow", "c1", "d", {32, 16, 1, 1});
  test::add_node(model, "Add", {"d", "a"}, {"e"}).set_name("skip");
  add_conv(model, "grouped", "e", "f", {16, 16, 3, 4});
  add_conv(model, "last", "f", "g", {16, 24, 3, 1});
  test::add_node(model, "GlobalAveragePool", {"g"}, {"h"}).set_name("pool");
  test::add_node(model, "Flatten", {"h"}, {"i"}).set_name("flat");
  *model.mutable_graph()->add_initializer() =
      test::float_tensor("fc_w", {24, 10}, random_weights(240, 0.5f, 7));
  test::add_node(model, "MatMul", {"i", "fc_w"}, {"y"}).set_name("fc");
  test::add_output(model, "y", {1, 10});
  return model;
}

class Case {
 public:
  explicit Case(const test::pb::ModelProto& model) {
    dir_.write("model.onnx", model.SerializeAsString());
    options.compile.model = dir_.path() / "model.onnx";
    options.compile.accel = {"*"};
    options.sets = {"uniform"};
    options.layers.emplace();
  }
  const driver::LayerErrors& verify() {
    diagnostics = {};
    errors.reset();
    comparisons = driver::verify(options, diagnostics, &errors);
    INFO((diagnostics.list().empty() ? std::string() : diagnostics.list().back().message));
    REQUIRE(errors.has_value());
    return *errors;
  }
  const driver::LayerError& first_bad() const {
    REQUIRE(errors->first_bad.has_value());
    return errors->layers[*errors->first_bad];
  }
  std::filesystem::path path() const { return dir_.path(); }

  driver::VerifyOptions options;
  Diagnostics diagnostics;
  std::vector<driver::Comparison> comparisons;
  std::optional<driver::LayerErrors> errors;

 private:
  test::TempDir dir_;
};

// Bytes of the weights section that transfers of each layer read.
std::map<uint32_t, std::set<uint64_t>> bytes_of_layers(const backend::RegionCode& r,
                                                       const isa::Binary& binary) {
  std::map<uint32_t, std::set<uint64_t>> out;
  for (const backend::CodeRange& range : r.instructions) {
    if (range.section != backend::Section::Main) continue;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const auto* dma = std::get_if<isa::Dma>(&binary.main[i].body);
      if (dma == nullptr || dma->src_space != isa::Space::Ddr || dma->src >= binary.weights.size()) continue;
      for (uint32_t a = 0; a < dma->dims[0]; ++a)
        for (uint32_t b = 0; b < dma->dims[1]; ++b)
          for (uint32_t c = 0; c < dma->dims[2]; ++c)
            for (uint32_t k = 0; k < dma->run_bytes; ++k)
              out[range.layer].insert(dma->src +
                                      static_cast<uint64_t>(a * dma->src_strides[0] +
                                                            b * dma->src_strides[1] +
                                                            c * dma->src_strides[2]) +
                                      k);
    }
  }
  return out;
}

// Turns the signs of a quarter of one layer's weights; which layer.
uint32_t turn_signs(backend::RegionCode& r, std::mt19937& draw) {
  auto binary = isa::read_container(r.bytes);
  REQUIRE(binary.ok());
  const auto bytes = bytes_of_layers(r, *binary);
  REQUIRE(bytes.size() >= 2);
  for (;;) {
    const auto& [layer, all] = *std::next(bytes.begin(), static_cast<long>(draw() % bytes.size()));
    const std::vector<uint64_t> at(all.begin(), all.end());
    const size_t from = draw() % (at.size() - at.size() / 4), to = from + at.size() / 4;
    size_t changed = 0;
    for (size_t i = from; i < to; ++i) {
      const auto value = static_cast<uint8_t>(binary->weights[at[i]]);
      if (at[i] % 2 == 0 || (value & 0x7f) < 0x20) continue;  // high bytes of what is not tiny
      binary->weights[at[i]] = static_cast<char>(value ^ 0x80);
      ++changed;
    }
    if (changed < 8) continue;
    r.bytes = isa::write_container(*binary);
    r.identity = isa::stored_identity(r.bytes);
    return layer;
  }
}

// "right" ? right(x) : left(x), each a convolution.
test::pb::ModelProto branches() {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 8, 6, 6});
  test::add_input(model, "right", {}, 9);
  test::pb::NodeProto choice = test::make_node("If", {"right"}, {"y"});
  for (const char* side : {"then_branch", "else_branch"}) {
    test::pb::ModelProto body;
    add_conv(body, side, "x", std::string(side) + "_y", {8, 8, 3, 1});
    body.mutable_graph()->set_name(side);
    test::add_output(body, std::string(side) + "_y", {1, 8, 6, 6});
    test::pb::AttributeProto& attr = *choice.add_attribute();
    attr.set_name(side);
    attr.set_type(test::pb::AttributeProto::GRAPH);
    *attr.mutable_g() = body.graph();
  }
  choice.set_name("choice");
  *model.mutable_graph()->add_node() = choice;
  test::add_output(model, "y", {1, 8, 6, 6});
  return model;
}

}  // namespace

// Copies of the model have bodies of their own, and the accelerator's share of these goes with them.
TEST_CASE("layers around branches that the accelerator computes") {
  Case c(branches());
  c.options.compile.accel = {"Conv"};
  const driver::LayerErrors& errors = c.verify();
  CHECK_FALSE(errors.first_bad.has_value());
  CHECK(c.diagnostics.exit_code() == 0);
}

TEST_CASE("a network that computes what it should has no bad layer") {
  Case c(network());
  c.options.sets = {};
  const driver::LayerErrors& errors = c.verify();
  CHECK_FALSE(errors.first_bad.has_value());
  CHECK(errors.sets.size() == 4);
  CHECK(errors.reference == "float32");
  CHECK(errors.layers.size() >= 8);
  bool inherits = false;
  for (const driver::LayerError& l : errors.layers) {
    INFO(l.operators);
    CHECK(l.state == State::Ok);
    CHECK(l.own <= l.limit);
    CHECK(l.error <=
          1.01 * (l.own + l.inherited) + 1e-6);  // on the way float32 of their operands lies between
    inherits = inherits || (l.inherited > 0 && l.error > 0);
  }
  CHECK(inherits);
  CHECK(c.diagnostics.exit_code() == 0);
}

TEST_CASE("the layer whose weights were changed is named, in fifty of fifty") {
  Case c(network());
  std::set<std::string> named;
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    std::mt19937 draw(seed);
    std::string damaged;
    c.options.layers->damage = [&](uint32_t region, backend::RegionCode& r) {
      REQUIRE(region == 0);
      damaged = std::to_string(turn_signs(r, draw));
    };
    c.options.compile.accelerator.tiles = seed % 2 == 0 ? 8 : 1;
    c.verify();
    INFO("seed " << seed << ": layer " << damaged << ", named: " << c.first_bad().operators);
    CHECK(c.first_bad().state == State::Wrong);
    CHECK(std::to_string(*c.errors->first_bad) == damaged);
    CHECK(c.diagnostics.exit_code() == 5);
    named.insert(c.first_bad().node);
  }
  CHECK(named.size() >= 6);  // not always the same one
}

TEST_CASE("a layer whose result fp16 cannot hold is named as that") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 8, 8});
  add_conv(model, "quiet", "x", "a", {3, 8, 3, 1});
  add_conv(model, "loud", "a", "b", {8, 8, 3, 1}, 2.5e5f);
  add_conv(model, "after", "b", "y", {8, 8, 3, 1}, 1e-3f);
  test::add_output(model, "y", {1, 8, 8, 8});
  Case c(model);
  c.options.compile.precisions = {{"*", {}}};  // it is not to be made to fit
  c.verify();
  CHECK(c.first_bad().state == State::Fp16);
  CHECK(c.first_bad().node == "loud");
  CHECK(std::isinf(c.first_bad().own));
  const bool said =
      std::ranges::any_of(c.diagnostics.list(), [](const Diag& d) { return d.code == DiagCode::MRV0908; });
  CHECK(said);
  CHECK(c.errors->layers.back().own < 1e-2);  // it only inherits
  CHECK(std::isinf(c.errors->layers.back().inherited));
}

TEST_CASE("on the host nodes are the layers, and against the host regions are compared with its code") {
  Case c(network());
  c.options.compile.targets = {"host"};
  c.options.compile.accel = {};
  const driver::LayerErrors& host = c.verify();
  CHECK_FALSE(host.first_bad.has_value());
  CHECK(host.layers.front().place == "cpu");
  CHECK(host.layers.size() >= 9);
  Case d(network());
  d.options.layers->against_host = true;
  const driver::LayerErrors& both = d.verify();
  CHECK(both.reference == "host");
  CHECK_FALSE(both.first_bad.has_value());
  for (const driver::LayerError& l : both.layers) CHECK(l.state == State::Ok);
}

TEST_CASE("data may be inputs alone") {
  Case c(network());
  std::filesystem::create_directories(c.path() / "data" / "one");
  Tensor x(TensorType{ElementType::F32, {1, 3, 12, 12}});
  for (int64_t i = 0; i < x.elements(); ++i) x.set_double(i, static_cast<double>(i % 17) / 4 - 2);
  std::ofstream(c.path() / "data" / "one" / "x.npy") << to_npy(x);
  c.options.data = {c.path() / "data"};
  const driver::LayerErrors& errors = c.verify();
  CHECK_FALSE(errors.first_bad.has_value());
  CHECK(errors.sets == std::vector<std::string>{"one"});
}

TEST_CASE("text, JSON and page of layers say the same") {
  Case c(network());
  std::mt19937 draw(3);
  c.options.layers->damage = [&](uint32_t, backend::RegionCode& r) { turn_signs(r, draw); };
  const driver::LayerErrors& errors = c.verify();
  const std::string text = driver::layers_text(errors), page = driver::layers_page(errors, "model <1>");
  const auto json = nlohmann::json::parse(driver::verify_json(c.comparisons, &errors));
  CHECK_THAT(text, Catch::Contains("first bad layer: " + std::to_string(*errors.first_bad) + ", "));
  CHECK(json.at("layers").at("first_bad") == *errors.first_bad);
  CHECK(json.at("layers").at("layers").at(*errors.first_bad).at("state") == "wrong");
  CHECK(json.at("layers").at("layers").size() == errors.layers.size());
  CHECK(json.at("outputs").at(0).at("output") == "y");
  CHECK_THAT(page, Catch::Contains("id=\"first-bad\"") && Catch::Contains("model &lt;1&gt;"));
  CHECK_THAT(page, !Catch::Contains("<script"));
}
