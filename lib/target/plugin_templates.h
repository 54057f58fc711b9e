// The files of a new plug-in package, of lib/target/plugin, compiled in by embed_plugin.cmake; NAME stands
// for the target's.
#pragma once
#include <string_view>

namespace mrvlc::target {

extern const std::string_view kPluginJson, kPluginRules, kPluginSource;

}  // namespace mrvlc::target
