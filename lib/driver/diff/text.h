// What `mrvlc diff` found, for people.
#pragma once
#include <string>

#include "compiled_model.h"

namespace mrvlc::driver {

std::string diff_text(const Json& diff);

}  // namespace mrvlc::driver
