// Names of the buffers in the arena, for the function that runs a program.
#pragma once
#include <map>
#include <string>

#include "text.h"

namespace mrvlc::chost {

// By buffer without parent: what lies in it. "conv1_out", the result of node conv1; "conv1_scratch",
// "conv1_device": the same in the form of a device. C identifiers, all different, that no global name and no
// local one of NAME_run equals.
std::map<BufferId, std::string> buffer_names(const Program& program, const ArenaResult& arena);

// The table of them at the top of the function: offsets, with bytes and the functions from the first to the
// last that need them. Empty without any.
std::string buffer_table(const Program& program, const ArenaResult& arena,
                         const std::map<BufferId, std::string>& names);

}  // namespace mrvlc::chost
