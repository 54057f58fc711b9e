// OUT: placement.json, report.json, report.txt, idmap.json, the stub, the binaries, and manifest.json last.
#include <set>

#include "compiled_model.h"
#include "disasm.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/file_names.h"
#include "output_folder.h"
#include "report_page.h"

namespace mrvlc::driver {

// Layers in report.txt, for each region; `mrvlc profile` prints all.
constexpr size_t kReportLayers = 20;

int64_t macs_of(const ir::Graph& graph, const ir::Node& node) {
  auto context = ops::infer_context(graph, node);
  int64_t out = node.outputs.empty() ? 0 : graph.value(node.outputs[0]).type.elements();
  if (node.is("Conv")) {
    const Shape& w = context.type(1).shape;
    return out * (w[0] == 0 ? 0 : element_count(w) / w[0]);
  }
  if (node.is("ConvTranspose")) {
    const Shape& w = context.type(1).shape;
    return context.type(0).elements() * (w[0] == 0 ? 0 : element_count(w) / w[0]);
  }
  if (node.is("Gemm")) {
    const Shape& a = context.type(0).shape;
    return out * a[node.int_attr("transA") != 0 ? 0 : 1];
  }
  if (node.is("MatMul")) return out * (context.type(0).rank() == 0 ? 0 : context.type(0).shape.back());
  return 0;
}

namespace {

Json trial_json(const partition::RuleTrial& t) {
  return {{"rule", idmap::json_text(t.rule)},           {"accepted", t.accepted},
          {"condition", idmap::json_text(t.condition)}, {"actual", idmap::json_text(t.actual)},
          {"limit", idmap::json_text(t.limit)},         {"reason", idmap::json_text(t.reason)}};
}

struct SourcePlace {
  bool accelerator = false, cpu = false;
  const partition::NodeDecision* decision = nullptr;  // of its main node
};

// Of every node in a body: it runs where its control flow does.
const partition::NodeDecision& body_decision() {
  static const partition::NodeDecision decision = [] {
    partition::NodeDecision d;
    d.reason = "It is in a body of control flow, which runs on the CPU as a whole.";
    return d;
  }();
  return decision;
}

std::vector<SourcePlace> places(const CompiledModel& m) {
  std::vector<SourcePlace> out(m.model.graph.sources().size());
  for (const auto& d : m.partition.decisions) {
    for (ir::SourceId s : m.model.graph.lineage(d.node).sources) {
      SourcePlace& p = out[s.index()];
      (d.accelerator ? p.accelerator : p.cpu) = true;
      // What a reader asks for is why it is on the CPU, if any part is.
      if (p.decision == nullptr || (p.decision->accelerator && !d.accelerator)) p.decision = &d;
    }
  }
  ir::for_each_body(m.model.graph, [&](const ir::Graph& body) {
    for (ir::NodeId id : body.topological_order()) {
      for (ir::SourceId s : body.lineage(id).sources) {
        out[s.index()].cpu = true;
        if (out[s.index()].decision == nullptr) out[s.index()].decision = &body_decision();
      }
    }
  });
  return out;
}

const char* where(const SourcePlace& p) {
  if (p.accelerator && p.cpu) return "both";
  return p.accelerator ? "accelerator" : p.cpu ? "cpu" : "folded";
}

}  // namespace

Json placement_json(const CompiledModel& m) {
  auto place = places(m);
  Json nodes = Json::array();
  for (size_t i = 0; i < place.size(); ++i) {
    const ir::Source& s = m.model.graph.sources()[i];
    const SourcePlace& p = place[i];
    Json entry = {{"id", s.id},
                  {"name", idmap::json_text(s.name)},
                  {"op_type", idmap::json_text(s.op_type)},
                  {"where", where(p)}};
    Json outputs = Json::array();
    for (const auto& o : s.outputs) outputs.push_back(idmap::json_text(o));
    entry["outputs"] = std::move(outputs);
    if (p.decision != nullptr) {
      entry["expr_id"] = p.decision->node.index();
      if (p.decision->accelerator) entry["region"] = p.decision->region;
      entry["rule"] = p.decision->rule;
      entry["reason"] = idmap::json_text(p.decision->reason);
      Json tried = Json::array();
      for (const auto& t : p.decision->trials) tried.push_back(trial_json(t));
      entry["tried"] = std::move(tried);
    }
    nodes.push_back(std::move(entry));
  }
  return {{"schema", "mrvlc-placement-1"},
          {"target", m.has_accelerator ? m.machine.name : "host"},
          {"nodes", nodes}};
}

namespace {

double mac_share(const CompiledModel& m) {
  int64_t total = 0, accelerator = 0;
  for (const auto& d : m.partition.decisions) {
    int64_t macs = macs_of(m.model.graph, m.model.graph.node(d.node));
    total += macs;
    if (d.accelerator) accelerator += macs;
  }
  return total == 0 ? 0 : static_cast<double>(accelerator) / static_cast<double>(total);
}

Json region_json(const CompiledModel& m, size_t i) {
  const auto& region = m.partition.regions[i];
  const auto& c = m.regions[i];
  const sim::Report& t = m.runs[i];
  return {{"id", region.id},
          {"file", fmt::format("{}.region{}.mrvl", m.name, region.id)},
          {"layers", region.layers.size()},
          {"macs", c.macs},
          {"cycles", t.total_cycles()},
          {"lower_bound_cycles", c.lower_bound_cycles},
          {"ddr_read_bytes", t.ddr_read_bytes},
          {"ddr_write_bytes", t.ddr_write_bytes},
          {"ocm_peak_bytes", c.ocm_peak_bytes},
          {"ocm_tensor_peak_bytes", c.ocm_tensor_peak_bytes},
          {"ocm_tensor_lower_bound_bytes", c.ocm_tensor_lower_bound_bytes},
          {"weights_bytes", c.weights_bytes},
          {"pod_utilization", t.pod_utilization}};
}

}  // namespace

Json report_json(const CompiledModel& m, const CompileOptions& options) {
  size_t accelerator = 0, cpu = 0, folded = 0;
  for (const SourcePlace& p : places(m)) {
    accelerator += p.accelerator;
    cpu += p.cpu && !p.accelerator;
    folded += !p.cpu && !p.accelerator;
  }
  Json regions = Json::array();
  for (size_t i = 0; i < m.regions.size(); ++i) regions.push_back(region_json(m, i));
  Json r;
  r["schema"] = "mrvlc-report-1";
  r["model"] = {{"name", m.name}, {"sha256", m.model.sha256}};
  r["target"] = {{"name", m.has_accelerator ? m.machine.name : "host"},
                 {"tiles", m.has_accelerator ? options.tiles : 0},
                 {"precision", m.has_accelerator ? "fp16" : "fp32"}};
  r["placement"] = {{"onnx_nodes", m.model.graph.sources().size()},
                    {"accelerator", accelerator},
                    {"cpu", cpu},
                    {"folded", folded},
                    {"mac_share_accelerator", mac_share(m)}};
  r["regions"] = std::move(regions);
  r["host"] = {{"arena_bytes", m.host.arena_bytes},
               {"arena_lower_bound_bytes", m.host.arena_lower_bound_bytes},
               {"weights_bytes", m.host.weights_bytes}};
  return r;
}

std::string report_text(const Json& r, const Json& placement, const std::vector<report::Region>& regions) {
  const Json& p = r.at("placement");
  std::string out = fmt::format(
      "model {}  target {}  tiles {}  precision {}\n"
      "{} ONNX nodes: {} on the accelerator, {} on the CPU, {} folded; {:.2f} % of the MACs on the "
      "accelerator\n",
      r["model"]["name"].get<std::string>(), r["target"]["name"].get<std::string>(),
      r["target"]["tiles"].get<int>(), r["target"]["precision"].get<std::string>(),
      p["onnx_nodes"].get<int64_t>(), p["accelerator"].get<int64_t>(), p["cpu"].get<int64_t>(),
      p["folded"].get<int64_t>(), 100 * p["mac_share_accelerator"].get<double>());
  const Json& h = r.at("host");
  out += fmt::format("host: arena {} B (lower bound {} B), weights {} B\n", h["arena_bytes"].get<int64_t>(),
                     h["arena_lower_bound_bytes"].get<int64_t>(), h["weights_bytes"].get<int64_t>());
  out += report::profile_text(regions, kReportLayers);
  for (const Json& n : placement.at("nodes")) {
    if (n["where"] != "cpu" || r["target"]["name"] == "host") continue;
    out += fmt::format("on the CPU: {} '{}' ({}): {}\n", n["id"].get<std::string>(),
                       n["name"].get<std::string>(), n["op_type"].get<std::string>(), n.value("reason", ""));
  }
  return out;
}

namespace {

Json json_texts(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& t : texts) list.push_back(idmap::json_text(t));
  return list;
}

Json options_json(const CompileOptions& o) {
  Json shapes = Json::object();
  for (const auto& [name, shape] : o.input_shapes) shapes[idmap::json_text(name)] = to_string(shape);
  Json bounds = Json::object();
  for (const auto& [name, shape] : o.bounds) bounds[idmap::json_text(name)] = to_string(shape);
  Json rules = Json::array();
  for (const auto& r : o.rules) rules.push_back(idmap::json_text(r.filename().string()));
  return {{"target", o.targets},
          {"tiles", o.tiles},
          {"effort", o.effort},
          {"wb_pin", o.pin_weights},
          {"precision", o.precision},
          {"input_shape", shapes},
          {"bound", bounds},
          {"max_sequence", o.max_sequence},
          {"batch", o.batch},
          {"rules", rules},
          {"default_rules", o.default_rules},
          {"cpu", json_texts(o.cpu)},
          {"accel", json_texts(o.accel)},
          {"border", json_texts(o.borders)},
          {"emit", std::set<std::string>(o.emit.begin(), o.emit.end())}};
}

bool wants(const CompileOptions& options, std::string_view kind) {
  return std::find(options.emit.begin(), options.emit.end(), kind) != options.emit.end();
}

Status write_extras(OutputDir& dir, const CompiledModel& m, const CompileOptions& options, const Json& map) {
  if (wants(options, "ir")) MRVLC_TRY(dir.write(m.name + ".ir", ir::print(m.model.graph)));
  if (!wants(options, "disasm")) return {};
  for (size_t i = 0; i < m.binaries.size(); ++i) {
    uint32_t id = m.partition.regions[i].id;
    MRVLC_ASSIGN(isa::Binary binary, isa::read_container(m.binaries[i]));
    MRVLC_TRY(dir.write(fmt::format("{}.region{}.txt", m.name, id), disasm_text(binary, map, id)));
  }
  return {};
}

Status write_reports(OutputDir& dir, const CompiledModel& m, const CompileOptions& options, const Json& map) {
  Json placement = placement_json(m), report = report_json(m, options);
  MRVLC_TRY(dir.write("placement.json", placement.dump(1) + "\n"));
  MRVLC_TRY(dir.write("report.json", report.dump(1) + "\n"));
  report::Page page = report_page(m, map, report, placement);
  MRVLC_TRY(dir.write("report.txt", report_text(report, placement, page.regions)));
  return dir.write("report.html", report::html(page));
}

std::string_view wrapper_name(Wrapper wrapper) {
  constexpr std::string_view kNames[] = {"", "sequence", "optional", "optional(sequence)"};
  return kNames[static_cast<size_t>(wrapper)];
}

Json ports_json(const ir::Graph& graph, const std::vector<ir::ValueId>& values) {
  std::vector<std::string> names;
  for (ir::ValueId id : values) names.push_back(graph.value(id).name);
  auto files = file_names(names);
  Json list = Json::array();
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::Value& v = graph.value(values[i]);
    list.push_back({{"name", idmap::json_text(v.name)},
                    {"file", files[i]},
                    {"type", name(v.type.elem)},
                    {"shape", v.type.shape}});
    // Dimensions that are known at run time only; the shape is their bound.
    Json open = Json::array();
    for (int64_t d = 0; d < v.type.rank(); ++d) {
      if (v.type.is_open(d)) open.push_back(d);
    }
    if (!v.type.has_rank()) open.push_back(31);  // TensorType::open
    if (!open.empty()) list.back()["open"] = std::move(open);
    if (v.type.capacity >= 0) list.back()["capacity"] = v.type.capacity;
    if (v.type.wrapper == Wrapper::None) continue;
    list.back()["wrapper"] = wrapper_name(v.type.wrapper);
    list.back()["length"] = v.type.length;
    list.back()["value_type"] = to_string(v.type);
  }
  return list;
}

