// Tables and tensors on chip as items; what tiles send each other and DDR when a part is made.
#include "code/codegen.h"

#include <algorithm>
#include <map>

namespace mrvlc::accel {
namespace {

// Bytes of all tables, each once.
int64_t bytes_of_tables(const Program& program) {
  std::map<int64_t, int64_t> tables;
  auto add = [&](const EpilogueSpec& e) {
    if (e.table_bytes() > 0) tables[e.table] = e.table_bytes();
  };
  for (const Primitive& p : program.primitives) {
    if (const auto* w = std::get_if<WindowOp>(&p)) {
      add(w->epilogue);
    } else {
      for (const PeStage& s : std::get<PeGroup>(p).stages) add(s.epilogue);
    }
  }
  int64_t sum = 0;
  for (const auto& [table, bytes] : tables) sum += bytes;
  return sum;
}

}  // namespace

TableItems::TableItems(const Program& program, const target::Machine& machine) {
  const int64_t bytes = bytes_of_tables(program);
  if (bytes <= machine.ocm_bytes / 8) resident_ = bytes;
}

uint32_t TableItems::item(const EpilogueSpec& of, size_t primitive, StepWriter& writer) {
  const int64_t table = of.table;
  auto it = items_.find(table);
  if (it != items_.end() && (resident_ > 0 || it->second.second == primitive)) return it->second.first;
  Item item;
  item.bytes = of.table_bytes();
  item.prefetch = true;
  item.kind = backend::MemoryUse::Kind::Weights;
  item.loads = {{writer.all_tiles(), table_transfer(of)}};
  uint32_t index = writer.add_item(std::move(item));
  items_[table] = {index, primitive};
  return index;
}

Transfer window_transfer(const Residence& h, uint32_t tile, const Rect& r, int64_t ddr) {
  Transfer t;
  t.ddr = ddr + r.row0 * h.pitch + r.byte0;
  t.ocm = h.offset(tile, r);
  t.run = r.width();
  if (r.width() == h.pitch && h.local == h.pitch) {
    t.run *= r.rows();
  } else {
    t.levels = {{r.rows(), h.pitch, h.local}};
  }
  return t;
}

uint32_t CodegenContext::tensor_item(uint32_t buffer) {
  const Residence& h = residences[buffer];
  if (tensor_items[buffer] != kNoItem) return tensor_items[buffer];
  if (h.shares != UINT32_MAX) return tensor_items[buffer] = tensor_item(h.shares);
  Item item;
  item.bytes = h.bytes;
  item.kind = backend::MemoryUse::Kind::Activation;
  item.buffer = buffer;
  const Buffer& b = program.buffers[buffer];
  if (b.kind == Buffer::Kind::Input) {
    // In stripes, each of all tiles before the next, so that work begins while the rest arrives.
    constexpr int64_t kStripeBytes = 3072, kMostStripes = 12;
    int64_t stripes = std::clamp<int64_t>(h.bytes / kStripeBytes, 1, kMostStripes);
    for (int64_t s = 0; s < stripes; ++s) {
      std::vector<std::vector<Transfer>> wanted(h.need.size());
      for (uint32_t t = 0; t < h.need.size(); ++t) {
        Rect need = meet(h.need[t], {0, b.rows, 0, h.pitch});
        Span rows = part_of(need.rows(), stripes, s, 1);
        need = {need.row0 + rows.begin, need.row0 + rows.end, need.byte0, need.byte1};
        if (!need.empty()) wanted[t] = {window_transfer(h, t, need, b.ddr)};
      }
      for (Load& l : multicast(wanted)) item.loads.push_back(std::move(l));
    }
    item.prefetch = true;
  }
  return tensor_items[buffer] = writer.add_item(std::move(item));
}

void CodegenContext::store_collected() {
  auto it = collected.find(primitive);
  if (it == collected.end()) return;
  for (uint32_t b : it->second) {
    const Residence& h = residences[b];
    uint32_t item = tensor_item(b);
    writer.begin_step();
    for (uint32_t t = 0; t < writer.tiles(); ++t)
      if (!h.made[t].empty())
        writer.store(t, window_transfer(h, t, h.made[t], program.buffers[b].ddr), item, 0);
    writer.end_step();
  }
}

void CodegenContext::exchange(uint32_t tile, uint32_t buffer, const Rect& rect) {
  const Residence& h = residences[buffer];
  const Buffer& b = program.buffers[buffer];
  if (b.kind == Buffer::Kind::Output && !h.collected)
    writer.store(tile, window_transfer(h, tile, rect, b.ddr), tensor_item(buffer), 0);
  if (!exchanges) return;
  send(tile, buffer, rect, buffer);
  for (uint32_t c : h.copies) send(tile, buffer, rect, c);
}

void CodegenContext::send(uint32_t tile, uint32_t buffer, const Rect& rect, uint32_t window) {
  const Residence &from = residences[buffer], &h = residences[window];
  // What a tile needs of its own part lies there already, but for windows apart.
  const auto lies_there = [&](uint32_t q) { return q == tile && window == buffer; };
  std::vector<bool> served(writer.tiles(), false);
  for (uint32_t q = 0; q < writer.tiles(); ++q) {
    Rect part = meet(rect, h.need[q]);
    if (lies_there(q) || served[q] || part.empty()) continue;
    int64_t to = h.offset(q, part);
    uint8_t mask = 0;
    for (uint32_t other = q; other < writer.tiles(); ++other) {
      if (lies_there(other) || meet(rect, h.need[other]) != part || h.offset(other, part) != to) continue;
      served[other] = true;
      mask = static_cast<uint8_t>(mask | 1u << other);
    }
    isa::Dma d;
    d.src_space = d.dst_space = isa::Space::Ocm;
    d.dst_tiles = mask;
    d.src = static_cast<uint64_t>(from.offset(tile, part));
    d.dst = static_cast<uint64_t>(to);
    bool whole = part.width() == h.local && part.width() == from.local;
    d.run_bytes = static_cast<uint32_t>(whole ? part.bytes() : part.width());
    d.dims[2] = whole ? 1 : static_cast<uint32_t>(part.rows());
    d.src_strides[2] = from.local;
    d.dst_strides[2] = h.local;
    ItemRefs refs = kNoItems;
    refs[0] = tensor_item(buffer);
    refs[4] = tensor_item(window);
    writer.emit(tile, isa::Queue::DmaOut, d, refs);
  }
}

}  // namespace mrvlc::accel
