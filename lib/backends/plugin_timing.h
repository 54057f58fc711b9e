// What a plug-in told of the time of a region when it encoded it.
#pragma once
#include "mrvlc/backend/backend.h"
#include "mrvlc/plugin/plugin.h"

namespace mrvlc::backends {

std::unique_ptr<backend::Timing> plugin_timing(plugin::File file);

}  // namespace mrvlc::backends
