// NAME_infer: one inference by typed arrays, where all inputs and outputs have fixed shapes.
#pragma once
#include "text.h"

namespace mrvlc::chost {

// Why a program has no NAME_infer, to be read after "no NAME_infer: "; empty when it has one.
std::string infer_obstacle(const Interface& interface);
// For NAME.h: the prototype and what it takes, or the reason why there is none.
std::string infer_declaration(const Program& program, const Interface& interface);
// For NAME.c.
FunctionText infer_function(const Program& program, const Interface& interface);
// "infer(x, y, arena, device)": how it is called.
std::string infer_call(const Program& program, const Interface& interface);
// Does it take the device, for regions to run on or for weights that are handed over?
bool infer_takes_device(const Program& program);
// "[1][10]" behind the name of an array that holds a port; "[1]" where it has no dimensions, or no elements.
std::string array_dims(const TensorType& type);

}  // namespace mrvlc::chost
