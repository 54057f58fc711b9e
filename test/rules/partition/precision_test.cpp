// Precisions of values: their text, the patterns that ask for them, and what cannot be.
#include "build.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/partition.h"

using namespace mrvlc;
using partition::Precision;
using test::image_graph;
using test::node;

namespace {

constexpr Precision kPair{Precision::Kind::Pair, 0};

const std::string kNetwork =
    node("%c = Conv(%x, %w)") + node("%r = Relu(%c)") +
    " %t = Transpose(%r) {perm = [0, 2, 3, 1]} : f32[1,8,8,4]\n" +
    " %a = AveragePool(%r) {kernel_shape = [2, 2], strides = [2, 2]} : f32[1,4,4,4]\n"
    " output %t\n output %a\n";

// Names and precisions of what is asked for, in order of the names.
std::string asked(const ir::Graph& g, std::vector<std::pair<std::string, Precision>> precisions,
                  std::vector<Diag>* diags = nullptr) {
  partition::Options options;
  options.precisions = std::move(precisions);
  partition::Partition p = test::split(g, options);
  REQUIRE(partition::assign_precisions(g, p, options).ok());
  if (diags != nullptr) *diags = partition::refused_precisions(g, p, options);
  std::map<std::string, std::string> by_name;
  for (const auto& region : p.regions)
    for (const auto& [v, precision] : region.precisions) by_name[g.value(v).name] = to_text(precision);
  std::string out;
  for (const auto& [name, text] : by_name) out += (out.empty() ? "" : " ") + name + "=" + text;
  return out;
}

}  // namespace

TEST_CASE("precisions are read as they are written") {
  for (const char* text : {"fp16", "pair", "scale:3", "scale:-40", "pair:12"}) {
    auto p = partition::parse_precision(text);
    REQUIRE(p);
    CHECK(to_text(*p) == text);
  }
  for (const char* text : {"", "fp8", "pairs", "scale", "scale:", "scale:x", "scale:3x", "scale:41",
                           "pair:-41", "fp16:3", "scale:99999999999"})
    CHECK_FALSE(partition::parse_precision(text));
}

TEST_CASE("the last pattern that names a value says its precision") {
  ir::Graph g = image_graph(kNetwork);
  CHECK(asked(g, {{"x", kPair}}) == "x=pair");
  CHECK(asked(g, {{"x", kPair}, {"?", {}}}).empty());
  CHECK(asked(g, {{"*", kPair}, {"w", {}}, {"x", {Precision::Kind::Half, 4}}}) == "r=pair t=pair x=scale:4");
  CHECK(asked(g, {{"w", kPair}}) == "w=pair");
}

TEST_CASE("operand and result of a view have one precision") {
  ir::Graph g = image_graph(kNetwork);
  CHECK(asked(g, {{"t", kPair}}) == "r=pair t=pair");
  CHECK(asked(g, {{"r", kPair}}) == "r=pair t=pair");
}

TEST_CASE("what cannot have a precision keeps its own, and a warning says why") {
  ir::Graph g = image_graph(kNetwork);
  auto refusal = [&](const std::string& pattern, Precision p) {
    std::vector<Diag> diags;
    CHECK(asked(g, {{pattern, p}}, &diags).empty());
    REQUIRE(diags.size() == 1);
    return std::string(diag_info(diags[0].code).name) + " " + diags[0].message;
  };
  CHECK(
      refusal("c", kPair).find("'c' keeps its precision: it does not leave its layer, whose result is 'r'") !=
      std::string::npos);
  CHECK(refusal("a", kPair).find("AveragePool writes float16 alone") != std::string::npos);
  CHECK(refusal("k", kPair).starts_with("MRV0406"));  // nobody reads it
  CHECK(refusal("w", {Precision::Kind::Pair, 2}).starts_with("MRV0408"));
  std::vector<Diag> diags;
  asked(g, {{"*", kPair}}, &diags);  // is about those that can
  CHECK(diags.empty());
}

TEST_CASE("a precision for a value that the model does not have is an error") {
  ir::Graph g = image_graph(kNetwork);
  partition::Options options;
  options.precisions = {{"nothing*", kPair}};
  partition::Partition p = test::split(g);
  auto status = partition::assign_precisions(g, p, options);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == DiagCode::MRV0407);
}
