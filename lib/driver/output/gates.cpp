// --max-cycles and its kin: values against limits, errors with a cure; --fail-on-fallback.
#include "output/gates.h"

#include <algorithm>

#include "diff/totals.h"
#include "model/as_in_model.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

// A value that is not known is null, and fails: a gate that has nothing to judge by does not open.
void add(Json& list, const char* option, const Json& limit, const Json& value, bool passed) {
  list.push_back({{"option", option}, {"limit", limit}, {"value", value}, {"passed", passed}});
}

void add_most(Json& list, const char* option, std::optional<int64_t> limit, const Json& value) {
  if (limit) add(list, option, *limit, value, !value.is_null() && value.get<int64_t>() <= *limit);
}

void add_error(Json& list, const Json& report, const Accuracy& accuracy, double limit) {
  const bool exact = !accuracy.on_accelerator;
  const bool passed = exact || (accuracy.known() && accuracy.expected_error() <= limit);
  add(list, "--max-error", limit, exact ? Json(0) : report.at("accuracy").at("expected_error"), passed);
}

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

std::string gate_number(const Json& value) {
  return value.is_number_float() ? fmt::format("{:.6g}", value.get<double>()) : value.dump();
}

Diag failure(const Json& gate) {
  const std::string option = gate.at("option").get<std::string>();
  const Words& words = *std::ranges::find(kWords, option, &Words::option);
  const Json& value = gate.at("value");
  const std::string found = value.is_null() ? fmt::format("not known: {}", words.found)
                                            : fmt::format("{} {}", gate_number(value), words.found);
  const std::string_view cure =
      value.is_null() && option == "--max-error" ? "--probe measures it" : words.cure;
  return make_diag<DiagCode::MRV0013>(fmt::format("{} {}", option, gate_number(gate.at("limit"))), found,
                                      cure);
}

}  // namespace

void add_gates(Json& report, const CompiledModel& m, const Gates& gates) {
  Json list = Json::array();
  const std::vector<Total> all = totals(report);
  auto total = [&](std::string_view name) { return std::ranges::find(all, name, &Total::name)->value; };
  add_most(list, "--max-cycles", gates.cycles, total("cycles"));
  add_most(list, "--max-arena", gates.arena, total("arena_bytes"));
  add_most(list, "--max-weights", gates.weights, total("weights_bytes"));
  const Json share = total("mac_share_accelerator");
  if (gates.mac_share)
    add(list, "--min-mac-share", *gates.mac_share, share, share.get<double>() >= *gates.mac_share);
  const Json& expected = report.at("expected");
  if (gates.milliseconds) {
    const bool told = !expected.at("seconds_device").is_null();
    const double ms = 1e3 * expected.at("seconds").get<double>();
    add(list, "--max-ms", *gates.milliseconds, told ? Json(ms) : Json(), told && ms <= *gates.milliseconds);
  }
  if (gates.error) add_error(list, report, m.accuracy, *gates.error);
  if (!list.empty()) report["gates"] = std::move(list);
}

Status check_gates(const Json& report, const Json& baseline, const Gates& gates, Diagnostics& diagnostics) {
  std::vector<Diag> failed;
  for (const Json& gate : report.value("gates", Json::array()))
    if (!gate.at("passed").get<bool>()) failed.push_back(failure(gate));
  if (!baseline.is_null()) add_regressions(gates, baseline, report, failed);
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
