// A value that is permuted takes as long as one that is only cast, or longer; which values a region permutes
// is known when it is formed, so that the cast alone counts here.
#include "choice/tariff.h"

#include <algorithm>

namespace mrvlc::partition {
namespace {

// All that a target may compute in one region, with every value at its border.
Region everything(const Placement& p, const Offers& offers, uint8_t side) {
  Region out;
  out.accelerator = side;
  for (const Offer& o : offers.all)
    if (!o.call && o.layer.accelerator == side) out.layers.push_back(o.layer);
  for (size_t v = 0; v < p.graph.value_slots(); ++v) {
    const ir::Value& value = p.graph.value(ir::ValueId(v));
    if (value.kind == ir::ValueKind::Input || (value.kind == ir::ValueKind::Result && value.producer.valid()))
      out.inputs.push_back(value.id);
  }
  return out;
}

double least_crossing(const HostModel& host, const ir::Value& v, bool to_device) {
  double least = std::numeric_limits<double>::infinity();
  for (const bool permutes : {false, true})
    least = std::min(least, crossing_seconds(host, {0, v.id, to_device, true, permutes}, v.type.elements()));
  return least;
}

}  // namespace

Tariff::Tariff(const Placement& p, const Offers& offers, const Costs& costs) : offers_(offers) {
  const std::vector<double> nodes = node_seconds(p.graph, costs.host);
  for (ir::NodeId n : p.order) host_.push_back(nodes[n.index()]);
  price_nodes(p, offers);
  price_values(p, costs);
  sides_.resize(p.parts.size());
  for (uint8_t side = 0; side < p.parts.size(); ++side) price_side(p, offers, costs, side);
}

void Tariff::price_nodes(const Placement& p, const Offers& offers) {
  least_ = host_;
  may_stay_.assign(p.order.size(), true);
  for (const Offer& o : offers.all) {
    double own = 0;
    for (ir::NodeId n : o.layer.nodes) own += host_[p.rank[n.index()]];
    if (!o.call)
      own = p.accelerator_of(o.layer).layer_seconds(p.graph, o.layer);
    else if (o.call->seconds)
      own = *o.call->seconds;
    own_.push_back(own);
    for (ir::NodeId n : o.layer.nodes) {
      const size_t rank = p.rank[n.index()];
      least_[rank] = std::min(least_[rank], own / static_cast<double>(o.layer.nodes.size()));
      const NodeConstraints& w = p.constraints[n.index()];
      if (!o.call && (!w.accel_pattern.empty() || w.group != 0)) may_stay_[rank] = false;
    }
  }
}

void Tariff::price_values(const Placement& p, const Costs& costs) {
  for (size_t v = 0; v < p.graph.value_slots(); ++v) {
    const ir::Value& value = p.graph.value(ir::ValueId(v));
    to_device_.push_back(least_crossing(costs.host, value, true));
    from_device_.push_back(least_crossing(costs.host, value, false));
  }
}

void Tariff::price_side(const Placement& p, const Offers& offers, const Costs& costs, uint8_t side) {
  const Accelerator& part = *p.parts[side];
  Side& out = sides_[side];
  out.border.assign(p.graph.value_slots(), 0);
  out.casts.assign(p.graph.value_slots(), false);
  Region region = everything(p, offers, side);
  if (region.layers.empty()) return;
  if (costs.keep) costs.keep(p.graph, region);
  for (const DeviceForm& f : part.forms(p.graph, region).inputs) out.casts[f.value.index()] = f.casts;
  const std::vector<ir::ValueId> values = std::move(region.inputs);
  region.inputs.clear(), region.layers.clear();
  const double empty = part.border_seconds(p.graph, region);
  out.region = 1e-6 * part.machine().launch_us + empty;
  for (ir::ValueId v : values) {
    region.inputs = {v};
    out.border[v.index()] = std::max(0.0, part.border_seconds(p.graph, region) - empty);
  }
}

uint8_t Tariff::side_of(uint32_t choice) const {
  if (choice == kOnHost || offers_.all[choice].call) return kHostSide;
  return static_cast<uint8_t>(offers_.all[choice].layer.accelerator);
}

double Tariff::made(ir::ValueId value, uint8_t side, bool at_host, Handed& state) const {
  state = {.side = side};
  if (side == kHostSide) return 0;
  state.there = sides_[side].casts[value.index()];
  return at_host ? read(value, kHostSide, state) : 0;
}

double Tariff::read(ir::ValueId value, uint8_t side, Handed& state) const {
  if (side == state.side || state.side == kAnySide) return 0;
  const size_t v = value.index();
  double sum = 0;
  const auto once = [&](bool& done, double seconds) {
    if (!done) sum += seconds;
    done = true;
  };
  const bool made_cast = state.side != kHostSide && sides_[state.side].casts[v];
  if (state.side != kHostSide) once(state.out, sides_[state.side].border[v]);
  const bool read_cast = side != kHostSide && sides_[side].casts[v];
  if (side != kHostSide && (state.read >> side & 1u) == 0) {
    state.read = static_cast<uint8_t>(state.read | 1u << side);
    sum += sides_[side].border[v];
  }
  if (read_cast && !made_cast) once(state.there, to_device_[v]);
  if (made_cast && !read_cast) once(state.back, from_device_[v]);
  return sum;
}

}  // namespace mrvlc::partition
