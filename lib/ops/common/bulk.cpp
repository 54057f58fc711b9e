// Runs of elements loaded and stored as double, int64 or uint64, with one switch over the element type a run.
#include "common/bulk.h"

#include <cmath>

#include "mrvlc/tensor/float16.h"

namespace mrvlc::ops {
namespace {

struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct Boolean {
  uint8_t value;
};

// Calls f with a value of the type that stores `elem`; the half types and bool as types of their own.
template <class F>
void with_type(ElementType elem, F f) {
  switch (elem) {
    case ElementType::F32:
      return f(float{});
    case ElementType::F64:
      return f(double{});
    case ElementType::F16:
      return f(Half{});
    case ElementType::BF16:
      return f(Brain{});
    case ElementType::Bool:
      return f(Boolean{});
    case ElementType::U8:
      return f(uint8_t{});
    case ElementType::I8:
      return f(int8_t{});
    case ElementType::U16:
      return f(uint16_t{});
    case ElementType::I16:
      return f(int16_t{});
    case ElementType::I32:
      return f(int32_t{});
    case ElementType::U32:
      return f(uint32_t{});
    case ElementType::U64:
      return f(uint64_t{});
    case ElementType::I64:
      return f(int64_t{});
    case ElementType::I4:
    case ElementType::I2:
      return f(int8_t{});
    default:
      if (byte_size(elem) == 1) f(uint8_t{});  // of narrow floats the bits: they are only moved
  }
}

int64_t truncate(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 0x1p63) return INT64_MAX;
  if (v <= -0x1p63) return INT64_MIN;
  return static_cast<int64_t>(v);
}

template <class To, class From>
To convert(From v) {
  if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint64_t>) {
    if (v >= From{0x1p63f}) return v >= From{0x1p64f} ? UINT64_MAX : static_cast<uint64_t>(v);
  }
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(truncate(static_cast<double>(v)));
  } else {
    return static_cast<To>(v);
  }
}

template <class To>
To widen(Half v) {
  return convert<To>(half_to_float(v.bits));
}
template <class To>
To widen(Brain v) {
  return convert<To>(bfloat_to_float(v.bits));
}
template <class To>
To widen(Boolean v) {
  return static_cast<To>(v.value);
}
template <class To, class From>
To widen(From v) {
  return convert<To>(v);
}

template <class From>
void narrow(From v, Half& out) {
  out.bits = double_to_half(static_cast<double>(v));
}
template <class From>
void narrow(From v, Brain& out) {
  out.bits = float_to_bfloat(static_cast<float>(v));
}
template <class From>
void narrow(From v, Boolean& out) {
  out.value = v != From{0};
}
template <class From, class To>
void narrow(From v, To& out) {
  out = convert<To>(v);
}

template <class To>
void load(const Tensor& t, int64_t first, int64_t stride, int64_t n, To* out) {
  with_type(t.elem(), [&](auto tag) {
    const auto* p = t.data<decltype(tag)>().data() + first;
    if (stride == 1) {
      for (int64_t k = 0; k < n; ++k) out[k] = widen<To>(p[k]);
    } else {
      for (int64_t k = 0; k < n; ++k) out[k] = widen<To>(p[k * stride]);
    }
  });
}

template <class From>
void store(Tensor& t, int64_t first, int64_t stride, int64_t n, const From* in) {
  with_type(t.elem(), [&](auto tag) {
    auto* p = t.mutable_data<decltype(tag)>().data() + first;
    for (int64_t k = 0; k < n; ++k) narrow(in[k], p[k * stride]);
  });
}

}  // namespace

void load_run(const Tensor& t, int64_t first, int64_t stride, int64_t n, double* out) {
  load(t, first, stride, n, out);
}
void load_run(const Tensor& t, int64_t first, int64_t stride, int64_t n, int64_t* out) {
  load(t, first, stride, n, out);
}
void load_run(const Tensor& t, int64_t first, int64_t stride, int64_t n, uint64_t* out) {
  load(t, first, stride, n, out);
}
void store_run(Tensor& t, int64_t first, int64_t stride, int64_t n, const double* in) {
  store(t, first, stride, n, in);
}
void store_run(Tensor& t, int64_t first, int64_t stride, int64_t n, const int64_t* in) {
  store(t, first, stride, n, in);
}
void store_run(Tensor& t, int64_t first, int64_t stride, int64_t n, const uint64_t* in) {
  store(t, first, stride, n, in);
}

Tensor extreme_value(ElementType elem, bool highest) {
  Tensor value(TensorType{elem, {}});
  if (is_float(elem)) {
    value.set_double(0, highest ? INFINITY : -INFINITY);
    return value;
  }
  auto bits = static_cast<unsigned>(byte_size(elem) * 8);
  uint64_t ones = ~uint64_t{0} >> (64 - bits);
  uint64_t greatest = is_signed_integer(elem) ? ones >> 1 : ones;
  uint64_t lowest = is_signed_integer(elem) ? ~greatest : 0;
  value.set_int(0, static_cast<int64_t>(highest ? greatest : lowest));
  return value;
}

}  // namespace mrvlc::ops
