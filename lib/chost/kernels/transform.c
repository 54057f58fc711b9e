// The discrete Fourier transform of lengths with large prime factors, by Bluestein's algorithm.
//@ piece power_transform$form: base
//@ hole form suffix: what names of this form end in
//@ hole real type: of parts
//@ form form= real=float
//@ form form=_double real=double
// A pass by four: s transforms of n numbers become 4 s of n / 4. Imaginary parts lie m behind the real ones.
static void K_pass4$form(ptrdiff_t n, ptrdiff_t s, ptrdiff_t m, const $real* restrict x,
    const $real* restrict w, $real* restrict y) {
  const ptrdiff_t part = n / 4 * s;
  for (ptrdiff_t p = 0; p < n / 4; ++p, x += s, y += 4 * s) {
    const $real* const t = w + 2 * p * s;
    const $real r1 = t[0], i1 = t[1], r2 = w[4 * p * s], i2 = w[4 * p * s + 1], r3 = w[6 * p * s],
                i3 = w[6 * p * s + 1];
    for (ptrdiff_t q = 0; q < s; ++q) {
      const $real ar = x[q], br = x[q + part], cr = x[q + 2 * part], dr = x[q + 3 * part];
      const $real ai = x[q + m], bi = x[q + part + m], ci = x[q + 2 * part + m], di = x[q + 3 * part + m];
      const $real sr = ar + cr, si = ai + ci, ur = ar - cr, ui = ai - ci;
      const $real tr = br + dr, ti = bi + di, vr = br - dr, vi = bi - di;
      const $real er = ur + vi, ei = ui - vr, fr = sr - tr, fi = si - ti, gr = ur - vi, gi = ui + vr;
      y[q] = sr + tr, y[q + m] = si + ti;
      y[q + s] = r1 * er - i1 * ei, y[q + s + m] = r1 * ei + i1 * er;
      y[q + 2 * s] = r2 * fr - i2 * fi, y[q + 2 * s + m] = r2 * fi + i2 * fr;
      y[q + 3 * s] = r3 * gr - i3 * gi, y[q + 3 * s + m] = r3 * gi + i3 * gr;
    }
  }
}

/* Transforms m numbers, a power of two: x has all real parts, then all imaginary ones; y is as large. w:
 * exp(-2 pi i k / m), part by part. Returns where the result is, x or y. */
static $real* K_power_transform$form($real* x, $real* y, ptrdiff_t m, const $real* w) {
  ptrdiff_t n = m, s = 1;
  for (; n >= 4; n /= 4, s *= 4) {
    K_pass4$form(n, s, m, x, w, y);
    $real* const last = x;
    x = y;
    y = last;
  }
  for (ptrdiff_t q = 0; n == 2 && q < s; ++q) {
    for (ptrdiff_t i = q; i < 2 * m; i += m) {
      const $real a = x[i], b = x[i + s];
      x[i] = a + b, x[i + s] = a - b;
    }
  }
  return x;
}

//@ piece chirp_spectrum$form: power_transform$form
//@ hole form suffix: what names of this form end in
//@ hole real type: of parts
//@ form form= real=float
//@ form form=_double real=double
/* The spectrum for K_chirp_transform. room: 2 m numbers. */
static void K_chirp_spectrum$form(
    ptrdiff_t n, ptrdiff_t m, const $real* w, const $real* chirp, $real* spectrum, $real* room) {
  memset(room, 0, (size_t)(2 * m) * sizeof *room);
  for (ptrdiff_t k = 0; k < n; ++k) {
    const ptrdiff_t mirrored = k == 0 ? 0 : m - k;
    room[k] = room[mirrored] = chirp[2 * k];
    room[k + m] = room[mirrored + m] = -chirp[2 * k + 1];
  }
  const $real* const from = K_power_transform$form(room, spectrum, m, w);
  for (ptrdiff_t k = 0; k < 2 * m; ++k) spectrum[k] = from[k] / ($real)m;
}

//@ piece chirp_transform$form: power_transform$form
//@ for DFT, STFT: lengths known at compile time with a prime factor above 20
//@ hole form suffix: what names of this form end in
//@ hole real type: of parts
//@ form form= real=float
//@ form form=_double real=double
/* Transforms n numbers, whose parts alternate: a convolution with a chirp, as a product of spectra of m
 * numbers, a power of two from 2 n - 1 on. chirp: exp(-pi i k k / n), or its conjugates for the inverse;
 * spectrum: of its conjugates, divided by m; room: 4 m. */
static void K_chirp_transform$form(ptrdiff_t n, ptrdiff_t m, const $real* w, const $real* chirp,
    const $real* spectrum, $real* a, $real* room) {
  $real *x = room, *y = room + 2 * m;
  memset(x, 0, (size_t)(2 * m) * sizeof *x);
  for (ptrdiff_t k = 0; k < n; ++k) {
    const $real *c = chirp + 2 * k, *v = a + 2 * k;
    x[k] = v[0] * c[0] - v[1] * c[1];
    x[k + m] = v[0] * c[1] + v[1] * c[0];
  }
  if (K_power_transform$form(x, y, m, w) != x) x = y, y = room;
  // The conjugate, so that the transform goes back.
  for (ptrdiff_t k = 0; k < m; ++k) {
    const $real re = x[k], im = x[k + m];
    x[k] = re * spectrum[k] - im * spectrum[k + m];
    x[k + m] = -(re * spectrum[k + m] + im * spectrum[k]);
  }
  x = K_power_transform$form(x, y, m, w);
  for (ptrdiff_t k = 0; k < n; ++k) {
    const $real *c = chirp + 2 * k, re = x[k], im = -x[k + m];
    a[2 * k] = re * c[0] - im * c[1];
    a[2 * k + 1] = re * c[1] + im * c[0];
  }
}
