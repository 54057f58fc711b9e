// How layers are cut into parts.
#include <algorithm>
#include <numeric>

#include "mrvlc/support/diag/mesh.h"
#include "plan/planner.h"

namespace mrvlc::mesh {
namespace {

// Parts smaller than this cost more in messages than they save.
constexpr int64_t kLeastCycles = 2000;

struct Clamped {
  int64_t begin = 0, count = 0;
};

// Rows that a window's results read; at least one, so that every operand has memory.
Clamped window_rows(const Window& w, int64_t row, int64_t rows, int64_t of) {
  const int64_t low = row * w.stride - w.pad;
  const int64_t high = (row + rows - 1) * w.stride - w.pad + (w.kernel - 1) * w.dilation + 1;
  const int64_t begin = std::clamp<int64_t>(low, 0, of - 1), end = std::clamp<int64_t>(high, begin + 1, of);
  return {begin, end - begin};
}

}  // namespace

Box needed(const PlannedLayer& layer, const Tensor3& result, const Tensor3& operand, const Box& box) {
  if (layer.kind == Kind::Map) return box;
  if (layer.kind == Kind::Softmax) return {box.row, box.rows, 0, operand.channels};
  if (layer.kind == Kind::Move) return {0, operand.rows, 0, operand.channels};
  const Clamped rows = window_rows(layer.window, box.row, box.rows, operand.rows);
  const int64_t groups = layer.window.group;
  const int64_t of_result = result.channels / groups, of_operand = operand.channels / groups;
  const int64_t first = box.channel / of_result;
  const int64_t last = (box.channel + box.channels - 1) / of_result;
  return {rows.begin, rows.count, first * of_operand, (last - first + 1) * of_operand};
}

int64_t volume(const Tensor3& tensor, const Box& box) {
  return box.rows * tensor.width * box.channels;
}

Box part_box(const Tensor3& t, const Cut& cut, int64_t row_part, int64_t channel_part) {
  Box b;
  b.row = part_begin(t.rows, cut.row_parts, row_part);
  b.rows = part_begin(t.rows, cut.row_parts, row_part + 1) - b.row;
  b.channel = part_begin(t.channels, cut.channel_parts, channel_part);
  b.channels = part_begin(t.channels, cut.channel_parts, channel_part + 1) - b.channel;
  return b;
}

int64_t cycles_of(const NetworkOf& network, const Layer& layer, const Machine& machine, const Box& box) {
  const Tensor3& result = network.tensors[layer.planned.output];
  const int64_t elements = volume(result, box);
  if (layer.planned.kind == Kind::Conv) {
    const int64_t each = layer.macs / (result.rows * result.width * result.channels);
    // A group of one channel leaves all but one row of the array idle.
    const int64_t rate = layer.conv.group_channels == 1
                             ? std::max<int64_t>(machine.pe.macs_per_cycle.value / 16, 1)
                             : machine.pe.macs_per_cycle.value;
    return elements * each / rate + elements * machine.pe.requantize_cycles.value;
  }
  int64_t each = machine.pe.requantize_cycles.value;
  if (layer.planned.kind == Kind::Pool) each += layer.planned.window.kernel * layer.columns.kernel * 2;
  each += static_cast<int64_t>(layer.steps.size()) * machine.pe.float_cycles.value;
  return elements * each;
}

namespace {

class LayerCutter {
 public:
  LayerCutter(const NetworkOf& network, const Layer& layer, const Machine& machine)
      : n_(network), l_(layer), m_(machine), result_(network.tensors[layer.planned.output]) {}

  int64_t cycles() const { return cycles_of(n_, l_, m_, {0, result_.rows, 0, result_.channels}); }

