// Tiling and residency as records.
#include "text/schedule_text.h"

#include "text/primitive_fields.h"

namespace mrvlc::accel {
namespace {

// Rows, then bytes within each: "0:8,0:32".
std::string rect_text(const Rect& r) {
  auto range = [](int64_t a, int64_t b) { return number_text(a) + ":" + number_text(b); };
  return range(r.row0, r.row1) + "," + range(r.byte0, r.byte1);
}

const char* kind_of(const Primitive& p) {
  const auto* op = std::get_if<WindowOp>(&p);
  if (op == nullptr) return "group";
  return kWindowKinds[static_cast<size_t>(op->kind)];
}

Record tile_record(uint32_t tile) {
  return {0, {"tile", std::to_string(tile)}, {}, {}};
}

Record cut_record(const Program& program, size_t index, const Cut& cut, const Names& names) {
  const Primitive& p = program.primitives[index];
  Record r{0, {"cut", std::to_string(index), kind_of(p), names.expr(owner_of(p).expr)}, {}, {}};
  FieldWriter f(r);
  f.number("rows", cut.rows, int64_t{0});
  f.number("channels", cut.channels, int64_t{0});
  f.flag("unaligned", !cut.aligned);
  f.flag("sparse", cut.sparse);
  return r;
}

}  // namespace

std::string tiling_text(const Program& program, const std::vector<Cut>& cuts, uint32_t tiles,
                        const Names& names) {
  std::vector<std::string> buffers = buffer_names(program, names);
  std::vector<Record> out = {{0, {"stage", "tiling"}, {}, {}}};
  for (size_t i = 0; i < cuts.size(); ++i) {
    Record cut = cut_record(program, i, cuts[i], names);
    for (uint32_t t = 0; t < tiles; ++t) {
      std::vector<Touch> list = touches(program.primitives[i], cuts[i], t, program);
      if (list.empty()) continue;
      Record tile = tile_record(t);
      for (const Touch& touch : list)
        tile.children.push_back(
            {0, {touch.write ? "writes" : "reads", buffers[touch.buffer], rect_text(touch.rect)}, {}, {}});
      cut.children.push_back(std::move(tile));
    }
    out.push_back(std::move(cut));
  }
  return print(out);
}

namespace {

Record window_record(const Residence& h, uint32_t tile) {
  Record r = tile_record(tile);
  FieldWriter f(r);
  f.text("window", rect_text(h.window[tile]));
  if (!h.need[tile].empty()) f.text("need", rect_text(h.need[tile]));
  if (!h.made[tile].empty()) f.text("made", rect_text(h.made[tile]));
  return r;
}

}  // namespace

std::string residency_text(const Program& program, const std::vector<Residence>& residences,
                           const Names& names) {
  std::vector<std::string> buffers = buffer_names(program, names);
  std::vector<Record> out = {{0, {"stage", "residency"}, {}, {}}};
  for (size_t b = 1; b < residences.size(); ++b) {
    const Residence& h = residences[b];
    if (h.first == SIZE_MAX) continue;  // nobody touches it
    Record r{0, {h.on_chip ? "chip" : "ddr", buffers[b]}, {}, {}};
    FieldWriter f(r);
    f.text("live", std::to_string(h.first) + ":" + std::to_string(h.last));
    if (h.on_chip) {
      f.number("bytes", h.bytes, int64_t{0});
      f.number("row", h.local, int64_t{0});
      f.flag("collected", h.collected);
      if (h.shares != UINT32_MAX) f.text("takes_over", buffers[h.shares]);
      for (uint32_t t = 0; t < h.window.size(); ++t)
        if (!h.window[t].empty()) r.children.push_back(window_record(h, t));
    }
    out.push_back(std::move(r));
  }
  return print(out);
}

}  // namespace mrvlc::accel
