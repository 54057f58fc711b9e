// The list of phases of `mrvlc compile`, to be read as one page.
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <set>

#include "as_in_model.h"
#include "compiled_model.h"
#include "mrvlc/accel/stages.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/driver/place.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/partition/legality.h"
#include "mrvlc/partition/unheeded.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/file_writer.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/target/find.h"
#include "output/output_folder.h"
#include "phase_timer.h"
#include "probe.h"
#include "read_files.h"
#include "unheeded.h"

namespace mrvlc::driver {
namespace {

constexpr size_t kMaxGateErrors = 20;
// Constants are given back after code generation from this many bytes, with this many readers to ask.
constexpr int64_t kDiscardFrom = 4096;
constexpr size_t kDiscardUsers = 16;

using DumpFn = std::function<void(std::string)>;

class Compiler {
 public:
  Compiler(const CompileOptions& options, Diagnostics& diagnostics, const DumpFn& dump)
      : options_(options), diagnostics_(diagnostics), dump_(dump) {}

  // The seven lines, once it is done.
  std::vector<std::string> summary() const {
    auto is_warning = [](const Diag& d) { return d.severity() == Severity::Warning; };
    const auto warnings = std::ranges::count_if(diagnostics_.list(), is_warning);
    return driver::summary(m_, options_, report_, static_cast<size_t>(warnings));
  }

  bool run() {
    return phase("options", [&] { return choose_target(); }) && import_model() &&
           phase("passes", [&] { return simplify(); }) && phase("partition", [&] { return place(); }) &&
           check_gates() && phase("probe", [&] { return begin_probe(); }) && compile_regions() &&
           phase("simulate", [&] { return time_regions(); }) &&
           phase("probe", [&] { return finish_probe(); }) && check_accuracy() &&
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
    if (std::string fault = name_fault(m_.name); !fault.empty()) {
      return make_diag<DiagCode::MRV0004>(fmt::format("--name: '{}' {}", printable(m_.name), fault));
    }
    MRVLC_TRY(check_replaceable(options_.out));  // before the work, and again when it is done
    MRVLC_TRY(check_apart(options_, named_files(options_)));
    MRVLC_TRY(check_side_files(options_));
    MRVLC_TRY(choose_stages());
    if (options_.precision == "int8") {
      return make_diag<DiagCode::MRV0004>(
          "--precision int8 needs calibration data, which this version cannot take yet");
    }
    std::vector<std::string> accelerators = options_.targets;
    std::erase(accelerators, "host");
    if (accelerators.size() > 1) {
      return make_diag<DiagCode::MRV0004>("--target: at most one accelerator beside 'host' in this version");
    }
    m_.has_accelerator = !accelerators.empty();
    const std::string target = m_.has_accelerator ? accelerators[0] : "cn10ka";
    MRVLC_ASSIGN(target_, target::find_target(target, options_.target_dirs));
    MRVLC_ASSIGN(m_.machine, target::read_machine(target, target_));
    const auto& counts = m_.machine.tile_counts;
    if (std::find(counts.begin(), counts.end(), options_.tiles) == counts.end()) {
      return make_diag<DiagCode::MRV0004>(fmt::format("--tiles: {} does not take {} tiles; it takes {}",
                                                      m_.machine.name, options_.tiles,
                                                      fmt::join(counts, ", ")));
    }
    return {};
  }

  Status choose_stages() {
    for (const std::string& name : options_.dump_stages) {
      const std::optional<accel::Stage> stage = accel::stage_named(name);
      if (!stage) {
        return make_diag<DiagCode::MRV0004>(fmt::format("--dump-stage: there is no stage '{}'; stages are {}",
                                                        printable(name),
                                                        fmt::join(accel::stage_names(), ", ")));
      }
      stages_.push_back(*stage);
    }
    return {};
  }

  bool import_model() {
    onnx::ImportOptions import = import_options(options_);
    import.hash = false;
    auto model =
        timer_.time("import", [&] { return onnx::import_file(options_.model, import, diagnostics_); });
    if (!model) return false;
    m_.model = *std::move(model);
    warn_unheeded_shapes(options_, m_.model.graph, diagnostics_);
    return phase("options", [&] { return note_files(); });
  }

