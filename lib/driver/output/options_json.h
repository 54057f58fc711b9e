// The options of a compile as manifest.json has them.
#pragma once
#include "model/compiled_model.h"

namespace mrvlc::driver {

Json options_json(const CompileOptions& options);
// As JSON texts, whatever bytes they have.
Json idmap_texts(const std::vector<std::string>& texts);

}  // namespace mrvlc::driver
