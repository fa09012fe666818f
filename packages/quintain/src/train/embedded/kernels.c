// The arithmetic of the embedded engine: a decoder-only transformer in fp32, forward, backward, optimiser and decoding with a
// cache. Built by scripts/build-kernels.ts to kernels.wasm. Many threads share the memory, each with an instance and a stack of its
// own, so nothing here has a place in memory of its own (not even constants: the build refuses them) and nothing is allocated: what a
// call needs is given to it.
//
// Every number that belongs to one token is computed in the same order of operations whatever other tokens are beside it, and
// in decoding as in training. A log-probability is therefore the same bits wherever it is computed. Keep it so: no sum may
// depend on the size of the batch.
//
// Layers: x += attention(rms(x)) Wo; x += relu(rms(x) W1)^2 W2. Rotary positions (Su et al., arXiv 2104.09864), RMSNorm (Zhang and
// Sennrich, arXiv 1910.07467), squared ReLU (So et al., arXiv 2109.08668).

#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

typedef int32_t i32;
#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))

typedef struct {
  i32 layers, width, heads, ff, vocabulary, context;
  // cos and sin of each position and pair: [context][headWidth / 2] each.
  const float *cosines, *sines;
} Shape;

#define EPS 1e-5f
#define LOAD(p) wasm_v128_load(p)
#define STORE(p, v) wasm_v128_store((p), (v))
#define ADD wasm_f32x4_add
#define SUB wasm_f32x4_sub
#define MUL wasm_f32x4_mul
#define SPLAT wasm_f32x4_splat
#define ZERO wasm_f32x4_const(0, 0, 0, 0)

INLINE size_t up8(size_t n) { return (n + 7) & ~(size_t)7; }
INLINE i32 least(i32 a, i32 b) { return a < b ? a : b; }

// The order in which four lanes become one.
INLINE float across(v128_t v) {
  return (wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 1)) +
         (wasm_f32x4_extract_lane(v, 2) + wasm_f32x4_extract_lane(v, 3));
}

INLINE float largest_across(v128_t v) {
  v = wasm_f32x4_max(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
  v = wasm_f32x4_max(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
  return wasm_f32x4_extract_lane(v, 0);
}

// ---------------------------------------------------------------------------------------------------------------------------
// Exponential and logarithm. Coefficients are those of Cephes (S. Moshier), expf and logf; relative error about 1e-7.

INLINE v128_t exp4(v128_t x) {
  // Below, the result would be denormal: it is 0, as that of a masked score is.
  v128_t tiny = wasm_f32x4_lt(x, SPLAT(-87.0f));
  x = wasm_f32x4_min(wasm_f32x4_max(x, SPLAT(-87.0f)), SPLAT(88.0f));
  v128_t n = wasm_f32x4_nearest(MUL(x, SPLAT(1.44269504088896341f)));
  x = SUB(x, MUL(n, SPLAT(0.693359375f)));
  x = SUB(x, MUL(n, SPLAT(-2.12194440e-4f)));
  v128_t y = SPLAT(1.9875691500e-4f);
  y = ADD(MUL(y, x), SPLAT(1.3981999507e-3f));
  y = ADD(MUL(y, x), SPLAT(8.3334519073e-3f));
  y = ADD(MUL(y, x), SPLAT(4.1665795894e-2f));
  y = ADD(MUL(y, x), SPLAT(1.6666665459e-1f));
  y = ADD(MUL(y, x), SPLAT(5.0000001201e-1f));
  y = ADD(ADD(MUL(MUL(y, x), x), x), SPLAT(1.0f));
  v128_t power = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_splat(127)), 23);
  return wasm_v128_andnot(MUL(y, power), tiny);
}

INLINE float log1(float value) {
  union {
    float f;
    i32 i;
  } u = {value};
  i32 e = (u.i >> 23) - 126;
  u.i = (u.i & 0x007fffff) | 0x3f000000;
  float x = u.f;
  if (x < 0.707106781186547524f) {
    e -= 1;
    x = x + x - 1.0f;
  } else {
    x = x - 1.0f;
  }
  float z = x * x;
  float y = 7.0376836292e-2f;
  y = y * x - 1.1514610310e-1f;
  y = y * x + 1.1676998740e-1f;
  y = y * x - 1.2420140846e-1f;
  y = y * x + 1.4249322787e-1f;
  y = y * x - 1.6668057665e-1f;
  y = y * x + 2.0000714765e-1f;
  y = y * x - 2.4999993993e-1f;
  y = y * x + 3.3333331174e-1f;
  y = y * x * z;
  float fe = (float)e;
  y += -2.12194440e-4f * fe;
  y += -0.5f * z;
  return x + y + 0.693359375f * fe;
}

// ---------------------------------------------------------------------------------------------------------------------------
// Matrix product. The right side is packed in panels of eight columns, [columns / 8][rows][8], the last padded with zeros.

// B [k][n] with rows `stride` apart.
static void pack(const float *b, size_t stride, i32 k, i32 n, float *packed) {
  for (i32 j = 0; j < n; j += 8) {
    if (j + 8 <= n) {
      const float *from = b + j;
      for (i32 i = 0; i < k; i++, from += stride, packed += 8) {
        STORE(packed, LOAD(from));
        STORE(packed + 4, LOAD(from + 4));
      }
    } else {
      for (i32 i = 0; i < k; i++, packed += 8)
        for (i32 c = 0; c < 8; c++) packed[c] = j + c < n ? b[(size_t)i * stride + j + c] : 0.0f;
    }
  }
}

