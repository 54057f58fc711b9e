// JSON whose keys keep their order: what goes in and out is compared byte by byte.
#pragma once
#include <nlohmann/json.hpp>

namespace mrvlc::driver {

using Json = nlohmann::ordered_json;

}  // namespace mrvlc::driver
