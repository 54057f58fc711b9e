// OUT: placement.json, report.json, report.txt, idmap.json, the stub, the binaries, and manifest.json last.
#include <set>

#include "accuracy/quantize_report.h"
#include "accuracy/quantized_model.h"
#include "compiled_model.h"
#include "graph/collect.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/idmap/size.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/support/parallel.h"
#include "output/gates.h"
#include "output/memory_json.h"
#include "output/output_folder.h"
#include "output/partition_json.h"
#include "output/report_page.h"

namespace mrvlc::driver {

namespace {

Json json_texts(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& t : texts) list.push_back(idmap::json_text(t));
  return list;
}

Json options_json(const CompileOptions& o) {
  Json shapes = Json::object();
  for (const auto& [name, shape] : o.input_shapes) shapes[idmap::json_text(name)] = to_string(shape);
  Json bound_inputs = Json::object();
  for (const auto& [name, bound] : o.bound_inputs)
    bound_inputs[idmap::json_text(name)] =
        idmap::json_text(bound.tensor ? std::filesystem::path(bound.text).filename().string() : bound.text);
  Json bounds = Json::object();
  for (const auto& [name, shape] : o.bounds) bounds[idmap::json_text(name)] = to_string(shape);
  Json rules = Json::array();
  for (const auto& r : o.rules) rules.push_back(idmap::json_text(r.filename().string()));
  Json ranges = Json::array();
  for (const calibration::InputRange& r : o.input_ranges)
    ranges.push_back({{"name", idmap::json_text(r.pattern)}, {"least", r.least}, {"most", r.most}});
  Json precisions = Json::array();
  for (const auto& [pattern, precision] : o.precisions)
    precisions.push_back({{"name", idmap::json_text(pattern)}, {"precision", to_text(precision)}});
  constexpr const char* kOnOverflow[] = {"report", "error", "cpu"};
  constexpr const char* kProbes[] = {"within-budget", "always", "never", "within-budget"};
  Json out = {{"target", o.targets},
              {"tiles", o.tiles},
              {"effort", o.effort},
              {"wb_pin", o.pin_weights},
              {"precision", o.precision},
              {"precision_of", std::move(precisions)},
              {"input_shape", shapes},
              {"bound", bounds},
              {"max_sequence", o.max_sequence},
              {"batch", o.batch},
              {"rules", rules},
              {"default_rules", o.default_rules},
              {"partition", o.partition_by == CompileOptions::PartitionBy::Cost ? "cost" : "greedy"},
              {"host_model", idmap::json_text(o.host_model.filename().string())},
              {"cpu", json_texts(o.cpu)},
              {"accel", json_texts(o.accel)},
              {"border", json_texts(o.borders)},
              {"probe", kProbes[static_cast<size_t>(o.probe)]},
              {"input_range", std::move(ranges)},
              {"calibration", idmap::json_text(o.calibration.filename().string())},
              {"accuracy_warning", o.accuracy_warning},
              {"on_overflow", kOnOverflow[static_cast<size_t>(o.on_overflow)]},
              {"on_device_error", {{"retries", o.on_device_error.retries}, {"cpu", o.on_device_error.cpu}}},
              {"emit", std::set<std::string>(o.emit.begin(), o.emit.end())}};
  for (const auto& [name, bound] : o.bound_inputs)
    out["bind"][idmap::json_text(name)] =
        idmap::json_text(bound.tensor ? std::filesystem::path(bound.text).filename().string() : bound.text);
  if (!o.borders_after.empty()) out["border_after"] = json_texts(o.borders_after);
  if (!o.together.empty()) out["together"] = json_texts(o.together);
  if (o.max_region_layers) out["max_region_layers"] = *o.max_region_layers;
  if (o.max_regions) out["max_regions"] = *o.max_regions;
  if (o.weights != chost::WeightsAs::Linked)
    out["weights"] = chost::kWeightsAs[static_cast<size_t>(o.weights)];
  if (o.host_weights != chost::WeightType::F32)
    out["host_weights"] = chost::kWeightTypes[static_cast<size_t>(o.host_weights)];
  if (!o.data.empty()) out["data"] = idmap::json_text(o.data.filename().string());
  if (!o.tuning.empty()) out["tuning"] = idmap::json_text(o.tuning.filename().string());
  if (!o.placement.empty()) out["placement"] = idmap::json_text(o.placement.filename().string());
  return out;
}

bool wants(const CompileOptions& options, std::string_view kind) {
  return std::find(options.emit.begin(), options.emit.end(), kind) != options.emit.end();
}

Status write_json(OutputDir& dir, const std::string& name, const std::function<void(JsonWriter&)>& fill) {
  return dir.write_pieces(name, [&](const OutputDir::Pieces& piece) {
    JsonWriter out(piece);
    fill(out);
    out.finish();
  });
}

// What was compiled in the place of the model.
Status write_quantized(OutputDir& dir, const CompiledModel& m, const CompileOptions& options) {
  if (options.quantized == nullptr) return {};
  const QuantizedModel& q = *options.quantized;
  if (!q.bytes.empty()) MRVLC_TRY(dir.write(m.name + ".quantized.onnx", q.bytes));
  return dir.write("quantization.json", quantize_json(q.report, m.model.sha256));
}

Status write_extras(OutputDir& dir, const CompiledModel& m, const CompileOptions& options) {
  if (wants(options, "ir")) MRVLC_TRY(dir.write(m.name + ".ir", ir::print(m.model.graph)));
  if (!wants(options, "disasm")) return {};
  for (const auto& [graph, region] : all_regions(m.model.graph, m.partition)) {
    const backend::RegionCode& code = m.regions[region->id];
    std::vector<backend::CodeRange> ranges = code.instructions;
    for (backend::CodeRange& r : ranges) r.expr = ir::NodeId(graph->expr_id(r.expr));
    MRVLC_ASSIGN(const std::string text, m.backend_of(code).disassembly(code.bytes, ranges));
    MRVLC_TRY(dir.write(fmt::format("{}.region{}.txt", m.name, region->id), text));
  }
  return {};
}

Status write_reports(OutputDir& dir, const CompiledModel& m, const CompileOptions& options,
                     const idmap::Fates& fates, Json& report) {
  std::vector<report::Region> regions = report_regions(m);
  const PlacedNodes nodes(m, fates);
  report = report_json(m, options, nodes, regions);
  add_partition(report, m, options);
  add_gates(report, m, options.gates);
  MRVLC_TRY(write_json(dir, "placement.json", [&](JsonWriter& out) { write_placement(out, m, nodes); }));
  MRVLC_TRY(dir.write("report.json", report.dump(1) + "\n"));
  MRVLC_TRY(write_json(dir, kMemoryFile, [&](JsonWriter& out) { write_memory(out, m); }));
  auto graph = graph_of(m, report, regions);
  if (graph)
    MRVLC_TRY(write_json(dir, kGraphFile, [&](JsonWriter& out) { report::write_graph(out, *graph); }));
  MRVLC_TRY(dir.write("report.txt", report_text(report, nodes, regions)));
  report::Page page = report_page(m, report, nodes, std::move(regions));
  page.graph = std::move(graph);
  return dir.write(kReportPage, report::html(page));
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
    Json dynamic = Json::array();
    for (int64_t d = 0; d < v.type.rank(); ++d) {
      if (v.type.is_dynamic(d)) dynamic.push_back(d);
    }
    if (!v.type.has_rank()) dynamic.push_back(31);  // TensorType::dynamic
    if (!dynamic.empty()) list.back()["open"] = std::move(dynamic);
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
  Json list = Json::array();
  for (const ReadFile& file : read) {
    Json entry = {{"kind", ReadFile::kNames[static_cast<size_t>(file.kind)]}};
    if (!file.name.empty()) entry["file"] = idmap::json_text(file.name);
    entry["sha256"] = file.sha256;
    list.push_back(std::move(entry));
  }
  return list;
}

Json manifest_json(const CompiledModel& m, const CompileOptions& options, const OutputDir& dir) {
  Json files = Json::array();
  for (const auto& [file, sha] : dir.files()) files.push_back({{"file", file}, {"sha256", sha}});
  const chost::Linked& linked = m.libraries.linked;
  Json out = {{"schema", kManifestSchema},
              {"tool", {{"name", "mrvlc"}, {"version", MRVLC_VERSION}}},
              {"accelerator", m.has_accelerator ? Json(m.accelerators.front().name) : Json()}};
  if (m.accelerators.size() > 1) out["accelerators"] = m.target_names();
  out["linked"] = {
      {"includes", linked.includes}, {"sources", linked.sources}, {"libraries", linked.libraries}};
  out["model"] = {{"name", m.name}, {"sha256", m.model.sha256}};
  out["read"] = read_json(m.read);
  out["options"] = options_json(options);
  out["inputs"] = ports_json(m.model.graph, m.model.graph.inputs());
  if (!m.model.bound_inputs.empty()) out["bound_inputs"] = json_texts(m.model.bound_inputs);
  out["outputs"] = ports_json(m.model.graph, m.model.graph.outputs());
  out["files"] = std::move(files);
  return out;
}

}  // namespace

