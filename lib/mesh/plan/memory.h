// How a PE's memory is laid out: constants of all tasks, which the blob holds, then their buffers.
#pragma once
#include "plan/planner.h"

namespace mrvlc::mesh {

struct PlacedField {
  Field field;
  uint64_t offset = 0;
};
struct PeMemory {
  std::vector<PlacedField> fields;  // in order of offset
  uint64_t blob_bytes = 0, bytes = 0;
};

// Of the tasks in order; `with_bytes`: constants have their values.
PeMemory memory_of(const NetworkOf& network, const std::vector<const Task*>& tasks, bool with_bytes);
// Where results and inboxes of tasks lie, by memory_of().
void set_offsets(const PeMemory& memory, const std::vector<Task*>& tasks);

std::string result_name(const std::string& index);
std::string inbox_name(size_t operand, const std::string& index);
const char* c_type(Elem elem);

}  // namespace mrvlc::mesh