  // Rules and targets are read whole: what was hashed is what is used.
  Status note_files() {
    for (const auto& file : m_.model.files) {
      auto kind = file.location.empty() ? ReadFile::Kind::Model : ReadFile::Kind::ExternalData;
      m_.read.push_back({kind, file.path, file.location, {}});
    }
    start_hash();
    for (const auto& file : options_.rules) {
      MRVLC_ASSIGN(std::string text, read_file(file, 16u << 20));
      m_.read.push_back({ReadFile::Kind::Rules, file, file.filename().string(), sha256_hex(text)});
      rules_.emplace_back(file.string(), std::move(text));
    }
    if (!options_.calibration.empty()) {
      MRVLC_ASSIGN(const std::string text, read_file(options_.calibration, calibration::kMaxFileBytes));
      MRVLC_ASSIGN(calibration_, calibration::parse(text, options_.calibration.string()));
      m_.read.push_back({ReadFile::Kind::Calibration, options_.calibration,
                         options_.calibration.filename().string(), sha256_hex(text)});
    }
    if (!target_.file.empty()) {
      m_.read.push_back(
          {ReadFile::Kind::Target, target_.file, m_.machine.name + "/target.json", sha256_hex(target_.json)});
    }
    return check_apart(options_, m_.read);
  }

  // Nothing reads the hash of the model before the reports, so the other core has time for it.
  void start_hash() {
    auto how = options_.jobs == 1 ? std::launch::deferred : std::launch::async;
    hashes_ = std::async(how, [files = m_.model.files] { return onnx::file_hashes(files); });
  }

  Status finish_hash() {
    if (!hashes_.valid()) return {};  // a calibration needed it before
    MRVLC_ASSIGN(const std::vector<std::string> hashes, hashes_.get());
    for (size_t i = 0; i < hashes.size(); ++i) m_.read[i].sha256 = hashes[i];
    m_.model.sha256 = onnx::model_sha256(m_.model.files, hashes);
    return {};
  }

  passes::RunOptions pass_options() {
    passes::RunOptions o;
    o.times = &pass_times_;
    o.context.half_weights = m_.has_accelerator;
    if (m_.has_accelerator) {
      o.context.longest_row = partition::longest_row(m_.machine);
      o.context.largest_batch = m_.machine.max_batch;
    }
    o.after = [this](std::string_view pass, const ir::Graph& graph) {
      if (options_.dump_ir == pass) dump_(ir::print(graph));
    };
    return o;
  }

  Status simplify() {
    auto pipeline = m_.has_accelerator ? passes::default_pipeline() : passes::host_pipeline();
    bool known = std::find(pipeline.begin(), pipeline.end(), options_.dump_ir) != pipeline.end();
    if (!options_.dump_ir.empty() && !known) {
      std::set<std::string_view> names(pipeline.begin(), pipeline.end());
      return make_diag<DiagCode::MRV0004>(fmt::format("--dump-ir: there is no pass '{}'; passes are {}",
                                                      printable(options_.dump_ir), fmt::join(names, ", ")));
    }
    return passes::run_passes(m_.model.graph, pipeline, pass_options());
  }

  partition::Options partition_options() const {
    partition::Options o;
    o.accelerator = m_.has_accelerator;
    o.default_rules = options_.default_rules;
    o.rule_files = rules_;
    o.cpu = options_.cpu;
    o.accel = options_.accel;
    o.borders.insert(options_.borders.begin(), options_.borders.end());
    o.tiles = options_.tiles;
    o.batch = options_.batch;
    return o;
  }

  Status place() {
    const partition::Options o = partition_options();
    MRVLC_ASSIGN(m_.partition, driver::place(m_.model.graph, m_.machine, o));
    for (Diag& d : partition::unheeded(m_.model.graph, m_.partition, o)) diagnostics_.add(std::move(d));
    warn_placement(m_, diagnostics_);
    return {};
  }

