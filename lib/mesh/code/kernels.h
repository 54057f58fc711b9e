// C of tasks.
#pragma once
#include "network/network.h"

namespace mrvlc::mesh {

// The function `task_INDEX` of a program, which uses the fields of memory_of().
std::string task_text(const NetworkOf& network, const Task& task, const std::string& index);

}  // namespace mrvlc::mesh
