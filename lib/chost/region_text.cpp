// The C of regions: the table of what each binary must be, and in NAME_run the device's call, or the host in
// its place.
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "reading/layer_comment.h"
#include "run_text.h"

namespace mrvlc::chost {
namespace {

std::string bytes_text(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t b : bytes) text += fmt::format("{}{}", text.empty() ? "" : ", ", b);
  return text;
}

}  // namespace

// The rows of NAME_spans<region>: instructions of section main that one layer and one expression account for.
std::vector<std::string> RunText::span_rows(const backend::RegionCode& region) const {
  std::vector<std::string> rows;
  const backend::CodeRange* last = nullptr;
  for (const backend::CodeRange& range : region.instructions) {
    if (range.section != backend::Section::Main) continue;
    if (last != nullptr && last->layer == range.layer && last->expr == range.expr) rows.pop_back();
    const size_t expr = program_.expr(range.expr).index();
    rows.push_back(fmt::format("{{{}u, {}u, {}u, {}_n{}}}", range.end, range.layer, expr, prefix_, expr));
    last = &range;
  }
  return rows;
}

void RunText::note_regions() const {
  auto total = [&](const std::vector<BufferId>& buffers) {
    int64_t bytes = 0;
    for (BufferId s : buffers) bytes += program_.buffers[s.index()].bytes;
    return bytes;
  };
  Module& module = program_.module;
  for (const Step& s : program_.steps) {
    if (s.group.region < 0) continue;
    const backend::RegionCode& code = program_.regions[static_cast<size_t>(s.group.region)];
    const uint32_t id = region_id(s);
    const std::vector<std::string> of_region = span_rows(code);
    if (!of_region.empty())  // C has no empty arrays
      module.region_spans += fmt::format("static const {0}_span {0}_spans{1}[] = {{\n    {2}}};\n", prefix_,
                                         id, fmt::join(of_region, ",\n    "));
    const std::string spans_of_region = of_region.empty() ? "NULL" : fmt::format("{}_spans{}", prefix_, id);
    // Of a binary that another compiler makes nobody knows how it counts its ports' bytes.
    const bool known = !code.bytes.empty();
    module.region_rows[id] = fmt::format(
        "    {{{{{}}}, {}u, {}u, {}u, {}u, {}u, {}u, {}_n{}, {}, {}u}},\n", bytes_text(code.identity),
        code.accelerator, s.device_inputs.size(), s.device_outputs.size(), known ? total(s.device_inputs) : 0,
        known ? total(s.device_outputs) : 0, expr(s), prefix_, expr(s), spans_of_region, of_region.size());
  }
}

void RunText::add_regions(CSource& out) const {
  const Module& module = program_.module;
  if (module.regions.empty()) return;
  out.add(fmt::format(
      "\n/* Instructions of section main before `end` and behind the entry before: whose they are. */\n"
      "typedef struct {0}_span {{\n  uint32_t end, layer, expr_id;\n  const char* node;\n}} {0}_span;\n{1}",
      prefix_, module.region_spans));
  out.add(fmt::format(
      "\n/* What the binary of each region is: identity, ports, bytes of all inputs and of all outputs. */\n"
      "typedef struct {0}_region {{\n  unsigned char identity[MRVL_IDENTITY_BYTES];\n"
      "  uint32_t device, inputs, outputs, input_bytes, output_bytes, expr_id;\n  const char* node;\n  const "
      "{0}_span* spans;\n"
      "  uint32_t span_count;\n}} {0}_region;\n"
      "static const {0}_region {0}_regions[{0}_REGION_COUNT] = {{\n{1}}};\n\n",
      prefix_, fmt::join(module.region_rows, "")));
  const Options& o = program_.options;
  const bool several = o.targets.size() > 1;
  out.add(fmt::format("#define {}_DEVICE_AT(device, i) {}\n\n", prefix_,
                      several ? "((device)->devices[i])" : "((void)(i), (device)->device)"));
  const int stop = o.on_overflow == OnOverflow::Error, overflow_cpu = o.on_overflow == OnOverflow::Cpu;
  out.add(fmt::format(
      "/* --on-device-error and --on-overflow. */\n"
      "enum {{ {0}_RETRIES = {1}, {0}_CPU_ON_OVERFLOW = {2}, {0}_STOP_ON_OVERFLOW = {3}, {0}_ON_CPU = -1 "
      "}};\n\n",
      prefix_, o.on_device_error.retries, overflow_cpu, stop));
  out.add(instantiate(Piece::device, prefix_, {}));
  if (flight_obstacle(program_).empty()) {
    out.add("\n");
    out.add(instantiate(Piece::device_flight, prefix_, {}));
  }
  for (const bool half : {false, true}) {
    const auto is_half = [&](const InputLimit& limit) {
      const ir::ValueId value = program_.graph.inputs()[limit.input];
      return (program_.graph.value(value).type.elem == ElementType::F16) == half;
    };
    const auto has_smallest = [&](const InputLimit& limit) { return is_half(limit) && limit.smallest > 0; };
    if (std::ranges::any_of(o.input_limits, is_half))
      out.add(instantiate(half ? Piece::input_limits_half : Piece::input_limits, prefix_, {}));
    if (std::ranges::any_of(o.input_limits, has_smallest))
      out.add(instantiate(half ? Piece::input_smallest_half : Piece::input_smallest, prefix_, {}));
  }
}

