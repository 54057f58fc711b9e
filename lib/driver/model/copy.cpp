// Copies a placed model.
#include "model/copy.h"

#include "mrvlc/partition/follow_bodies.h"

namespace mrvlc::driver {

PlacedModel copy_of(const PlacedModel& placed) {
  PlacedModel copy = placed;
  partition::follow_bodies(copy.partition, placed.model.graph, copy.model.graph);
  return copy;
}

}  // namespace mrvlc::driver
