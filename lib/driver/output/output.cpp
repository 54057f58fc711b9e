// OUT: placement.json, report.json, report.txt, idmap.json, the stub, the binaries, and manifest.json last.
#include "output/output.h"

#include "accuracy/quantize_report.h"
#include "accuracy/quantized_model.h"
#include "folder/output_folder.h"
#include "graph/collect.h"
#include "model/compiled_model.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/idmap/size.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/parallel.h"
#include "mrvlc/support/printable.h"
#include "output/frontier_page.h"
#include "output/make_report.h"
#include "output/memory_json.h"
#include "output/options_json.h"
#include "output/proof_json.h"
#include "output/report_page.h"
#include "output/sbom.h"

namespace mrvlc::driver {

namespace {

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

Status write_frontier(OutputDir& dir, const CompiledModel& m) {
  if (m.frontier == nullptr) return {};
  MRVLC_TRY(dir.write("frontier.json", json::document(*m.frontier)));
  return dir.write("frontier.html", frontier_page(*m.frontier, m.name));
}

Status write_extras(OutputDir& dir, const CompiledModel& m, const CompileOptions& options) {
  if (emits(options, "ir")) MRVLC_TRY(dir.write(m.name + ".ir", ir::print(m.model.graph)));
  if (!emits(options, "disasm")) return {};
  for (const auto& [graph, region] : all_regions(m.model.graph, m.partition)) {
    const backend::RegionCode& code = m.regions[region->id];
    std::vector<backend::CodeRange> ranges = code.instructions;
    for (backend::CodeRange& r : ranges) r.expr = ir::NodeId(graph->expr_id(r.expr));
    MRVLC_ASSIGN(const std::string text, m.backend_of(code).disassembly(code.bytes, ranges));
    MRVLC_TRY(dir.write(fmt::format("{}.region{}.txt", m.name, region->id), printable_lines(text)));
  }
  return {};
}

Status write_reports(OutputDir& dir, const CompiledModel& m, const CompileOptions& options,
                     const idmap::SourceOutcomes& outcomes, Report& report) {
  std::vector<report::Region> regions = report_regions(m);
  const PlacedNodes nodes(m, outcomes);
  report = make_report(m, options, nodes, regions);
  MRVLC_TRY(write_json(dir, "placement.json", [&](JsonWriter& out) { write_placement(out, m, nodes); }));
  MRVLC_TRY(dir.write("report.json", json::document(report)));
  MRVLC_TRY(write_json(dir, kMemoryFile, [&](JsonWriter& out) { write_memory(out, m); }));
  MRVLC_TRY(write_json(dir, kProofFile, [&](JsonWriter& out) { write_proof(out, m); }));
  auto graph = graph_of(m, report, regions);
  if (graph)
    MRVLC_TRY(write_json(dir, kGraphFile, [&](JsonWriter& out) { report::write_graph(out, *graph); }));
  MRVLC_TRY(dir.write("report.txt", printable_lines(report_text(report, nodes, regions))));
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

}  // namespace

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
  if (m.libraries.standard != target::kStandards[0]) out["linked"]["standard"] = m.libraries.standard;
  out["model"] = {{"name", m.name}, {"sha256", m.model.sha256}};
  out["read"] = read_json(m.read);
  out["options"] = options_json(options);
  out["inputs"] = ports_json(m.model.graph, m.model.graph.inputs());
  if (!m.model.bound_inputs.empty()) out["bound_inputs"] = idmap_texts(m.model.bound_inputs);
  out["outputs"] = ports_json(m.model.graph, m.model.graph.outputs());
  for (const chost::StateUse& s : m.host.states)
    out["states"].push_back({{"input", idmap::json_text(s.input)}, {"output", idmap::json_text(s.output)}});
  out["files"] = std::move(files);
  return out;
}

Status write_output(const CompiledModel& m, const CompileOptions& options, const WriteHooks& hooks,
                    Report& report) {
  MRVLC_TRY(check_replaceable(options.out));
  MRVLC_TRY(idmap::check_size(m.model.graph));
  InterruptGuard guard;  // a signal must not leave the staging folder behind
  MRVLC_ASSIGN(OutputDir dir, OutputDir::create(options.out));
  const idmap::Compiled compiled{m.model.graph, m.partition, m.regions, m.host, m.target_names()};
  const idmap::SourceOutcomes outcomes(compiled);
  // Beside the reports: both have entries for every node.
  auto map = std::async(launch_for(options.jobs), [&] {
    return write_json(dir, "idmap.json", [&](JsonWriter& out) { idmap::write(out, compiled, outcomes); });
  });
  Status reports = write_reports(dir, m, options, outcomes, report);
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
    if (!a.text.empty())
      MRVLC_TRY(dir.write(target_file(a.name, m.accelerators.size()), escaped_json(a.text)));
    for (const auto& [file, bytes] : a.files) MRVLC_TRY(dir.write(file, bytes));
  }
  for (const auto& [file, bytes] : m.host.files) MRVLC_TRY(dir.write(file, bytes));
  for (const auto& [file, bytes] : m.libraries.files) MRVLC_TRY(dir.write(file, bytes));
  MRVLC_TRY(write_extras(dir, m, options));
  MRVLC_TRY(write_quantized(dir, m, options));
  MRVLC_TRY(write_frontier(dir, m));
  MRVLC_TRY(write_sbom(dir, m, options));
  MRVLC_TRY(hooks.before_manifest(dir));
  MRVLC_TRY(dir.write("manifest.json", json_document(manifest_json(m, options, dir))));
  if (!options.force) MRVLC_TRY(keep_other_files(options.out, own_files(options.out), dir));
  MRVLC_TRY(hooks.before_commit(dir));
  if (interrupted() != 0) return make_diag<DiagCode::MRV0002>(options.out.string(), "interrupted");
  MRVLC_TRY(dir.commit());
  guard.done();
  return {};
}

}  // namespace mrvlc::driver