// Opens a block, with the ports of the region.
void RunText::device_ports(const Step& step) {
  auto ports = [&](const std::vector<BufferId>& buffers) {
    std::string text;
    for (BufferId s : buffers) {
      text += fmt::format("{}{{{}, {}u}}", text.empty() ? "" : ", ", address(s),
                          program_.buffers[s.index()].bytes);
    }
    return text.empty() ? "{NULL, 0u}" : text;
  };
  open("{");
  put("{}", region_comment(program_, step.group.nodes, region_id(step)));
  put("const mrvl_input port_in[] = {{{}}};", ports(step.device_inputs));
  put("const mrvl_output port_out[] = {{{}}};", ports(step.device_outputs));
}

void RunText::device_call(const Step& step) {
  device_ports(step);
  put("const int region_rc = {}_run_region(device, {}, port_in, {}u, port_out, {}u, {}, error);", prefix_,
      region_id(step), step.device_inputs.size(), step.device_outputs.size(), program_.state());
  put("if (region_rc {} 0) return region_rc;", step.fallback ? ">" : "!=");
  if (step.fallback) {
    open(fmt::format("if (region_rc == {}_ON_CPU) {{", prefix_));
    cpu_call(step);
    close();
    open("if (region_rc == 0) {");
    for (const Call& c : step.after) call(step, c);
    close();
  }
  close();
}

// The region on the host, from and to values as the host has them.
void RunText::cpu_call(const Step& step) {
  const Fallback& f = *step.fallback;
  for (const Call& c : f.before) call(step, c);
  declare_cpu_views(f.inputs, "in", "const ");
  declare_cpu_views(f.outputs, "out", "");
  put("const int cpu_rc = {}(cpu_in, cpu_out, {}, hook, user, error{}{});", f.function,
      f.arena.valid() ? "(unsigned char*)" + address(f.arena) : "NULL",
      program_.options.trace_values ? ", device" : "",
      takes_weights() ? fmt::format(", {}_weights", prefix_) : std::string());
  put("if (cpu_rc != 0) return cpu_rc;");
  for (const Call& c : f.after) call(step, c);
}

void RunText::declare_cpu_views(const std::vector<ir::ValueId>& values, std::string_view kind,
                                std::string_view qualifier) {
  std::string list;
  for (size_t i = 0; i < values.size(); ++i) {
    const structs::View view{.data = mutable_address(values[i]),
                             .dim = dims_text(program_.graph.value(values[i]).type)};
    put("{}", structs::declaration(prefix_, fmt::format("{}{}", kind, i), view, qualifier));
    list += fmt::format("{}&{}{}", i == 0 ? "" : ", ", kind, i);
  }
  put("{0}{1}_view* const cpu_{2}[] = {{{3}}};", qualifier, prefix_, kind, list.empty() ? "NULL" : list);
}

}  // namespace mrvlc::chost
