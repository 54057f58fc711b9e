// Models compiled for the host, their functions measured; how well the fitted rates explain the times.
#include "mrvlc/driver/calibrate_host.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "folder/output_folder.h"
#include "host_calibration/fit.h"
#include "inputs/read_files.h"
#include "inputs/side_inputs.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/temporary_dir.h"
#include "profile/measured.h"
#include "stages/stages.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr int kRuns = 100;

using Terms = std::map<uint32_t, HostFunction::Term>;  // by expression

class HostCalibrator {
 public:
  HostCalibrator(const HostCalibration& options, Diagnostics& diagnostics)
      : o_(options), diagnostics_(diagnostics) {}

  std::optional<std::string> run() {
    Result<std::string> summary = calibrate();
    if (summary.ok()) return *std::move(summary);
    if (!told_) diagnostics_.add(summary.error());
    return std::nullopt;
  }

 private:
  Result<std::string> calibrate() {
    MRVLC_TRY(check_out());
    std::vector<ReadFile> read;
    MRVLC_ASSIGN(const SideInputs inputs, read_side_inputs(o_.compile, read));
    const partition::HostModel& base = inputs.host_model;
    for (size_t i = 0; i < o_.models.size(); ++i) {
      if (o_.progress) o_.progress(o_.models[i].stem().string(), i, o_.models.size());
      MRVLC_ASSIGN(HostNetwork network, measured(o_.models[i]));
      if (network.empty())
        return make_diag<DiagCode::MRV0004>(
            fmt::format("{}: nothing that takes time is computed", printable(o_.models[i].string())));
      networks_.push_back(std::move(network));
    }
    if (o_.progress) o_.progress("", o_.models.size(), o_.models.size());
    partition::HostModel model = fit_host_model(base, networks_);
    model.name = o_.name;
    model.description = fmt::format("Measured by mrvlc calibrate-host from {} model{}", networks_.size(),
                                    networks_.size() == 1 ? "" : "s");
    MRVLC_TRY(write_file_atomic(o_.out, partition::host_model_text(model)));
    return summary(base, model);
  }

  Status check_out() const {
    for (const fs::path& model : o_.models) {
      std::error_code ec;
      if (fs::equivalent(model, o_.out, ec))
        return make_diag<DiagCode::MRV0004>(
            fmt::format("-o {} is a model that is read", printable(o_.out.string())));
    }
    return {};
  }

  Diag interruption() const { return make_diag<DiagCode::MRV0002>(o_.out.string(), "interrupted"); }

  Result<HostNetwork> measured(const fs::path& model) {
    MRVLC_ASSIGN(const TemporaryDir temporary, TemporaryDir::create());
    MRVLC_ASSIGN(const Terms terms, compiled(model, temporary.path() / "out"));
    if (interrupted() != 0) return interruption();
    MRVLC_ASSIGN(const OutputFolder folder, open_output(temporary.path() / "out"));
    RunOptions run = o_.run;
    if (run.bench == 0) run.bench = kRuns;
    MRVLC_ASSIGN(const Measured times, measure_program(run, folder, MeasuredOn::Noise));
    if (interrupted() != 0) return interruption();
    MRVLC_ASSIGN(const idmap::Map map, folder.read<idmap::Map>("idmap.json"));
    return functions(times, terms, map);
  }

  static Terms terms_of(const ir::Graph& graph) {
    Terms terms;
    const partition::HostKernels kernels(graph);
    for (ir::NodeId id : graph.topological_order()) {
      const ir::Node& node = graph.node(id);
      if (!ir::bodies_of(node).empty()) continue;  // they go by many rates
      const partition::HostEffort effort = partition::host_effort(kernels, node);
      terms.emplace(graph.expr_id(id), HostFunction::Term{partition::host_key(node, effort.form), effort});
    }
    return terms;
  }

  // For the host alone; what is counted of each node.
  Result<Terms> compiled(const fs::path& model, const fs::path& out) {
    CompileOptions compile = for_measuring(o_.compile, CompileOptions::Probe::Never);
    compile.model = model;
    compile.out = out;
    compile.name = "network";
    compile.targets = {"host"};
    Session session(compile);
    Said said;
    auto placed = placed_model(session, compile, {}, said);
    const Terms terms = placed ? terms_of(placed->model.graph) : Terms();
    auto probed = placed ? probe_model(session, *std::move(placed), nullptr, said) : std::nullopt;
    if (probed && finish_model(session, *std::move(probed), std::nullopt, said)) return terms;
    for (const Diag& d : said.diagnostics.list()) diagnostics_.add(at_file(d, model));
    told_ = true;
    return make_diag<DiagCode::MRV0002>(model.string(), "not compiled");
  }

  // Several models have one list: a message names its own.
  static Diag at_file(Diag d, const fs::path& model) {
    d.message = fmt::format("{}: {}", printable(model.filename().string()), d.message);
    return d;
  }

  static HostNetwork functions(const Measured& times, const Terms& terms, const idmap::Map& map) {
    const auto computed = computed_by_functions(map);
    HostNetwork out;
    for (const Measured::Step& step : times.steps) {
      const auto at = computed.find(step.expr);
      HostFunction f{1e-3 * step.least_ms, {}};
      if (at == computed.end() || !(f.seconds > 0)) continue;
      bool known = true;
      for (const uint32_t expr : at->second) {
        const auto term = terms.find(expr);
        known = known && term != terms.end();
        if (known) f.terms.push_back(term->second);
      }
      if (known) out.push_back(std::move(f));
    }
    return out;
  }

  // "0.81 to 1.30 times what was measured, off by 9 % in the middle"
  static std::string quality(std::vector<double> ratios) {
    std::ranges::sort(ratios);
    std::vector<double> off;
    for (double r : ratios) off.push_back(std::exp(std::fabs(std::log(r))) - 1);
    std::ranges::sort(off);
    return fmt::format("{:.2f} to {:.2f} times what was measured, off by {:.0f} % in the middle",
                       ratios.front(), ratios.back(), 100 * off[off.size() / 2]);
  }

  std::string summary(const partition::HostModel& base, const partition::HostModel& model) const {
    std::vector<double> before, now, unseen;
    for (size_t i = 0; i < networks_.size(); ++i) {
      const double seconds = measured_seconds(networks_[i]);
      before.push_back(expected_seconds(base, networks_[i]) / seconds);
      now.push_back(expected_seconds(model, networks_[i]) / seconds);
      std::vector<HostNetwork> others = networks_;
      others.erase(others.begin() + static_cast<ptrdiff_t>(i));
      if (!others.empty())
        unseen.push_back(expected_seconds(fit_host_model(base, others), networks_[i]) / seconds);
    }
    size_t functions = 0;
    for (const HostNetwork& n : networks_) functions += n.size();
    std::string text =
        fmt::format("{}: {} functions of {} model{}\n  by '{}': {}\n  by this one: {}\n",
                    printable(o_.out.string()), functions, networks_.size(), networks_.size() == 1 ? "" : "s",
                    printable(base.name), quality(before), quality(now));
    if (!unseen.empty()) text += fmt::format("  each left out of the fit in turn: {}\n", quality(unseen));
    return text;
  }

  const HostCalibration& o_;
  Diagnostics& diagnostics_;
  std::vector<HostNetwork> networks_;
  bool told_ = false;  // of what failed
};

}  // namespace

std::optional<std::string> calibrate_host(const HostCalibration& options, Diagnostics& diagnostics) {
  return HostCalibrator(options, diagnostics).run();
}

}  // namespace mrvlc::driver
