// The geometry of cuts: parts of rows and channels, and the rectangles they touch.
#include "plan/cut.h"

#include <algorithm>
#include <numeric>

#include "mrvlc/support/checked.h"
#include "plan/pe_plan.h"

namespace mrvlc::accel {

std::string describe(const Cut& cut) {
  std::string rows = "rows x " + std::to_string(cut.rows),
              channels = "channels x " + std::to_string(cut.channels);
  if (cut.rows > 1 && cut.channels > 1) return rows + (cut.sparse ? " by dilation, " : ", ") + channels;
  if (cut.sparse) return rows + " by dilation";
  if (cut.channels > 1) return channels;
  return cut.rows > 1 ? rows : "one tile";
}

WindowGeometry::WindowGeometry(const WindowOp& op) {
  for (const WindowPhase& p : op.phases) taps += p.kernel_h * p.kernel_w;
  taps -= 1;
  all_channels = op.group_in;
  if (op.kind != WindowOp::Kind::Conv) {
    unit_in = 16;
    unit_out = 16 * op.group_out;
    units = ceil_div(op.groups, 16);
  } else if (op.groups == 1) {
    shared_input = true;
    unit_in = op.group_in;
    units = ceil_div(op.group_out, 16);
  } else {
    unit_in = op.group_in;
    unit_out = op.group_out;
    unit_blocks = ceil_div(op.group_out, 16);
    units = op.groups;
  }
}

int64_t row_step(const WindowOp& op) {
  const bool spread = op.phases.size() == 1 && op.phases[0].kernel_h > 1 && op.lattice_h == 1 &&
                      op.lattice_w == 1 && op.grain == 1;
  return spread ? op.dilation_h / std::gcd(op.stride_h, op.dilation_h) : 1;
}

WindowOp sparse_rows(const WindowOp& op, int64_t residue) {
  const int64_t step = row_step(op), apart = op.dilation_h;
  const int64_t first = op.phases[0].y0 + residue * op.stride_h;  // input row of its first tap
  const int64_t skipped = ((first % apart) + apart) % apart;
  WindowOp out = op;
  out.dilation_h = 1;
  out.stride_h = op.stride_h * step / apart;
  out.phases[0].y0 = (first - skipped) / apart;
  // An input with fewer rows than the dilation has none for some residues: a row that no tap meets.
  const bool none = skipped >= op.in_h;
  out.in_h = none ? 1 : ceil_div(op.in_h - skipped, apart);
  if (none) out.phases[0].y0 = -(int64_t{1} << 24);
  out.out_h = ceil_div(op.out_h - residue, step);
  const auto keep = [](WindowOp::Image& image, int64_t row, int64_t every) {
    for (int64_t& offset : image.offsets) offset += row * image.stride_h;
    image.stride_h *= every;
  };
  keep(out.x, none ? 0 : skipped, apart);
  keep(out.out, residue, step);
  if (op.has_residual) keep(out.residual, residue, step);
  return out;
}

std::vector<RowRun> row_runs(const WindowOp& op, const Cut& cut, Span rows) {
  const int64_t step = cut.sparse ? row_step(op) : 1;
  std::vector<RowRun> out;
  int64_t begin = 0;  // of the run at hand
  for (int64_t image = rows.begin / op.out_h; image < op.batch(); ++image) {
    begin = image * op.out_h;
    for (int64_t residue = 0; residue < std::min(step, op.out_h); ++residue) {
      const int64_t size = ceil_div(op.out_h - residue, step);
      const Span part{std::max<int64_t>(0, rows.begin - begin), std::min(size, rows.end - begin)};
      if (!part.empty()) out.push_back({image, residue, part});
      begin += size;
      if (begin >= rows.end) return out;
    }
  }
  return out;
}

Span tile_rows(const WindowOp& op, const Cut& cut, uint32_t tile) {
  if (tile >= cut.parts()) return {};
  return part_of(op.batch() * op.out_h, cut.rows, tile / cut.channels, cut.aligned ? op.grain : 1);
}

Span tile_units(const WindowGeometry& g, const Cut& cut, uint32_t tile) {
  if (tile >= cut.parts()) return {};
  return part_of(g.units, cut.channels, tile % cut.channels, 1);
}

Span out_channels(const WindowOp& op, const WindowGeometry& g, Span units) {
  return {units.begin * g.unit_out, std::min(units.end * g.unit_out, op.out_channels())};
}

Span in_channels(const WindowOp& op, const WindowGeometry& g, Span units) {
  if (g.shared_input) return {0, op.group_in};
  if (op.kind != WindowOp::Kind::Conv) return {units.begin * 16, std::min(units.end * 16, op.in_channels())};
  return {units.begin * op.group_in, units.end * op.group_in};
}

Span input_range(const WindowOp& op, Span outputs, bool rows) {
  int64_t lattice = rows ? op.lattice_h : op.lattice_w, stride = rows ? op.stride_h : op.stride_w;
  int64_t size = rows ? op.in_h : op.in_w;
  Span r{INT64_MAX, INT64_MIN};
  for (const WindowPhase& p : op.phases) {
    int64_t first = rows ? p.first_h : p.first_w, origin = rows ? p.y0 : p.x0;
    int64_t q0 = ceil_div(std::max<int64_t>(outputs.begin - first, 0), lattice);
    int64_t q1 = outputs.end <= first ? 0 : ceil_div(outputs.end - first, lattice);
    if (q1 <= q0) continue;
    int64_t span = ((rows ? p.kernel_h : p.kernel_w) - 1) * (rows ? op.dilation_h : op.dilation_w);
    r.begin = std::min(r.begin, origin + q0 * stride);
    r.end = std::max(r.end, origin + (q1 - 1) * stride + span + 1);
  }
  // Windows wholly in the padding: one row that nothing uses.
  r.begin = std::clamp<int64_t>(r.begin, 0, size - 1);
  r.end = std::clamp<int64_t>(r.end, r.begin + 1, size);
  return r;
}

namespace {

// Whether rows of the result tell which tile does what along dimension d.
bool cuts_result(const PeGroup& g, size_t d) {
  return g.result.rows > 1 && g.result.steps[d] > 0;
}

// Indices of dimension d whose rows of the result belong to part `index`.
Span row_part(const PeGroup& g, const Cut& cut, size_t d, int64_t index) {
  // Tiles that write into one burst would wait for each other.
  constexpr int64_t kBurst = 64;  // elements
  if (!cuts_result(g, d)) return part_of(g.dims[d], cut.rows, index, d + 1 == g.dims.size() ? kBurst : 1);
  Span rows = part_of(g.result.rows, cut.rows, index, cut.aligned ? g.result.grain : 1);
  auto first_from = [&](int64_t row) {
    int64_t ahead = std::max<int64_t>(0, row - g.result.origin);
    return std::min(g.dims[d], ceil_div(ahead, g.result.steps[d]));
  };
  return {first_from(rows.begin), first_from(rows.end)};
}

}  // namespace

PeAxes pe_axes(const PeGroup& g) {
  std::vector<bool> whole = whole_dims(g);
  size_t rank = g.dims.size();
  PeAxes axes{rank, rank};
  size_t inner = rank - 1;
  if (rank > 1 && !whole[inner] && g.dims[inner] >= 16) axes.channels = inner;
  int64_t most = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (whole[d] || d == axes.channels) continue;
    // The outermost dimension that all tiles can share, else the longest.
    int64_t parts =
        g.dims[d] * std::max<int64_t>(1, cuts_result(g, d) ? g.result.steps[d] / g.result.grain : 0);
    if (parts > most && most < isa::kMaxTiles) {
      most = parts;
      axes.rows = d;
    }
  }
  return axes;
}