// Without folders, which differ from one machine to the next.
Json read_json(const std::vector<ReadFile>& read) {
  constexpr const char* kKinds[] = {"model", "external_data", "rules", "target"};
  Json list = Json::array();
  for (const ReadFile& file : read) {
    Json entry = {{"kind", kKinds[static_cast<size_t>(file.kind)]}};
    if (!file.name.empty()) entry["file"] = idmap::json_text(file.name);
    entry["sha256"] = file.sha256;
    list.push_back(std::move(entry));
  }
  return list;
}

Json manifest_json(const CompiledModel& m, const CompileOptions& options, const OutputDir& dir) {
  Json files = Json::array();
  for (const auto& [file, sha] : dir.files()) files.push_back({{"file", file}, {"sha256", sha}});
  return {{"schema", kManifestSchema},
          {"tool", {{"name", "mrvlc"}, {"version", MRVLC_VERSION}}},
          {"model", {{"name", m.name}, {"sha256", m.model.sha256}}},
          {"read", read_json(m.read)},
          {"options", options_json(options)},
          {"inputs", ports_json(m.model.graph, m.model.graph.inputs())},
          {"outputs", ports_json(m.model.graph, m.model.graph.outputs())},
          {"files", files}};
}

}  // namespace

Status write_output(const CompiledModel& m, const CompileOptions& options,
                    const std::function<Status(const OutputDir&)>& before_commit) {
  MRVLC_TRY(check_replaceable(options.out));
  InterruptGuard guard;  // a signal must not leave the staging folder behind
  MRVLC_ASSIGN(OutputDir dir, OutputDir::create(options.out));
  Json map = idmap::build(m.model.graph, m.partition, m.regions, m.host);
  MRVLC_TRY(dir.write("idmap.json", map.dump(1) + "\n"));
  MRVLC_TRY(write_reports(dir, m, options, map));
  for (size_t i = 0; i < m.binaries.size(); ++i) {
    MRVLC_TRY(dir.write(fmt::format("{}.region{}.mrvl", m.name, m.partition.regions[i].id), m.binaries[i]));
  }
  for (const auto& [file, bytes] : m.host.files) MRVLC_TRY(dir.write(file, bytes));
  MRVLC_TRY(write_extras(dir, m, options, map));
  MRVLC_TRY(dir.write("manifest.json", manifest_json(m, options, dir).dump(1) + "\n"));
  MRVLC_TRY(before_commit(dir));
  if (interrupted() != 0) return make_diag<DiagCode::MRV0002>(options.out.string(), "interrupted");
  MRVLC_TRY(dir.commit());
  guard.done();
  return {};
}

}  // namespace mrvlc::driver
