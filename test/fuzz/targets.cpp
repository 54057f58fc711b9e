#include "targets.h"

#include "container_layout.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ir/verifier.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/partition/rules.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::fuzz {
namespace {

void read_model(std::string_view bytes) {
  Diagnostics diagnostics;
  onnx::ImportOptions options;
  options.hash = false;
  auto model = onnx::import_bytes(bytes, "/nonexistent", options, diagnostics);
  if (model) (void)passes::run_passes(model->graph, passes::host_pipeline());
}

void read_ir(std::string_view text) {
  auto graph = ir::parse(text, ops::registry());
  if (!graph.ok() || !ir::verify(*graph).ok()) return;
  if (ops::verify_types(*graph).ok()) (void)ir::parse(ir::print(*graph), ops::registry());
}

void read_rules(std::string_view text) {
  (void)partition::load_rules({}, {{"fuzz.rules", std::string(text)}});
}

void read_target(std::string_view text) {
  (void)target::parse_machine(text, "fuzz");
}

// As if whoever damaged it had written the checksums too: what is behind them must hold as well.
std::string with_checksums(std::string bytes) {
  using namespace isa::layout;
  if (bytes.size() < kHeaderBytes) return bytes;
  auto raw = std::as_bytes(std::span(bytes.data(), bytes.size()));
  put<isa::Identity>(bytes, kIdentity, sha256(raw.subspan(kHeaderBytes)));
  put<uint32_t>(bytes, kPayloadCrc, crc32c(raw.subspan(kHeaderBytes)));
  put<uint32_t>(bytes, kHeaderCrc, crc32c(raw.first(kHeaderCrc)));
  return bytes;
}

void read_binary(std::string_view damaged) {
  static const auto machine = target::load_machine("cn10ka", {});
  (void)isa::read_container(damaged);
  const std::string bytes = with_checksums(std::string(damaged));
  auto binary = isa::read_container(bytes);
  if (!binary.ok() || !machine.ok()) return;
  auto simulator = sim::Simulator::create(*std::move(binary), *machine);
  if (simulator.ok()) (void)simulator->time_only();
}

constexpr Target kTargets[] = {{"importer", read_model},
                               {"ir", read_ir},
                               {"rules", read_rules},
                               {"target", read_target},
                               {"binary", read_binary}};

}  // namespace

std::span<const Target> targets() {
  return kTargets;
}

const Target* find_target(std::string_view name) {
  for (const Target& t : kTargets) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

}  // namespace mrvlc::fuzz
