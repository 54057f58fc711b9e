// A way through the graph that leaves an accelerator and comes back passes two regions of it; more than the
// most on any way are not counted, since layers on different ways may share one.
#include "choice/walk.h"

#include <algorithm>
#include <map>

namespace mrvlc::partition {
namespace {

bool moves(const ir::Graph& graph, ir::ValueId v) {
  return v.valid() && !graph.is_constant(v);
}

// By value: the rank of the last node that reads it.
std::vector<size_t> last_readers(const Placement& p) {
  std::vector<size_t> out(p.graph.value_slots(), 0);
  for (size_t rank = 0; rank < p.order.size(); ++rank)
    for (ir::ValueId v : p.graph.node(p.order[rank]).inputs)
      if (moves(p.graph, v)) out[v.index()] = rank;
  return out;
}

}  // namespace

Walk::Walk(const Placement& p, const Offers& offers, const Tariff& tariff)
    : p_(p), offers_(offers), tariff_(tariff), rest_(p.order.size() + 1, 0) {
  for (size_t rank = p.order.size(); rank-- > 0;) rest_[rank] = rest_[rank + 1] + tariff.least(rank);
  add_steps();
}

void Walk::add_steps() {
  const std::vector<size_t> last = last_readers(p_);
  std::vector<ir::ValueId> live;
  std::vector<uint32_t> place(p_.graph.value_slots(), UINT32_MAX);
  const auto enter = [&](ir::ValueId v) {
    place[v.index()] = static_cast<uint32_t>(live.size());
    live.push_back(v);
  };
  for (ir::NodeId n : p_.order)
    for (ir::ValueId v : p_.graph.node(n).inputs)
      if (moves(p_.graph, v) && p_.graph.value(v).kind != ir::ValueKind::Result &&
          place[v.index()] == UINT32_MAX)
        enter(v);
  first_ = live;
  for (size_t rank = 0; rank < p_.order.size(); ++rank) {
    const ir::Node& node = p_.graph.node(p_.order[rank]);
    Step& s = steps_.emplace_back();
    for (ir::ValueId v : node.inputs) {
      if (!moves(p_.graph, v) || place[v.index()] == UINT32_MAX) continue;
      if (std::ranges::find(s.inputs, v, &Input::value) == s.inputs.end())
        s.inputs.push_back({place[v.index()], v});
    }
    std::vector<ir::ValueId> before = std::move(live);
    live.clear();
    for (uint32_t i = 0; i < before.size(); ++i) {
      if (last[before[i].index()] <= rank) continue;
      s.kept.push_back(i);
      enter(before[i]);
    }
    for (ir::ValueId v : node.outputs) {
      if (!v.valid()) continue;
      if (last[v.index()] > rank) {
        s.outputs.push_back(v);
        enter(v);
      } else if (p_.graph.is_output(v)) {
        s.results.push_back(v);
      }
    }
    width_ = std::max(width_, live.size());
  }
}

Progress Walk::begin() const {
  Progress out;
  out.live.resize(first_.size());
  return out;
}

std::vector<uint32_t> Walk::choices(const Progress& at, size_t rank) const {
  if (!at.claimed.empty() && at.claimed.front().first == rank) return {at.claimed.front().second};
  std::vector<uint32_t> out;
  for (uint32_t i : offers_.begin[rank]) {
    const auto& nodes = offers_.all[i].layer.nodes;
    const bool free = std::ranges::none_of(nodes, [&](ir::NodeId n) {
      return std::ranges::find(at.claimed, p_.rank[n.index()], &std::pair<uint32_t, uint32_t>::first) !=
             at.claimed.end();
    });
    if (free) out.push_back(i);
  }
  if (tariff_.may_stay(rank)) out.push_back(kOnHost);
  return out;
}

bool Walk::inside(uint32_t choice, ir::ValueId value) const {
  if (choice == kOnHost) return false;
  const ir::NodeId producer = p_.graph.value(value).producer;
  const auto& nodes = offers_.all[choice].layer.nodes;
  return producer.valid() && std::ranges::find(nodes, producer) != nodes.end();
}

void Walk::read_inputs(const Step& step, uint32_t choice, Progress& now, Progress::Live& made) const {
  const uint8_t side = tariff_.side_of(choice);
  for (const Input& in : step.inputs) {
    Progress::Live& v = now.live[in.place];
    const bool within = inside(choice, in.value);
    const bool enters = side != kHostSide && !within && v.handed.side != side && v.handed.side != kAnySide;
    if (!within) now.seconds += tariff_.read(in.value, side, v.handed);
    for (size_t a = 0; a < kMostSides; ++a)
      made.runs[a] = std::max(made.runs[a],
                              static_cast<uint8_t>(std::min(255, v.runs[a] + (enters && a == side ? 1 : 0))));
  }
  if (side == kHostSide) return;
  made.runs[side] = std::max<uint8_t>(made.runs[side], 1);
  if (made.runs[side] <= now.runs[side]) return;
  now.seconds += tariff_.region(side) * (made.runs[side] - now.runs[side]);
  now.runs[side] = made.runs[side];
}

Progress Walk::step(const Progress& at, size_t rank, uint32_t choice) const {
  const Step& s = steps_[rank];
  Progress now = at;
  if (!at.claimed.empty() && at.claimed.front().first == rank) {
    now.claimed.erase(now.claimed.begin());
  } else if (choice == kOnHost) {
    now.seconds += tariff_.host(rank);
  } else {
    now.seconds += tariff_.own(choice);
    for (ir::NodeId n : offers_.all[choice].layer.nodes)
      if (p_.rank[n.index()] != rank) now.claimed.emplace_back(p_.rank[n.index()], choice);
    std::ranges::sort(now.claimed);
  }
  Progress::Live made;
  read_inputs(s, choice, now, made);
  std::vector<Progress::Live> live;
  live.reserve(s.kept.size() + s.outputs.size());
  for (uint32_t place : s.kept) live.push_back(now.live[place]);
  const uint8_t side = tariff_.side_of(choice);
  for (ir::ValueId v : s.outputs) {
    now.seconds += tariff_.made(v, side, p_.graph.is_output(v), made.handed);
    live.push_back(made);
  }
  for (ir::ValueId v : s.results) now.seconds += tariff_.made(v, side, true, made.handed);
  now.live = std::move(live);
  return now;
}

double Walk::rest(const Progress& at, size_t rank) const {
  double out = rest_[rank];
  for (const auto& [claimed, offer] : at.claimed) out -= tariff_.least(claimed);
  return std::max(0.0, out);
}

std::string Walk::outline(const Progress& at, bool coarse) {
  std::string out;
  for (const auto& [rank, offer] : at.claimed)
    for (uint32_t n : {rank, offer})
      for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(static_cast<uint8_t>(n >> shift));
  if (!coarse)
    for (const Progress::Live& v : at.live) out += static_cast<char>(v.handed.side);
  return out;
}

void Walk::join(const Progress& other, Progress& at) {
  at.seconds = std::min(at.seconds, other.seconds);
  for (size_t a = 0; a < kMostSides; ++a) at.runs[a] = std::max(at.runs[a], other.runs[a]);
  for (size_t i = 0; i < at.live.size(); ++i) {
    Progress::Live& v = at.live[i];
    const Progress::Live& o = other.live[i];
    if (v.handed.side != o.handed.side) v.handed.side = kAnySide;
    v.handed.there = v.handed.there || o.handed.there;
    v.handed.back = v.handed.back || o.handed.back;
    v.handed.out = v.handed.out || o.handed.out;
    v.handed.read |= o.handed.read;
    for (size_t a = 0; a < kMostSides; ++a) v.runs[a] = std::min(v.runs[a], o.runs[a]);
  }
}

std::string Walk::key(const Progress& at) {
  std::string out(at.runs.begin(), at.runs.end());
  for (const Progress::Live& v : at.live) {
    const Handed& h = v.handed;
    out += static_cast<char>((h.there ? 1 : 0) | (h.back ? 2 : 0) | (h.out ? 4 : 0));
    out += static_cast<char>(h.read);
    out.append(v.runs.begin(), v.runs.end());
  }
  return out + outline(at, false);
}

}  // namespace mrvlc::partition
