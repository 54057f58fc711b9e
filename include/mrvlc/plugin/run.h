// A run of what a plug-in encoded, by its function `run`, in memory that is looked at behind it.
#pragma once
#include <optional>
#include <span>

#include "mrvlc/plugin/plugin.h"

namespace mrvlc::plugin {

// Inputs are copies, and ports have marked room on both sides: a `run` that writes where it must not is an
// error, as is one that leaves bytes of an output unwritten. Where results look unwritten it is called again.
// nullopt: done; else what the function does, to be read after its name: "writes beyond its output 0".
// `target` as of Call.
std::optional<std::string> run(const Plugin& plugin, std::string_view target, const File& file,
                               std::span<const mrvl_input> inputs, std::span<const mrvl_output> outputs);

}  // namespace mrvlc::plugin
