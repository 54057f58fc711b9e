// Which bytes an instruction touches, as runs at a distance: inner dimensions without gaps make the run, the
// next one the stride; dimensions outside that must advance by whole strides, else the access counts as its
// hull.
#include <algorithm>

#include "mrvlc/isa/isa.h"

namespace mrvlc::isa {
namespace {

using Wide = __int128;  // products of three 32-bit fields of an unchecked instruction

struct Dim {
  Wide count = 1, stride = 0;
};

class Collector {
 public:
  explicit Collector(std::vector<Access>& out) : out_(out) {}

  // dims in any order; `bytes` is the size of the contiguous element.
  void strided(Access proto, Wide base, std::vector<Dim> dims, Wide bytes) {
    if (bytes == 0 || std::ranges::any_of(dims, [](const Dim& d) { return d.count == 0; })) return;
    std::erase_if(dims, [](const Dim& d) { return d.count == 1 || d.stride == 0; });
    for (Dim& d : dims) {
      if (d.stride > 0) continue;
      base += (d.count - 1) * d.stride;
      d.stride = -d.stride;
    }
    std::ranges::stable_sort(dims, std::greater<>(), &Dim::stride);
    split(proto, base, dims, bytes);
  }

 private:
  void split(const Access& proto, Wide base, const std::vector<Dim>& dims, Wide bytes) {
    size_t k = dims.size();
    Wide run = bytes;
    for (; k > 0 && dims[k - 1].stride <= run; --k) run += (dims[k - 1].count - 1) * dims[k - 1].stride;
    Wide stride = k > 0 ? dims[k - 1].stride : 0, hull = run;
    bool even = true;
    for (; k > 0; --k) {
      even = even && dims[k - 1].stride % stride == 0;
      hull += (dims[k - 1].count - 1) * dims[k - 1].stride;
    }
    emit(proto, base, base + hull, even ? run : hull, even ? stride : 0);
  }

  // What does not fit 64 bits covers everything, which no bounds check accepts.
  void emit(Access access, Wide begin, Wide end, Wide run, Wide stride) {
    constexpr Wide limit = UINT64_MAX;
    bool fits = begin >= 0 && end <= limit;
    access.begin = fits ? static_cast<uint64_t>(begin) : 0;
    access.end = fits ? static_cast<uint64_t>(end) : UINT64_MAX;
    access.stride = fits ? static_cast<uint64_t>(stride) : 0;
    access.run = fits ? static_cast<uint64_t>(run) : UINT64_MAX;
    out_.push_back(access);
  }

