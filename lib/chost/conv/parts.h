// What a part of a shared convolution or product computes, as a smaller one of its own: kernels know nothing
// of parts. The lines declare `first` and `past` of the part, and `own`, the epilogue.
#pragma once
#include "conv/plan.h"

namespace mrvlc::chost {

class Function;

// Offsets of a part's operands from those of the whole, C expressions to be added to pointers.
struct PartOffsets {
  std::string x, w, bias, y;
};

// Declares `q`, the shape of a part: groups, or panels of output channels of the only one. `type`: of `p`;
// `halves`: the panels' pointer counts floats, and they have numbers of 16 bits.
PartOffsets put_conv_part(Function& f, const ConvPlan& plan, std::string_view type, bool halves);
// A product of rows of weights, in panels, with columns: places of the result, which may be shared instead of
// panels. Each part then makes its own columns only, but reads all weights.
struct PlacedWork {
  int64_t places = 0, unit = 1;  // parts begin at multiples of the unit
  int64_t depth = 0;             // of sums
  Panels panels;
  double column = 0;  // what a column takes to be made, in multiply-adds
};
bool shares_places(const Function& f, const PlacedWork& work);
// Declares a part's shape and returns its name.
std::string put_places_part(Function& f, const PlacedWork& work, std::string_view type);

// ... and input channels of a depthwise one.
PartOffsets put_depthwise_part(Function& f, const ops::ConvParams& p, const Window2& w,
                               std::string_view type);
// The epilogue `e` for what begins so far behind the whole; `fn`: it has a function.
void put_part_epilogue(Function& f, bool fn, std::string_view row, std::string_view col, std::string_view at);

}  // namespace mrvlc::chost