bool Box::empty() const {
  return std::ranges::any_of(extent, [](int64_t e) { return e <= 0; });
}

Box tile_box(const PeGroup& g, const Cut& cut, uint32_t tile) {
  Box box{Dims(g.dims.size(), 0), g.dims};
  if (tile >= cut.parts()) {
    box.extent[0] = 0;
    return box;
  }
  PeAxes axes = pe_axes(g);
  auto narrow = [&](size_t d, Span s) {
    box.begin[d] = s.begin;
    box.extent[d] = s.size();
  };
  if (axes.rows < g.dims.size()) narrow(axes.rows, row_part(g, cut, axes.rows, tile / cut.channels));
  if (axes.channels < g.dims.size())
    narrow(axes.channels,
           part_of(g.dims[axes.channels], cut.channels, tile % cut.channels, cut.channels > 1 ? 16 : 1));
  return box;
}

Dims largest_box(const PeGroup& g, const Cut& cut) {
  Dims most(g.dims.size(), 0);
  for (uint32_t t = 0; t < cut.parts(); ++t) {
    Box box = tile_box(g, cut, t);
    for (size_t d = 0; d < most.size(); ++d) most[d] = std::max(most[d], box.extent[d]);
  }
  return most;
}

Rect image_rect(const WindowOp::Image& image, int64_t batch, Span rows, Span cols, Span channels,
                int64_t pitch) {
  int64_t element = image.offsets[static_cast<size_t>(batch)] + rows.begin * image.stride_h +
                    cols.begin * image.stride_w + channels.begin;
  int64_t bytes = image.element_bytes();
  Walk walks[] = {
      {rows.size(), image.stride_h * bytes}, {cols.size(), image.stride_w * bytes}, {channels.size(), bytes}};
  return rect_of(element * bytes, walks, bytes, pitch);
}

