// Rows that a window or a group of the vector unit reads and writes, and its offsets on some of them alone.
#include "plan/row_use.h"

#include <algorithm>

#include "mrvlc/support/checked.h"
#include "plan/cut.h"
#include "plan/pe_plan.h"
#include "primitive/each_view.h"
#include "primitive/image.h"

namespace mrvlc::accel {
namespace {

// --- Windows

// nullopt: a row of the image is not all of what is touched between its beginning and that of the next.
std::optional<RowAccess> access(const WindowOp::Image& image, int64_t grain, int64_t h, int64_t w,
                                int64_t channels, bool writes) {
  RowAccess out{image.buffer, image.stride_h * grain, h / grain, image.element_bytes(), writes, 0, 0, {}};
  const int64_t extent = (grain - 1) * image.stride_h + (w - 1) * image.stride_w + channels;
  if (h % grain != 0 || out.row <= 0 || image.offsets[0] < 0 || image.offsets[0] + extent > out.row)
    return std::nullopt;
  out.col = grain > 1 ? image.stride_h : image.stride_w;
  out.cols = grain > 1 ? grain : w;
  return out;
}

std::optional<RowUse> row_use(const WindowOp& op) {
  if (op.dynamic_weights || op.phases.size() != 1 || op.batch() != 1 || op.lattice_h != 1 ||
      op.lattice_w != 1)
    return std::nullopt;
  const auto x = access(op.x, op.grain, op.in_h, op.in_w, op.in_channels(), false),
             out = access(op.out, op.grain, op.out_h, op.out_w, op.out_channels(), true),
             residual = access(op.residual, op.grain, op.out_h, op.out_w, op.out_channels(), false);
  if (!x || !out || (op.has_residual && !residual)) return std::nullopt;
  RowUse use{{*x, *out}, {}, out->rows, 0, 1, true, 0, false};
  if (op.has_residual) use.accesses.push_back(*residual);
  return use;
}

// --- Groups of the vector unit

// Along dimension `d` (the rank: along none), `per` indices a row, with rows as the buffer has them: `grain`
// of its own rows.
std::optional<RowAccess> access(const View& v, size_t d, int64_t per, const Buffer& b, bool writes) {
  const int64_t bytes = isa::data_bytes(v.type);
  if (b.pitch % bytes != 0 || b.rows % b.grain != 0) return std::nullopt;
  RowAccess out{v.buffer, b.pitch / bytes * b.grain, b.rows / b.grain, bytes,
                writes,   b.pitch / bytes,           b.grain,          {}};
  int64_t low = v.offset % out.row, high = low, first = v.offset / out.row, last = first;
  for (size_t k = 0; k < v.dims.size(); ++k) {
    const int64_t n = k == d ? per - 1 : v.dims[k] - 1, stride = v.strides[k];
    if (stride % out.row == 0) {
      (stride < 0 ? first : last) += n * (stride / out.row);
    } else {
      (stride < 0 ? low : high) += n * stride;
    }
  }
  const bool along = d < v.dims.size();
  if (v.offset < 0 || low < 0 || high >= out.row || (along && v.strides[d] * per % out.row != 0))
    return std::nullopt;
  out.map = {first, along ? v.strides[d] * per / out.row : 1, last - first + 1};
  return out;
}

// How many indices of the dimension are a row of what the group makes; 0: it makes no rows along it.
int64_t indices_a_row(const PeGroup& g, size_t d, const std::vector<Buffer>& buffers) {
  int64_t per = 0;
  each_view(g, [&](const View& v, bool writes) {
    const int64_t row = buffers[v.buffer].pitch / isa::data_bytes(v.type) * buffers[v.buffer].grain;
    if (!writes || v.strides[d] <= 0) return;
    if (v.strides[d] % row == 0) per = 1;
    if (row % v.strides[d] == 0) per = row / v.strides[d];
  });
  return per > 0 && g.dims[d] % per == 0 ? per : 0;
}

std::optional<RowUse> along(const PeGroup& g, size_t d, const std::vector<Buffer>& buffers) {
  const bool any = d < g.dims.size();
  RowUse use{{}, {}, 0, d, any ? indices_a_row(g, d, buffers) : 1, false, 0, !any};
  if (use.per == 0 || (any && !keeps_apart(g, d))) return std::nullopt;
  bool by_rows = true;
  each_view(g, [&](const View& v, bool writes) {
    const bool repeats = any && v.strides[d] == 0;
    if (v.buffer == kWeights) {
      by_rows = by_rows && (!any || repeats);  // no constants of each row
      return;
    }
    if (repeats && !writes) return use.whole.push_back(v.buffer);
    const auto a = access(v, d, use.per, buffers[v.buffer], writes);
    by_rows = by_rows && a;
    if (!by_rows) return;
    const auto same = [&](const RowAccess& o) {
      return o.same_image(*a) && o.writes == writes && o.map == a->map;
    };
    if (std::ranges::none_of(use.accesses, same)) use.accesses.push_back(*a);
  });
  const int64_t count = any ? g.dims[d] / use.per : 1;
  for (const RowAccess& a : use.accesses) {
    use.mapped = use.mapped || a.map != RowMap{} || count != a.rows;
    if (a.writes) use.rows = a.rows;
  }
  return by_rows ? std::optional(use) : std::nullopt;
}

const RowAccess* made_by(const RowUse& use) {
  const auto it = std::ranges::find_if(use.accesses, &RowAccess::writes);
  return it == use.accesses.end() ? nullptr : &*it;
}

// Rows that differ are followed of one result alone, from above.
bool sound(const PeGroup& g, const RowUse& use) {
  const RowAccess* made = made_by(use);
  if (made == nullptr) return false;
  const bool one = std::ranges::count_if(use.accesses, &RowAccess::writes) == 1;
  // A row that takes all rows of an operand, a sum of them for one, waits for the whole image.
  const auto takes_all = [](const RowAccess& a) { return a.map.height > 1 && a.map.height == a.rows; };
  if (std::ranges::any_of(use.accesses, takes_all)) return false;
  return !use.mapped || (one && made->map.step > 0 && (use.axis < g.dims.size() || made->map.height == 1));
}

// Indices of the dimension of rows that make some of these rows.
Span indices_of(const PeGroup& g, const RowUse& use, Span rows) {
  const RowMap& m = made_by(use)->map;
  const int64_t count = use.axis < g.dims.size() ? g.dims[use.axis] / use.per : 1;
  const int64_t from = rows.begin - m.first - m.height + 1, to = rows.end - m.first;
  return {from <= 0 ? 0 : std::min(count, ceil_div(from, m.step)),
          to <= 0 ? 0 : std::min(count, ceil_div(to, m.step))};
}

Span rows_of(const RowMap& m, Span indices) {
  if (indices.empty()) return {};
  const int64_t a = m.first + indices.begin * m.step, b = m.first + (indices.end - 1) * m.step;
  return {std::min(a, b), std::max(a, b) + m.height};
}

// The dimension of columns: the indices of a row, or one whose steps are the pixels of all images.
void find_columns(const PeGroup& g, const std::vector<Buffer>& buffers, RowUse& use) {
  const auto fits = [&](size_t d, int64_t size) {
    bool all = true;
    each_view(g, [&](const View& v, bool) {
      if (v.buffer == kWeights || v.strides[use.axis] == 0) return;
      const Buffer& b = buffers[v.buffer];
      all = all && v.strides[d] * isa::data_bytes(v.type) == b.pitch && b.grain == size;
    });
    return all;
  };
  if (use.per > 1) {
    use.by_columns = fits(use.axis, use.per);
    use.col_axis = use.axis;
    return;
  }
  for (size_t d = 0; d < g.dims.size() && !use.by_columns; ++d) {
    use.by_columns = d != use.axis && fits(d, g.dims[d]);
    use.col_axis = d;
  }
}

std::optional<RowUse> row_use(const PeGroup& g, const std::vector<Buffer>& buffers) {
  std::optional<RowUse> best;
  for (size_t d = 0; d <= g.dims.size(); ++d) {
    std::optional<RowUse> use = along(g, d, buffers);
    if (!use || !sound(g, *use)) continue;
    if (!best || made_by(*use)->map.height < made_by(*best)->map.height) best = std::move(use);
  }
  if (best && !best->mapped) find_columns(g, buffers, *best);
  return best;
}

}  // namespace

std::optional<RowUse> row_use(const Primitive& primitive, const std::vector<Buffer>& buffers) {
  if (const auto* g = std::get_if<PeGroup>(&primitive)) return row_use(*g, buffers);
  return row_use(std::get<WindowOp>(primitive));
}

Span rows_made(const Primitive& primitive, const RowUse& use, Span rows) {
  if (!use.mapped) return rows;
  return rows_of(made_by(use)->map, indices_of(std::get<PeGroup>(primitive), use, rows));
}

int64_t columns_of(const RowUse& use) {
  for (const RowAccess& a : use.accesses)
    if (a.writes) return a.cols;
  return 0;
}

Tile part_read(const Primitive& primitive, const RowUse& use, uint32_t buffer, const Tile& part) {
  const auto* op = std::get_if<WindowOp>(&primitive);
  Tile out;
  const auto add = [&](Span rows, Span cols) { out = {hull(out.rows, rows), hull(out.cols, cols)}; };
  for (const RowAccess& a : use.accesses) {
    if (a.buffer != buffer || a.writes) continue;
    if (op != nullptr && op->x.buffer == buffer) {
      const Span read = input_range(*op, {part.rows.begin * op->grain, part.rows.end * op->grain}, true);
      add({read.begin / op->grain, ceil_div(read.end, op->grain)},
          op->grain > 1 ? part.cols : input_range(*op, part.cols, false));
    }
    if (use.mapped) {
      add(rows_of(a.map, indices_of(std::get<PeGroup>(primitive), use, part.rows)), part.cols);
    } else if (op == nullptr || (op->has_residual && op->residual.buffer == buffer)) {
      add(part.rows, part.cols);
    }
  }
  return out;
}

void split_columns(Primitive& primitive, RowUse& use) {
  if (auto* op = std::get_if<WindowOp>(&primitive)) return unflatten(*op);
  auto& g = std::get<PeGroup>(primitive);
  if (use.col_axis != use.axis) return;
  const auto at = [&](auto& list) { return list.begin() + static_cast<std::ptrdiff_t>(use.axis); };
  const int64_t rows = use.rows;
  g.dims.insert(at(g.dims), rows);
  g.dims[use.axis + 1] = use.per;
  for (PeTemp& t : g.temps) t.spans.insert(at(t.spans), static_cast<bool>(t.spans[use.axis]));
  each_view(g, [&](View& v, bool) {
    v.strides.insert(at(v.strides), v.strides[use.axis] * use.per);
    v.dims = g.dims;
  });
  use.col_axis = use.axis + 1;
  use.per = 1;
}

void move_image(Primitive& primitive, const RowAccess& access, uint32_t to, const Tile& part) {
  const int64_t row = access.cols == 0 ? access.row : access.row / access.cols * part.cols.size();
  const int64_t before = part.rows.begin * row + (access.cols == 0 ? 0 : part.cols.begin * access.col);
  if (auto* g = std::get_if<PeGroup>(&primitive)) {
    each_view(*g, [&](View& v, bool writes) {
      if (v.buffer != access.buffer || writes != access.writes) return;
      v.buffer = to;
      v.offset -= before;
      for (int64_t& stride : v.strides)
        if (stride == access.row) stride = row;
    });
    return;
  }
  auto& op = std::get<WindowOp>(primitive);
  for (WindowOp::Image* image : {&op.x, &op.out, &op.residual}) {
    if (image->buffer != access.buffer || (image == &op.out) != access.writes) continue;
    if (image == &op.residual && !op.has_residual) continue;
    image->buffer = to;
    image->offsets[0] -= before;
    if (image->stride_h == access.row) image->stride_h = row;
  }
}

void keep_part(Primitive& primitive, const RowUse& use, const Tile& part) {
  if (auto* g = std::get_if<PeGroup>(&primitive)) {
    const auto keep = [&](size_t d, Span s, int64_t per) {
      g->dims[d] = s.size() * per;
      each_view(*g, [&](View& v, bool) {
        v.dims[d] = g->dims[d];
        v.offset += s.begin * per * v.strides[d];
      });
    };
    const Span rows = use.mapped ? indices_of(*g, use, part.rows) : part.rows;
    if (use.axis < g->dims.size()) keep(use.axis, rows, use.per);
    if (use.by_columns) keep(use.col_axis, part.cols, 1);
    return;
  }
  auto& op = std::get<WindowOp>(primitive);
  const int64_t first = part.rows.begin * op.grain;
  const int64_t left = use.by_columns ? part.cols.begin : 0;
  op.out_h = part.rows.size() * op.grain;
  if (use.by_columns) op.out_w = part.cols.size();
  op.phases[0].y0 += first * op.stride_h;
  op.phases[0].x0 += left * op.stride_w;
  for (WindowOp::Image* image : {&op.out, &op.residual})
    if (image == &op.out || op.has_residual)
      image->offsets[0] += first * image->stride_h + left * image->stride_w;
}

}  // namespace mrvlc::accel
