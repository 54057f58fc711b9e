// The discrete Fourier transform of one line of complex numbers (real and imaginary parts alternate):
// Stockham's algorithm of mixed radix, whose inner loops run over neighbouring numbers; prime lengths take n
// * n steps. Generated code takes Bluestein's algorithm for large prime factors of a length that is known at
// compile time.
#pragma once
#include "common/emit_util.h"

namespace mrvlc::ops {

constexpr double kTurn = 6.283185307179586476925286766559;  // 2 pi

// exp(-2 pi i k / n) for k < n, or its conjugates for the inverse transform.
std::vector<double> fft_twiddles(int64_t n, bool inverse);
// Transforms `a`, with `b` of the same size as room; not scaled.
void fft(std::vector<double>& a, std::vector<double>& b, const std::vector<double>& twiddles);

// In C: n numbers, a variable `n`; most: bound of n. `known`: its value, or -1.
struct FftCode {
  ElementType elem = ElementType::F32;
  int64_t known = -1, most = 0;
  bool inverse = false;
};
// Declares `a` and `b`, scratch of the transform, and the twiddles `w`.
void emit_fft_start(EmitContext& context, const FftCode& code);
// Transforms a, with b as room: the result is in a.
void emit_fft(EmitContext& context, const FftCode& code);

}  // namespace mrvlc::ops
