// Placed tile programs as records: items of on-chip memory, then steps with their instructions.
#include <cmath>

#include "text/fields.h"
#include "text/schedule_text.h"

namespace mrvlc::accel {
namespace {

constexpr const char* kItemKinds[] = {"tensor", "weights", "workspace"};
constexpr const char* kOperandNames[] = {"x", "w", "bias", "residual", "out", "table"};

std::string tile_list(uint8_t mask) {
  Dims tiles;
  for (uint32_t t = 0; t < isa::kMaxTiles; ++t)
    if ((mask >> t & 1) != 0) tiles.push_back(t);
  return list_text(tiles);
}

Record load_record(const Load& l, int64_t step) {
  Record r{0, {"load"}, {}, {}};
  FieldWriter f(r);
  f.text("tiles", tile_list(l.tiles));
  f.number("ddr", l.transfer.ddr, int64_t{-1});
  f.number("at", l.transfer.ocm, int64_t{0});
  f.number("run", l.transfer.run, int64_t{-1});
  for (const Level& level : l.transfer.levels)
    f.text("times", list_text({level.count, level.ddr_stride, level.ocm_stride}));
  f.number("step", step, int64_t{-1});
  return r;
}

class TileProgramWriter {
 public:
  TileProgramWriter(const Program& program, const TileProgram& tiles, const Names& names)
      : p_(program), t_(tiles), names_(names), buffers_(buffer_names(program, names)) {}

  std::vector<Record> run() const {
    std::vector<Record> out = {{0, {"stage", "tile-program"}, {}, {}}};
    FieldWriter(out[0]).number("tiles", t_.tiles, uint32_t{0});
    for (size_t k = 0; k < t_.items.size(); ++k)
      if (t_.items[k].last >= 0) out.push_back(item(k));
    for (size_t s = 0; s < t_.steps.size(); ++s) out.push_back(step(s));
    return out;
  }

 private:
  // `come`: before this step its bytes are asked for.
  Record item(size_t index) const {
    const Item& i = t_.items[index];
    Record r{0, {"item", std::to_string(index), kItemKinds[static_cast<size_t>(i.kind)]}, {}, {}};
    r.words.push_back(i.buffer < buffers_.size() ? buffers_[i.buffer] : names_.expr(i.owner.expr));
    FieldWriter f(r);
    f.number("bytes", i.bytes, int64_t{-1});
    f.text("steps", std::to_string(i.first) + ":" + std::to_string(i.last));
    f.number("address", i.address, int64_t{-1});
    f.flag("pinned", i.pinned);
    if (i.load_steps.empty() && i.start >= 0 && i.start < i.first) f.number("come", i.start, int64_t{-1});
    for (size_t l = 0; l < i.loads.size(); ++l)
      r.children.push_back(load_record(i.loads[l], i.load_steps.empty() ? -1 : i.load_steps[l]));
    return r;
  }

  Record step(size_t index) const {
    const TileStep& s = t_.steps[index];
    const Primitive& primitive = p_.primitives[s.primitive];
    Record r{0, {"step", std::to_string(index), names_.expr(owner_of(primitive).expr)}, {}, {}};
    FieldWriter f(r);
    f.number("primitive", s.primitive, UINT32_MAX);
    f.number("cycles", std::llround(s.cycles), -1LL);
    f.number("load_cycles", std::llround(s.load_cycles), 0LL);
    f.number("store_cycles", std::llround(s.store_cycles), 0LL);
    for (size_t c = s.first_code; c < t_.code_end(index); ++c) r.children.push_back(code(t_.code[c]));
    return r;
  }

  // The instruction with the addresses it has within its items, then which item each is in.
  static Record code(const Code& c) {
    Record r{0, {isa::to_text(c.instruction)}, {}, {}};
    std::string in;
    for (size_t k = 0; k < c.items.size(); ++k)
      if (c.items[k] != kNoItem)
        in += std::string(in.empty() ? "" : " ") + kOperandNames[k] + ":" + std::to_string(c.items[k]);
    if (!in.empty()) r.words.push_back("; " + in);
    return r;
  }

  const Program& p_;
  const TileProgram& t_;
  const Names& names_;
  std::vector<std::string> buffers_;
};

}  // namespace

std::string tile_program_text(const Program& program, const TileProgram& tiles, const Names& names) {
  return print(TileProgramWriter(program, tiles, names).run());
}

}  // namespace mrvlc::accel