  // Float32 is computed while code is generated; binaries run when they are there.
  Status begin_probe() {
    if (calibration_) {
      MRVLC_TRY(finish_hash());
      if (calibration_->model_sha256 != m_.model.sha256)
        return make_diag<DiagCode::MRV0906>(options_.calibration.string(), calibration_->model_sha256,
                                            m_.model.sha256);
    }
    MRVLC_ASSIGN(probe_, Probe::begin(m_, options_, calibration_ ? &*calibration_ : nullptr));
    return {};
  }

  Status finish_probe() {
    m_.accuracy = probe_->finish(m_);
    probe_.reset();
    return {};
  }

  bool check_accuracy() { return judge(m_.accuracy, options_, diagnostics_); }

  bool compile_regions() {
    region_of_.assign(m_.model.graph.node_slots(), UINT32_MAX);
    for (const auto& d : m_.partition.decisions) {
      if (d.accelerator) region_of_[d.node.index()] = d.region;
    }
    for (const auto& region : m_.partition.regions) {
      bool ok = phase("codegen", [&] { return compile_region(region); }) &&
                phase("encode", [&] { return encode(m_.regions.back().binary); });
      if (!ok) return false;
    }
    return true;
  }

  // What is in the container is not kept a second time.
  Status encode(isa::Binary& binary) {
    m_.binaries.push_back(isa::write_container(binary));
    identities_.push_back(isa::stored_identity(m_.binaries.back()));
    binary.weights = std::string();
    for (auto* program : {&binary.init, &binary.main, &binary.finish})
      *program = std::vector<isa::Instruction>();
    return {};
  }

  Status compile_region(const partition::Region& region) {
    if (options_.pin_weights && m_.partition.regions.size() > 1)
      return make_diag<DiagCode::MRV0505>(m_.partition.regions.size());
    accel::Options o;
    o.tiles = options_.tiles;
    o.effort = options_.effort;
    o.pin_weights = options_.pin_weights;
    o.name = fmt::format("{}_region{}", m_.name, region.id);
    o.texts = stages_;
    if (options_.silicon_id) o.architecture = isa::Architecture::Mlip;
    MRVLC_ASSIGN(accel::CompiledRegion compiled,
                 accel::compile_region(m_.model.graph, region, m_.machine, o));
    for (const Diag& d : compiled.warnings) diagnostics_.add(d);
    for (const std::string& text : compiled.texts) dump_(fmt::format("# region {}\n{}", region.id, text));
    compiled.texts.clear();
    m_.regions.push_back(std::move(compiled));
    discard_weights(region);
    return {};
  }

  // Weights that are in the binary are not kept a second time in the graph, unless it is to be printed.
  void discard_weights(const partition::Region& region) {
    if (std::find(options_.emit.begin(), options_.emit.end(), "ir") != options_.emit.end()) return;
    ir::Rewriter rw(m_.model.graph, "codegen");
    auto compiled = [&](ir::NodeId n) { return region_of_[n.index()] <= region.id; };
    for (const auto& layer : region.layers) {
      for (ir::NodeId n : layer.nodes) {
        for (ir::ValueId in : m_.model.graph.node(n).inputs) {
          if (!m_.model.graph.is_constant(in)) continue;
          const ir::Value& v = m_.model.graph.value(in);
          bool worthwhile =
              v.type.bytes() >= kDiscardFrom && v.users.size() <= kDiscardUsers && v.output_uses == 0;
          if (worthwhile && std::all_of(v.users.begin(), v.users.end(), compiled)) rw.discard(in);
        }
      }
    }
  }

  // Every node in the way is named, not only the first.
  bool check_gates() {
    if (!options_.fail_on_fallback) return true;
    size_t found = 0;
    for (const auto& d : m_.partition.decisions) {
      if (d.accelerator || ++found > kMaxGateErrors) continue;
      diagnostics_.add(as_in_model(
          m_.model.graph, make_diag<DiagCode::MRV0009>("--fail-on-fallback: runs on the CPU: " + d.reason),
          d.node));
    }
    if (found > kMaxGateErrors) {
      diagnostics_.add(make_diag<DiagCode::MRV0009>(
          fmt::format("--fail-on-fallback: {} more nodes run on the CPU", found - kMaxGateErrors)));
    }
    return found == 0;
  }

