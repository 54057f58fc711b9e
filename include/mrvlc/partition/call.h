// Layers that a library computes: each is one call of a C function from the host code. The package of the
// library says by rules which, and what is passed (docs/targets.md).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mrvlc/ir/graph.h"

namespace mrvlc::partition {

// An argument as it is passed; all but addresses is known when the model is compiled.
struct CallArgument {
  enum class Kind : uint8_t {
    Tensor,  // the address of the elements, row-major in the order `perm` of the dimensions
    Integer,
    Real,
    Text,   // a string
    Name,   // an identifier of the library's headers
    Array,  // the address of constant numbers: int32_t, int64_t where one needs it, float where one is Real
    Structure,  // `text` is its type
    Scratch     // the address of `integer` bytes that hold nothing between calls
  } kind = Kind::Integer;
  ir::ValueId value = {};
  std::vector<int64_t> perm = {};  // Tensor: stored dimension i is dimension perm[i]; empty: as it is
  bool written = false;            // Tensor: a result of the layer
  bool writable = false;           // Tensor, Array: passed as if it could be written
  int64_t integer = 0;
  double real = 0;
  std::string text = {};
  bool address = false;  // Structure: its address is passed
  std::vector<CallArgument> items = {};
};

struct Call {
  std::string target, rule, function;
  std::vector<CallArgument> arguments;
  std::optional<int64_t> returns;  // when all went well
  std::vector<ir::NodeId> nodes;   // what it computes, topological order; the last makes the results
  ir::NodeId anchor;
  std::optional<double> seconds;  // that it is expected to take, where the package says so
};

// Host seconds by node id: what packages say about their calls takes the place of the host model's.
void time_calls(const std::vector<Call>& calls, std::vector<double>& nodes);

}  // namespace mrvlc::partition
