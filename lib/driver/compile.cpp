// The list of phases of `mrvlc compile`, to be read as one page.
#include <algorithm>
#include <future>
#include <memory>

#include "accuracy/fit.h"
#include "accuracy/known.h"
#include "accuracy/probe.h"
#include "accuracy/quantized_model.h"
#include "compile_hooks.h"
#include "diff/totals.h"
#include "host_parts.h"
#include "integers_left.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/driver/last_compile.h"
#include "mrvlc/driver/place.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/partition/costs.h"
#include "mrvlc/passes/fences.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/parallel.h"
#include "output/expected.h"
#include "output/gates.h"
#include "output/host_messages.h"
#include "output/output_folder.h"
#include "placement/constrained.h"
#include "placement_log.h"
#include "read_files.h"
#include "region_compiler.h"
#include "rule_files.h"
#include "side_inputs.h"
#include "targets_of.h"
#include "timing_file.h"
#include "unheeded.h"

namespace mrvlc::driver {
namespace {

using DumpFn = std::function<void(std::string)>;

class Compiler {
 public:
  Compiler(const CompileOptions& options, Diagnostics& diagnostics, const DumpFn& dump,
           const CompileHooks& hooks)
      : options_(options),
        diagnostics_(diagnostics),
        dump_(dump),
        hooks_(hooks),
        timer_(options.log),
        timing_(options) {}

  // The seven lines, once it is done.
  std::vector<std::string> summary() const {
    const auto warnings = std::ranges::count(diagnostics_.list(), Severity::Warning, &Diag::severity);
    return driver::summary(m_, options_, report_, static_cast<size_t>(warnings));
  }

  const std::vector<ReadFile>& read() const { return m_.read; }

  // A line or two a phase; the first that fails ends the compile, and its diagnostics say why. What happens
  // in each, and in which library: docs/architecture.md.
  bool run() {
    return phase("options", [&] { return choose_target(); }) && import_model() &&
           phase("rules", [&] { return read_rules(); }) && phase("passes", [&] { return simplify(); }) &&
           phase("partition", [&] { return place(); }) &&
           (!options_.fail_on_fallback || check_fallback(m_, diagnostics_)) &&
           phase("probe", [&] { return begin_probe(); }) && phase("host", [&] { return cut_host_parts(); }) &&
           compile_regions() && phase("simulate", [&] { return time_regions(m_); }) &&
           phase("probe", [&] { return finish_probe(); }) && goes_on() &&
           judge(m_.accuracy, options_, diagnostics_) && phase("probe", [&] { return find_limits(); }) &&
           phase("host", [&] { return generate_host(); }) && phase("hash", [&] { return finish_hash(); }) &&
           phase("write", [&] { return write(); }) && write_timing();
  }

 private:
  template <class F>
  bool phase(const char* name, F f) {
    Status status = timer_.time(name, f);
    // Once OUT is in place there is nothing left to interrupt.
    if (status.ok() && interrupted() != 0)
      status = make_diag<DiagCode::MRV0002>(options_.out.string(), "interrupted");
    if (!status.ok()) diagnostics_.add(status.error());
    return status.ok();
  }

  Status choose_target() {
    m_.name = options_.name.empty() ? c_identifier(options_.model.stem().string()) : options_.name;
    MRVLC_TRY(check_request(options_, m_.name));
    if (!options_.gates.baseline.empty()) {
      MRVLC_ASSIGN(baseline_, read_report(options_.gates.baseline));
    }
    MRVLC_ASSIGN(targets_, find_targets(options_, m_.name, diagnostics_));
    m_.libraries = std::move(targets_.libraries);
    return take_accelerators(targets_.accelerators, options_, m_);
  }

  bool import_model() {
    onnx::ImportOptions import = import_options(options_);
    import.hash = false;
    const QuantizedModel* quantized = options_.quantized.get();
    auto model = timer_.time("import", [&] {
      return quantized != nullptr ? import_quantized(*quantized, options_, diagnostics_)
                                  : onnx::import_file(options_.model, import, diagnostics_);
    });
    if (!model) return false;
    m_.model = *std::move(model);
    if (quantized == nullptr) warn_unheeded_shapes(options_, m_.model.graph, diagnostics_);
    return phase("options", [&] { return note_files(); });
  }

