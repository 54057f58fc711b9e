// The list of phases of `mrvlc compile`, to be read as one page.
#include <algorithm>
#include <set>

#include "compiled_model.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/passes/round_weights.h"
#include "mrvlc/passes/widen_f16.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/support/file.h"
#include "phase_timer.h"

namespace mrvlc::driver {
namespace {

using DumpFn = std::function<void(std::string)>;

class Compiler {
 public:
  Compiler(const CompileOptions& options, Diagnostics& diagnostics, const DumpFn& dump)
      : options_(options), diagnostics_(diagnostics), dump_(dump) {}

  bool run() {
    return phase("options", [&] { return choose_target(); }) && import_model() &&
           phase("passes", [&] { return simplify(); }) && phase("partition", [&] { return place(); }) &&
           phase("accelerator", [&] { return compile_regions(); }) && phase("gate", [&] { return check_gates(); }) &&
           phase("simulate", [&] { return time_regions(); }) && phase("host", [&] { return generate_host(); }) &&
           phase("write", [&] { return write_output(m_, options_); }) && write_side_files();
  }

 private:
  template <class F>
  bool phase(const char* name, F f) {
    Status status = timer_.time(name, f);
    if (!status.ok()) diagnostics_.add(status.error());
    return status.ok();
  }

  Status choose_target() {
    m_.name = options_.name.empty() ? c_identifier(options_.model.stem().string()) : options_.name;
    if (m_.name != c_identifier(m_.name)) {
      return make_diag<DiagCode::MRV0004>(fmt::format("--name: '{}' is not a C identifier", printable(m_.name)));
    }
    if (options_.precision == "int8") {
      return make_diag<DiagCode::MRV0004>("--precision int8 needs calibration data, which this version cannot take yet");
    }
    std::vector<std::string> accelerators = options_.targets;
    std::erase(accelerators, "host");
    if (accelerators.size() > 1) {
      return make_diag<DiagCode::MRV0004>("--target: at most one accelerator beside 'host' in this version");
    }
    m_.has_accelerator = !accelerators.empty();
    MRVLC_ASSIGN(m_.machine, target::load_machine(m_.has_accelerator ? accelerators[0] : "cn10ka", options_.target_dirs));
    const auto& counts = m_.machine.tile_counts;
    if (std::find(counts.begin(), counts.end(), options_.tiles) == counts.end()) {
      return make_diag<DiagCode::MRV0004>(fmt::format("--tiles: {} does not take {} tiles", m_.machine.name, options_.tiles));
    }
    return {};
  }

  bool import_model() {
    onnx::ImportOptions import;
    import.input_shapes = options_.input_shapes;
    import.batch = options_.batch;
    import.external_data_dir = options_.external_data_dir;
    auto model = timer_.time("import", [&] { return onnx::import_file(options_.model, import, diagnostics_); });
    if (!model) return false;
    m_.model = *std::move(model);
    return true;
  }

  passes::RunOptions pass_options() {
    passes::RunOptions o;
    o.after = [this](std::string_view pass, const ir::Graph& graph) {
      if (options_.dump_ir == pass) dump_(ir::print(graph));
    };
    return o;
  }

  Status simplify() {
    if (!options_.dump_ir.empty() && passes::find_pass(options_.dump_ir) == nullptr) {
      return make_diag<DiagCode::MRV0004>(fmt::format("--dump-ir: there is no pass '{}'", printable(options_.dump_ir)));
    }
    auto pipeline = m_.has_accelerator ? passes::default_pipeline() : passes::host_pipeline();
    return passes::run_passes(m_.model.graph, pipeline, pass_options());
  }

  Result<partition::Options> partition_options() const {
    partition::Options o;
    o.accelerator = m_.has_accelerator;
    o.default_rules = options_.default_rules;
    for (const auto& file : options_.rules) {
      MRVLC_ASSIGN(std::string text, read_file(file, 16u << 20));
      o.rule_files.emplace_back(file.string(), std::move(text));
    }
    o.cpu = options_.cpu;
    o.accel = options_.accel;
    o.borders.insert(options_.borders.begin(), options_.borders.end());
    o.tiles = options_.tiles;
    o.batch = options_.batch;
    return o;
  }

