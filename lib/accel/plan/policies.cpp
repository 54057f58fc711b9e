// Prices that did best for some network.
#include "plan/policies.h"

#include <fmt/format.h>

#include <algorithm>

namespace mrvlc::accel {

std::string text(const Policy& p) {
  return fmt::format(
      "room at {:.4f} cycles a byte of tensors and {:.4f} of weights, {} cycles a send{}{}, {} of memory "
      "for fetches{}",
      p.price.tensors, p.price.weights, p.price.send, p.price.streaming ? ", DDR counted" : "",
      p.price.compact ? ", parts together" : "", p.fetch_share,
      p.planned_for == nullptr ? "" : ", planned for a slower machine");
}

std::vector<Policy> policies(const Program& program, const target::Machine& machine, uint32_t tiles,
                             bool many) {
  constexpr double kSend[] = {60, 150};
  double matters = room_matters(program, machine, tiles);
  std::vector<Policy> list;
  auto add = [&](double tensors, double weights, double share, bool streaming = false) {
    for (double send : kSend)
      list.push_back({{tensors * matters, tensors * weights * matters, send, streaming}, share});
  };
  constexpr std::pair<double, double> kRoom[] = {{0.02, 0.0}, {0.035, 0.3}, {0.0, 0.0}, {0.05, 0.15},
                                                 {0.01, 0.0}, {0.08, 1.0},  {0.05, 0.3}};
  if (matters == 0) {
    add(0, 0, 0.25);
  } else {
    for (size_t k = 0; k < (many ? std::size(kRoom) : 4); ++k) add(kRoom[k].first, kRoom[k].second, 0.25);
    add(0.05, 0.15, 0.15);
  }
  for (double share : {0.125, 0.1875, 0.375})
    for (auto [tensors, weights] : kRoom)
      if (many && matters != 0) add(tensors, weights, share);
  add(0, 0, 0.25, true);
  // Large programs are not tried in many ways, but in one of each kind.
  std::rotate(list.begin() + 1, list.end() - 1, list.end());
  return list;
}

}  // namespace mrvlc::accel