  Status note_files() {
    for (const auto& file : m_.model.files) {
      auto kind = file.location.empty() ? ReadFile::Kind::Model : ReadFile::Kind::ExternalData;
      m_.read.push_back({kind, file.path, file.location, {}});
    }
    start_hash();
    MRVLC_ASSIGN(inputs_, read_side_inputs(options_, m_.read));
    m_.host_model = inputs_.host_model;
    if (options_.quantized != nullptr)
      m_.read.insert(m_.read.end(), options_.quantized->data.begin(), options_.quantized->data.end());
    for (const OpenedAccelerator& a : targets_.accelerators) note_package(a, m_.read);
    m_.read.insert(m_.read.end(), m_.libraries.read.begin(), m_.libraries.read.end());
    return check_apart(options_, m_.read);
  }

  // Nothing reads the hash of the model before the reports, so the other core has time for it.
  void start_hash() {
    hashes_ =
        std::async(launch_for(options_.jobs), [files = m_.model.files] { return onnx::file_hashes(files); });
  }

  Status finish_hash() {
    if (!hashes_.valid()) return {};  // a calibration needed it before
    MRVLC_ASSIGN(const std::vector<std::string> hashes, hashes_.get());
    for (size_t i = 0; i < hashes.size(); ++i) m_.read[i].sha256 = hashes[i];
    m_.model.sha256 = onnx::model_sha256(m_.model.files, hashes);
    return {};
  }

  // For the host alone too: a mistake in a file is one there as well.
  Status read_rules() {
    for (uint32_t i = 0; i < m_.backend->parts().size(); ++i) {
      const backend::Backend& part = m_.backend->part(i);
      MRVLC_ASSIGN(auto rules, partition::sound_rules(builtin_rules(options_, part), inputs_.rule_files,
                                                      part.layer_words()));
      turns_.push_back({std::move(rules), m_.has_accelerator ? targets_.accelerators[i].behind : 0});
    }
    return {};
  }

  passes::RunOptions pass_options() {
    passes::RunOptions o;
    o.times = &pass_times_;
    o.log = options_.log;
    if (m_.has_accelerator) limit_passes(o.context, m_.backend->pass_limits());
    o.after = [this](std::string_view pass, const ir::Graph& graph) {
      if (options_.dump_ir == pass) dump_(ir::print(graph));
    };
    return o;
  }

  // Before the passes: these respect them.
  Status read_constraints() {
    MRVLC_ASSIGN(constrained_, constrain(options_, inputs_.placement, hooks_));
    m_.constraints = constrained_.asked;
    if (constrained_.resolved.empty()) return {};
    MRVLC_ASSIGN(partition::Pins pins, partition::Pins::resolve(m_.model.graph, constrained_.resolved));
    pins_ = std::make_shared<partition::Pins>(std::move(pins));
    return {};
  }

  Status simplify() {
    passes::RunOptions run = pass_options();
    if (m_.has_accelerator) {
      const KnownOf known = [&](const auto& g) { return knowledge(g, options_, inputs_.calibration); };
      MRVLC_ASSIGN(source_matches_, match_beforehand(m_.model.graph, turns_, *m_.backend, run, known));
    }
    MRVLC_TRY(read_constraints());
    stays_ = run.context.stays;
    if ((m_.has_accelerator || !m_.libraries.rules.empty()) && is_quantized(m_.model.graph))
      unplaced_ = m_.model.graph;
    if (m_.has_accelerator) raise_fences(m_.model.graph, pins_.get(), nullptr);
    auto pipeline = m_.has_accelerator ? pipeline_for(*m_.backend) : host_pipeline_for(m_.libraries);
    MRVLC_TRY(check_dump_ir(options_, pipeline));
    return run_pipeline(pipeline, run);
  }

  bool integers_first() const { return m_.has_accelerator && m_.backend->pass_limits().integers; }

  Status run_pipeline(std::span<const std::string_view> pipeline, const passes::RunOptions& run) {
    MRVLC_TRY(run_passes(m_.model.graph, pipeline, run, m_.libraries,
                         {m_.accelerator(), turns_, source_matches_, pins_}));
    if (pins_ != nullptr) pins_->borders = passes::take_fences(m_.model.graph);
    return {};
  }

  // The passes and the placement again, with what targets took known: the CPU computes the rest of a
  // quantised network in integers.
  Status place_in_integers() {
    if (!unplaced_) return {};
    const TakenSources taken(m_.model.graph, m_.partition);
    std::optional<ir::Graph> unplaced = std::exchange(unplaced_, std::nullopt);
    if (!taken.worth_a_round(integers_first())) return {};
    m_.model.graph = *std::move(unplaced);
    if (m_.has_accelerator) raise_fences(m_.model.graph, pins_.get(), &taken);
    passes::RunOptions run = pass_options();
    run.context.stays = stays_;
    MRVLC_TRY(taken.run_integer_passes(m_.model.graph, run, integers_first()));
    MRVLC_TRY(run_pipeline(m_.has_accelerator ? passes::float_pipeline() : passes::library_pipeline(), run));
    return place_once();
  }

