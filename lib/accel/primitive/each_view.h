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

}  // namespace mrvlc::accel
