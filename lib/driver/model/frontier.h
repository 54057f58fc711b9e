// What `compile --frontier` has found: choices of precision of which none is beaten in both time and error
// (docs/accuracy.md).
#pragma once
#include <string>
#include <vector>

#include "mrvlc/support/json_fields.h"

namespace mrvlc::driver {

// JSON has no infinity.
inline constexpr double kInfiniteError = 1e300;

struct FrontierRow {
  size_t pick = 0;             // of --pick, from 1 on
  std::string precision = {};  // "fp16", "int8", "fp16, 3 values as pairs"
  double error = 0;            // the largest |a-b| / (1+|b|) of the outputs; kInfiniteError: infinite
  double cycles = 0;           // of the accelerator
  double seconds = 0;          // expected of a run: accelerator, borders and host
  size_t layers_in_integers = 0, pairs = 0, nodes_on_cpu = 0;
  bool compiled = false;  // OUT holds it
  static void fields(auto& f, auto& r) {
    f("pick", r.pick)("precision", r.precision)("error", r.error)("cycles", r.cycles)("seconds", r.seconds)(
        "layers_in_integers", r.layers_in_integers)("pairs", r.pairs)("nodes_on_cpu", r.nodes_on_cpu)(
        "compiled", r.compiled);
  }
};

struct Frontier {
  size_t tried = 0;                    // choices that were compiled and measured
  bool on_data = false;                // errors are those on the samples of --data
  std::vector<FrontierRow> rows = {};  // the fastest first
  static void fields(auto& f, auto& r) {
    f.schema("mrvlc-frontier-1");
    f("tried", r.tried)("on_data", r.on_data)("rows", r.rows);
  }
};

// A table for people: a line each, the head first.
std::string frontier_text(const Frontier& frontier);

}  // namespace mrvlc::driver
