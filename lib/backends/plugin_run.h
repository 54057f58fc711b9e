// A region of a plug-in computed by its function `run`.
#pragma once
#include "mrvlc/backend/backend.h"
#include "mrvlc/plugin/plugin.h"

namespace mrvlc::backends {

// Inputs are copies, and ports have room on both sides: what `run` writes where it must not is an error.
std::unique_ptr<backend::Executor> plugin_executor(plugin::Plugin plugin, std::string target,
                                                   plugin::File file);

}  // namespace mrvlc::backends
