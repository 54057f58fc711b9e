// Some lines about the folder that was written.
#include "evidence/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "mrvlc/support/printable.h"

namespace mrvlc::driver {
namespace {

std::string nodes_line(const Evidence& e) {
  const auto with = [&](const char* code) {
    return std::ranges::count(e.nodes, code, [](const EvidenceNode& n) { return n.code; });
  };
  return fmt::format("nodes: {}: {} with code, {} the same bytes as an operand, {} compiled away\n",
                     e.nodes.size(), with("own"), with("same-bytes"), with("none"));
}

std::string proof_line(const Evidence& e) {
  const auto proved =
      std::ranges::count_if(e.nodes, [](const EvidenceNode& n) { return n.proof.exact && n.proof.declared; });
  return fmt::format("proof: {}: {} of {} nodes\n", e.verdict, proved, e.nodes.size());
}

std::string tests_line(const Evidence& e) {
  const auto wrong =
      std::ranges::count(e.tests.runs, "differs", [](const EvidenceRun& r) { return r.state; });
  const std::string rest = e.tests.not_run ? "; not run: " + *e.tests.not_run : "";
  return fmt::format("tests: {} outputs compared, {} differ{}\n", e.tests.runs.size(), wrong, rest);
}

std::string analysis_line(const EvidenceAnalysis& a) {
  const std::string who = fmt::format("{}, {}: ", a.version.value_or(a.tool), a.asked);
  if (a.not_run) return who + "not run: " + *a.not_run + "\n";
  uint32_t all = 0;
  for (const auto& [rule, count] : a.findings) all += count;
  return fmt::format("{}{} findings of {} kinds\n", who, all, a.findings.size());
}

}  // namespace

std::string summary(const Evidence& e) {
  std::string text = nodes_line(e) + proof_line(e) + tests_line(e);
  for (const EvidenceAnalysis& a : e.analyses) text += analysis_line(a);
  text += fmt::format("missing links: {}\n", e.missing.size());
  return printable_lines(text);
}

}  // namespace mrvlc::driver