  // The quickest of at most `parts` parts; where none fits, the fewest that do.
  Result<Cut> cut(int64_t parts) const {
    for (int64_t most = std::max<int64_t>(parts, 1);; most *= 2) {
      if (const auto best = quickest(most)) return *best;
      if (most > most_rows() * most_channels()) break;
    }
    const Cut smallest{most_rows(), most_channels(), 0};
    return at_node(make_diag<DiagCode::MRV1304>(bytes(smallest), room()), l_.planned.node, l_.planned.op);
  }

 private:
  int64_t room() const { return m_.pe.sram_bytes.value - m_.pe.code_bytes.value; }
  int64_t most_rows() const { return l_.planned.kind == Kind::Move ? 1 : result_.rows; }
  int64_t most_channels() const {
    const bool whole = l_.planned.kind == Kind::Move || l_.planned.kind == Kind::Softmax;
    return whole ? 1 : result_.channels;
  }
  // Parts differ by a row and a channel: that of the largest.
  Box largest(const Cut& cut) const {
    const int64_t rows = (result_.rows + cut.row_parts - 1) / cut.row_parts;
    const int64_t channels = (result_.channels + cut.channel_parts - 1) / cut.channel_parts;
    // One in the middle has a halo on both sides.
    return {(result_.rows - rows) / 2, rows, 0, channels};
  }
  int64_t bytes(const Cut& cut) const {
    Task t;
    t.box = largest(cut);
    t.layer = static_cast<uint32_t>(&l_ - n_.layers.data());
    for (const uint32_t x : l_.planned.inputs)
      t.inboxes.push_back({needed(l_.planned, result_, n_.tensors[x], t.box)});
    int64_t sum = 0;
    for (const Field& f : fields_of(n_, t, "")) sum += f.size() + 8;
    return sum;
  }
  std::optional<Cut> quickest(int64_t most) const {
    std::optional<Cut> best;
    std::pair<int64_t, int64_t> least;
    for (int64_t rows = 1; rows <= std::min(most, most_rows()); ++rows) {
      const Cut cut{rows, std::min(most / rows, most_channels()), 0};
      const int64_t size = bytes(cut);
      if (size > room()) continue;
      const std::pair cost{cycles_of(n_, l_, m_, largest(cut)), size * cut.parts()};
      if (!best || cost < least) best = cut, least = cost;
    }
    return best;
  }

  const NetworkOf& n_;
  const Layer& l_;
  const Machine& m_;
  const Tensor3& result_;
};

}  // namespace

Result<std::vector<Cut>> cut_layers(const NetworkOf& network, const Machine& machine, int64_t parts) {
  std::vector<Cut> cuts;
  int64_t total = 0;
  for (const Layer& l : network.layers) total += LayerCutter(network, l, machine).cycles();
  for (const Layer& l : network.layers) {
    const LayerCutter cutter(network, l, machine);
    const int64_t cycles = cutter.cycles();
    const double share = static_cast<double>(cycles) / static_cast<double>(std::max<int64_t>(total, 1));
    const auto wanted = static_cast<int64_t>(share * static_cast<double>(parts) + 0.5);
    MRVLC_ASSIGN(Cut cut, cutter.cut(std::min(wanted, cycles / kLeastCycles)));
    cuts.push_back(cut);
  }
  return cuts;
}

std::vector<Task> tasks_of(const NetworkOf& network, std::vector<Cut>& cuts) {
  std::vector<Task> tasks;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const PlannedLayer& layer = network.layers[i].planned;
    const Tensor3& result = network.tensors[layer.output];
    cuts[i].first = static_cast<uint32_t>(tasks.size());
    for (int64_t p = 0; p < cuts[i].parts(); ++p) {
      Task t;
      t.layer = static_cast<uint32_t>(i);
      t.box = part_box(result, cuts[i], p / cuts[i].channel_parts, p % cuts[i].channel_parts);
      for (const uint32_t x : layer.inputs) {
        Inbox in;
        in.box = needed(layer, result, network.tensors[x], t.box);
        t.inboxes.push_back(in);
      }
      tasks.push_back(std::move(t));
    }
  }
  return tasks;
}

}  // namespace mrvlc::mesh
