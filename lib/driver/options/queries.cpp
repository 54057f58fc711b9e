// What is asked of the table of options: records by name, the page of all, contradictions.
#include <fmt/format.h>

#include <algorithm>

#include "mrvlc/driver/option_table.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

constexpr std::string_view kTitles[] = {"Model",
                                        "Output",
                                        "Target",
                                        "Placement: what runs where",
                                        "Precision and accuracy",
                                        "Code for the CPU",
                                        "Faults at run time",
                                        "Gates: exit code 5 unless",
                                        "Builds and debugging"};

// "compile, batch": the commands of `bits`, for the page.
std::string commands_text(uint32_t bits) {
  if (bits == command::kAll) return "all that take a model";
  constexpr std::pair<uint32_t, std::string_view> kNames[] = {{command::kCompile, "compile"},
                                                              {command::kVerify, "verify"},
                                                              {command::kBatch, "batch"},
                                                              {command::kBundle, "bundle"},
                                                              {command::kTune, "tune"}};
  std::vector<std::string_view> names;
  for (const auto& [bit, name] : kNames)
    if ((bits & bit) != 0) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string in_cell(std::string_view text) {
  std::string out;
  for (const char ch : text) out += ch == '|' ? std::string("\\|") : std::string(1, ch);
  return out;
}

}  // namespace

bool emits(const CompileOptions& options, std::string_view kind) {
  return std::ranges::find(options.emit, kind) != options.emit.end();
}

std::string_view title(OptionGroup group) {
  return kTitles[static_cast<size_t>(group)];
}

std::string_view long_name(const OptionRecord& record) {
  const size_t comma = record.names.find(',');
  return comma == std::string_view::npos ? record.names : record.names.substr(comma + 1);
}

const OptionRecord* find_option(std::string_view name) {
  const auto table = option_table();
  const auto found = std::ranges::find(table, name, long_name);
  return found == table.end() ? nullptr : &*found;
}

std::string options_markdown() {
  std::string out;
  std::optional<OptionGroup> group;
  for (const OptionRecord& record : option_table()) {
    if (group != record.group)
      out += fmt::format("{}**{}**\n\n| option | commands | what it does |\n|---|---|---|\n",
                         group ? "\n" : "", title(record.group));
    group = record.group;
    const std::string value = record.value.empty() ? "" : " " + in_cell(record.value);
    out += fmt::format("| `{}{}` | {} | {} |\n", record.names, value, commands_text(record.commands),
                       in_cell(record.help));
  }
  return out;
}

namespace {

bool chooses_by_error(const CompileOptions& o) {
  return o.accuracy || o.objective == CompileOptions::Objective::Accuracy;
}

}  // namespace

Status check_together(const CompileOptions& o) {
  const auto refused = [](const char* text) { return make_diag<DiagCode::MRV0004>(text); };
  const bool no_probe = o.probe == CompileOptions::Probe::Never;
  if (o.objective == CompileOptions::Objective::Accuracy && o.accuracy)
    return refused("--objective accuracy takes what --slowdown allows: without --accuracy");
  if (o.frontier && (chooses_by_error(o) || o.precision != "fp16"))
    return refused("--frontier tries --accuracy and --precision itself: without these");
  if (no_probe && o.frontier)
    return refused("--frontier shows errors that the probe measures, which --no-probe leaves out");
  if (no_probe && o.gates.error)
    return refused("--max-error is about what the probe measures, which --no-probe leaves out");
  if (no_probe && o.accuracy)
    return refused("--accuracy is measured by the probe, which --no-probe leaves out");
  if (no_probe && o.fail_on_accuracy && o.calibration.empty())
    return refused("--fail-on-accuracy has nothing to judge by with --no-probe and no --calibration");
  const Depfile& d = o.depfile;
  if ((d.phony || !d.targets.empty() || !d.quoted_targets.empty()) && d.file.empty() && !d.beside_out)
    return refused("-MT, -MQ and -MP are about the dependency file, which -MD or -MF asks for");
  return {};
}

}  // namespace mrvlc::driver
