// Which values lie in memory when a step is done, and the table that says what they are.
#include "reading/told_values.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "mrvlc/tensor/npy_descr.h"

namespace mrvlc::chost {

// Values of regions and libraries may have memory that nobody has written: they lie in another form then.
bool ToldValues::is_written(const Step& step, ir::ValueId value) const {
  const auto at = program_.value_buffers.find(value);
  if (at == program_.value_buffers.end()) return false;
  const auto place = program_.resolve(at->second);
  const auto is_there = [&](BufferId b) { return b.valid() && program_.resolve(b) == place; };
  const auto writes = [&](const Call& call) {
    return std::ranges::any_of(call.params, [&](const Param& p) {
      return p.written && (p.view == value || (p.text.empty() && is_there(p.buffer)));
    });
  };
  return std::ranges::any_of(step.before, writes) || std::ranges::any_of(step.after, writes) ||
         std::ranges::any_of(step.device_outputs, is_there);
}

bool ToldValues::has_memory(ir::ValueId value) const {
  const auto at = program_.value_buffers.find(value);
  if (at == program_.value_buffers.end()) return false;
  const BufferId root = program_.resolve(at->second).first;
  switch (program_.buffers[root.index()].kind) {
    case Buffer::Kind::Arena:
      return arena_.offsets.contains(root);
    case Buffer::Kind::Input:
    case Buffer::Kind::Output:
      return true;
    default:
      return false;  // constants
  }
}

std::vector<ir::ValueId> ToldValues::at_begin() const {
  std::vector<ir::ValueId> told;
  for (const auto* values : {&program_.graph.inputs(), &program_.aliases_of_inputs})
    std::ranges::copy_if(*values, std::back_inserter(told), [&](ir::ValueId v) { return has_memory(v); });
  return told;
}

std::vector<ir::ValueId> ToldValues::behind(const Step& step) const {
  std::vector<ir::ValueId> told;
  const auto& nodes = step.group.nodes;
  for (ir::ValueId v : step.made) {
    const bool own = std::ranges::find(nodes, program_.graph.value(v).producer) != nodes.end();
    if (has_memory(v) && (!own || is_written(step, v))) told.push_back(v);
  }
  return told;
}

size_t ToldValues::row(ir::ValueId id) const {
  const ir::Value& value = program_.graph.value(id);
  const TensorType& type = value.type;
  const auto& files = program_.options.value_files;
  const auto file = program_.is_body() ? files.end() : files.find(value.name);
  const bool is_tensor = type.wrapper == Wrapper::None, is_made = value.producer.valid();
  const std::string_view numpy = is_tensor ? npy_descr(type.elem) : "";
  const auto text = [](std::string_view s) { return is_long_literal(s) ? "\"\"" : c_string(s); };
  std::vector<std::string>& rows = program_.module.told_values;
  rows.push_back(fmt::format(
      "{{.name = {}, .file = {}, .node = {}, .expr_id = {}, .type = {}, .numpy = {}, .element_bytes = {}, "
      ".rank = {}, .dim = {{{}}}, .data = NULL}}",
      text(value.name), file == files.end() ? "NULL" : c_string(file->second),
      is_made ? text(program_.node(value.producer).name) : "\"\"",
      is_made ? fmt::format("{}u", program_.expr(value.producer).index()) : "MRVL_NO_EXPRESSION",
      is_tensor ? static_cast<int>(type.elem) : 0, numpy.empty() ? "NULL" : c_string(numpy),
      is_tensor ? memory_bytes(TensorType{type.elem, {}}) : 0, is_tensor ? type.rank() : 0, dims_text(type)));
  return rows.size() - 1;
}

std::string told_values_text(const Module& module, std::string_view prefix) {
  if (module.told_values.empty()) return {};
  return fmt::format(
      "/* Values that are told, by --trace-values. */\n"
      "static const mrvl_value {0}_values[] = {{\n    {1}}};\n\n"
      "/* Tells of one; `dim`: its dimensions, where they are known at run time only. */\n"
      "static void {0}_tell(const {0}_device* device, const mrvl_value* row, const int64_t* dim, const void* "
      "data) {{\n"
      "  mrvl_value value;\n  if (!device || !device->value_hook) return;\n  value = *row;\n"
      "  if (dim) memcpy(value.dim, dim, (size_t)value.rank * sizeof value.dim[0]);\n"
      "  value.data = data;\n  device->value_hook(device->value_user, &value);\n}}\n\n",
      prefix, fmt::join(module.told_values, ",\n    "));
}

}  // namespace mrvlc::chost
