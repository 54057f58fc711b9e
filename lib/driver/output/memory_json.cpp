// memory.json of a compile.
#include "output/memory_json.h"

namespace mrvlc::driver {

void write_memory(JsonWriter& out, const CompiledModel& m) {
  MemoryTable<std::span<const backend::MemoryUse>> table;
  for (uint32_t i = 0; i < m.regions.size(); ++i) table.regions.push_back({i, m.regions[i].memory_uses});
  json::write(out, table);
}

}  // namespace mrvlc::driver
