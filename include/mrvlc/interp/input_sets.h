// Inputs made for a model that comes without data: ordinary ones, and ones at the edges.
#pragma once
#include <string>

#include "mrvlc/ir/graph.h"

namespace mrvlc::interp {

// Of floats the amplitude, of integers the end; inputs that look like masks have sets of their own.
enum class InputKind : uint8_t {
  Uniform,    // as seeded_inputs: floats in [0, 1), integers in [0, 4)
  Normal,     // mean 0, deviation 1
  Large,      // 1e4 times that
  Tiny,       // 1e-6 times that
  Zeros,      // everything 0, false, or an empty text
  Negative,   // floats in (-1, 0], signed integers in (-4, 0]
  Constant,   // every element 1
  MaskOpen,   // of masks: 1, true; 0 where they are floats, which are added
  MaskShut,   // of masks: 0, false; -1e4 where they are floats
  MaskMixed,  // of masks by lot: 1 or 0; 0 or -1e9 where they are floats
  Lowest,     // integers: the least of the type
  Highest,    // integers: the greatest of the type
};
inline constexpr size_t kInputKinds = 12;
std::string_view name(InputKind kind);  // "uniform", ..., "mask-open"

// Has the graph inputs that the kind is about? Masks are truth values, and what has "mask" in its name.
bool concerns(InputKind kind, const ir::Graph& graph);
// Dynamic dimensions at their bounds; sequences of up to 3 tensors; optionals hold a value. `most` bounds
// integers of Lowest and Highest: no less than -most, no more than most.
std::vector<Tensor> make_inputs(const ir::Graph& graph, InputKind kind, uint32_t seed,
                                int64_t most = INT64_MAX);

}  // namespace mrvlc::interp
