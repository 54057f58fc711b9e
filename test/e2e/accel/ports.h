// Values as the ports of the device have them, and what a compiled region must be.
#pragma once
#include <string>

#include "mrvlc/accel/accel.h"

namespace mrvlc::accel_test {

// Elements between neighbours along each dimension, as the port stores them.
Shape stored_strides(const backend::Port& port, const Shape& shape);

// Calls f(logical index, stored index) for every element.
template <class F>
void each_element(const backend::Port& port, const Shape& shape, F f) {
  Shape strides = stored_strides(port, shape), index(shape.size(), 0);
  for (int64_t i = 0, n = element_count(shape); i < n; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < shape.size(); ++d) at += index[d] * strides[d];
    f(i, at);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
}

// Element `at` of a port, as it is stored.
float stored(const backend::Port& port, const std::string& bytes, int64_t at);
// The bytes of a port of the device, and back: elements and order of dimensions as the port asks for.
std::string to_device(const backend::Port& port, const Tensor& t);
Tensor from_device(const backend::Port& port, const std::string& bytes, const Shape& shape);
// Every instruction of every section belongs to an expression of a layer.
bool covers(const accel::CompiledRegion& compiled);

}  // namespace mrvlc::accel_test
