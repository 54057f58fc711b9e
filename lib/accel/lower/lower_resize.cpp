// Resize: nearest is a move, linear is interpolation along one dimension after the other.
#include <algorithm>
#include <cmath>

#include "lower/axis_map.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::accel {
namespace {

std::vector<Source> axis_of(const ops::ResizeParams& p, size_t d, int64_t input) {
  std::vector<Source> map;
  for (int64_t o = 0; o < p.output[d]; ++o) {
    auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i, 0, input - 1); };
    if (p.mode == "nearest") {
      const int64_t i = p.nearest(d, o, input);
      map.push_back({i, i, 0});
      continue;
    }
    const double x = p.source(d, o, input), down = std::floor(x);
    auto low = static_cast<int64_t>(down);
    auto weight = static_cast<float>(x - down);
    Source s{clamp(low), clamp(low + 1), weight};
    if (s.low == s.high || weight == 0) s = {s.low, s.low, 0};
    map.push_back(s);
  }
  return map;
}

}  // namespace

Status lower_resize(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  MRVLC_ASSIGN(ops::ResizeParams p, ops::resize_params(ops::infer_context(l.graph(), node)));
  if (p.mode == "cubic" || p.coordinate_mode == "tf_crop_and_resize")
    return make_diag<DiagCode::MRV0502>("mode " + p.mode + " with " + p.coordinate_mode);
  View from = l.read(node.inputs[0]), to = l.result(node.outputs[0]);
  const Dims in = from.dims;
  std::vector<std::vector<Source>> maps;
  std::vector<size_t> changed;
  for (size_t d = 0; d < in.size(); ++d) {
    maps.push_back(axis_of(p, d, in[d]));
    if (maps.back() != identity_map(in[d])) changed.push_back(d);
  }
  if (p.mode == "nearest" || changed.empty()) {
    copy_mapped(l, from, to, maps, 0, node.id);
  } else {
    for (size_t i = 0; i < changed.size(); ++i) {
      size_t d = changed[i];
      View next = to;
      if (i + 1 < changed.size()) {
        Dims dims = from.dims;
        dims[d] = p.output[d];
        next = l.scratch(dims, l.perm_of(node.outputs[0]), isa::DataType::F32);
      }
      MRVLC_TRY(interpolate(l, from, next, d, maps[d], node.id));
      from = next;
    }
  }
  return l.layer().nodes.size() > 1 ? lower_chain(l, node.outputs[0], 1) : Status();
}

}  // namespace mrvlc::accel
