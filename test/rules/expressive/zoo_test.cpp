// The rules of this folder on real networks, when MRVLC_SHARED names a folder with data/zoo.
#include <cstdlib>

#include "count.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/source_rules.h"
#include "mrvlc/passes/pass.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

struct Expected {
  const char *model, *file, *rule;
  size_t matches;
};

constexpr Expected kExpected[] = {
    {"squeezenet_fp16", "fire", "fire", 8},
    {"selfie_seg_landscape", "squeeze_excite", "squeeze_excite", 6},
    {"fastestdet", "shuffle", "shuffle", 13},
    {"deeploy_cct2_op20", "attention", "attention", 2},
    {"tiny_resnet8_f32", "residual", "residual", 3},
    {"tiny_resnet8_int8_qdq", "quantized", "quantized_conv", 9},
    {"tiny_kws_int8_qdq", "quantized", "quantized_conv", 9},
    {"tiny_resnet8_int8_qdq", "integers", "canonical_conv", 9},
    {"tiny_kws_int8_qdq", "integers", "canonical_conv", 9},
    {"mlsd_tiny_320", "pad", "pad_conv", 3},
    {"mlsd_tiny_320", "pad", "swapped", 1},
};

}  // namespace

TEST_CASE("blocks of real networks are found, each as often as it is there") {
  const char* shared = std::getenv("MRVLC_SHARED");
  if (shared == nullptr) return;
  for (const Expected& e : kExpected) {
    CAPTURE(e.model, e.rule);
    const auto file = std::filesystem::path(shared) / "data/zoo" / (std::string(e.model) + ".onnx");
    if (!std::filesystem::exists(file)) continue;
    Diagnostics diagnostics;
    auto model = onnx::import_file(file, {}, diagnostics);
    REQUIRE(model);
    const rules::RuleSet set = rules_of(e.file);
    const rules::Rule* rule = set.find(e.rule);
    REQUIRE(rule != nullptr);
    passes::RunOptions options;
    if (partition::asks_for_integers(*rule))
      options.context.stays = [](const ir::Graph&, const ir::Node& n) { return n.is(Op::DequantizeLinear); };
    if (rule->stage == rules::Stage::Canonical)
      REQUIRE(passes::run_passes(model->graph, passes::default_pipeline(), options).ok());
    CHECK(count(*rule, model->graph) == e.matches);
  }
}
