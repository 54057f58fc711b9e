// From a network to a plan: cuts, PEs, memory, edges and routes.
#pragma once
#include "mrvlc/mesh/mesh.h"
#include "network/network.h"
#include "plan/route.h"

namespace mrvlc::mesh {

// A layer's parts: rows and channels of its result are cut as evenly as possible; part (r, c) is task first +
// r * channel_parts + c.
struct Cut {
  int64_t row_parts = 1, channel_parts = 1;
  uint32_t first = 0;
  int64_t parts() const { return row_parts * channel_parts; }
};
// Where part i of n begins.
inline int64_t part_begin(int64_t size, int64_t parts, int64_t i) {
  return size * i / parts;
}
Box part_box(const Tensor3& result, const Cut& cut, int64_t row_part, int64_t channel_part);

// Memory that a task takes beside its buffers: name suffix, type of C, elements, bytes.
struct Field {
  std::string name, type;
  int64_t count = 0;
  int64_t element_bytes = 1;
  std::string bytes;  // what the blob holds
  bool is_constant = false;
  int64_t size() const { return count * element_bytes; }
};
// Constants, then inboxes, then the result, of the task whose memory is named by `index`.
std::vector<Field> fields_of(const NetworkOf& network, const Task& task, const std::string& index,
                             bool with_bytes = false);

// Cycles that a part of a layer takes by the machine's figures.
int64_t cycles_of(const NetworkOf& network, const Layer& layer, const Machine& machine, const Box& box);
int64_t volume(const Tensor3& tensor, const Box& box);

// A cut for each layer whose parts fit a PE; MRV1304. At most `parts` for all layers together, where memory
// allows.
Result<std::vector<Cut>> cut_layers(const NetworkOf& network, const Machine& machine, int64_t parts);
// Tasks in order, without PE and offsets.
std::vector<Task> tasks_of(const NetworkOf& network, std::vector<Cut>& cuts);
// The PE of each task; MRV1305: they do not fit.
Status assign(const NetworkOf& network, const Machine& machine, const Working& working, const Routes& routes,
              std::vector<Task>& tasks, std::vector<PlannedPe>& pes);
// What is sent; offsets of tasks and inboxes are known.
std::vector<Edge> connect(const NetworkOf& network, const std::vector<Cut>& cuts,
                          const std::vector<Task>& tasks);

}  // namespace mrvlc::mesh
