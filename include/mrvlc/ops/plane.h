// Windows that generated C slides over one padded channel at a time: K_plane_shape of
// lib/chost/kernels/depthwise.c.
#pragma once
#include <string>

#include "mrvlc/ops/params.h"

namespace mrvlc::ops {

struct WindowPlane {
  std::string taps;    // C initialiser of an array of int: offset of each tap in the plane
  std::string shape;   // C initialiser of a K_plane_shape
  int64_t bytes = 0;   // of the planes
  bool small = false;  // two of them, which share a first-level cache
};

// One or two spatial dimensions. `batch`: C text; every channel is read by `multiplier` ones of the result;
// `tap`: the C name of the array of taps.
WindowPlane window_plane(const WindowParams& window, const std::string& batch, int64_t channels,
                         int64_t multiplier, const std::string& tap);

}  // namespace mrvlc::ops