// The transpose of A [n][k] with rows `stride` apart, as a right side of k rows and n columns.
static void pack_transposed(const float *a, size_t stride, i32 k, i32 n, float *packed) {
  for (i32 j = 0; j < n; j += 8, packed += (size_t)8 * k) {
    for (i32 half = 0; half < 8; half += 4) {
      i32 left = n - j - half;
      float *to = packed + half;
      if (left >= 4) {
        const float *r0 = a + (size_t)(j + half) * stride, *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
        i32 i = 0;
        for (; i + 4 <= k; i += 4, to += 32) {
          v128_t a0 = LOAD(r0 + i), a1 = LOAD(r1 + i), a2 = LOAD(r2 + i), a3 = LOAD(r3 + i);
          v128_t low01 = wasm_i32x4_shuffle(a0, a1, 0, 4, 1, 5), high01 = wasm_i32x4_shuffle(a0, a1, 2, 6, 3, 7);
          v128_t low23 = wasm_i32x4_shuffle(a2, a3, 0, 4, 1, 5), high23 = wasm_i32x4_shuffle(a2, a3, 2, 6, 3, 7);
          STORE(to, wasm_i32x4_shuffle(low01, low23, 0, 1, 4, 5));
          STORE(to + 8, wasm_i32x4_shuffle(low01, low23, 2, 3, 6, 7));
          STORE(to + 16, wasm_i32x4_shuffle(high01, high23, 0, 1, 4, 5));
          STORE(to + 24, wasm_i32x4_shuffle(high01, high23, 2, 3, 6, 7));
        }
        for (; i < k; i++, to += 8) to[0] = r0[i], to[1] = r1[i], to[2] = r2[i], to[3] = r3[i];
      } else {
        for (i32 i = 0; i < k; i++, to += 8)
          for (i32 c = 0; c < 4; c++) to[c] = c < left ? a[(size_t)(j + half + c) * stride + i] : 0.0f;
      }
    }
  }
}

typedef struct {
  v128_t v[8];
} Tile;

// Four rows of A, their elements `step` apart, times a panel. SETTLE has the sums of a step done before the next one begins. Left
// to itself the compiler puts the eight additions to a sum side by side, for which all that they add must be held: more than there
// are registers, and a gradient then takes half as long again.
#define SETTLE \
  __asm__("" : "+r"(c00), "+r"(c01), "+r"(c10), "+r"(c11), "+r"(c20), "+r"(c21), "+r"(c30), "+r"(c31))
INLINE Tile tile(const float *a0, const float *a1, const float *a2, const float *a3, size_t step, const float *b, i32 k) {
  v128_t c00 = ZERO, c01 = ZERO, c10 = ZERO, c11 = ZERO, c20 = ZERO, c21 = ZERO, c30 = ZERO, c31 = ZERO;
#define TILE_STEP(i)                                                 \
  do {                                                               \
    v128_t b0 = LOAD(b + 8 * (i)), b1 = LOAD(b + 8 * (i) + 4);       \
    v128_t x0 = wasm_v128_load32_splat(a0 + (i)*step);               \
    c00 = ADD(c00, MUL(x0, b0)), c01 = ADD(c01, MUL(x0, b1));        \
    v128_t x1 = wasm_v128_load32_splat(a1 + (i)*step);               \
    c10 = ADD(c10, MUL(x1, b0)), c11 = ADD(c11, MUL(x1, b1));        \
    v128_t x2 = wasm_v128_load32_splat(a2 + (i)*step);               \
    c20 = ADD(c20, MUL(x2, b0)), c21 = ADD(c21, MUL(x2, b1));        \
    v128_t x3 = wasm_v128_load32_splat(a3 + (i)*step);               \
    c30 = ADD(c30, MUL(x3, b0)), c31 = ADD(c31, MUL(x3, b1));        \
    SETTLE;                                                          \
  } while (0)
  i32 i = 0;
  for (; i + 8 <= k; i += 8) {
    TILE_STEP(0);
    TILE_STEP(1);
    TILE_STEP(2);
    TILE_STEP(3);
    TILE_STEP(4);
    TILE_STEP(5);
    TILE_STEP(6);
    TILE_STEP(7);
    a0 += 8 * step, a1 += 8 * step, a2 += 8 * step, a3 += 8 * step, b += 64;
  }
  for (; i < k; i++) {
    TILE_STEP(0);
    a0 += step, a1 += step, a2 += step, a3 += step, b += 8;
  }
  return (Tile){{c00, c01, c10, c11, c20, c21, c30, c31}};
}

// One row times a panel, in the same order.
INLINE void tile_row(const float *a, const float *b, i32 k, v128_t *out0, v128_t *out1) {
  v128_t c0 = ZERO, c1 = ZERO;
  for (i32 i = 0; i < k; i++, b += 8) {
    v128_t x = wasm_v128_load32_splat(a + i);
    c0 = ADD(c0, MUL(x, LOAD(b))), c1 = ADD(c1, MUL(x, LOAD(b + 4)));
  }
  *out0 = c0, *out1 = c1;
}

// What happens to a product: it is stored, added to what stands there, or its rectified value is stored.
enum { PUT, PLUS, RELU };

INLINE void put4(float *c, v128_t v, int how) {
  if (how == PLUS) v = ADD(LOAD(c), v);
  if (how == RELU) v = wasm_f32x4_max(v, ZERO);
  STORE(c, v);
}

INLINE void put(float *c, v128_t v0, v128_t v1, i32 columns, int how) {
  if (columns >= 8) {
    put4(c, v0, how);
    put4(c + 4, v1, how);
    return;
  }
  float values[8];
  STORE(values, v0);
  STORE(values + 4, v1);
  for (i32 j = 0; j < columns; j++) c[j] = how == PLUS ? c[j] + values[j] : how == RELU && values[j] < 0 ? 0 : values[j];
}

// C [m][n] from A [m][k] and a packed right side. Rows of A lie `lda` apart.
INLINE void product_as(const float *a, size_t lda, const float *packed, float *c, size_t ldc, i32 m, i32 n, i32 k, int how) {
  // Rows that stay in the first cache while all panels pass by.
  i32 block = 8192 / k & ~3;
  if (block < 8) block = 8;
  for (i32 from = 0; from < m; from += block) {
    i32 to = least(from + block, m);
    for (i32 j = 0; j < n; j += 8) {
      const float *panel = packed + (size_t)j * k;
      i32 columns = n - j, i = from;
      for (; i + 4 <= to; i += 4) {
        const float *row = a + (size_t)i * lda;
        Tile t = tile(row, row + lda, row + 2 * lda, row + 3 * lda, 1, panel, k);
        float *at = c + (size_t)i * ldc + j;
        put(at, t.v[0], t.v[1], columns, how);
        put(at + ldc, t.v[2], t.v[3], columns, how);
        put(at + 2 * ldc, t.v[4], t.v[5], columns, how);
        put(at + 3 * ldc, t.v[6], t.v[7], columns, how);
      }
      if (to - i > 1) {
        // Two or three rows cost as little as four.
        const float *row = a + (size_t)i * lda, *last = a + (size_t)(to - 1) * lda;
        Tile t = tile(row, row + lda, last, last, 1, panel, k);
        float *at = c + (size_t)i * ldc + j;
        put(at, t.v[0], t.v[1], columns, how);
        put(at + ldc, t.v[2], t.v[3], columns, how);
        if (to - i > 2) put(at + 2 * ldc, t.v[4], t.v[5], columns, how);
      } else if (to - i == 1) {
        v128_t v0, v1;
        tile_row(a + (size_t)i * lda, panel, k, &v0, &v1);
        put(c + (size_t)i * ldc + j, v0, v1, columns, how);
      }
    }
  }
}

