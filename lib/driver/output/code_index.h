// What instructions of regions belong to, from an ID map or from the compile itself.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/idmap/idmap.h"

namespace mrvlc::driver {

// By its name; nullopt: of another version.
std::optional<backend::Section> section_of(std::string_view name);
backend::CodeIndex index_of(const idmap::Map& map);
// As the map of this model will say.
backend::CodeIndex index_of(const CompiledModel& m);

}  // namespace mrvlc::driver
