//@ piece floats
/* Numbers as this text needs them, whatever flags it is compiled with (docs/compilers.md). */
// In front of the headers: with -ffast-math, those of glibc offer vector functions of 4 ulp. Clang's calls of
// sqrtf and others keep the flags of the command line whatever a text says, and it knows float_control for
// some machines only.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-unsafe-math-optimizations", "no-associative-math", "no-reciprocal-math", \
    "no-finite-math-only", "signed-zeros")
#elif defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math, -Ofast and -ffinite-math-only: this compiler cannot take them back"
#elif defined(__clang__) && __clang_major__ >= 11
#if defined(__x86_64__) || defined(__i386__)
#pragma float_control(precise, on)
#else
#pragma clang fp reassociate(off)
#if __clang_major__ >= 18
#pragma clang fp reciprocal(off)
#endif
#endif
#endif
#include <float.h>
#include <limits.h>
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "float is computed in more bits than it has: on x86 compile with -msse2 -mfpmath=sse"
#endif
#if CHAR_BIT != 8 || FLT_RADIX != 2 || FLT_MANT_DIG != 24 || FLT_MAX_EXP != 128 || INT_MAX < 2147483647
#error "bytes of 8 bits, int of 32 or more, and float of IEEE 754 are needed"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the weights are stored in little-endian order"
#endif
