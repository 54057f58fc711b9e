// Room beside tensors: what streams, weights and intermediate values take while a primitive runs.
#include "plan/room.h"

#include <algorithm>

#include "mrvlc/support/checked.h"
#include "primitive/transfer.h"

namespace mrvlc::accel {
namespace {

// The least room with which streaming is about as fast as with all memory.
int64_t streaming_floor(const WindowOp& op, const Cut& cut, const Streams& streams,
                        const target::Machine& m) {
  constexpr double kEnough = 1.05;
  int64_t ocm = m.ocm_bytes;
  std::optional<WindowPlan> best = plan_window(op, cut, streams, ocm, m);
  for (int64_t eighths = 2; best && eighths < 8; ++eighths) {
    std::optional<WindowPlan> plan = plan_window(op, cut, streams, ocm * eighths / 8, m);
    if (plan && plan->cycles <= best->cycles * kEnough) return ocm * eighths / 8;
  }
  return ocm;
}

int64_t weights_floor(const WindowOp& op, const Cut& cut, const target::Machine& m) {
  WindowGeometry g(op);
  int64_t ocm = m.ocm_bytes, room = op.epilogue.table_bytes();
  if (op.kind == WindowOp::Kind::Pool || op.dynamic_weights) return room;
  int64_t unit = op.kind == WindowOp::Kind::Depthwise
                     ? g.taps * g.unit_out * op.weight_bytes()
                     : g.unit_blocks * g.taps * g.all_channels * op.lane_bytes();
  int64_t all = ceil_div(g.units, cut.channels) * unit;
  int64_t two = std::max(unit, std::min(2 * weight_chunk_bytes(m), ocm / 4));
  return room + std::min(all, two) + aligned(std::max(op.constant_bytes(g.unit_out), g.unit_out * 4), m) +
         m.ocm_alignment;
}

}  // namespace

int64_t room_beside(const WindowOp& op, const Cut& cut, const Streams& streams, const target::Machine& m) {
  return streams.any() ? streaming_floor(op, cut, streams, m) : weights_floor(op, cut, m);
}

int64_t room_beside(const PeGroup& group, const Cut& cut, bool streams, const target::Machine& m) {
  int64_t ocm = m.ocm_bytes, streamed_share = ocm * 3 / 8;
  Dims box = largest_box(group, cut);
  int64_t temps = 0;
  for (const PeTemp& t : group.temps) {
    int64_t n = isa::data_bytes(t.type);
    for (size_t d = 0; d < group.dims.size(); ++d)
      if (t.spans[d]) n *= box[d];
    temps += n + m.ocm_alignment;
  }
  int64_t room = std::min(temps, ocm / 4);
  for (const PeStage& s : group.stages) room += s.epilogue.table_bytes();
  return streams ? std::max(room, streamed_share) : room;
}

}  // namespace mrvlc::accel
