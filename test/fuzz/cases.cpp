#include "cases.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "mrvlc/driver/driver.h"
#include "mrvlc/ir/verifier.h"
#include "mrvlc/passes/pass.h"
#include "paths.h"

namespace mrvlc::fuzz {
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int kInternalCode = 70;

Outcome outcome_of(const Diagnostics& diagnostics, std::string& what) {
  const int code = diagnostics.exit_code();
  if (code >= 1 && code <= 5) return static_cast<Outcome>(code);
  what = code == kInternalCode ? "" : "refused without an error\n";
  for (const Diag& d : diagnostics.list()) what += format_diag("model", d) + "\n";
  return Outcome::Internal;
}

// The rules that placed something on the accelerator, each once.
std::string accelerated(const fs::path& out) {
  std::ifstream file(out / "placement.json");
  const Json placement = Json::parse(file, nullptr, false);
  std::set<std::string> rules;
  if (!placement.is_discarded())
    for (const Json& node : placement.at("nodes"))
      if (node.at("where") == "accelerator") rules.insert(node.value("rule", ""));
  std::string tags = rules.empty() ? "" : "accelerator";
  for (const std::string& r : rules) tags += " " + r;
  return tags;
}

}  // namespace

Outcome import_and_pass(const Mutant& mutant, uint64_t n, std::string& what) {
  Diagnostics diagnostics;
  onnx::ImportOptions options = mutant.options;
  options.hash = false;
  auto model = onnx::import_bytes(mutant.bytes, "/nonexistent", options, diagnostics);
  if (!model) return outcome_of(diagnostics, what);
  if (Status verified = ir::verify(model->graph); !verified.ok()) {
    what = verified.error().message;
    return Outcome::Wrong;
  }
  Status status =
      passes::run_passes(model->graph, n % 2 == 0 ? passes::host_pipeline() : passes::default_pipeline());
  if (status.ok()) return Outcome::Accepted;
  diagnostics.add(status.error());
  return outcome_of(diagnostics, what);
}

Outcome compile_all(const Mutant& mutant, uint64_t n, const fs::path& folder, const CompileCase& how,
                    std::string& what) {
  driver::CompileOptions options;
  options.model = folder / "model.onnx";
  options.out = folder / "out";
  options.name = "m";
  options.jobs = 1;
  options.targets = {how.target.empty() ? (n % 2 == 0 ? "host" : "cn10ka") : how.target};
  options.import.input_shapes = mutant.options.input_shapes;
  options.import.batch = mutant.options.batch;
  options.import.max_sequence = mutant.options.max_sequence;
  fs::remove_all(options.out);
  std::ofstream(options.model, std::ios::binary) << mutant.bytes;
  Diagnostics diagnostics;
  const bool done = driver::compile(options, diagnostics, [](const std::string&) {});
  if (done != fs::exists(options.out)) {
    what = done ? "nothing was written" : "refused, but something was written";
    return Outcome::Wrong;
  }
  if (!done) return outcome_of(diagnostics, what);
  what = accelerated(options.out);
  if (how.cc.empty()) return Outcome::Accepted;
  const std::string command = how.cc +
                              " -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -fsyntax-only -I" +
                              MRVLC_SOURCE_DIR "/include -I" + (options.out / "src").string() + " $(find " +
                              options.out.string() + " -name '*.c') 1>&2";
  if (std::system(command.c_str()) == 0) return Outcome::Accepted;
  what = "its C does not compile without warnings";
  return Outcome::Wrong;
}

}  // namespace mrvlc::fuzz