Rect view_rect(const View& v, const Box& box, int64_t pitch) {
  int64_t bytes = isa::data_bytes(v.type), element = v.offset;
  std::vector<Walk> walks;
  for (size_t d = 0; d < box.begin.size(); ++d) {
    element += box.begin[d] * v.strides[d];
    walks.push_back({box.extent[d], v.strides[d] * bytes});
  }
  return rect_of(element * bytes, walks, bytes, pitch);
}

namespace {

std::vector<Touch> touches_of(const WindowOp& whole, const Cut& cut, uint32_t tile, const Program& program) {
  WindowGeometry g(whole);
  Span rows = tile_rows(whole, cut, tile), units = tile_units(g, cut, tile);
  if (rows.empty() || units.empty()) return {};
  auto pitch = [&](const WindowOp::Image& i) { return program.buffers[i.buffer].pitch; };
  Span out = out_channels(whole, g, units), in = in_channels(whole, g, units), all_out{0, whole.out_w};
  Rect x, y, residual, w;
  Span cols = input_range(whole, all_out, false);
  const auto add = [&](const WindowOp& op, int64_t image, Span r) {
    x = hull(x, image_rect(op.x, image, input_range(op, r, true), cols, in, pitch(op.x)));
    y = hull(y, image_rect(op.out, image, r, all_out, out, pitch(op.out)));
    if (op.has_residual)
      residual = hull(residual, image_rect(op.residual, image, r, all_out, out, pitch(op.residual)));
    if (!op.dynamic_weights) return;
    int64_t first = op.w.offsets[static_cast<size_t>(image)] + out.begin * op.w.stride_w;
    Walk walks[] = {{op.group_in, op.w.stride_h * 2}, {out.size(), op.w.stride_w * 2}};
    w = hull(w, rect_of(first * 2, walks, 2, pitch(op.w)));
  };
  for (const RowRun& run : row_runs(whole, cut, rows)) {
    if (cut.sparse) {
      add(sparse_rows(whole, run.residue), run.image, run.rows);
    } else {
      add(whole, run.image, run.rows);
    }
  }
  const WindowOp& op = whole;
  std::vector<Touch> list = {{op.x.buffer, false, x}};
  if (op.has_residual) list.push_back({op.residual.buffer, false, residual});
  if (op.dynamic_weights) list.push_back({op.w.buffer, false, w});
  list.push_back({op.out.buffer, true, y});
  return list;
}

std::vector<Touch> touches_of(const PeGroup& g, const Cut& cut, uint32_t tile, const Program& program) {
  Box box = tile_box(g, cut, tile);
  std::vector<Touch> list;
  if (box.empty()) return list;
  const PeSlots slots = slots_of(g);
  const auto add = [&](const View& v, bool write) {
    if (v.buffer == kWeights) return;
    const Box all{box.begin, slot_extents(g, v, box.extent)};
    list.push_back({v.buffer, write, view_rect(v, all, program.buffers[v.buffer].pitch)});
  };
  for (const View& v : slots.inputs) add(v, false);
  for (const View& v : slots.outputs) add(v, true);
  return list;
}

}  // namespace

std::vector<Touch> touches(const Primitive& p, const Cut& cut, uint32_t tile, const Program& program) {
  std::vector<Touch> list = std::visit([&](const auto& v) { return touches_of(v, cut, tile, program); }, p);
  std::erase_if(list, [](const Touch& t) { return t.buffer == kWeights; });
  return list;
}

std::vector<Cut> possible_cuts(const Primitive& p, uint32_t tiles) {
  int64_t rows = 1, channels = 1, grain = 1, apart = 1;
  if (const auto* op = std::get_if<WindowOp>(&p)) {
    rows = op->batch() * op->out_h;
    channels = WindowGeometry(*op).units;
    grain = op->grain;
    apart = row_step(*op);
  } else {
    const auto& g = std::get<PeGroup>(p);
    PeAxes axes = pe_axes(g);
    if (axes.rows < g.dims.size()) {
      bool by_result = cuts_result(g, axes.rows);
      rows = by_result ? g.result.rows : g.dims[axes.rows];
      grain = by_result ? g.result.grain : 1;
    }
    if (axes.channels < g.dims.size()) channels = ceil_div(g.dims[axes.channels], 16);
  }
  std::vector<Cut> out;
  for (int64_t r = tiles; r >= 1; r /= 2)
    for (int64_t c = tiles / r; c >= 1; c /= 2) {
      if (r > rows || c > channels) continue;
      bool can_align = rows / grain >= r || grain == 1;
      if (can_align) out.push_back({r, c, true});
      if (r > 1 && apart > 1) out.push_back({r, c, true, true});
      bool even = rows % grain == 0 && (rows / grain) % r == 0;
      if (grain > 1 && r > 1 && !even) out.push_back({r, c, false});
    }
  return out;
}

}  // namespace mrvlc::accel