  std::vector<Access>& out_;
};

struct Range {
  Wide begin = 0, end = 0;
};

// Input positions that the windows along one axis can touch, clipped to the input.
Range window_range(int32_t origin, uint32_t outputs, uint32_t stride, uint32_t kernel, uint32_t dilation,
                   uint32_t size) {
  if (outputs == 0 || kernel == 0) return {};
  Wide last = Wide{origin} + Wide{outputs - 1} * stride + Wide{kernel - 1} * dilation;
  Range r{std::max<Wide>(origin, 0), std::min<Wide>(last + 1, size)};
  return r.begin < r.end ? r : Range{};
}

template <class C>
void window(Collector& c, Access read, const C& i, uint32_t channels) {  // elements of i.x_type
  Range rows = window_range(i.y0, i.out_h, i.stride_h, i.kernel_h, i.dilation_h, i.in_h);
  Range cols = window_range(i.x0, i.out_w, i.stride_w, i.kernel_w, i.dilation_w, i.in_w);
  Wide base = Wide{i.x} + rows.begin * i.x_row + cols.begin * i.x_col;
  c.strided(read, base, {{rows.end - rows.begin, i.x_row}, {cols.end - cols.begin, i.x_col}},
            Wide{channels} * data_bytes(i.x_type));
}

void table(Collector& c, Access read, const Epilogue& e) {
  if (const uint32_t bytes = table_bytes(e.activation); bytes > 0) c.strided(read, e.table, {}, bytes);
}

void weights(Collector& c, Access read, const Conv& i) {
  Wide taps = Wide{i.kernel_h} * i.kernel_w;
  const Wide bytes = data_bytes(i.w_type);
  if (i.depthwise) return c.strided(read, i.w, {{taps, i.w_k}, {i.out_channels, i.w_n}}, bytes);
  Wide k = std::min<Wide>(taps * i.channels, UINT64_MAX);  // already more than any memory
  Wide full = i.out_channels / 16, rest = i.out_channels % 16;
  if (full > 0) c.strided(read, i.w, {{full, i.w_block}, {k, i.w_k}, {16, i.w_n}}, bytes);
  if (rest > 0) c.strided(read, i.w + full * i.w_block, {{k, i.w_k}, {rest, i.w_n}}, bytes);
}

void conv(Collector& c, Access read, Access write, const Conv& i) {
  window(c, read, i, i.depthwise ? i.out_channels : i.channels);
  weights(c, read, i);
  if (!i.last) return;
  if (i.bias != kNoAddress) c.strided(read, i.bias, {}, Wide{i.out_channels} * 4);
  if (i.of_integers()) c.strided(read, i.scales, {}, Wide{i.out_channels} * 4);
  std::vector<Dim> residual = {{i.out_h, i.residual_row}, {i.out_w, i.residual_col}};
  if (i.residual != kNoAddress) c.strided(read, i.residual, residual, Wide{i.out_channels} * 2);
  table(c, read, i.epilogue);
  std::vector<Dim> out = {{i.out_h, i.out_row}, {i.out_w, i.out_col}, {i.out_channels, i.out_channel}};
  c.strided(write, i.out, out, data_bytes(i.out_type));
}

void dma(Collector& c, uint8_t tile, const Dma& d) {
  std::vector<Dim> src, dst;
  for (size_t k = 0; k < 3; ++k) {
    src.push_back({d.dims[k], d.src_strides[k]});
    dst.push_back({d.dims[k], d.dst_strides[k]});
  }
  c.strided({d.src_space, d.src_space == Space::Ocm ? tile : uint8_t{0}, 0, 0, false}, d.src, src,
            d.run_bytes);
  if (d.dst_space == Space::Ddr) return c.strided({Space::Ddr, 0, 0, 0, true}, d.dst, dst, d.run_bytes);
  for (uint8_t t = 0; t < kMaxTiles; ++t)
    if ((d.dst_tiles >> t & 1) != 0) c.strided({Space::Ocm, t, 0, 0, true}, d.dst, dst, d.run_bytes);
}

void view(Collector& c, Access proto, const std::array<uint32_t, 5>& dims, const Operand& o) {
  std::vector<Dim> list;
  for (size_t k = 0; k < 5; ++k) list.push_back({dims[k], o.strides[k]});
  c.strided(proto, o.address, std::move(list), data_bytes(o.type));
}

}  // namespace

std::vector<Access> accesses(const Instruction& instruction) {
  std::vector<Access> out;
  Collector c(out);
  Access read{Space::Ocm, instruction.tile, 0, 0, false}, write = read;
  write.write = true;
  if (const auto* d = std::get_if<Dma>(&instruction.body)) dma(c, instruction.tile, *d);
  if (const auto* v = std::get_if<Conv>(&instruction.body)) conv(c, read, write, *v);
  if (const auto* e = std::get_if<Elementwise>(&instruction.body)) {
    if (operand_count(e->op) >= 1) view(c, read, e->dims, e->a);
    if (operand_count(e->op) >= 2) view(c, read, e->dims, e->b);
    table(c, read, e->epilogue);
    view(c, write, e->dims, e->dst);
  }
  if (const auto* r = std::get_if<Reduce>(&instruction.body)) {
    view(c, read, r->dims, r->a);
    table(c, read, r->epilogue);
    view(c, write, r->dims, r->dst);
  }
  if (const auto* p = std::get_if<Pool>(&instruction.body)) {
    window(c, read, *p, p->channels);
    table(c, read, p->epilogue);
    c.strided(write, p->out, {{p->out_h, p->out_row}, {p->out_w, p->out_col}},
              Wide{p->channels} * data_bytes(p->out_type));
  }
  return out;
}

}  // namespace mrvlc::isa
