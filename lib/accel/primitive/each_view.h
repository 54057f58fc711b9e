// The operands of a group of the vector unit that lie in buffers.
#pragma once
#include "primitive/program.h"

namespace mrvlc::accel {

// Calls f(view, writes) for each.
template <class F>
void each_view(PeGroup& g, F f) {
  for (PeStage& s : g.stages)
    for (PeOperand* o : {&s.a, &s.b, &s.dst})
      if (o->kind == PeOperand::Kind::External) f(o->view, o == &s.dst);
}
template <class F>
void each_view(const PeGroup& g, F f) {
  for (const PeStage& s : g.stages)
    for (const PeOperand* o : {&s.a, &s.b, &s.dst})
      if (o->kind == PeOperand::Kind::External) f(o->view, o == &s.dst);
}

// Whether no stage reduces along dimension `d`, nor repeats its result there: its indices are apart.
inline bool keeps_apart(const PeGroup& g, size_t d) {
  for (const PeStage& s : g.stages) {
    const bool spans = s.dst.kind == PeOperand::Kind::External
                           ? s.dst.view.strides[d] != 0
                           : static_cast<bool>(g.temps[s.dst.temp].spans[d]);
    if (!spans) return false;
  }
  return true;
}

}  // namespace mrvlc::accel