  partition::Options partition_options() const {
    partition::Options o;
    o.turns = turns_;
    o.known = &m_.known;
    o.pins = pins_;
    o.libraries = &m_.libraries.rules;
    o.precisions = options_.precisions;
    o.batch = options_.batch;
    if (hooks_.choice) o.cpu.insert(o.cpu.end(), hooks_.choice->on_cpu.begin(), hooks_.choice->on_cpu.end());
    return o;
  }

  // What the passes made, partitioned.
  Status place_once() {
    m_.known = knowledge(m_.model.graph, options_, inputs_.calibration);
    partition::Options o = partition_options();
    const partition::Costs costs = costs_of(m_, hooks_, o);
    if (options_.partition_by == CompileOptions::PartitionBy::Cost) o.costs = &costs;
    MRVLC_ASSIGN(m_.partition, driver::place(m_.model.graph, m_.accelerator(), o, source_matches_));
    MRVLC_TRY(partition::partition_bodies(m_.model.graph, m_.accelerator(), o, m_.partition));
    ir::number_expressions(m_.model.graph);
    return partition::assign_precisions(m_.model.graph, m_.partition, o);
  }

  Status place() {
    MRVLC_TRY(place_once());
    MRVLC_TRY(place_in_integers());
    if (hooks_.choice) apply_choice(*hooks_.choice, m_.model.graph, m_.partition);
    if (constrained_.unbordered)
      MRVLC_TRY(
          check_evictions(constrained_.resolved, *constrained_.unbordered, m_.model.graph, m_.partition));
    partition::Options o = partition_options();
    o.cpu.clear();  // what the user asked for is in the pins
    warn_placement(m_, o, diagnostics_);
    tell_placement(m_, options_.log);
    return hooks_.placed ? hooks_.placed(m_.model.graph, m_.partition, m_.machine()) : Status();
  }

  // Float32 is computed while code is generated; binaries run when they are there.
  Status begin_probe() {
    const auto& calibration = inputs_.calibration;
    if (calibration) MRVLC_TRY(finish_hash());
    if (calibration) MRVLC_TRY(check_calibration(options_, *calibration, m_.model.sha256));
    MRVLC_ASSIGN(probe_, Probe::begin(m_, options_, calibration ? &*calibration : nullptr));
    return {};
  }

  Status finish_probe() {
    m_.accuracy = probe_->finish(m_);
    m_.accuracy.choice = hooks_.choice;
    return {};
  }

  bool goes_on() { return !hooks_.probed || hooks_.probed(m_, *probe_); }

  Status find_limits() {
    MRVLC_ASSIGN(m_.accuracy.limits, probe_->limits(m_, options_));
    probe_.reset();
    return {};
  }

  Status cut_host_parts() {
    MRVLC_ASSIGN(m_.host_parts, host_parts(m_, options_));
    // Behind the probe's reference, in front of its runs: what the host loses is part of what it finds.
    if (options_.host_weights == chost::WeightType::F16)
      m_.half_weights = chost::round_weights(m_.model.graph, m_.partition, m_.host_parts);
    return {};
  }

  bool compile_regions() {
    RegionCompiler regions(m_, options_, diagnostics_, dump_);
    for (const partition::PlacedRegion& region : all_regions(m_.model.graph, m_.partition)) {
      if (!phase("codegen", [&] { return regions.compile(region); })) return false;
      if (hooks_.coded) hooks_.coded(m_.regions.back());
    }
    return true;
  }

  Status generate_host() {
    const chost::Options options =
        host_options(m_, options_, hooks_.tuning ? *hooks_.tuning : tuning_of(inputs_.tuning));
    MRVLC_ASSIGN(m_.host, chost::generate(m_.model.graph, m_.partition, m_.regions, options));
    if (hooks_.generated) hooks_.generated(m_);
    tell_host(options_, inputs_.tuning, m_, diagnostics_);
    warn_unheeded_options(options_, m_, diagnostics_);
    return measure_size(options_.measure_size, m_);
  }

  Status write() {
    return write_output(
        m_, options_,
        [&](const OutputDir& out) -> Status {
          if (auto slow = slower_than_host(report_)) diagnostics_.add(*std::move(slow));
          MRVLC_TRY(check_gates(report_, baseline_, options_.gates, diagnostics_));
          for (const auto& file : m_.model.files) MRVLC_TRY(file.bytes->unchanged());
          MRVLC_TRY(timing_.open(out));
          return write_depfile(options_, m_.read);
        },
        report_);
  }

  bool write_timing() {
    Status status = timing_.write(timer_, pass_times_);
    if (!status.ok()) diagnostics_.add(status.error());
    return status.ok();
  }

