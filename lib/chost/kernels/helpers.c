//@ piece f16_to_f32: base
/* IEEE binary16 to binary32. No branches, so that loops over it become vector code. */
static float K_f16_to_f32(uint16_t h) {
  const uint32_t mag = (uint32_t)(h & 0x7fffu) << 13;
  const float small = (float)(int32_t)(h & 0x3ffu) * 0x1p-24f;
  uint32_t bits, low;
  float f;
  memcpy(&low, &small, sizeof low);
  bits = mag + 0x38000000u + (mag >= 0x0f800000u ? 0x38000000u : 0u);
  bits = mag < 0x00800000u ? low : bits;
  bits |= (uint32_t)(h & 0x8000u) << 16;
  memcpy(&f, &bits, sizeof f);
  return f;
}

//@ piece f32_to_f16: base
/* Rounds to nearest even, overflows to infinity, keeps NaN. */
// Adding 0.5 lets the FPU round what becomes subnormal.
static uint16_t K_f32_to_f16(float f) {
  uint32_t bits, mag, normal, small;
  float aligned;
  memcpy(&bits, &f, sizeof bits);
  mag = bits & 0x7fffffffu;
  normal = (mag - 0x38000000u + 0xfffu + (mag >> 13 & 1u)) >> 13;
  memcpy(&aligned, &mag, sizeof aligned);
  aligned = (mag < 0x38800000u ? aligned : 0.0f) + 0.5f;
  memcpy(&small, &aligned, sizeof small);
  normal = mag < 0x38800000u ? small - 0x3f000000u : normal;
  normal = mag >= 0x477ff000u ? 0x7c00u : normal;
  normal = mag > 0x7f800000u ? (0x7e00u | (mag >> 13 & 0x3ffu)) : normal;
  return (uint16_t)(normal | (bits >> 16 & 0x8000u));
}

//@ piece bf16_to_f32: base
static float K_bf16_to_f32(uint16_t b) {
  const uint32_t bits = (uint32_t)b << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

//@ piece f32_to_bf16: base
static uint16_t K_f32_to_bf16(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

//@ piece average_count: base
/* How many of begin, begin + step, ... (kernel of them) are in [low, high); at least 1. */
static int64_t K_average_count(int64_t begin, int64_t kernel, int64_t step, int64_t low, int64_t high) {
  const int64_t first = begin >= low ? 0 : (low - begin + step - 1) / step;
  int64_t past = begin >= high ? 0 : (high - begin + step - 1) / step;
  past = past < kernel ? past : kernel;
  return past - first > 1 ? past - first : 1;
}

//@ piece pow_int: base
static int64_t K_pow_int(int64_t x, int64_t n) {
  uint64_t r = 1, b = (uint64_t)x;
  if (n < 0) return x == 1 ? 1 : x == -1 ? ((n & 1) ? -1 : 1) : 0;
  for (; n > 0; n >>= 1, b *= b) {
    if (n & 1) r *= b;
  }
  return (int64_t)r;
}

//@ piece philox: base
/* Philox 4x32-10 (Salmon et al., 2011): four words for each value of the counter. */
static void K_philox(uint64_t counter, uint32_t k0, uint32_t k1, uint32_t* w) {
  uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = UINT64_C(0xd2511f53) * c0, q = UINT64_C(0xcd9e8d57) * c2;
    c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)q;
    c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  w[0] = c0;
  w[1] = c1;
  w[2] = c2;
  w[3] = c3;
}

//@ piece uniform53: base
static double K_uniform53(const uint32_t* w) {
  return ((double)(w[0] >> 5) * 0x1p26 + (double)(w[1] >> 6)) * 0x1p-53;
}

//@ piece probit: base
/* The inverse error function by Winitzki's approximation. */
static double K_probit(double p) {
  const double x = 2.0 * p - 1.0, l = log((1.0 - x) * (1.0 + x)), v = 2.0 / (3.14159 * 0.147) + 0.5 * l;
  const double root = sqrt(sqrt(v * v - l / 0.147) - v);
  return 1.4142135623730951 * (x < 0.0 ? -root : root);
}

//@ piece find_i64: base
/* Place of x among n sorted keys, or -1. */
static ptrdiff_t K_find_i64(const int64_t* keys, ptrdiff_t n, int64_t x) {
  ptrdiff_t low = 0, high = n;
  while (low < high) {
    const ptrdiff_t mid = low + (high - low) / 2;
    if (keys[mid] < x) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low < n && keys[low] == x ? low : -1;
}

//@ piece find_f64: base
/* Place of x among n sorted keys, or -1. */
static ptrdiff_t K_find_f64(const double* keys, ptrdiff_t n, double x) {
  ptrdiff_t low = 0, high = n;
  while (low < high) {
    const ptrdiff_t mid = low + (high - low) / 2;
    if (keys[mid] < x) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low < n && keys[low] == x ? low : -1;
}

//@ piece find_string: base
/* The keys are the runs between offsets, sorted by their bytes. */
static ptrdiff_t K_find_string(
    const int64_t* offsets, const char* characters, ptrdiff_t n, const char* x, size_t size) {
  ptrdiff_t low = 0, high = n;
  while (low < high) {
    const ptrdiff_t mid = low + (high - low) / 2;
    const size_t length = (size_t)(offsets[mid + 1] - offsets[mid]), common = length < size ? length : size;
    const int order = common > 0 ? memcmp(characters + offsets[mid], x, common) : 0;
    if (order == 0 && length == size) return mid;
    if (order < 0 || (order == 0 && length < size)) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return -1;
}

//@ piece couple: base
/* Class probabilities from those of the pairs, r[i * k + j] of i against j: the second method of Wu, Lin and
 * Weng (2004). r has room for 2 k^2 + 2 k numbers. */
static void K_couple(double* r, ptrdiff_t k, float* result) {
  double *q = r + k * k, *p = q + k * k, *qp = p + k;
  for (ptrdiff_t t = 0; t < k; ++t) {
    p[t] = 1.0 / (double)k;
    q[t * k + t] = 0.0;
    for (ptrdiff_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += r[j * k + t] * r[j * k + t];
      q[t * k + j] = -r[j * k + t] * r[t * k + j];
    }
  }
  for (ptrdiff_t round = 0; round < (k > 100 ? k : 100); ++round) {
    double pqp = 0.0, worst = 0.0;
    for (ptrdiff_t t = 0; t < k; ++t) {
      qp[t] = 0.0;
      for (ptrdiff_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (ptrdiff_t t = 0; t < k; ++t) worst = fmax(worst, fabs(qp[t] - pqp));
    if (worst < 0.005 / (double)k) break;
    for (ptrdiff_t t = 0; t < k; ++t) {
      const double diff = (pqp - qp[t]) / q[t * k + t];
      p[t] += diff;
      pqp = (pqp + diff * (diff * q[t * k + t] + 2.0 * qp[t])) / (1.0 + diff) / (1.0 + diff);
      for (ptrdiff_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + diff * q[t * k + j]) / (1.0 + diff);
        p[j] /= 1.0 + diff;
      }
    }
  }
  for (ptrdiff_t t = 0; t < k; ++t) result[t] = (float)p[t];
}