  Status time_regions() {
    for (const std::string& bytes : m_.binaries) {
      MRVLC_ASSIGN(isa::Binary binary, isa::read_container(bytes));
      MRVLC_ASSIGN(sim::Simulator simulator, sim::Simulator::create(std::move(binary), m_.machine));
      MRVLC_ASSIGN(sim::Report r, simulator.time_only());
      if (!r.hazards.empty()) {
        return make_diag<DiagCode::MRV0007>("the generated program has a hazard: " + r.hazards[0].what);
      }
      m_.runs.push_back(std::move(r));
    }
    return {};
  }

  Status generate_host() {
    ir::number_expressions(m_.model.graph);
    MRVLC_ASSIGN(m_.host, chost::generate(m_.model.graph, m_.partition, m_.regions,
                                          {m_.name, m_.name, m_.machine.name, options_.arena_limit,
                                           options_.text_bytes, identities_}));
    warn_unheeded_options(options_, m_, diagnostics_);
    return {};
  }

  Status write() {
    return write_output(
        m_, options_,
        [&](const OutputDir& out) -> Status {
          for (const auto& file : m_.model.files) MRVLC_TRY(file.bytes->unchanged());
          MRVLC_TRY(dynamic_timing(out));
          return write_depfile(options_, m_.read);
        },
        report_);
  }

  // Opened before OUT is in place, so that a file that cannot be written keeps OUT away as well.
  Status dynamic_timing(const OutputDir& out) {
    if (options_.timing.empty()) return {};
    const std::string name = name_in_output(options_, options_.timing);
    for (const auto& [file, sha256] : out.files()) {
      if (file == name)
        return make_diag<DiagCode::MRV0002>(options_.timing.string(), "it is a file of the output");
    }
    if (!name.empty()) return {};  // its folder is not there yet
    MRVLC_ASSIGN(FileWriter writer, FileWriter::create(options_.timing));
    timing_.emplace(std::move(writer));
    return {};
  }

  Status write_timing(const std::string& text) {
    if (!timing_) return write_file_atomic(options_.timing, text);
    MRVLC_TRY(timing_->append(text));
    return timing_->commit();
  }

  bool write_timing() {
    if (options_.timing.empty()) return true;
    auto entry = [](const Phase& p) -> Json {
      return {{"phase", p.name},
              {"seconds", p.seconds},
              {"cpu_seconds", p.cpu_seconds},
              {"peak_memory_bytes", p.peak_bytes}};
    };
    Json phases = Json::array(), passes = Json::array();
    for (const Phase& p : timer_.phases()) phases.push_back(entry(p));
    for (const auto& p : pass_times_) passes.push_back({{"pass", p.name}, {"seconds", p.seconds}});
    Json all = {{"phases", phases}, {"passes", passes}, {"total", entry(timer_.total())}};
    Status status = write_timing(all.dump(1) + "\n");
    if (!status.ok()) diagnostics_.add(status.error());
    return status.ok();
  }

  const CompileOptions& options_;
  Diagnostics& diagnostics_;
  const DumpFn& dump_;
  PhaseTimer timer_;
  std::vector<passes::PassTime> pass_times_;
  std::vector<isa::Identity> identities_;  // of m_.binaries
  std::vector<uint32_t> region_of_;        // by node; UINT32_MAX on the CPU
  target::TargetText target_;
  std::vector<accel::Stage> stages_;                        // --dump-stage
  std::vector<std::pair<std::string, std::string>> rules_;  // file and text
  std::future<Result<std::vector<std::string>>> hashes_;
  std::optional<calibration::Calibration> calibration_;
  std::optional<Probe> probe_;
  std::optional<FileWriter> timing_;
  CompiledModel m_;
  Json report_;
};

}  // namespace

bool compile(const CompileOptions& options, Diagnostics& diagnostics, const DumpFn& dump,
             std::vector<std::string>* summary) {
  Compiler compiler(options, diagnostics, dump);
  const bool ok = compiler.run();
  if (ok && summary != nullptr) *summary = compiler.summary();
  return ok;
}

}  // namespace mrvlc::driver
