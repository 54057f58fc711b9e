// Values crossing the border between host and device: one loop nest casts and permutes. The innermost loop
// runs over the dimension that is contiguous where it is written.
#include "function.h"

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
void open_loops(Function& f, const Border& b, bool host_innermost) {
  std::vector<size_t> order;
  for (size_t d = 0; d < b.extents.size(); ++d) {
    if (!host_innermost || b.host_strides[d] != 1) order.push_back(d);
  }
  for (size_t d = 0; d < b.extents.size() && order.size() < b.extents.size(); ++d) {
    if (b.host_strides[d] == 1) order.push_back(d);
  }
  for (size_t d : order) f.loop(fmt::format("i{}", d), b.extents[d]);
}

void close_loops(Function& f, const Border& b) {
  for (size_t d = 0; d < b.extents.size(); ++d) f.close();
}

}  // namespace

Call emit_to_device(Program& program, ir::NodeId expr, ir::ValueId value, const std::vector<int64_t>& perm,
                    StoreId to, std::string_view what) {
  Function f(program, {expr}, what);
  const TensorType& type = program.graph.value(value).type;
  Border b = border_of(type.shape, perm);
  std::string x = f.read(value, "x"), y = f.write_store(to, "uint16_t", "y");
  open_loops(f, b, false);
  std::string element = fmt::format("{}[{}]", x, index(b.host_strides));
  if (type.elem == ElementType::F32) element = fmt::format("{}({})", f.need("f32_to_f16"), element);
  f.put("{}[{}] = {};", y, index(b.device_strides), element);
  close_loops(f, b);
  return f.finish();
}

Call emit_from_device(Program& program, ir::NodeId expr, ir::ValueId value, const std::vector<int64_t>& perm,
                      StoreId from, std::string_view what) {
  Function f(program, {expr}, what);
  const TensorType& type = program.graph.value(value).type;
  Border b = border_of(type.shape, perm);
  std::string x = f.read_store(from, "uint16_t", "x"), y = f.write(value, "y");
  open_loops(f, b, true);
  std::string element = fmt::format("{}[{}]", x, index(b.device_strides));
  if (type.elem == ElementType::F32) element = fmt::format("{}({})", f.need("f16_to_f32"), element);
  f.put("{}[{}] = {};", y, index(b.host_strides), element);
  close_loops(f, b);
  return f.finish();
}

}  // namespace mrvlc::chost
