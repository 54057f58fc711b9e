// Who needs what of whom, read off the ranges of rows and channels.
#include <algorithm>

#include "plan/planner.h"

namespace mrvlc::mesh {
namespace {

// Images that the host takes before it has to read the first.
constexpr uint32_t kHostCredits = 2;

Box overlap(const Box& a, const Box& b) {
  Box o;
  o.row = std::max(a.row, b.row);
  o.rows = std::min(a.row + a.rows, b.row + b.rows) - o.row;
  o.channel = std::max(a.channel, b.channel);
  o.channels = std::min(a.channel + a.channels, b.channel + b.channels) - o.channel;
  return o;
}

// The part of `size` that holds `at`.
int64_t part_of(int64_t size, int64_t parts, int64_t at) {
  int64_t i = at * parts / size;
  while (i + 1 < parts && part_begin(size, parts, i + 1) <= at) ++i;
  while (part_begin(size, parts, i) > at) --i;
  return i;
}

// Where a tensor, or a part of it, lies.
struct Place {
  Box box;
  uint64_t offset = 0;
};

Edge edge_between(const Tensor3& t, const Place& from, const Place& to, const Box& moved) {
  const auto bytes = static_cast<uint64_t>(size_of(t.elem));
  const auto at = [&](const Place& p) {
    const int64_t element =
        (moved.row - p.box.row) * t.width * p.box.channels + moved.channel - p.box.channel;
    return p.offset + static_cast<uint64_t>(element) * bytes;
  };
  Edge e;
  e.count = static_cast<uint64_t>(moved.rows * t.width);
  e.run = static_cast<uint64_t>(moved.channels) * bytes;
  e.from_offset = at(from), e.to_offset = at(to);
  e.from_step = static_cast<uint64_t>(from.box.channels) * bytes;
  e.to_step = static_cast<uint64_t>(to.box.channels) * bytes;
  if (e.run == e.from_step && e.run == e.to_step)
    e.run *= e.count, e.from_step = e.to_step = e.run, e.count = 1;
  return e;
}

class Connector {
 public:
  Connector(const NetworkOf& network, const std::vector<Cut>& cuts, const std::vector<Task>& tasks)
      : n_(network), cuts_(cuts), tasks_(tasks), producer_(network.tensors.size(), kHost), input_(producer_) {
    for (size_t i = 0; i < network.layers.size(); ++i)
      producer_[network.layers[i].planned.output] = static_cast<uint32_t>(i);
    for (size_t i = 0; i < network.inputs.size(); ++i)
      input_[network.inputs[i].tensor] = static_cast<uint32_t>(i);
  }

  std::vector<Edge> run() {
    for (uint32_t t = 0; t < tasks_.size(); ++t) {
      const PlannedLayer& layer = n_.layers[tasks_[t].layer].planned;
      for (uint32_t k = 0; k < layer.inputs.size(); ++k) {
        const Inbox& in = tasks_[t].inboxes[k];
        receive(layer.inputs[k], {in.box, in.offset}, t, k, in.slots);
      }
    }
    for (uint32_t k = 0; k < n_.outputs.size(); ++k) {
      const uint32_t tensor = n_.outputs[k].tensor;
      receive(tensor, {whole(tensor), 0}, kHost, k, kHostCredits);
    }
    return std::move(edges_);
  }

 private:
  Box whole(uint32_t tensor) const { return {0, n_.tensors[tensor].rows, 0, n_.tensors[tensor].channels}; }

  // All of `to`, from everybody who has parts of it.
  void receive(uint32_t tensor, const Place& to, uint32_t task, uint32_t port, uint32_t credits) {
    const Tensor3& t = n_.tensors[tensor];
    if (producer_[tensor] == kHost)
      return add(edge_between(t, {whole(tensor), 0}, to, to.box), kHost, input_[tensor], task, port, credits);
    const Cut& cut = cuts_[producer_[tensor]];
    const Box& b = to.box;
    const int64_t last_row = part_of(t.rows, cut.row_parts, b.row + b.rows - 1);
    const int64_t last_channel = part_of(t.channels, cut.channel_parts, b.channel + b.channels - 1);
    for (int64_t r = part_of(t.rows, cut.row_parts, b.row); r <= last_row; ++r)
      for (int64_t c = part_of(t.channels, cut.channel_parts, b.channel); c <= last_channel; ++c) {
        const auto from = cut.first + static_cast<uint32_t>(r * cut.channel_parts + c);
        const Task& sender = tasks_[from];
        add(edge_between(t, {sender.box, sender.offset}, to, overlap(sender.box, b)), from, 0, task, port,
            credits);
      }
  }
  void add(Edge e, uint32_t from, uint32_t from_port, uint32_t to, uint32_t port, uint32_t credits) {
    e.from = from, e.from_port = from_port, e.to = to, e.port = port, e.credits = credits;
    edges_.push_back(std::move(e));
  }

  const NetworkOf& n_;
  const std::vector<Cut>& cuts_;
  const std::vector<Task>& tasks_;
  std::vector<uint32_t> producer_, input_;  // of each tensor: its layer, or its number among the inputs
  std::vector<Edge> edges_;
};

}  // namespace

std::vector<Edge> connect(const NetworkOf& network, const std::vector<Cut>& cuts,
                          const std::vector<Task>& tasks) {
  return Connector(network, cuts, tasks).run();
}

}  // namespace mrvlc::mesh
