// Index arithmetic of sliding windows for the reference semantics, any number of spatial dimensions.
#pragma once
#include <algorithm>
#include <vector>

#include "mrvlc/ops/params.h"

namespace mrvlc::ops {

class WindowGather {
 public:
  // Keeps a reference to the parameters.
  explicit WindowGather(const WindowParams& params);

  int64_t plane() const { return plane_; }          // input elements of one channel
  int64_t positions() const { return positions_; }  // output elements of one channel
  int64_t taps() const { return taps_; }            // kernel elements

  // out[tap * count + i]: what tap reads at output position first + i of one channel; 0 in the padding.
  // Of planes of float and double.
  template <class T>
  void columns(const T* plane, int64_t first, int64_t count, double* out) const;
  // The transpose: adds in[tap * count + i] to the input element that tap reads at position first + i.
  void scatter(const double* in, int64_t first, int64_t count, double* plane) const;
  // Calls f(tap, i, input index) for every element that is not padding, tap by tap.
  template <class F>
  void for_each(int64_t first, int64_t count, F f) const;

 private:
  struct Reach {  // where one tap reads along a dimension: output o reads base + o * stride, inside for [low,
                  // high)
    int64_t base = 0, low = 0, high = 0;
  };
  template <class F>
  void rows(int64_t tap, int64_t first, int64_t count, F f) const;

  const WindowParams& p_;
  std::vector<std::vector<Reach>> reach_;  // [dimension][kernel index]
  int64_t plane_ = 1, positions_ = 1, taps_ = 1;
};

// f(i, length, input index, stride): a run of output positions within one row that reads real elements.
template <class F>
void WindowGather::rows(int64_t tap, int64_t first, int64_t count, F f) const {
  size_t last = p_.kernel.size() - 1;
  int64_t width = p_.output[last];
  for (int64_t done = 0; done < count;) {
    int64_t position = first + done, column = position % width, row = position / width;
    int64_t run = std::min(count - done, width - column);
    int64_t offset = 0, scale = p_.input[last], t = tap / p_.kernel[last];
    bool inside = true;
    for (size_t d = last; d-- > 0;) {
      int64_t o = row % p_.output[d];
      const Reach& r = reach_[d][static_cast<size_t>(t % p_.kernel[d])];
      inside = inside && o >= r.low && o < r.high;
      offset += (r.base + o * p_.strides[d]) * scale;
      scale *= p_.input[d];
      row /= p_.output[d];
      t /= p_.kernel[d];
    }
    const Reach& r = reach_[last][static_cast<size_t>(tap % p_.kernel[last])];
    int64_t low = std::max(column, r.low), high = std::min(column + run, r.high);
    if (inside && low < high)
      f(done + low - column, high - low, offset + r.base + low * p_.strides[last], p_.strides[last]);
    done += run;
  }
}

template <class F>
void WindowGather::for_each(int64_t first, int64_t count, F f) const {
  for (int64_t tap = 0; tap < taps_; ++tap) {
    rows(tap, first, count, [&](int64_t i, int64_t length, int64_t index, int64_t stride) {
      for (int64_t j = 0; j < length; ++j) f(tap, i + j, index + j * stride);
    });
  }
}

}  // namespace mrvlc::ops
