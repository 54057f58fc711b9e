// Views and windows of buffers, written out as pieces of memory.
#include "places.h"

#include <algorithm>

namespace mrvlc::accel {
namespace {

using Piece = backend::PlacedValue::Piece;

// Integers that stand for numbers are another value, the operand of its DequantizeLinear.
std::optional<ElementType> stored_type(isa::DataType type, ElementType of_value) {
  const ElementType stored = element_type(type);
  const bool same = is_float(stored) || (is_byte(stored) && stored == of_value);
  return same ? std::optional(stored) : std::nullopt;
}

class Places {
 public:
  Places(const Scheduled& scheduled, const std::vector<int64_t>& addresses,
         const std::vector<PrimitiveCode>& primitives)
      : s_(scheduled), addresses_(addresses), primitives_(primitives) {}

  // Of a buffer, or of the stripes that stand for it.
  std::vector<Piece> pieces(uint32_t buffer) const {
    std::vector<Piece> out;
    add(buffer, 0, out);
    for (uint32_t b = 0; b < s_.program.buffers.size(); ++b)
      if (s_.program.buffers[b].part_of == buffer) add(b, s_.program.buffers[b].first_row, out);
    return out;
  }

 private:
  void add(uint32_t buffer, int64_t first_row, std::vector<Piece>& out) const {
    const Residence& h = s_.residences[buffer];
    const Buffer& b = s_.program.buffers[buffer];
    if (h.first >= primitives_.size() || h.last_write >= primitives_.size()) return;
    const PrimitiveCode &first = primitives_[h.first], &last = primitives_[h.last_write];
    Piece piece;
    piece.begin = first.all.begin;
    piece.end = last.all.end;
    if (piece.begin >= piece.end) return;
    if (!h.on_chip) {
      piece.address = b.ddr;
      piece.row0 = first_row;
      piece.row1 = first_row + b.rows;
      piece.byte1 = piece.local = h.pitch;
      out.push_back(piece);
      return;
    }
    for (uint32_t t = 0; t < h.made.size() && addresses_[buffer] >= 0; ++t) {
      const Rect& r = h.made[t];
      if (r.empty()) continue;
      // What a tile has made may be gone when the last tile is done.
      piece.begin = std::min(first.by_tile[t].begin, last.by_tile[t].begin);
      piece.end = last.by_tile[t].end;
      if (piece.begin >= piece.end) continue;
      piece.space = 1 + t;
      piece.address = addresses_[buffer] + h.offset(t, r);
      piece.row0 = first_row + r.row0;
      piece.row1 = first_row + r.row1;
      piece.byte0 = r.byte0;
      piece.byte1 = r.byte1;
      piece.local = h.local;
      out.push_back(piece);
    }
  }

  const Scheduled& s_;
  const std::vector<int64_t>& addresses_;
  const std::vector<PrimitiveCode>& primitives_;
};

}  // namespace

void drop_pruned(Activations& activations, const std::vector<Buffer>& before,
                 const std::vector<Buffer>& after) {
  std::erase_if(activations, [&](const auto& a) {
    const uint32_t b = a.second.buffer;
    return before[b].rows != after[b].rows || before[b].bytes != after[b].bytes;
  });
}

std::vector<int64_t> tensor_addresses(const Scheduled& scheduled) {
  const std::vector<Residence>& residences = scheduled.residences;
  std::vector<int64_t> own(residences.size(), -1), out(residences.size(), -1);
  for (const Item& item : scheduled.tiles.items)
    if (item.buffer < own.size() && item.address >= 0) own[item.buffer] = item.address;
  for (uint32_t b = 0; b < residences.size(); ++b) {
    uint32_t holder = b;
    while (residences[holder].shares != UINT32_MAX) holder = residences[holder].shares;
    out[b] = own[holder];
  }
  return out;
}

std::vector<backend::PlacedValue> placed_values(const ir::Graph& graph, const Activations& activations,
                                                const Scheduled& scheduled,
                                                const std::vector<int64_t>& addresses,
                                                const std::vector<PrimitiveCode>& primitives) {
  const Places places(scheduled, addresses, primitives);
  std::vector<backend::PlacedValue> out;
  for (const auto& [value, view] : activations) {
    if (view.buffer == kWeights) continue;
    const auto type = stored_type(view.type, graph.value(value).type.elem);
    backend::PlacedValue placed;
    placed.pieces = places.pieces(view.buffer);
    if (!type || placed.pieces.empty()) continue;
    const int64_t bytes = isa::data_bytes(view.type);
    placed.value = value;
    placed.type = *type;
    placed.offset = view.offset * bytes;
    placed.pitch = scheduled.residences[view.buffer].pitch;
    for (int64_t s : view.strides) placed.strides.push_back(s * bytes);
    out.push_back(std::move(placed));
  }
  return out;
}

}  // namespace mrvlc::accel
