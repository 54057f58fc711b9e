// Golden tests of passes. Each case of test/ir/passes/*.txt reads
//   # RUN: pass [pass...]
//   graph ... (input)
//   # EXPECT
//   graph ... (result, then a comment for each erased node and why)
// MRVLC_BLESS=1 ctest -R passes   rewrites the expected parts. Whatever stands there, the result must also
// verify, and compute what the input computes.
#include <algorithm>
#include <cmath>

#include "helpers.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ir/lineage.h"
#include "mrvlc/passes/pass.h"
#include "support/golden.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

std::string with_reasons(const ir::Graph& g) {
  std::string out = ir::print(g);
  for (size_t i = 0; i < g.node_slots(); ++i) {
    ir::NodeId id(i);
    if (!g.node(id).erased) continue;
    const ir::Lineage& l = g.lineage(id);
    const std::vector<ir::SourceId> sources = ir::sources_of(g, {&id, 1});
    REQUIRE_FALSE(sources.empty());
    out += fmt::format("# {} of source {} erased: {}\n", g.node(id).op->name, sources[0].index(),
                       l.erased_because);
  }
  return out;
}

// Relative to the larger of 1 and the expected value; half precision rounds at 2^-11.
double tolerance(const Tensor& t) {
  return t.elem() == ElementType::F16 ? 2e-3 : 1e-5;
}

void check_same(const Tensor& want, const Tensor& got) {
  REQUIRE(want.type() == got.type());
  for (int64_t i = 0; i < want.elements(); ++i) {
    double w = want.as_double(i), g = got.as_double(i);
    bool same = w == g || (std::isnan(w) && std::isnan(g)) ||
                std::abs(w - g) <= tolerance(want) * std::max(1.0, std::abs(w));
    if (!same) FAIL_CHECK("element " << i << ": " << w << " before, " << g << " after");
  }
}

// Seeded inputs lie in [0, 1); the second run sees them spread over [-8, 8) so that every branch of an
// activation is met.
void check_semantics(const ir::Graph& before, const ir::Graph& after) {
  std::vector<Tensor> inputs = interp::seeded_inputs(before, 1);
  for (int round = 0; round < 2; ++round) {
    auto want = interp::run(before, inputs), got = interp::run(after, inputs);
    if (!want.ok()) FAIL(want.error().message);
    if (!got.ok()) FAIL(got.error().message);
    REQUIRE(want->size() == got->size());
    for (size_t i = 0; i < want->size(); ++i) check_same((*want)[i], (*got)[i]);
    for (Tensor& t : inputs) {
      if (!is_float(t.elem())) continue;
      for (int64_t i = 0; i < t.elements(); ++i) t.set_double(i, t.as_double(i) * 16 - 8);
    }
  }
}

std::string run_case(const GoldenCase& c) {
  ir::Graph before = parse_ok(c.input);
  Status types = ops::verify_types(before);
  if (!types.ok()) FAIL(format_diag("input", types.error()));
  ir::Graph after = before;
  std::vector<std::string> names = c.words();
  std::vector<std::string_view> views(names.begin(), names.end());
  REQUIRE_FALSE(views.empty());
  Status s = passes::run_passes(after, views);
  if (!s.ok()) FAIL(format_diag("result", s.error()));
  REQUIRE(ir::verify(after).ok());
  check_semantics(before, after);
  return with_reasons(after);
}

}  // namespace

TEST_CASE("golden files of the passes", "[passes]") {
  auto files = golden_files(MRVLC_PASS_FILES);
  REQUIRE_FALSE(files.empty());
  for (const auto& path : files) {
    DYNAMIC_SECTION(path.filename().string()) {
      check_golden_file(path, run_case);
    }
  }
}

TEST_CASE("every pass has a golden file", "[passes]") {
  for (const passes::PassInfo& p : passes::all_passes()) {
    CAPTURE(p.name);
    CHECK(std::filesystem::exists(std::filesystem::path(MRVLC_PASS_FILES) / (std::string(p.name) + ".txt")));
    CHECK_FALSE(p.summary.empty());
  }
}
