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

namespace {

// One value rewritten: which side is the model's, and the types of both.
struct Rewrite {
  Border border;
  ElementType from, to;
  bool to_stored;  // from the host's order to the stored one
  bool narrows() const { return from == ElementType::F32 && to == ElementType::F16; }
  bool widens() const { return from == ElementType::F16 && to == ElementType::F32; }
};

// How many channels are few: their number is a constant of the loops then, which compilers make vectors of.
// Of few channels, so many pixels become fp16 at a time.
constexpr int64_t kFewChannels = 8, kPixelsAtOnce = 128;

class RewriteText {
 public:
  RewriteText(Function& f, const Rewrite& r, std::string x, std::string y)
      : f_(f), r_(r), b_(r.border), x_(std::move(x)), y_(std::move(y)) {}

  // False: there is nothing that plain loops do not do as well.
  bool emit() {
    const bool converts = r_.narrows() || r_.widens();
    if (b_.extents.empty() || (!converts && !kernel_of_equal())) return false;
    channels_ = b_.extents.size() - 1;
    const auto it = std::ranges::find(b_.host_strides, 1);
    if (it == b_.host_strides.end()) return false;
    pixels_ = static_cast<size_t>(it - b_.host_strides.begin());
    if (pixels_ == channels_) return r_.narrows() && emit_rows();
    if (few() && !r_.narrows()) return false;  // compilers make vectors of these loops
    open_others();
    few() ? narrow_few() : turn();
    close_others();
    return true;
  }

 private:
  int64_t channels() const { return b_.extents[channels_]; }
  int64_t pixels() const { return b_.extents[pixels_]; }
  bool few() const { return channels() < kFewChannels; }

  std::optional<Piece> kernel_of_equal() const {
    if (r_.from != r_.to) return std::nullopt;
    switch (byte_size(r_.from)) {
      case 1:
        return Piece::turn_bytes;
      case 2:
        return Piece::turn_words;
      case 4:
        return Piece::turn_longs;
      default:
        return std::nullopt;
    }
  }
  // As the kernels have them: integers of the size.
  std::string as_words(const std::string& pointer, std::string_view qualifier) const {
    if (r_.from != r_.to) return pointer;
    constexpr std::string_view kTypes[] = {"", "uint8_t", "uint16_t", "", "uint32_t"};
    return fmt::format("({}{}*)({}void*){}", qualifier, kTypes[byte_size(r_.from)], qualifier, pointer);
  }

  // Loops over the dimensions that are neither channels nor pixels.
  void open_others() {
    for (size_t d = 0; d < b_.extents.size(); ++d)
      if (d != channels_ && d != pixels_) f_.loop(fmt::format("i{}", d), b_.extents[d]);
  }
  void close_others() {
    for (size_t d = 0; d < b_.extents.size(); ++d)
      if (d != channels_ && d != pixels_) f_.close();
  }
  std::string at(const std::string& pointer, const Shape& strides) const {
    std::string text = pointer;
    for (size_t d = 0; d < b_.extents.size(); ++d)
      if (d != channels_ && d != pixels_) text += fmt::format(" + i{} * {}", d, strides[d]);
    return text == pointer ? pointer : "(" + text + ")";
  }
  std::string from() const { return at(x_, r_.to_stored ? b_.host_strides : b_.device_strides); }
  std::string to() const { return at(y_, r_.to_stored ? b_.device_strides : b_.host_strides); }
  std::string beyond() const { return r_.narrows() ? "beyond |= " : ""; }

  // In the same order on both sides, as far as elements lie side by side.
  bool emit_rows() {
    open_others();
    f_.put("beyond |= {}({}, {}, {});", f_.need(Piece::narrow_floats), from(), to(), channels());
    close_others();
    return true;
  }

