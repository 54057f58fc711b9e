// --max-cycles and its kin: values against limits, errors with a cure; --fail-on-fallback.
#include "output/gates.h"

#include <algorithm>

#include "model/as_in_model.h"
#include "model/totals.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

struct Words {
  std::string_view option, found, cure;
};

constexpr Words kWords[] = {
    {"--max-cycles", "cycles of all regions together",
     "'mrvlc profile' of a compile without this option shows which layers take them; --effort 2 tries more "
     "schedules"},
    {"--max-ms", "ms are expected for a run",
     "report.txt of a compile without this option shows who spends them; --partition cost leaves the host "
     "what is faster there"},
    {"--max-arena", "bytes of the host's arena",
     "a smaller batch or input, or more on the accelerator, needs less (report.txt of a compile without this "
     "option)"},
    {"--max-weights", "bytes of weights, of the host and of all regions",
     "fp16 on the accelerator takes half of float32: 'mrvlc explain' of a compile without this option shows "
     "what runs on the CPU"},
    {"--min-mac-share", "of the multiply-accumulates run on the accelerator",
     "'mrvlc explain' of a compile without this option says of every node why"},
    {"--max-error", "is the expected error",
     "--accuracy keeps layers more exactly until it is reached (docs/accuracy.md)"}};

std::string gate_number(const Number& value) {
  const double* const fraction = std::get_if<double>(&value);
  return fraction != nullptr ? fmt::format("{:.6g}", *fraction) : number_text(value);
}

Diag failure(const ReportedGate& gate) {
  const Words& words = *std::ranges::find(kWords, gate.option, &Words::option);
  const std::string found = gate.value ? fmt::format("{} {}", gate_number(*gate.value), words.found)
                                       : fmt::format("not known: {}", words.found);
  const std::string_view cure =
      !gate.value && gate.option == "--max-error" ? "--probe measures it" : words.cure;
  return make_diag<DiagCode::MRV0013>(fmt::format("{} {}", gate.option, gate_number(gate.limit)), found,
                                      cure);
}

}  // namespace

// A value that is not known fails: a gate that has nothing to judge by does not open.
std::vector<ReportedGate> judged(const Gates& gates, const Report& report, const Accuracy& accuracy) {
  std::vector<ReportedGate> list;
  const auto most = [&](const char* option, std::optional<int64_t> limit, std::string_view name) {
    const std::optional<Number> value = total_kind(name).of(report);
    if (limit) list.push_back({option, *limit, value, value && std::get<int64_t>(*value) <= *limit});
  };
  most("--max-cycles", gates.cycles, "cycles");
  most("--max-arena", gates.arena, "arena_bytes");
  most("--max-weights", gates.weights, "weights_bytes");
  if (gates.mac_share) {
    const double share = report.placement.mac_share_accelerator;
    list.push_back({"--min-mac-share", *gates.mac_share, share, share >= *gates.mac_share});
  }
  if (gates.milliseconds) {
    ReportedGate& gate = list.emplace_back(ReportedGate{"--max-ms", *gates.milliseconds, {}, false});
    const double ms = 1e3 * report.expected.seconds;
    if (report.expected.device) gate.value = ms, gate.passed = ms <= *gates.milliseconds;
  }
  if (gates.error) {
    ReportedGate& gate = list.emplace_back(ReportedGate{"--max-error", *gates.error, {}, true});
    if (!accuracy.on_accelerator) return gate.value = int64_t{0}, list;  // exact
    if (report.accuracy.expected_error) gate.value = *report.accuracy.expected_error;
    gate.passed = accuracy.known() && accuracy.expected_error() <= *gates.error;
  }
  return list;
}

Status check_gates(const Report& report, const std::optional<Report>& baseline, const Gates& gates,
                   Diagnostics& diagnostics) {
  std::vector<Diag> failed;
  for (const ReportedGate& gate : report.gates)
    if (!gate.passed) failed.push_back(failure(gate));
  if (baseline) add_regressions(gates, *baseline, report, failed);
  if (failed.empty()) return {};
  for (size_t i = 0; i + 1 < failed.size(); ++i) diagnostics.add(std::move(failed[i]));
  return std::move(failed.back());
}

bool check_fallback(const PlacedModel& m, Diagnostics& diagnostics) {
  constexpr size_t kMaxGateErrors = 20;
  size_t found = 0;
  for (const auto& d : m.partition.decisions) {
    if (d.on_target() || ++found > kMaxGateErrors) continue;
    diagnostics.add(as_in_model(
        m.model.graph, make_diag<DiagCode::MRV0009>("--fail-on-fallback: runs on the CPU: " + d.reason.str()),
        d.node));
  }
  if (found > kMaxGateErrors) {
    diagnostics.add(make_diag<DiagCode::MRV0009>(
        fmt::format("--fail-on-fallback: {} more nodes run on the CPU", found - kMaxGateErrors)));
  }
  return found == 0;
}

}  // namespace mrvlc::driver
