// Loops merged where they can be; then memcpy of runs, tiles of 16 x 16 for a transpose, or single elements.
#include "common/strided_copy.h"

#include <algorithm>
#include <array>

namespace mrvlc::ops {
namespace {

// A run of n elements; contiguous ones as bytes.
template <class T>
void copy_run(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t n) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (in_step == 1 && out_step == 1) {
      std::memcpy(out, in, static_cast<size_t>(n) * sizeof(T));
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i) out[i * out_step] = in[i * in_step];
}

template <class T>
void copy_all(const StridedCopy& c, const T* in, T* out) {
  size_t last = c.size.size() - 1;
  Shape index(c.size.size(), 0);
  in += c.in_offset;
  out += c.out_offset;
  for (;;) {
    copy_run(in, c.in[last], out, c.out[last], c.size[last]);
    size_t d = last;
    while (d > 0) {
      --d;
      in += c.in[d], out += c.out[d];
      if (++index[d] < c.size[d]) break;
      in -= c.in[d] * c.size[d], out -= c.out[d] * c.size[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (last == 0) return;
  }
}

// "x0 + 12 + i0 * 48 + i1 * 3"
std::string address(std::string_view base, int64_t offset, const Shape& strides, size_t count) {
  std::string text(base);
  if (offset != 0) text += fmt::format(" + {}", offset);
  for (size_t d = 0; d < count; ++d) {
    if (strides[d] != 0) text += fmt::format(" + i{} * {}", d, signed_text(strides[d]));
  }
  return text;
}

std::string element(std::string_view base, int64_t step) {
  if (step == 0) return fmt::format("*{}", base);
  return step == 1 ? fmt::format("{}[i]", base) : fmt::format("{}[i * {}]", base, signed_text(step));
}

// The two innermost loops exchange strides (a transpose): small square tiles keep both sides in the cache.
bool is_transpose(const StridedCopy& c) {
  size_t n = c.size.size();
  return n >= 2 && c.in[n - 2] == 1 && c.out[n - 1] == 1 && c.in[n - 1] != 1 && c.size[n - 1] >= 16 &&
         c.size[n - 2] >= 16;
}

void emit_transpose_tiles(EmitContext& context, const StridedCopy& c, std::string_view in,
                          std::string_view out, std::string_view type) {
  size_t n = c.size.size();
  std::string from = address(in, c.in_offset, c.in, n - 2), to = address(out, c.out_offset, c.out, n - 2);
  int64_t rows = c.size[n - 2], cols = c.size[n - 1];
  context.line(fmt::format("const {}* from = {};", type, from));
  context.line(fmt::format("{}* to = {};", type, to));
  context.open(fmt::format("for (ptrdiff_t r = 0; r < {}; r += 16)", rows));
  context.line(fmt::format("const ptrdiff_t r1 = r + 16 < {0} ? r + 16 : {0};", rows));
  context.open(fmt::format("for (ptrdiff_t c = 0; c < {}; c += 16)", cols));
  context.line(fmt::format("const ptrdiff_t c1 = c + 16 < {0} ? c + 16 : {0};", cols));
  context.line("for (ptrdiff_t i = r; i < r1; ++i)");
  context.line(fmt::format("  for (ptrdiff_t j = c; j < c1; ++j) to[i * {} + j] = from[i + j * {}];",
                           c.out[n - 2], signed_text(c.in[n - 1])));
  context.close();
  context.close();
}

void emit_run(EmitContext& context, const StridedCopy& c, std::string_view in, std::string_view out,
              ElementType elem) {
  size_t last = c.size.size() - 1;
  std::string from = address(in, c.in_offset, c.in, last), to = address(out, c.out_offset, c.out, last);
  int64_t n = c.size[last];
  constexpr int64_t kShort = 4;  // a call costs more than it moves
  if (c.in[last] == 1 && c.out[last] == 1 && n > kShort) {
    context.line(fmt::format("memcpy({}, {}, {});", to, from, element_bytes(elem, n)));
    return;
  }
  context.line(fmt::format("const {}* from = {};", c_type(elem), from));
  context.line(fmt::format("{}* to = {};", c_type(elem), to));
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) {} = {};", n, element("to", c.out[last]),
                           element("from", c.in[last])));
}

}  // namespace

StridedCopy plain_copy(const Shape& shape) {
  Shape strides = row_major_strides(shape);
  return {shape, strides, strides, 0, 0};
}

StridedCopy merge_loops(const StridedCopy& copy) {
  StridedCopy m;
  m.in_offset = copy.in_offset;
  m.out_offset = copy.out_offset;
  for (size_t d = 0; d < copy.size.size(); ++d) {
    if (copy.size[d] == 1) continue;
    bool continues = !m.size.empty() && m.in.back() == copy.in[d] * copy.size[d] &&
                     m.out.back() == copy.out[d] * copy.size[d];
    if (continues) {
      m.size.back() *= copy.size[d];
      m.in.back() = copy.in[d];
      m.out.back() = copy.out[d];
    } else {
      m.size.push_back(copy.size[d]);
      m.in.push_back(copy.in[d]);
      m.out.push_back(copy.out[d]);
    }
  }
  if (m.size.empty()) m.size = m.in = m.out = {1};
  return m;
}

void run_copy(const StridedCopy& copy, const Tensor& in, Tensor& out) {
  if (element_count(copy.size) == 0) return;
  StridedCopy c = merge_loops(copy);
  if (in.elem() == ElementType::String)
    return copy_all(c, in.string_data().data(), out.mutable_strings().data());
  switch (byte_size(in.elem())) {
    case 1:
      return copy_all(c, in.data<uint8_t>().data(), out.mutable_data<uint8_t>().data());
    case 2:
      return copy_all(c, in.data<uint16_t>().data(), out.mutable_data<uint16_t>().data());
    case 4:
      return copy_all(c, in.data<uint32_t>().data(), out.mutable_data<uint32_t>().data());
    case 8:
      return copy_all(c, in.data<uint64_t>().data(), out.mutable_data<uint64_t>().data());
    default:
      return;
  }
}

void emit_copy(EmitContext& context, const StridedCopy& copy, std::string_view in, std::string_view out,
               ElementType elem) {
  if (element_count(copy.size) == 0) return;
  StridedCopy c = merge_loops(copy);
  bool tiles = is_transpose(c);
  size_t loops = c.size.size() - (tiles ? 2 : 1);
  // A block of its own: several copies may follow each other in one function.
  if (loops == 0) context.open("");
  for (size_t d = 0; d < loops; ++d) context.loop(fmt::format("i{}", d), c.size[d]);
  if (tiles) {
    emit_transpose_tiles(context, c, in, out, c_type(elem));
  } else {
    emit_run(context, c, in, out, elem);
  }
  for (size_t d = 0; d < std::max<size_t>(loops, 1); ++d) context.close();
}

}  // namespace mrvlc::ops