  void turn() {
    const Piece piece = r_.narrows()  ? Piece::narrow_turn
                        : r_.widens() ? Piece::widen_turn
                                      : *kernel_of_equal();
    const int64_t host = b_.host_strides[channels_], device = b_.device_strides[pixels_];
    const std::string call =
        fmt::format("{}({}, {}", f_.need(piece), as_words(from(), "const "), as_words(to(), ""));
    if (r_.to_stored) {
      f_.put("{}{}, {}, {}, {}, {});", beyond(), call, channels(), pixels(), host, device);
    } else {
      f_.put("{}{}, {}, {}, {}, {});", beyond(), call, pixels(), channels(), device, host);
    }
  }

  void narrow_few() {
    const int64_t host = b_.host_strides[channels_], device = b_.device_strides[pixels_];
    const int64_t row = std::min(pixels(), kPixelsAtOnce);
    f_.put("uint16_t tile[{}];", channels() * row);
    f_.open(fmt::format("for (ptrdiff_t p = 0; p < {}; p += {})", pixels(), row));
    f_.put("const ptrdiff_t n = {0} - p < {1} ? {0} - p : {1};", pixels(), row);
    for (int64_t c = 0; c < channels(); ++c)
      f_.put("beyond |= {}({} + {} + p, tile + {}, n);", f_.need(Piece::narrow_floats), from(), c * host,
             c * row);
    f_.open("for (ptrdiff_t k = 0; k < n; ++k)");
    for (int64_t c = 0; c < channels(); ++c)
      f_.put("{}[(p + k) * {} + {}] = tile[{} + k];", to(), device, c, c * row);
    f_.close();
    f_.close();
  }

  Function& f_;
  const Rewrite& r_;
  const Border& b_;
  std::string x_, y_;
  size_t channels_ = 0, pixels_ = 0;
};

}  // namespace

Call emit_to_device(Program& program, ir::NodeId node, const backend::Port& port, BufferId to,
                    std::string_view what) {
  Function f(program, {node}, what);
  f.describe(value_comment(program, port.value, "to the form of the device"));
  const TensorType& type = program.graph.value(port.value).type;
  const Rewrite r{border_of(type.shape, port.perm), type.elem, port.type, true};
  std::string x = f.read(port.value, "x"), y = f.write_buffer(to, device_type(port), "y");
  if (r.narrows()) {
    f.pass("uint32_t* restrict converted", program.is_body() ? "&state->converted" : "&state.converted");
    f.put("uint32_t beyond = 0u;");
  }
  if (!RewriteText(f, r, x, y).emit()) {
    begin_loops(f, r.border, false);
    std::string element = fmt::format("{}[{}]", x, index(r.border.host_strides));
    if (r.narrows()) {
      f.put("beyond |= {}(&{}, &{}[{}], 1);", f.need(Piece::narrow_floats), element, y,
            index(r.border.device_strides));
    } else {
      if (r.widens()) element = fmt::format("{}({})", f.need(Piece::f16_to_f32), element);
      f.put("{}[{}] = {};", y, index(r.border.device_strides), element);
    }
    end_loops(f, r.border);
  }
  // What fp16 does not hold is told as an instruction of the device tells it (K_take_flags).
  if (r.narrows()) f.put("*converted |= beyond * MRVL_FLAG_OVERFLOW;");
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
  const Rewrite r{border_of(type.shape, port.perm), port.type, type.elem, false};
  const std::string x = f.read_buffer(from, device_type(port), "x"), y = f.write(port.value, "y");
  if (!r.narrows() && RewriteText(f, r, x, y).emit()) return f.finish();
  begin_loops(f, r.border, true);
  std::string element = fmt::format("{}[{}]", x, index(r.border.device_strides));
  if (r.widens()) element = fmt::format("{}({})", f.need(Piece::f16_to_f32), element);
  if (r.narrows()) element = fmt::format("{}({})", f.need(Piece::f32_to_f16), element);
  f.put("{}[{}] = {};", y, index(r.border.host_strides), element);
  end_loops(f, r.border);
  return f.finish();
}

}  // namespace mrvlc::chost
