// memory.json: what holds on-chip memory, and while which instructions, so that traces can show it over time.
#pragma once
#include "model/compiled_model.h"

namespace mrvlc::backend {

inline auto words(MemoryUse::Kind) {
  return std::to_array<std::string_view>({"activation", "weights", "workspace"});
}

}  // namespace mrvlc::backend

template <>
struct mrvlc::json::Table<mrvlc::backend::MemoryUse> {
  static void fields(auto& f, auto& u) {
    f("name", u.name)("kind", u.kind)("tiles", u.tiles)("begin", u.begin)("end", u.end)("first", u.first)(
        "last", u.last)("layer", u.layer);
  }
};

namespace mrvlc::driver {

inline constexpr const char* kMemoryFile = "memory.json";

template <class Uses>
struct MemoryOfRegion {
  uint32_t id = 0;
  Uses uses = {};
  static void fields(auto& f, auto& r) { f("id", r.id)("uses", r.uses); }
};

template <class Uses>
struct MemoryTable {
  std::vector<MemoryOfRegion<Uses>> regions = {};
  static void fields(auto& f, auto& m) { f.schema("mrvlc-memory-1")("regions", m.regions); }
};
using MemoryFile = MemoryTable<std::vector<backend::MemoryUse>>;

void write_memory(JsonWriter& out, const CompiledModel& m);

}  // namespace mrvlc::driver