  // CPU nodes of a float16 model compute in float32: the conversions are nodes of the graph like all others, so the
  // partition is made again on the widened graph, with the same decisions.
  Status place() {
    MRVLC_ASSIGN(partition::Options o, partition_options());
    MRVLC_ASSIGN(m_.partition, partition::partition(m_.model.graph, m_.machine, o));
    if (!m_.has_accelerator) return {};
    std::set<ir::NodeId> on_cpu;
    for (const auto& d : m_.partition.decisions) {
      if (!d.accelerator) on_cpu.insert(d.node);
    }
    bool changed = false;
    MRVLC_TRY(passes::widen_f16(m_.model.graph, [&](const ir::Node& n) { return on_cpu.contains(n.id); }, changed));
    if (changed) {
      MRVLC_ASSIGN(m_.partition, partition::partition(m_.model.graph, m_.machine, o));
    }
    round_accelerator_weights();
    return {};
  }

  void round_accelerator_weights() {
    std::set<ir::NodeId> accelerated;
    for (const auto& d : m_.partition.decisions) {
      if (d.accelerator) accelerated.insert(d.node);
    }
    passes::round_weights(m_.model.graph, [&](const ir::Node& n) { return accelerated.contains(n.id); });
  }

  Status compile_regions() {
    for (const auto& region : m_.partition.regions) {
      accel::Options o;
      o.tiles = options_.tiles;
      o.name = fmt::format("{}_region{}", m_.name, region.id);
      if (options_.silicon_id) o.architecture = isa::Architecture::Mlip;
      MRVLC_ASSIGN(accel::CompiledRegion compiled, accel::compile_region(m_.model.graph, region, m_.machine, o));
      m_.binaries.push_back(isa::write_container(compiled.binary));
      compiled.binary.weights.clear();  // they are in the container now
      compiled.binary.weights.shrink_to_fit();
      m_.regions.push_back(std::move(compiled));
    }
    return {};
  }

  Status check_gates() const {
    if (!options_.fail_on_fallback) return {};
    for (const auto& d : m_.partition.decisions) {
      if (d.accelerator) continue;
      const ir::Node& n = m_.model.graph.node(d.node);
      return at_node(make_diag<DiagCode::MRV0009>("--fail-on-fallback: runs on the CPU: " + d.reason), n.name, n.op->name);
    }
    return {};
  }

  Status time_regions() {
    for (const std::string& bytes : m_.binaries) {
      MRVLC_ASSIGN(isa::Binary binary, isa::read_container(bytes));
      MRVLC_ASSIGN(sim::Simulator simulator, sim::Simulator::create(std::move(binary), m_.machine));
      MRVLC_ASSIGN(sim::Report r, simulator.time_only());
      if (!r.hazards.empty()) {
        return make_diag<DiagCode::MRV0007>("the generated program has a hazard: " + r.hazards[0].what);
      }
      m_.timings.push_back({r.total_cycles(), r.ddr_read_bytes, r.ddr_write_bytes, r.pod_utilization});
    }
    return {};
  }

  Status generate_host() {
    MRVLC_ASSIGN(m_.host, chost::generate(m_.model.graph, m_.partition, m_.regions, {m_.name, m_.name}));
    return {};
  }

  bool write_side_files() {
    Status status;
    if (!options_.depfile.empty()) {
      std::string rule = options_.out.string() + "/manifest.json: " + options_.model.string();
      for (const auto& file : options_.rules) rule += " " + file.string();
      status = write_file_atomic(options_.depfile, rule + "\n");
    }
    if (status.ok() && !options_.timing.empty()) {
      Json phases = Json::array();
      for (const auto& [name, seconds] : timer_.phases()) phases.push_back({{"phase", name}, {"seconds", seconds}});
      status = write_file_atomic(options_.timing, Json{{"phases", phases}}.dump(1) + "\n");
    }
    if (!status.ok()) diagnostics_.add(status.error());
    return status.ok();
  }

  const CompileOptions& options_;
  Diagnostics& diagnostics_;
  const DumpFn& dump_;
  PhaseTimer timer_;
  CompiledModel m_;
};

}  // namespace

bool compile(const CompileOptions& options, Diagnostics& diagnostics, const DumpFn& dump) {
  return Compiler(options, diagnostics, dump).run();
}

}  // namespace mrvlc::driver
