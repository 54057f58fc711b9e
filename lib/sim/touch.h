// The bytes an instruction touches, exact to the granule of hazards: unlike isa::accesses(), no hull covers a
// gap that contains a whole granule. Written independently of it.
#pragma once
#include <algorithm>
#include <array>

#include "mrvlc/isa/isa.h"
#include "window.h"

namespace mrvlc::sim {

struct Region {
  isa::Space space = isa::Space::Ocm;
  uint8_t tile = 0;
  bool write = false;
};

namespace detail {

struct Dim {
  int64_t count = 1, stride = 0;
};

// f(begin, end) for each run of a strided access, addresses ascending within a run. Elements whose gap is too
// small to contain a granule are one run.
template <size_t N, class F>
void each_strided(int64_t base, std::array<Dim, N> dims, int64_t bytes, F f) {
  for (Dim& d : dims) {
    if (d.count <= 0) return;
    if (d.stride >= 0) continue;
    base += (d.count - 1) * d.stride;
    d.stride = -d.stride;
  }
  std::ranges::sort(dims, std::less<>(), &Dim::stride);
  size_t inner = 0;
  for (; inner < N && dims[inner].stride <= bytes + int64_t{isa::kHazardGranule} - 1; ++inner)
    bytes += (dims[inner].count - 1) * dims[inner].stride;
  std::array<int64_t, N> index{};
  while (true) {
    int64_t at = base;
    for (size_t k = inner; k < N; ++k) at += index[k] * dims[k].stride;
    f(static_cast<uint64_t>(at), static_cast<uint64_t>(at + bytes));
    size_t k = inner;
    for (; k < N && ++index[k] == dims[k].count; ++k) index[k] = 0;
    if (k >= N) return;
  }
}

template <class C, class F>
void each_window_row(const C& c, uint32_t channels, F f) {
  Range rows = rows_of(c), cols = cols_of(c);
  for (int64_t iy = rows.begin; iy < rows.end; ++iy) {
    if (!reached(iy, c.y0, c.out_h, c.stride_h, c.kernel_h, c.dilation_h)) continue;
    // A row's pixels that are read, as runs of neighbours.
    for (int64_t ix = cols.begin; ix < cols.end;) {
      int64_t end = ix;
      while (end < cols.end && reached(end, c.x0, c.out_w, c.stride_w, c.kernel_w, c.dilation_w)) ++end;
      if (end > ix) {
        int64_t base = int64_t{c.x} + iy * c.x_row + ix * c.x_col;
        each_strided<1>(base, {{{end - ix, c.x_col}}}, int64_t{channels} * isa::data_bytes(c.x_type), f);
      }
      ix = end + 1;
    }
  }
}

template <class F>
void each_view(const std::array<uint32_t, 5>& d, const isa::Operand& o, F f) {
  std::array<Dim, 5> dims;
  for (size_t k = 0; k < 5; ++k) dims[k] = {d[k], o.strides[k]};
  each_strided<5>(o.address, dims, isa::data_bytes(o.type), f);
}

template <class F>
void each_table(const isa::Epilogue& e, F f) {
  const uint64_t bytes = isa::table_bytes(e.activation);
  if (bytes > 0) f(uint64_t{e.table}, e.table + bytes);
}

template <class F>
void each_weight(const isa::Conv& c, F f) {
  int64_t taps = int64_t{c.kernel_h} * c.kernel_w, k = taps * c.channels;
  const int64_t bytes = isa::data_bytes(c.w_type);
  if (c.depthwise) return each_strided<2>(c.w, {{{taps, c.w_k}, {c.out_channels, c.w_n}}}, bytes, f);
  int64_t full = c.out_channels / 16, rest = c.out_channels % 16;
  each_strided<3>(c.w, {{{full, c.w_block}, {k, c.w_k}, {16, c.w_n}}}, bytes, f);
  each_strided<2>(c.w + full * c.w_block, {{{k, c.w_k}, {rest, c.w_n}}}, bytes, f);
}

template <class R, class W>
void touch_conv(const isa::Conv& c, R read, W write) {
  each_window_row(c, c.depthwise ? c.out_channels : c.channels, read);
  each_weight(c, read);
  if (!c.last) return;
  if (c.bias != isa::kNoAddress) read(uint64_t{c.bias}, uint64_t{c.bias} + uint64_t{c.out_channels} * 4);
  if (c.of_integers()) read(uint64_t{c.scales}, uint64_t{c.scales} + uint64_t{c.out_channels} * 4);
  if (c.residual != isa::kNoAddress)
    each_strided<2>(c.residual, {{{c.out_h, c.residual_row}, {c.out_w, c.residual_col}}},
                    int64_t{c.out_channels} * 2, read);
  each_table(c.epilogue, read);
  each_strided<3>(c.out, {{{c.out_h, c.out_row}, {c.out_w, c.out_col}, {c.out_channels, c.out_channel}}},
                  isa::data_bytes(c.out_type), write);
}

template <class F>
void each_copy_run(const isa::Dma& d, uint64_t base, const std::array<int64_t, 3>& strides, F f) {
  std::array<Dim, 3> dims;
  for (size_t k = 0; k < 3; ++k) dims[k] = {d.dims[k], strides[k]};
  each_strided<3>(static_cast<int64_t>(base), dims, d.run_bytes, f);
}

}  // namespace detail

// f(region, begin, end) for every run of bytes; reads before writes.
template <class F>
void each_touched(const isa::Instruction& i, F f) {
  auto read = [&](uint64_t b, uint64_t e) { f(Region{isa::Space::Ocm, i.tile, false}, b, e); };
  auto write = [&](uint64_t b, uint64_t e) { f(Region{isa::Space::Ocm, i.tile, true}, b, e); };
  if (const auto* c = std::get_if<isa::Conv>(&i.body)) detail::touch_conv(*c, read, write);
  if (const auto* v = std::get_if<isa::Elementwise>(&i.body)) {
    if (operand_count(v->op) >= 1) detail::each_view(v->dims, v->a, read);
    if (operand_count(v->op) >= 2) detail::each_view(v->dims, v->b, read);
    detail::each_table(v->epilogue, read);
    detail::each_view(v->dims, v->dst, write);
  }
  if (const auto* r = std::get_if<isa::Reduce>(&i.body)) {
    detail::each_view(r->dims, r->a, read);
    detail::each_table(r->epilogue, read);
    detail::each_view(r->dims, r->dst, write);
  }
  if (const auto* p = std::get_if<isa::Pool>(&i.body)) {
    detail::each_window_row(*p, p->channels, read);
    detail::each_table(p->epilogue, read);
    detail::each_strided<2>(p->out, {{{p->out_h, p->out_row}, {p->out_w, p->out_col}}},
                            int64_t{p->channels} * isa::data_bytes(p->out_type), write);
  }
  if (const auto* d = std::get_if<isa::Dma>(&i.body)) {
    detail::each_copy_run(*d, d->src, d->src_strides, [&](uint64_t b, uint64_t e) {
      f(Region{d->src_space, i.tile, false}, b, e);
    });
    for (uint8_t t = 0; t < isa::kMaxTiles; ++t) {
      if (d->dst_space == isa::Space::Ddr ? t != 0 : (d->dst_tiles >> t & 1) == 0) continue;
      detail::each_copy_run(*d, d->dst, d->dst_strides, [&](uint64_t b, uint64_t e) {
        f(Region{d->dst_space, t, true}, b, e);
      });
    }
  }
}

}  // namespace mrvlc::sim
