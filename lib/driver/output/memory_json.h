// memory.json: what holds on-chip memory, and while which instructions, so that traces can show it over time.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/support/json_writer.h"

namespace mrvlc::driver {

inline constexpr const char* kMemoryFile = "memory.json";

void write_memory(JsonWriter& out, const CompiledModel& m);
// By region's id. Throws Json's exceptions where it is something else.
std::map<uint32_t, std::vector<backend::MemoryUse>> read_memory(const Json& json);

}  // namespace mrvlc::driver