  CompileOptions options_;  // --tiles settled once the machine is known
  Diagnostics& diagnostics_;
  const DumpFn& dump_;
  const CompileHooks& hooks_;
  PhaseTimer timer_;
  std::vector<passes::PassTime> pass_times_;
  Targets targets_;
  SideInputs inputs_;
  std::vector<partition::Turn> turns_;
  partition::SourceMatches source_matches_;
  decltype(passes::PassContext::stays) stays_;  // weights that rules want in integers
  std::optional<ir::Graph> unplaced_;           // of a quantised network, in front of the passes
  Constrained constrained_;
  std::shared_ptr<partition::Pins> pins_;
  std::future<Result<std::vector<std::string>>> hashes_;
  std::optional<Probe> probe_;
  TimingFile timing_;
  CompiledModel m_;
  Json report_, baseline_;  // of --baseline, or null
};

// All that a compile made; nothing when it failed. What it refers to is not read any more: its summary, which
// counts warnings, is made here.
using Compiled = std::unique_ptr<Compiler>;

// What a compile tells beside its diagnostics; null: nobody asks.
struct Told {
  std::vector<std::string>* summary = nullptr;
  std::vector<ReadFile>* read = nullptr;
};

Compiled run_once(const CompileOptions& options, Diagnostics& diagnostics, const DumpFn& dump,
                  const CompileHooks& hooks, const Told& told) {
  auto compiler = std::make_unique<Compiler>(options, diagnostics, dump, hooks);
  const bool done = compiler->run();
  if (told.read != nullptr) *told.read = compiler->read();
  if (done && told.summary != nullptr) *told.summary = compiler->summary();
  return done ? std::move(compiler) : nullptr;
}

// Once, where all values fit; what a compile says that is not the last one is not said.
Compiled compile_fitting(const CompileOptions& options, Diagnostics& diagnostics, const DumpFn& dump,
                         const Told& told) {
  Fitting fitting(options);
  for (;;) {
    Diagnostics said;
    std::vector<std::string> dumped;
    bool again = false;
    CompileHooks hooks;
    hooks.choice = fitting.choice();
    hooks.probed = [&](const CompiledModel& m, const Probe&) {
      again = !fitting.stays(m);
      return !again;
    };
    const DumpFn keep = [&](const std::string& text) { dumped.push_back(text); };
    Compiled compiler = run_once(options, said, keep, hooks, told);
    if (again) continue;
    for (const Diag& d : said.list()) diagnostics.add(d);
    for (const std::string& text : dumped) dump(text);
    return compiler;
  }
}

Compiled run_compiler(const CompileOptions& given, Diagnostics& diagnostics, const DumpFn& dump,
                      const Told& told) {
  const auto settled = with_precision(given, diagnostics);
  if (!settled) return nullptr;
  const CompileOptions& options = *settled;
  if (!chooses(options)) return compile_fitting(options, diagnostics, dump, told);
  CompileHooks hooks;
  hooks.choice = choose_for_accuracy(options);
  return run_once(options, diagnostics, dump, hooks, told);
}

}  // namespace

std::optional<AccuracyChoice> fitting_choice(const CompileOptions& options) {
  Fitting fitting(options);
  for (bool again = true; again;) {
    again = false;
    Diagnostics said;
    CompileHooks hooks;
    hooks.choice = fitting.choice();
    hooks.probed = [&](const CompiledModel& m, const Probe&) { return again = !fitting.stays(m), false; };
    compile(options, said, hooks);
  }
  return fitting.choice();
}

bool compile(const CompileOptions& options, Diagnostics& diagnostics, const DumpFn& dump,
             std::vector<std::string>* summary) {
  return run_compiler(options, diagnostics, dump, {summary, nullptr}) != nullptr;
}

bool compile_last(const CompileOptions& options, Diagnostics& diagnostics, const DumpFn& dump,
                  std::vector<std::string>* summary) {
  static const Compiler* kept = nullptr;  // leak checkers see that it is meant
  kept = run_compiler(options, diagnostics, dump, {summary, nullptr}).release();
  return kept != nullptr;
}

bool compile(const CompileOptions& options, Diagnostics& diagnostics, std::vector<ReadFile>& read) {
  return run_compiler(options, diagnostics, [](const std::string&) {}, {nullptr, &read}) != nullptr;
}

bool compile(const CompileOptions& options, Diagnostics& diagnostics, const CompileHooks& hooks) {
  const DumpFn dump = [](const std::string&) {};
  return Compiler(options, diagnostics, dump, hooks).run();
}

}  // namespace mrvlc::driver
