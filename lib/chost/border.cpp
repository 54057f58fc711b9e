// Values crossing the border between host and device: which do, by the ports of the compiled regions, and the
// C of it, one loop nest that casts and permutes. The innermost loop
// runs over the dimension that is contiguous where it is written.
#include <algorithm>

#include "function.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/diag/general.h"
#include "reading/layer_comment.h"

namespace mrvlc::chost {
namespace {

struct Border {
  Shape extents;       // stored dimensions, of one element left out, neighbours merged
  Shape host_strides;  // of the logical tensor
  Shape device_strides;
};

Border border_of(const Shape& logical, const std::vector<int64_t>& perm) {
  Shape strides = row_major_strides(logical);
  Border b;
  for (int64_t d : perm) {
    int64_t extent = logical[static_cast<size_t>(d)], stride = strides[static_cast<size_t>(d)];
    if (extent == 1) continue;
    if (!b.extents.empty() && b.host_strides.back() == stride * extent) {
      b.extents.back() *= extent;
      b.host_strides.back() = stride;
    } else {
      b.extents.push_back(extent);
      b.host_strides.push_back(stride);
    }
  }
  b.device_strides = row_major_strides(b.extents);
  return b;
}

std::string index(const Shape& strides) {
  std::string text;
  for (size_t d = 0; d < strides.size(); ++d) {
    text += fmt::format("{}i{} * {}", d == 0 ? "" : " + ", d, strides[d]);
  }
  return text.empty() ? "0" : text;
}

// Loops with the dimension of host stride 1 innermost when the host side is written, else in stored order.
void begin_loops(Function& f, const Border& b, bool host_innermost) {
  std::vector<size_t> order;
  for (size_t d = 0; d < b.extents.size(); ++d) {
    if (!host_innermost || b.host_strides[d] != 1) order.push_back(d);
  }
  for (size_t d = 0; d < b.extents.size() && order.size() < b.extents.size(); ++d) {
    if (b.host_strides[d] == 1) order.push_back(d);
  }
  for (size_t d : order) f.loop(fmt::format("i{}", d), b.extents[d]);
}

void end_loops(Function& f, const Border& b) {
  for (size_t d = 0; d < b.extents.size(); ++d) f.close();
}

Status check_port(const ir::Graph& graph, const backend::Port& port) {
  const TensorType& type = graph.value(port.value).type;
  const auto is_real = [](ElementType e) { return e == ElementType::F32 || e == ElementType::F16; };
  const bool as_on_host = port.type == type.elem && type.elem != ElementType::String;
  if (!as_on_host && !(is_real(port.type) && is_real(type.elem)))
    return make_diag<DiagCode::MRV0602>(std::string(name(type.elem)));
  std::vector<int64_t> sorted = port.perm;
  std::ranges::sort(sorted);
  for (size_t d = 0; d < sorted.size(); ++d) {
    if (sorted[d] != static_cast<int64_t>(d))
      return make_diag<DiagCode::MRV0007>("a port's layout is no permutation");
  }
  if (port.perm.size() != type.shape.size())
    return make_diag<DiagCode::MRV0007>("a port's layout has the wrong rank");
  return {};
}

// C's name of the elements of a port; fp16 ones are their bits.
std::string_view device_type(const backend::Port& port) {
  return ops::c_type(port.type);
}

bool is_half_port(const backend::Port& port) {
  return port.type == ElementType::F16;
}

}  // namespace

bool keeps_order(const Shape& shape, const std::vector<int64_t>& perm) {
  int64_t previous = -1;
  for (int64_t d : perm) {
    if (shape[static_cast<size_t>(d)] == 1) continue;
    if (d < previous) return false;
    previous = d;
  }
  return true;
}

partition::DeviceForm form_of(const ir::Graph& graph, const backend::Port& port) {
  const TensorType& type = graph.value(port.value).type;
  const bool casts = type.elem != port.type;
  return {port.value, casts, !keeps_order(type.shape, port.perm), port.perm};
}

Status find_crossings(Program& program) {
  std::vector<partition::RegionForms> forms;
  for (const backend::RegionCode& region : program.regions) {
    for (const auto* ports : {&region.inputs, &region.outputs})
      for (const backend::Port& port : *ports) MRVLC_TRY(check_port(program.graph, port));
    partition::RegionForms& f = forms.emplace_back();
    for (const backend::Port& port : region.inputs) f.inputs.push_back(form_of(program.graph, port));
    for (const backend::Port& port : region.outputs) f.outputs.push_back(form_of(program.graph, port));
  }
  program.crossings = partition::crossings(program.graph, program.partition, forms);
  return {};
}

Call emit_to_device(Program& program, ir::NodeId node, const backend::Port& port, BufferId to,
                    std::string_view what) {
  Function f(program, {node}, what);
  f.describe(value_comment(program, port.value, "to the form of the device"));
  const TensorType& type = program.graph.value(port.value).type;
  Border b = border_of(type.shape, port.perm);
  std::string x = f.read(port.value, "x"), y = f.write_buffer(to, device_type(port), "y");
  bool half = type.elem == ElementType::F16;
  const bool narrows = !half && is_half_port(port);
  if (narrows) {
    f.pass("uint32_t* restrict converted", program.is_body() ? "&state->converted" : "&state.converted");
    f.put("uint32_t beyond = 0u;");
  }
  begin_loops(f, b, false);
  std::string element = fmt::format("{}[{}]", x, index(b.host_strides));
  if (narrows) {
    // What fp16 does not hold is told as an instruction of the device tells it (K_take_flags).
    f.put("const float v = {};", element);
    f.put("const uint16_t h = {}(v);", f.need(Piece::f32_to_f16));
    f.put("beyond |= (uint32_t)((h & 0x7fffu) == 0x7c00u) & (uint32_t)(v - v == 0.0f);");
    element = "h";
  }
  if (half && !is_half_port(port)) element = fmt::format("{}({})", f.need(Piece::f16_to_f32), element);
  f.put("{}[{}] = {};", y, index(b.device_strides), element);
  end_loops(f, b);
  if (narrows) f.put("*converted |= beyond * MRVL_FLAG_OVERFLOW;");
  return f.finish();
}

Call emit_form(Program& program, ir::NodeId node, const Form& form, BufferId buffer, bool to_form,
               std::string_view what) {
  Function f(program, {node}, what);
  f.describe(value_comment(program, form.first,
                           to_form ? "to the form of the library" : "from the form of the library"));
  const TensorType& type = program.graph.value(form.first).type;
  const std::string_view c_type = ops::c_type(type.elem);
  const Border b = border_of(type.shape, form.second);
  const std::string x = to_form ? f.read(form.first, "x") : f.read_buffer(buffer, c_type, "x");
  const std::string y = to_form ? f.write_buffer(buffer, c_type, "y") : f.write(form.first, "y");
  const Shape& from = to_form ? b.host_strides : b.device_strides;
  const Shape& to = to_form ? b.device_strides : b.host_strides;
  begin_loops(f, b, !to_form);
  f.put("{}[{}] = {}[{}];", y, index(to), x, index(from));
  end_loops(f, b);
  return f.finish();
}

Call emit_from_device(Program& program, ir::NodeId node, const backend::Port& port, BufferId from,
                      std::string_view what) {
  Function f(program, {node}, what);
  f.describe(value_comment(program, port.value, "from the form of the device"));
  const TensorType& type = program.graph.value(port.value).type;
  Border b = border_of(type.shape, port.perm);
  std::string x = f.read_buffer(from, device_type(port), "x"), y = f.write(port.value, "y");
  begin_loops(f, b, true);
  std::string element = fmt::format("{}[{}]", x, index(b.device_strides));
  bool half = type.elem == ElementType::F16;
  if (!half && is_half_port(port)) element = fmt::format("{}({})", f.need(Piece::f16_to_f32), element);
  if (half && !is_half_port(port)) element = fmt::format("{}({})", f.need(Piece::f32_to_f16), element);
  f.put("{}[{}] = {};", y, index(b.host_strides), element);
  end_loops(f, b);
  return f.finish();
}

}  // namespace mrvlc::chost
