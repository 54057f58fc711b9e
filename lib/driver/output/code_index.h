// What instructions of regions belong to, from an ID map or from the compile itself.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/idmap/idmap.h"

namespace mrvlc::driver {

backend::CodeIndex index_of(const idmap::Json& map);
// As the map of this model will say.
backend::CodeIndex index_of(const CompiledModel& m);

}  // namespace mrvlc::driver
