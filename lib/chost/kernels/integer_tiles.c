//@ piece imicro$rows: dot
//@ hole rows number: rows of sums, each in two vectors
//@ form rows=4
//@ form rows=6
/* $rows x K_QTILE sums over k: t[r][j] = sum of a[i][r] * b[i * ldb + j], quads. */
static void K_imicro$rows(ptrdiff_t k, const uint32_t* a, const uint32_t* b, ptrdiff_t ldb, uint32_t* t) {
#if K_QVW
  for (ptrdiff_t j = 0; j < K_QTILE; j += 2 * K_QVW) {
    const uint32_t *x = a, *v = b + j;
    //@ each r rows
    K_qv s$r = {0}, u$r = {0};
    //@ end each
    for (ptrdiff_t i = 0; i < k; ++i, x += $rows, v += ldb) {
      K_QX(y, K_QLOAD(v));
      K_QX(z, K_QLOAD(v + K_QVW));
      //@ each r rows
      {
        K_QW(w, K_QALL(x[$r]));
        K_QSUM(s$r, y, w);
        K_QSUM(u$r, z, w);
      }
      //@ end each
    }
    //@ each r rows
    K_QSTORE(t + $r * K_QTILE + j, s$r);
    K_QSTORE(t + $r * K_QTILE + j + K_QVW, u$r);
    //@ end each
  }
#else
  for (ptrdiff_t r = 0; r < $rows; ++r) {
    for (ptrdiff_t j = 0; j < K_QTILE; ++j) {
      uint32_t s = 0;
      for (ptrdiff_t i = 0; i < k; ++i) s = K_quad(s, b[i * ldb + j], a[i * $rows + r]);
      t[r * K_QTILE + j] = s;
    }
  }
#endif
}

//@ piece irows$tiles$pixels: dot
//@ hole tiles number: of 16 rows of weights each
//@ hole pixels number: columns of x
//@ form tiles=1 pixels=1
//@ form tiles=1 pixels=4
//@ form tiles=4 pixels=1
/* $tiles x $pixels x K_QROWS sums over k: t[tile][pixel][j] = sum of w[tile * w_tile + i * K_QROWS + j] *
 * x[i * x_k + pixel * x_p], quads. */
static void K_irows$tiles$pixels(ptrdiff_t k, const uint32_t* w, ptrdiff_t w_tile, const uint32_t* x,
    ptrdiff_t x_k, ptrdiff_t x_p, uint32_t* t) {
  (void)w_tile;
  (void)x_p;
#if K_QVW
  for (ptrdiff_t j = 0; j < K_QROWS; j += K_QVW) {
    const uint32_t *u = x, *v = w + j;
    //@ each p pixels
    //@ each r tiles
    K_qv s$r$p = {0};
    //@ end each
    //@ end each
    for (ptrdiff_t i = 0; i < k; ++i, u += x_k, v += K_QROWS) {
      //@ each r tiles
      K_QW(w$r, K_QLOAD(v + $r * w_tile));
      //@ end each
      //@ each p pixels
      {
        K_QX(y, K_QALL(u[$p * x_p]));
        //@ each r tiles
        K_QSUM(s$r$p, y, w$r);
        //@ end each
      }
      //@ end each
    }
    //@ each p pixels
    //@ each r tiles
    K_QSTORE(t + ($r * $pixels + $p) * K_QROWS + j, s$r$p);
    //@ end each
    //@ end each
  }
#else
  for (ptrdiff_t r = 0; r < $tiles * $pixels; ++r) {
    const uint32_t *u = x + r % $pixels * x_p, *v = w + r / $pixels * w_tile;
    for (ptrdiff_t j = 0; j < K_QROWS; ++j) {
      uint32_t s = 0;
      for (ptrdiff_t i = 0; i < k; ++i) s = K_quad(s, u[i * x_k], v[i * K_QROWS + j]);
      t[r * K_QROWS + j] = s;
    }
  }
#endif
}
