// For each tap the range of outputs that find it inside the input; columns gathered, and added back.
#include "window/ref_window.h"

namespace mrvlc::ops {

WindowGather::WindowGather(const WindowParams& params) : p_(params) {
  for (size_t d = 0; d < p_.kernel.size(); ++d) {
    plane_ *= p_.input[d];
    positions_ *= p_.output[d];
    taps_ *= p_.kernel[d];
    std::vector<Reach> reach(static_cast<size_t>(p_.kernel[d]));
    for (size_t k = 0; k < reach.size(); ++k) {
      int64_t base = static_cast<int64_t>(k) * p_.dilations[d] - p_.pads_begin[d], stride = p_.strides[d];
      reach[k].base = base;
      reach[k].low = base >= 0 ? 0 : ceil_div(-base, stride);
      int64_t room = p_.input[d] - base;  // o * stride < room
      reach[k].high = room <= 0 ? 0 : std::min(p_.output[d], ceil_div(room, stride));
    }
    reach_.push_back(std::move(reach));
  }
}

template <class T>
void WindowGather::columns(const T* plane, int64_t first, int64_t count, double* out) const {
  for (int64_t tap = 0; tap < taps_; ++tap) {
    double* row = out + tap * count;
    int64_t filled = 0;  // runs come in order
    rows(tap, first, count, [&](int64_t i, int64_t length, int64_t index, int64_t stride) {
      std::fill(row + filled, row + i, 0.0);
      filled = i + length;
      const T* from = plane + index;
      if (stride == 1) {
        for (int64_t j = 0; j < length; ++j) row[i + j] = static_cast<double>(from[j]);
      } else {
        for (int64_t j = 0; j < length; ++j) row[i + j] = static_cast<double>(from[j * stride]);
      }
    });
    std::fill(row + filled, row + count, 0.0);
  }
}
template void WindowGather::columns(const float*, int64_t, int64_t, double*) const;
template void WindowGather::columns(const double*, int64_t, int64_t, double*) const;

void WindowGather::scatter(const double* in, int64_t first, int64_t count, double* plane) const {
  for (int64_t tap = 0; tap < taps_; ++tap) {
    const double* row = in + tap * count;
    rows(tap, first, count, [&](int64_t i, int64_t length, int64_t index, int64_t stride) {
      double* to = plane + index;
      for (int64_t j = 0; j < length; ++j) to[j * stride] += row[i + j];
    });
  }
}

}  // namespace mrvlc::ops