static void product(const float *a, size_t lda, const float *packed, float *c, size_t ldc, i32 m, i32 n, i32 k) {
  product_as(a, lda, packed, c, ldc, m, n, k, PUT);
}
static void product_plus(const float *a, size_t lda, const float *packed, float *c, size_t ldc, i32 m, i32 n, i32 k) {
  product_as(a, lda, packed, c, ldc, m, n, k, PLUS);
}
static void product_relu(const float *a, size_t lda, const float *packed, float *c, size_t ldc, i32 m, i32 n, i32 k) {
  product_as(a, lda, packed, c, ldc, m, n, k, RELU);
}

// Rows of the left side of `outer` that are gathered at a time: a strip of four columns is 4 kB, a panel 8 kB.
#define OUTER_BLOCK 256

// C [m][n] += the transpose of A [k][m], times B [k][n]: the gradient of a weight over k tokens. `scratch` holds a block of
// B packed and a strip of A: OUTER_BLOCK * (up8(n) + 4) floats.
static void outer(const float *a, size_t lda, const float *b, size_t ldb, float *c, i32 m, i32 n, i32 k, float *scratch) {
  float *strip = scratch, *packed = scratch + 4 * OUTER_BLOCK;
  for (i32 at = 0; at < k; at += OUTER_BLOCK) {
    i32 rows = least(OUTER_BLOCK, k - at);
    pack(b + (size_t)at * ldb, ldb, rows, n, packed);
    for (i32 i = 0; i < m; i += 4) {
      const float *from = a + (size_t)at * lda + i;
      for (i32 r = 0; r < rows; r++, from += lda) STORE(strip + 4 * r, LOAD(from));
      for (i32 j = 0; j < n; j += 8) {
        Tile t = tile(strip, strip + 1, strip + 2, strip + 3, 4, packed + (size_t)j * rows, rows);
        float *to = c + (size_t)i * n + j;
        for (i32 r = 0; r < 4; r++) put(to + (size_t)r * n, t.v[2 * r], t.v[2 * r + 1], n - j, PLUS);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------------
// Where things lie in the parameters, and in their packed copy.

typedef struct {
  size_t embedding, layers, layer, norm, head, total;
  // Within a layer.
  size_t norm1, qkv, out, norm2, up, down;
} Places;

INLINE Places places_of(const Shape *s, size_t outputs) {
  size_t d = s->width, f = s->ff;
  Places p;
  p.embedding = 0;
  p.layers = (size_t)s->vocabulary * d;
  p.norm1 = 0;
  p.qkv = d;
  p.out = p.qkv + 3 * d * d;
  p.norm2 = p.out + d * d;
  p.up = p.norm2 + d;
  p.down = p.up + d * f;
  p.layer = p.down + f * d;
  p.norm = p.layers + p.layer * (size_t)s->layers;
  p.head = p.norm + d;
  p.total = p.head + d * outputs;
  return p;
}

INLINE Places places(const Shape *s) { return places_of(s, s->vocabulary); }
INLINE Places packed_places(const Shape *s) { return places_of(s, up8(s->vocabulary)); }

EXPORT(parameter_count) i32 parameter_count(const Shape *s) { return (i32)places(s).total; }
EXPORT(packed_count) i32 packed_count(const Shape *s) { return (i32)packed_places(s).total; }

// Copies parameters with their matrices packed, which is how `forward` and `decode` take them. Layer `part` of `layers`;
// the part `layers` is what belongs to none.
EXPORT(pack_weights) void pack_weights(const Shape *s, const float *weights, float *packed, i32 part) {
  Places p = places(s), q = packed_places(s);
  size_t d = s->width, f = s->ff;
  if (part == s->layers) {
    __builtin_memcpy(packed + q.embedding, weights + p.embedding, p.layers * sizeof(float));
    __builtin_memcpy(packed + q.norm, weights + p.norm, d * sizeof(float));
    pack(weights + p.head, s->vocabulary, d, s->vocabulary, packed + q.head);
    return;
  }
  const float *w = weights + p.layers + p.layer * part;
  float *to = packed + q.layers + q.layer * part;
  __builtin_memcpy(to + q.norm1, w + p.norm1, d * sizeof(float));
  __builtin_memcpy(to + q.norm2, w + p.norm2, d * sizeof(float));
  pack(w + p.qkv, 3 * d, d, 3 * d, to + q.qkv);
  pack(w + p.out, d, d, d, to + q.out);
  pack(w + p.up, f, d, f, to + q.up);
  pack(w + p.down, d, f, d, to + q.down);
}

// ---------------------------------------------------------------------------------------------------------------------------
// What is done to each token alone.

INLINE float inverse_rms(const float *x, i32 d) {
  v128_t sum = ZERO;
  for (i32 i = 0; i < d; i += 4) sum = ADD(sum, MUL(LOAD(x + i), LOAD(x + i)));
  return 1.0f / __builtin_sqrtf(across(sum) / (float)d + EPS);
}

INLINE float norm_row(const float *x, const float *gain, float *y, i32 d) {
  float r = inverse_rms(x, d);
  v128_t scale = SPLAT(r);
  for (i32 i = 0; i < d; i += 4) STORE(y + i, MUL(MUL(LOAD(x + i), scale), LOAD(gain + i)));
  return r;
}

// `inverse` keeps 1/rms of each row for the way back.
static void norm(const float *x, const float *gain, float *y, float *inverse, i32 rows, i32 d) {
  for (i32 t = 0; t < rows; t++) inverse[t] = norm_row(x + (size_t)t * d, gain, y + (size_t)t * d, d);
}

static void norm_again(const float *x, const float *gain, const float *inverse, float *y, i32 rows, i32 d) {
  for (i32 t = 0; t < rows; t++, x += d, y += d) {
    v128_t scale = SPLAT(inverse[t]);
    for (i32 i = 0; i < d; i += 4) STORE(y + i, MUL(MUL(LOAD(x + i), scale), LOAD(gain + i)));
  }
}

// Adds to dx, or puts it, what dy of the normalised rows gives; adds to dgain.
static void norm_back(const float *x, const float *gain, const float *inverse, const float *dy, float *dx, float *dgain,
                      i32 rows, i32 d, i32 add) {
  for (i32 t = 0; t < rows; t++, x += d, dy += d, dx += d) {
    v128_t r = SPLAT(inverse[t]), dot = ZERO;
    for (i32 i = 0; i < d; i += 4) {
      v128_t scaled = MUL(LOAD(x + i), r), g = LOAD(dy + i);
      STORE(dgain + i, ADD(LOAD(dgain + i), MUL(g, scaled)));
      dot = ADD(dot, MUL(MUL(g, LOAD(gain + i)), scaled));
    }
    v128_t mean = SPLAT(across(dot) / (float)d);
    for (i32 i = 0; i < d; i += 4) {
      v128_t scaled = MUL(LOAD(x + i), r);
      v128_t value = MUL(r, SUB(MUL(LOAD(dy + i), LOAD(gain + i)), MUL(scaled, mean)));
      STORE(dx + i, add ? ADD(LOAD(dx + i), value) : value);
    }
  }
}

// Turns the pairs (i, i + half) of each head by the angle of the position; `sign` -1 turns back.
INLINE void rotate(float *x, const Shape *s, i32 position, float sign, float scale) {
  i32 half = s->width / s->heads / 2;
  const float *cosines = s->cosines + (size_t)position * half, *sines = s->sines + (size_t)position * half;
  v128_t turn = SPLAT(sign * scale), factor = SPLAT(scale);
  for (i32 h = 0; h < s->heads; h++, x += 2 * half)
    for (i32 i = 0; i < half; i += 4) {
      v128_t a = LOAD(x + i), b = LOAD(x + half + i);
      v128_t co = MUL(LOAD(cosines + i), factor), si = MUL(LOAD(sines + i), turn);
      STORE(x + i, SUB(MUL(a, co), MUL(b, si)));
      STORE(x + half + i, ADD(MUL(b, co), MUL(a, si)));
    }
}

INLINE float query_scale(const Shape *s) { return 1.0f / __builtin_sqrtf((float)(s->width / s->heads)); }

// Scores of the first `n` become weights that are not divided by their sum yet; what stands behind them, up to the next multiple
// of eight, becomes 0. Gives the largest score and the sum.
INLINE void soften(float *scores, i32 n, float *top, float *sum) {
  size_t padded = up8(n);
  for (size_t i = n; i < padded; i++) scores[i] = -__builtin_inff();
  v128_t most = SPLAT(-__builtin_inff());
  for (size_t i = 0; i < padded; i += 4) most = wasm_f32x4_max(most, LOAD(scores + i));
  *top = largest_across(most);
  v128_t peak = SPLAT(*top), total = ZERO;
  for (size_t i = 0; i < padded; i += 4) {
    v128_t e = exp4(SUB(LOAD(scores + i), peak));
    STORE(scores + i, e);
    total = ADD(total, e);
  }
  *sum = across(total);
}

// log of the sum of the exponentials of a row of logits; their entropy in nats where it is asked for.
INLINE float log_sum_exp(const float *logits, i32 n, float *entropy) {
  i32 whole = n & ~3;
  v128_t most = SPLAT(-__builtin_inff());
  for (i32 i = 0; i < whole; i += 4) most = wasm_f32x4_max(most, LOAD(logits + i));
  float rest[4];
  STORE(rest, SPLAT(-__builtin_inff()));
  for (i32 i = whole; i < n; i++) rest[i - whole] = logits[i];
  v128_t tail = LOAD(rest);
  float top = largest_across(wasm_f32x4_max(most, tail));
  v128_t peak = SPLAT(top), total = ZERO, weighted = ZERO;
  for (i32 i = 0; i < whole; i += 4) {
    v128_t y = SUB(LOAD(logits + i), peak), e = exp4(y);
    total = ADD(total, e);
    weighted = ADD(weighted, MUL(e, y));
  }
  v128_t y = SUB(tail, peak), e = exp4(y);
  total = ADD(total, e);
  // A lane that is empty is -inf, and 0 * -inf is no number.
  weighted = ADD(weighted, MUL(e, wasm_f32x4_max(y, SPLAT(-1e30f))));
  float sum = across(total), log = log1(sum);
  if (entropy) *entropy = log - across(weighted) / sum;
  return top + log;
}

// ---------------------------------------------------------------------------------------------------------------------------
// Training. What the way back needs is kept for each layer; the rest is shared between layers.

typedef struct {
  // Of a layer: x, q k v after turning, what attention gives, x in the middle, relu(h), 1/rms twice, largest score and
  // reciprocal of the sum for each head.
  size_t x, qkv, attended, middle, hidden, inverse1, inverse2, top, share, layer;
  // Shared: x at the end, its 1/rms, logits, and three places of work; scratch.
  size_t last, inverse, logits, log_sum, wide, narrow, gradient, scratch, total;
} Work;

INLINE size_t larger(size_t a, size_t b) { return a > b ? a : b; }

INLINE Work work_of(const Shape *s, size_t t) {
  size_t d = s->width, f = s->ff, n = up8(s->context), hd = d / s->heads, v = s->vocabulary, t4 = (t + 3) & ~(size_t)3;
  Work w;
  w.x = 0;
  w.qkv = w.x + t * d;
  w.attended = w.qkv + t * 3 * d;
  w.middle = w.attended + t * d;
  w.hidden = w.middle + t * d;
  w.inverse1 = w.hidden + t * f;
  w.inverse2 = w.inverse1 + t4;
  w.top = w.inverse2 + t4;
  w.share = w.top + t4 * s->heads;
  w.layer = w.share + t4 * s->heads;
  w.last = w.layer * s->layers;
  w.inverse = w.last + t * d;
  w.log_sum = w.inverse + t4;
  w.logits = w.log_sum + t4;
  w.wide = w.logits + ((t * v + 3) & ~(size_t)3);
  w.narrow = w.wide + t * larger(f, 3 * d);
  w.gradient = w.narrow + t * d;
  w.scratch = w.gradient + t * d;
  // Attention holds two matrices of a head and five packed sides; products hold a packed block or a packed matrix.
  size_t attention = 2 * n * n + 6 * n * hd;
  size_t blocks = OUTER_BLOCK * (larger(larger(f, 3 * d), up8(v)) + 4);
  size_t matrix = d * larger(larger(f, 3 * d), up8(v));
  w.total = w.scratch + larger(larger(attention, blocks), matrix);
  return w;
}

EXPORT(work_count) i32 work_count(const Shape *s, i32 tokens) { return (i32)work_of(s, tokens).total; }

// Attention of one head over one sequence. `qkv` is that of its first token and this head.
static void attend(const Shape *s, const float *qkv, float *out, float *top, float *share, i32 n, float *scratch) {
  size_t d = s->width, hd = d / s->heads, wide = 3 * d, padded = up8(n);
  float *keys = scratch, *values = keys + padded * hd, *scores = values + padded * hd;
  pack_transposed(qkv + d, wide, hd, n, keys);
  pack(qkv + 2 * d, wide, n, hd, values);
  for (i32 i = 0; i < n; i += 4) {
    i32 rows = least(4, n - i), seen = least(i + 4, n);
    const float *q[4];
    for (i32 r = 0; r < 4; r++) q[r] = qkv + (size_t)least(i + r, n - 1) * wide;
    for (i32 j = 0; j < seen; j += 8) {
      Tile t = tile(q[0], q[1], q[2], q[3], 1, keys + (size_t)j * hd, hd);
      for (i32 r = 0; r < 4; r++) put(scores + r * padded + j, t.v[2 * r], t.v[2 * r + 1], 8, PUT);
    }
    float inverse[4];
    for (i32 r = 0; r < rows; r++) {
      float sum;
      soften(scores + r * padded, i + r + 1, &top[i + r], &sum);
      for (size_t j = up8(i + r + 1); j < up8(seen); j++) scores[r * padded + j] = 0.0f;
      inverse[r] = share[i + r] = 1.0f / sum;
    }
    for (size_t j = 0; j < hd; j += 8) {
      Tile t = tile(scores, scores + padded, scores + 2 * padded, scores + 3 * padded, 1, values + j * n, seen);
      for (i32 r = 0; r < rows; r++) {
        v128_t by = SPLAT(inverse[r]);
        put(out + (size_t)(i + r) * d + j, MUL(t.v[2 * r], by), MUL(t.v[2 * r + 1], by), 8, PUT);
      }
    }
  }
}

// The way back of `attend`. `dout` is that of `out`; `dqkv` is written.
static void attend_back(const Shape *s, const float *qkv, const float *out, const float *dout, const float *top,
                        const float *share, float *dqkv, i32 n, float *scratch) {
  size_t d = s->width, hd = d / s->heads, wide = 3 * d, padded = up8(n);
  float *keys = scratch, *key_rows = keys + padded * hd, *values = key_rows + padded * hd;
  float *queries = values + padded * hd, *outs = queries + padded * hd;
  float *weights = outs + padded * hd, *slopes = weights + padded * padded;
  pack_transposed(qkv + d, wide, hd, n, keys);
  pack(qkv + d, wide, n, hd, key_rows);
  pack_transposed(qkv + 2 * d, wide, hd, n, values);
  pack(qkv, wide, n, hd, queries);
  pack(dout, d, n, hd, outs);
  for (i32 i = 0; i < n; i += 4) {
    i32 rows = least(4, n - i), seen = least(i + 4, n);
    const float *q[4], *g[4];
    for (i32 r = 0; r < 4; r++) {
      q[r] = qkv + (size_t)least(i + r, n - 1) * wide;
      g[r] = dout + (size_t)least(i + r, n - 1) * d;
    }
    v128_t delta[4];
    for (i32 r = 0; r < rows; r++) {
      v128_t sum = ZERO;
      for (size_t j = 0; j < hd; j += 4) sum = ADD(sum, MUL(LOAD(g[r] + j), LOAD(out + (size_t)(i + r) * d + j)));
      delta[r] = SPLAT(across(sum));
    }
    for (i32 j = 0; j < seen; j += 8) {
      Tile score = tile(q[0], q[1], q[2], q[3], 1, keys + (size_t)j * hd, hd);
      Tile slope = tile(g[0], g[1], g[2], g[3], 1, values + (size_t)j * hd, hd);
      for (i32 r = 0; r < rows; r++)
        for (i32 half = 0; half < 2; half++) {
          i32 at = j + 4 * half;
          v128_t column = wasm_i32x4_add(wasm_i32x4_splat(at), wasm_i32x4_const(0, 1, 2, 3));
          v128_t known = wasm_i32x4_le(column, wasm_i32x4_splat(i + r));
          v128_t p = MUL(exp4(SUB(score.v[2 * r + half], SPLAT(top[i + r]))), SPLAT(share[i + r]));
          p = wasm_v128_and(p, known);
          float *to = weights + (size_t)(i + r) * padded + at;
          STORE(to, p);
          STORE(to + padded * padded, MUL(p, SUB(slope.v[2 * r + half], delta[r])));
        }
    }
    float *row = slopes + (size_t)i * padded;
    size_t next = rows > 1 ? padded : 0, second = rows > 2 ? padded : 0, third = rows > 3 ? padded : 0;
    for (size_t j = 0; j < hd; j += 8) {
      Tile t = tile(row, row + next, row + next + second, row + next + second + third, 1, key_rows + j * n, seen);
      for (i32 r = 0; r < rows; r++)
        put(dqkv + (size_t)(i + r) * wide + j, t.v[2 * r], t.v[2 * r + 1], 8, PUT);
    }
  }
  // Columns of a block of eight exist in every row from the block's first on.
  for (i32 i = 0; i < n; i += 4) {
    i32 rows = least(4, n - i);
    const float *p = weights + (size_t)i * padded + i, *g = slopes + (size_t)i * padded + i;
    for (size_t j = 0; j < hd; j += 8) {
      Tile dk = tile(g, g + 1, g + 2, g + 3, padded, queries + j * n + (size_t)i * 8, n - i);
      Tile dv = tile(p, p + 1, p + 2, p + 3, padded, outs + j * n + (size_t)i * 8, n - i);
      for (i32 r = 0; r < rows; r++) {
        float *to = dqkv + (size_t)(i + r) * wide + j;
        put(to + d, dk.v[2 * r], dk.v[2 * r + 1], 8, PUT);
        put(to + 2 * d, dv.v[2 * r], dv.v[2 * r + 1], 8, PUT);
      }
    }
  }
}

// Sequences one after the other: sequence i has the tokens starts[i] to starts[i + 1]. `packed` is a copy by `pack_weights`.
// Writes the log-probability of each target and the entropy of the distribution that it is of.
EXPORT(forward)
void forward(const Shape *s, const float *packed, const i32 *starts, i32 sequences, const i32 *tokens, const i32 *targets,
             float *work, float *logprobs, float *entropies) {
  i32 t = starts[sequences], d = s->width, f = s->ff, hd = d / s->heads, v = s->vocabulary;
  Places p = packed_places(s);
  Work w = work_of(s, t);
  float *scratch = work + w.scratch, *narrow = work + w.narrow, *wide = work + w.wide;
  float *x = work + w.x;
  for (i32 i = 0; i < t; i++)
    __builtin_memcpy(x + (size_t)i * d, packed + p.embedding + (size_t)tokens[i] * d, d * sizeof(float));
  for (i32 layer = 0; layer < s->layers; layer++) {
    float *kept = work + w.layer * layer;
    const float *at = packed + p.layers + p.layer * layer;
    float *next = layer + 1 < s->layers ? kept + w.layer + w.x : work + w.last;
    float *qkv = kept + w.qkv, *middle = kept + w.middle;
    norm(kept + w.x, at + p.norm1, narrow, kept + w.inverse1, t, d);
    product(narrow, d, at + p.qkv, qkv, 3 * d, t, 3 * d, d);
    float scale = query_scale(s);
    for (i32 q = 0; q < sequences; q++) {
      i32 from = starts[q], n = starts[q + 1] - from;
      for (i32 i = 0; i < n; i++) {
        float *row = qkv + (size_t)(from + i) * 3 * d;
        rotate(row, s, i, 1.0f, scale);
        rotate(row + d, s, i, 1.0f, 1.0f);
      }
      for (i32 h = 0; h < s->heads; h++)
        attend(s, qkv + (size_t)from * 3 * d + h * hd, kept + w.attended + (size_t)from * d + h * hd,
               kept + w.top + (size_t)h * t + from, kept + w.share + (size_t)h * t + from, n, scratch);
    }
    __builtin_memcpy(middle, kept + w.x, (size_t)t * d * sizeof(float));
    product_plus(kept + w.attended, d, at + p.out, middle, d, t, d, d);
    norm(middle, at + p.norm2, narrow, kept + w.inverse2, t, d);
    float *hidden = kept + w.hidden;
    product_relu(narrow, d, at + p.up, hidden, f, t, f, d);
    for (size_t i = 0; i < (size_t)t * f; i += 4) STORE(wide + i, MUL(LOAD(hidden + i), LOAD(hidden + i)));
    __builtin_memcpy(next, middle, (size_t)t * d * sizeof(float));
    product_plus(wide, f, at + p.down, next, d, t, d, f);
  }
  float *logits = work + w.logits, *log_sum = work + w.log_sum;
  norm(work + w.last, packed + p.norm, narrow, work + w.inverse, t, d);
  product(narrow, d, packed + p.head, logits, v, t, v, d);
  for (i32 i = 0; i < t; i++) {
    log_sum[i] = log_sum_exp(logits + (size_t)i * v, v, entropies + i);
    logprobs[i] = logits[(size_t)i * v + targets[i]] - log_sum[i];
  }
}

// After `forward` with the same work: adds to `gradient`, which is laid out as the parameters, what dLoss/dlogprob of each
// target gives. The logits are written over.
EXPORT(backward)
void backward(const Shape *s, const float *weights, const i32 *starts, i32 sequences, const i32 *tokens, const i32 *targets,
              float *work, const float *dlogprobs, float *gradient) {
  i32 t = starts[sequences], d = s->width, f = s->ff, hd = d / s->heads, v = s->vocabulary;
  Places p = places(s);
  Work w = work_of(s, t);
  float *scratch = work + w.scratch, *narrow = work + w.narrow, *wide = work + w.wide, *dx = work + w.gradient;
  float *logits = work + w.logits, *log_sum = work + w.log_sum;
  for (i32 i = 0; i < t; i++) {
    float *row = logits + (size_t)i * v;
    float g = -dlogprobs[i];
    v128_t by = SPLAT(g), off = SPLAT(log_sum[i]);
    i32 j = 0;
    for (; j + 4 <= v; j += 4) STORE(row + j, MUL(exp4(SUB(LOAD(row + j), off)), by));
    for (; j < v; j++) row[j] = wasm_f32x4_extract_lane(exp4(SPLAT(row[j] - log_sum[i])), 0) * g;
    row[targets[i]] -= g;
  }
  norm_again(work + w.last, weights + p.norm, work + w.inverse, narrow, t, d);
  outer(narrow, d, logits, v, gradient + p.head, d, v, t, scratch);
  pack_transposed(weights + p.head, v, v, d, scratch);
  product(logits, v, scratch, narrow, d, t, d, v);
  norm_back(work + w.last, weights + p.norm, work + w.inverse, narrow, dx, gradient + p.norm, t, d, 0);
  for (i32 layer = s->layers - 1; layer >= 0; layer--) {
    float *kept = work + w.layer * layer;
    const float *at = weights + p.layers + p.layer * layer;
    float *to = gradient + p.layers + p.layer * layer;
    float *hidden = kept + w.hidden, *qkv = kept + w.qkv;
    // Feed-forward.
    for (size_t i = 0; i < (size_t)t * f; i += 4) STORE(wide + i, MUL(LOAD(hidden + i), LOAD(hidden + i)));
    outer(wide, f, dx, d, to + p.down, f, d, t, scratch);
    pack_transposed(at + p.down, d, d, f, scratch);
    product(dx, d, scratch, wide, f, t, f, d);
    v128_t two = SPLAT(2.0f);
    for (size_t i = 0; i < (size_t)t * f; i += 4)
      STORE(wide + i, MUL(LOAD(wide + i), MUL(two, LOAD(hidden + i))));
    norm_again(kept + w.middle, at + p.norm2, kept + w.inverse2, narrow, t, d);
    outer(narrow, d, wide, f, to + p.up, d, f, t, scratch);
    pack_transposed(at + p.up, f, f, d, scratch);
    product(wide, f, scratch, narrow, d, t, d, f);
    norm_back(kept + w.middle, at + p.norm2, kept + w.inverse2, narrow, dx, to + p.norm2, t, d, 1);
    // Attention.
    outer(kept + w.attended, d, dx, d, to + p.out, d, d, t, scratch);
    pack_transposed(at + p.out, d, d, d, scratch);
    product(dx, d, scratch, narrow, d, t, d, d);
    float scale = query_scale(s);
    for (i32 q = 0; q < sequences; q++) {
      i32 from = starts[q], n = starts[q + 1] - from;
      for (i32 h = 0; h < s->heads; h++)
        attend_back(s, qkv + (size_t)from * 3 * d + h * hd, kept + w.attended + (size_t)from * d + h * hd,
                    narrow + (size_t)from * d + h * hd, kept + w.top + (size_t)h * t + from,
                    kept + w.share + (size_t)h * t + from, wide + (size_t)from * 3 * d + h * hd, n, scratch);
      for (i32 i = 0; i < n; i++) {
        float *row = wide + (size_t)(from + i) * 3 * d;
        rotate(row, s, i, -1.0f, scale);
        rotate(row + d, s, i, -1.0f, 1.0f);
      }
    }
    norm_again(kept + w.x, at + p.norm1, kept + w.inverse1, narrow, t, d);
    outer(narrow, d, wide, 3 * d, to + p.qkv, d, 3 * d, t, scratch);
    pack_transposed(at + p.qkv, 3 * d, 3 * d, d, scratch);
    product(wide, 3 * d, scratch, narrow, d, t, d, 3 * d);
    norm_back(kept + w.x, at + p.norm1, kept + w.inverse1, narrow, dx, to + p.norm1, t, d, 1);
  }
  for (i32 i = 0; i < t; i++) {
    float *to = gradient + p.embedding + (size_t)tokens[i] * d;
    for (i32 j = 0; j < d; j += 4) STORE(to + j, ADD(LOAD(to + j), LOAD(dx + (size_t)i * d + j)));
  }
}

// ---------------------------------------------------------------------------------------------------------------------------
// Optimiser, over a range of the parameters; ranges are shared out between threads. They begin at a multiple of four.

// Sums gradients into the first of them, and gives the sum of the squares of what comes out.
EXPORT(sum_gradients) double sum_gradients(float *const *gradients, i32 count, i32 from, i32 to) {
  float *sum = gradients[0];
  v128_t low = wasm_f64x2_const(0, 0), high = low;
  i32 i = from;
  for (; i + 4 <= to; i += 4) {
    v128_t g = LOAD(sum + i);
    for (i32 k = 1; k < count; k++) g = ADD(g, LOAD(gradients[k] + i));
    STORE(sum + i, g);
    v128_t a = wasm_f64x2_promote_low_f32x4(g), b = wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(g, g, 2, 3, 0, 1));
    low = wasm_f64x2_add(low, wasm_f64x2_mul(a, a));
    high = wasm_f64x2_add(high, wasm_f64x2_mul(b, b));
  }
  v128_t both = wasm_f64x2_add(low, high);
  double squares = wasm_f64x2_extract_lane(both, 0) + wasm_f64x2_extract_lane(both, 1);
  for (; i < to; i++) {
    float g = sum[i];
    for (i32 k = 1; k < count; k++) g += gradients[k][i];
    sum[i] = g;
    squares += (double)g * (double)g;
  }
  return squares;
}

// AdamW (Loshchilov and Hutter, arXiv 1711.05101). `correct1` and `correct2` are 1 / (1 - beta^step); `decay` is the share of the
// rate by which weights shrink; `clip` is what the gradient is scaled by.
EXPORT(adamw)
void adamw(float *restrict weights, float *restrict m, float *restrict v, const float *restrict gradient, i32 from, i32 to,
           float rate, float beta1, float beta2, float eps, float decay, float clip, float correct1, float correct2) {
  float shrink = 1.0f - rate * decay;
  for (i32 i = from; i < to; i++) {
    float g = gradient[i] * clip;
    float first = m[i] = beta1 * m[i] + (1.0f - beta1) * g;
    float second = v[i] = beta2 * v[i] + (1.0f - beta2) * g * g;
    weights[i] = weights[i] * shrink - rate * (first * correct1) / (__builtin_sqrtf(second * correct2) + eps);
  }
}

// ---------------------------------------------------------------------------------------------------------------------------
// Decoding. A slot keeps, for each layer, first the keys and then the values, in panels of eight positions: keys of a panel are
// [heads][headWidth][8], values [heads][8][headWidth]. Panels are gone through once, from the first to the last, all heads of
// one together: with many sequences the cache is far larger than what the processor keeps close, and is streamed.

INLINE size_t slot_keys(const Shape *s) { return up8(s->context) * (size_t)s->width; }
INLINE size_t slot_layer(const Shape *s) { return 2 * slot_keys(s); }

EXPORT(slot_count) i32 slot_count(const Shape *s) { return (i32)(slot_layer(s) * s->layers); }

EXPORT(decode_work_count) i32 decode_work_count(const Shape *s, i32 rows) {
  size_t d = s->width;
  return (i32)(rows * (3 * d + larger(s->ff, 3 * d)) + up8(s->context) * s->heads);
}

// Keeps the key and the value of a position.
INLINE void keep(const Shape *s, const float *key, const float *value, float *layer, i32 position) {
  size_t d = s->width, hd = d / s->heads, panel = (size_t)(position >> 3) * 8 * d;
  float *keys = layer + panel + (position & 7), *values = layer + slot_keys(s) + panel + (position & 7) * hd;
  for (size_t j = 0; j < d; j++) keys[8 * j] = key[j];
  for (size_t j = 0; j < d; j += hd, values += 8 * hd)
    for (size_t i = 0; i < hd; i += 4) STORE(values + i, LOAD(value + j + i));
}

// Adds the values of up to eight positions by weight, in their order, for `columns` columns of a head.
INLINE void mix(const float *weights, const float *values, size_t hd, i32 rows, float *out, const int columns) {
  v128_t c[8];
  for (int j = 0; j < columns / 4; j++) c[j] = LOAD(out + 4 * j);
  for (i32 i = 0; i < rows; i++, values += hd) {
    v128_t p = wasm_v128_load32_splat(weights + i);
    for (int j = 0; j < columns / 4; j++) c[j] = ADD(c[j], MUL(p, LOAD(values + 4 * j)));
  }
  for (int j = 0; j < columns / 4; j++) STORE(out + 4 * j, c[j]);
}

// Attention of a row over the positions 0 to `position` of its slot, in the order of `attend`. `scores` has room for a context of
// each head.
static void attend_row(const Shape *s, const float *q, const float *layer, i32 position, float *out, float *scores) {
  size_t d = s->width, hd = d / s->heads, room = up8(s->context);
  i32 n = position + 1;
  const float *keys = layer, *values = layer + slot_keys(s);
  for (i32 j = 0; j < n; j += 8)
    for (i32 h = 0; h < s->heads; h++, keys += 8 * hd) {
      v128_t v0, v1;
      tile_row(q + h * hd, keys, hd, &v0, &v1);
      STORE(scores + h * room + j, v0);
      STORE(scores + h * room + j + 4, v1);
    }
  float shares[64];
  for (i32 h = 0; h < s->heads; h++) {
    float top, sum;
    soften(scores + h * room, n, &top, &sum);
    shares[h] = 1.0f / sum;
  }
  for (size_t j = 0; j < d; j += 4) STORE(out + j, ZERO);
  for (i32 i = 0; i < n; i += 8)
    for (i32 h = 0; h < s->heads; h++, values += 8 * hd) {
      const float *weights = scores + h * room + i;
      float *to = out + h * hd;
      size_t j = 0;
      for (; j + 32 <= hd; j += 32) mix(weights, values + j, hd, least(8, n - i), to + j, 32);
      for (; j + 16 <= hd; j += 16) mix(weights, values + j, hd, least(8, n - i), to + j, 16);
      for (; j < hd; j += 8) mix(weights, values + j, hd, least(8, n - i), to + j, 8);
    }
  for (i32 h = 0; h < s->heads; h++)
    for (size_t j = h * hd; j < (h + 1) * hd; j += 4) STORE(out + j, MUL(LOAD(out + j), SPLAT(shares[h])));
}

// Rows (slot, position, token) become logits of the wanted ones, one after the other, with the log of the sum of the
// exponentials of each. Gives how many those are. Rows of a slot stand in the order of their positions.
EXPORT(decode)
i32 decode(const Shape *s, const float *packed, float *cache, i32 count, const i32 *slots, const i32 *positions,
           const i32 *tokens, const i32 *wanted, float *work, float *logits, float *log_sum) {
  i32 d = s->width, f = s->ff, v = s->vocabulary;
  size_t slot = slot_layer(s) * s->layers;
  Places p = packed_places(s);
  float *x = work, *narrow = x + (size_t)count * d, *attended = narrow + (size_t)count * d;
  float *scores = attended + (size_t)count * d, *wide = scores + up8(s->context) * s->heads;
  for (i32 i = 0; i < count; i++)
    __builtin_memcpy(x + (size_t)i * d, packed + p.embedding + (size_t)tokens[i] * d, d * sizeof(float));
  float scale = query_scale(s);
  for (i32 layer = 0; layer < s->layers; layer++) {
    const float *at = packed + p.layers + p.layer * layer;
    for (i32 i = 0; i < count; i++) norm_row(x + (size_t)i * d, at + p.norm1, narrow + (size_t)i * d, d);
    product(narrow, d, at + p.qkv, wide, 3 * d, count, 3 * d, d);
    for (i32 i = 0; i < count; i++) {
      float *row = wide + (size_t)i * 3 * d;
      rotate(row, s, positions[i], 1.0f, scale);
      rotate(row + d, s, positions[i], 1.0f, 1.0f);
      keep(s, row + d, row + 2 * d, cache + slot * slots[i] + slot_layer(s) * layer, positions[i]);
    }
    for (i32 i = 0; i < count; i++)
      attend_row(s, wide + (size_t)i * 3 * d, cache + slot * slots[i] + slot_layer(s) * layer, positions[i],
                 attended + (size_t)i * d, scores);
    product_plus(attended, d, at + p.out, x, d, count, d, d);
    for (i32 i = 0; i < count; i++) norm_row(x + (size_t)i * d, at + p.norm2, narrow + (size_t)i * d, d);
    product_relu(narrow, d, at + p.up, wide, f, count, f, d);
    for (size_t i = 0; i < (size_t)count * f; i += 4) STORE(wide + i, MUL(LOAD(wide + i), LOAD(wide + i)));
    product_plus(wide, f, at + p.down, x, d, count, d, f);
  }
  i32 rows = 0;
  for (i32 i = 0; i < count; i++)
    if (wanted[i]) norm_row(x + (size_t)i * d, packed + p.norm, narrow + (size_t)rows++ * d, d);
  product(narrow, d, packed + p.head, logits, v, rows, v, d);
  for (i32 i = 0; i < rows; i++) log_sum[i] = log_sum_exp(logits + (size_t)i * v, v, NULL);
  return rows;
}

// Copies what a slot keeps of its first positions to another.
EXPORT(copy_slot) void copy_slot(const Shape *s, float *cache, i32 from, i32 to, i32 positions) {
  size_t half = slot_keys(s), used = up8(positions) * (size_t)s->width;
  float *a = cache + half * 2 * s->layers * from, *b = cache + half * 2 * s->layers * to;
  for (i32 part = 0; part < 2 * s->layers; part++, a += half, b += half) __builtin_memcpy(b, a, used * sizeof(float));
}