Status write_output(const CompiledModel& m, const CompileOptions& options,
                    const std::function<Status(const OutputDir&)>& before_commit, Json& report) {
  MRVLC_TRY(check_replaceable(options.out));
  MRVLC_TRY(idmap::check_size(m.model.graph));
  InterruptGuard guard;  // a signal must not leave the staging folder behind
  MRVLC_ASSIGN(OutputDir dir, OutputDir::create(options.out));
  const idmap::Compiled compiled{m.model.graph, m.partition, m.regions, m.host, m.target_names()};
  const idmap::Fates fates(compiled);
  // Beside the reports: both have entries for every node.
  auto map = std::async(launch_for(options.jobs), [&] {
    return write_json(dir, "idmap.json", [&](JsonWriter& out) { idmap::write(out, compiled, fates); });
  });
  Status reports = write_reports(dir, m, options, fates, report);
  MRVLC_TRY(map.get());
  MRVLC_TRY(std::move(reports));
  for (size_t i = 0; i < m.regions.size(); ++i) {
    const uint32_t id = static_cast<uint32_t>(i);
    for (const auto& [ending, text] : m.regions[i].files)
      MRVLC_TRY(dir.write(fmt::format("{}_region{}{}", m.name, id, ending), text));
    if (m.regions[i].bytes.empty()) continue;
    MRVLC_TRY(dir.write(fmt::format("{}.region{}.mrvl", m.name, id), m.regions[i].bytes));
  }
  for (const Accelerator& a : m.accelerators) {
    if (!a.text.empty()) MRVLC_TRY(dir.write(target_file(a.name, m.accelerators.size()), a.text));
    for (const auto& [file, bytes] : a.files) MRVLC_TRY(dir.write(file, bytes));
  }
  for (const auto& [file, bytes] : m.host.files) MRVLC_TRY(dir.write(file, bytes));
  for (const auto& [file, bytes] : m.libraries.files) MRVLC_TRY(dir.write(file, bytes));
  MRVLC_TRY(write_extras(dir, m, options));
  MRVLC_TRY(write_quantized(dir, m, options));
  MRVLC_TRY(dir.write("manifest.json", manifest_json(m, options, dir).dump(1) + "\n"));
  if (!options.force) MRVLC_TRY(keep_other_files(options.out, own_files(options.out), dir));
  MRVLC_TRY(before_commit(dir));
  if (interrupted() != 0) return make_diag<DiagCode::MRV0002>(options.out.string(), "interrupted");
  MRVLC_TRY(dir.commit());
  guard.done();
  return {};
}

}  // namespace mrvlc::driver
