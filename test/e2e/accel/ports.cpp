#include "ports.h"

#include <cstring>

#include "mrvlc/tensor/float16.h"

namespace mrvlc::accel_test {

Shape stored_strides(const backend::Port& port, const Shape& shape) {
  Shape strides(shape.size());
  int64_t dense = 1;
  for (size_t i = port.perm.size(); i-- > 0;) {
    auto d = static_cast<size_t>(port.perm[i]);
    strides[d] = dense;
    dense *= shape[d];
  }
  return strides;
}

float stored(const backend::Port& port, const std::string& bytes, int64_t at) {
  float whole = 0;
  uint16_t half = 0;
  if (port.type == ElementType::F32) {
    std::memcpy(&whole, bytes.data() + 4 * at, 4);
    return whole;
  }
  const char byte = bytes[static_cast<size_t>(at)];
  if (port.type == ElementType::I8) return static_cast<float>(static_cast<int8_t>(byte));
  if (port.type == ElementType::U8) return static_cast<float>(static_cast<uint8_t>(byte));
  std::memcpy(&half, bytes.data() + 2 * at, 2);
  return half_to_float(half);
}

std::string to_device(const backend::Port& port, const Tensor& t) {
  const auto size = static_cast<size_t>(byte_size(port.type));
  std::string bytes(static_cast<size_t>(t.elements()) * size, '\0');
  each_element(port, t.shape(), [&](int64_t i, int64_t at) {
    auto whole = static_cast<float>(t.as_double(i));
    uint16_t half = double_to_half(t.as_double(i));
    char* to = bytes.data() + size * static_cast<size_t>(at);
    if (size == 1) *to = static_cast<char>(t.as_int(i));
    if (size == 2) std::memcpy(to, &half, 2);
    if (size == 4) std::memcpy(to, &whole, 4);
  });
  return bytes;
}

Tensor from_device(const backend::Port& port, const std::string& bytes, const Shape& shape) {
  Tensor t({ElementType::F32, shape});
  std::span<float> values = t.mutable_data<float>();
  each_element(port, shape,
               [&](int64_t i, int64_t at) { values[static_cast<size_t>(i)] = stored(port, bytes, at); });
  return t;
}

bool covers(const accel::CompiledRegion& c) {
  using Section = backend::Section;
  size_t next[3] = {0, 0, 0};
  for (const backend::CodeRange& r : c.instructions) {
    auto s = static_cast<size_t>(r.section);
    if (r.begin != next[s] || r.end < r.begin || !r.expr.valid()) return false;
    next[s] = r.end;
  }
  static_cast<void>(Section::Main);
  return next[0] == c.binary.init.size() && next[1] == c.binary.main.size() &&
         next[2] == c.binary.finish.size();
}

}  // namespace mrvlc::accel_test
