// Copies of placed models.
#include "model/compiled_model.h"

#include "mrvlc/partition/follow_bodies.h"

namespace mrvlc::driver {

PlacedModel::PlacedModel(const PlacedModel& other) : SimplifiedModel(other), Placing(other) {
  partition::follow_bodies(partition, other.model.graph, model.graph);
}

}  // namespace mrvlc::driver
