//@ piece device
/* The device of a region. */
static const mrvl_device* K_device_of(const K_device* device, size_t region) {
  return K_DEVICE_AT(device, K_regions[region].device);
}

/* What the tables of devices must be, before one of their functions is called. */
static int K_check_device(const K_device* device, K_error* error) {
  for (size_t i = 0; i < K_DEVICE_COUNT; ++i) {
    const mrvl_device* const d = device ? K_DEVICE_AT(device, i) : NULL;
    if (!d) return K_fail(error, K_ERROR_ARGUMENT, 0, 0u, "");
    if (d->version != MRVL_DEVICE_VERSION || !MRVL_DEVICE_HAS(d, run))
      return K_fail(error, K_ERROR_VERSION, 0, 0u, "");
  }
  return 0;
}

/* Whether the handle of a region is that of this stub's binary, as far as the device can tell. */
// The CPU needs none.
static int K_check_model(const K_device* device, size_t region, K_error* error) {
  const mrvl_device* const d = K_device_of(device, region);
  const K_region* const r = &K_regions[region];
  const unsigned char* identity;
  if (!d->run) return K_fail(error, K_ERROR_ARGUMENT, 0, 0u, "");
  if (!device->models[region])
    return K_CPU_ON_ERROR ? 0 : K_fail(error, K_ERROR_ARGUMENT, 0, r->expr_id, r->node);
  if (!MRVL_DEVICE_HAS(d, identity) || !d->identity) return 0;
  identity = d->identity(d->context, device->models[region]);
  if (identity && memcmp(identity, r->identity, sizeof r->identity) == 0) return 0;
  return K_fail(error, K_ERROR_BINARY, 0, r->expr_id, r->node);
}

static int K_check_models(const K_device* device, K_error* error) {
  int rc = K_check_device(device, error);
  for (size_t i = 0; i < K_REGION_COUNT && rc == 0; ++i) rc = K_check_model(device, i, error);
  return rc;
}

/* Of one inference: flags that regions raised, and the first region that did; what the conversion of the next
 * region's inputs raised; runs of the device that failed, and the first of them. */
typedef struct K_run_state {
  uint32_t flags, converted;
  size_t region;
  uint32_t failures, retries, cpu_regions;
  K_error first;
  const char* input; /* the first one that lies beyond what was tried, or NULL */
  /* Of K_submit: the run that the next region's device has been given, and what it, or the driver, said. */
  void* ticket;
  int begun, begun_rc;
} K_run_state;

/* Flags of the last run of a region, and of its inputs. */
static uint32_t K_take_flags(const K_device* device, size_t region, K_run_state* state) {
  const mrvl_device* const d = K_device_of(device, region);
  uint32_t flags = state->converted;
  state->converted = 0;
  if (MRVL_DEVICE_HAS(d, flags) && d->flags) flags |= d->flags(d->context, device->models[region]);
  return flags;
}

static void K_keep_flags(uint32_t flags, size_t region, K_run_state* state) {
  if (flags != 0 && state->flags == 0) state->region = region;
  state->flags |= flags;
}

/* The end of a run: `code` when flags were raised, with the input that lies beyond what was tried, or the
 * region that raised them first; else with the first failure that the run got over. */
static int K_end(K_error* error, int code, const K_run_state* state) {
  const K_region* const r = &K_regions[state->region];
  const int beyond = state->input && !K_CPU_ON_OVERFLOW;
  const uint32_t flags = state->flags | (beyond ? MRVL_FLAG_INPUT : 0u);
  if (beyond) {
    K_fail(error, code, 0, 0u, state->input);
  } else if (flags != 0) {
    K_fail(error, code, 0, r->expr_id, r->node);
  } else {
    code = K_fail(error, 0, 0, 0u, "");
    if (error && state->failures > 0) *error = state->first;
  }
  if (!error) return code;
  error->code = code;
  error->device_flags = flags;
  error->retries = state->retries;
  error->cpu_regions = state->cpu_regions;
  return code;
}

/* The device failed in a region: the layer and its operator, where the device says at which instruction. */
static int K_fail_run(const K_device* device, size_t region, int device_code, K_error* error) {
  const mrvl_device* const d = K_device_of(device, region);
  const K_region* const r = &K_regions[region];
  const int code = K_fail(error, K_ERROR_DEVICE, device_code, r->expr_id, r->node);
  uint32_t at = MRVL_NO_INSTRUCTION;
  if (!error) return code;
  error->region = (int32_t)region;
  if (device->models[region] && MRVL_DEVICE_HAS(d, failed_at) && d->failed_at)
    at = d->failed_at(d->context, device->models[region]);
  for (uint32_t i = 0, begin = 0; i < r->span_count; begin = r->spans[i].end, ++i) {
    if (at < begin || at >= r->spans[i].end) continue;
    error->layer = (int32_t)r->spans[i].layer;
    error->expr_id = r->spans[i].expr_id;
    error->node = r->spans[i].node;
  }
  return code;
}

/* The last byte of an output is `mark` before the device runs: a value that real results have rarely. */
// Where it still is behind it, the device has perhaps ended too early.
enum { K_FIRST_MARK = 0xf5 };
static void K_mark(const mrvl_output* out, size_t count, unsigned char mark) {
  for (size_t i = 0; i < count; ++i)
    if (out[i].bytes > 0) ((unsigned char*)out[i].data)[out[i].bytes - 1] = mark;
}

static int K_has_mark(const mrvl_output* out, size_t count, unsigned char mark) {
  for (size_t i = 0; i < count; ++i)
    if (out[i].bytes > 0 && ((const unsigned char*)out[i].data)[out[i].bytes - 1] == mark) return 1;
  return 0;
}

/* One call of the device, for a run that was not begun before. */
static int K_call(const mrvl_device* d, void* model, const mrvl_input* in, size_t in_count,
    const mrvl_output* out, size_t out_count, unsigned char mark, K_run_state* state) {
  if (state->begun) {
    state->begun = 0;
    return state->begun_rc;
  }
  K_mark(out, out_count, mark);
  return d->run(d->context, model, in, in_count, out, out_count);
}

/* One run of the device: 0, or its code. */
// MRVL_DEVICE_SHORT when it ends well and has not written all: by its own count, or since bytes stay as
// they were, whatever they were.
static int K_attempt(const K_device* device, size_t region, const mrvl_input* in, size_t in_count,
    const mrvl_output* out, size_t out_count, K_run_state* state) {
  const mrvl_device* const d = K_device_of(device, region);
  void* const model = device->models[region];
  unsigned char mark = K_FIRST_MARK;
  int rc = 0;
  if (!model) return MRVL_DEVICE_ABSENT;
  for (int times = 0; rc == 0 && times < 2; ++times, mark = (unsigned char)~mark) {
    rc = K_call(d, model, in, in_count, out, out_count, mark, state);
    if (rc == 0 && MRVL_DEVICE_HAS(d, written) && d->written) {
      for (size_t i = 0; i < out_count; ++i)
        if (d->written(d->context, model, i) < out[i].bytes) return MRVL_DEVICE_SHORT;
    }
    if (rc == 0 && !K_has_mark(out, out_count, mark)) return 0;
  }
  return rc != 0 ? rc : MRVL_DEVICE_SHORT;
}

/* Runs a region. 0: its outputs are there. K_ON_CPU: the CPU has to compute it. Else the code of the end. */
static int K_run_region(const K_device* device, size_t region, const mrvl_input* in, size_t in_count,
    const mrvl_output* out, size_t out_count, K_run_state* state, K_error* error) {
  int device_rc = 0;
  uint32_t flags;
  if (K_CPU_ON_OVERFLOW && state->input) {
    if (state->failures++ == 0) K_fail(&state->first, K_ERROR_OVERFLOW, 0, 0u, state->input);
    state->converted = 0;
    ++state->cpu_regions;
    return K_ON_CPU;
  }
  for (int left = K_RETRIES;; --left) {
    device_rc = K_attempt(device, region, in, in_count, out, out_count, state);
    if (device_rc == 0) break;
    if (state->failures++ == 0) K_fail_run(device, region, device_rc, &state->first);
    if (left == 0 || device_rc == MRVL_DEVICE_ABSENT) break;
    ++state->retries;
  }
  if (device_rc != 0 && !K_CPU_ON_ERROR) {
    K_fail_run(device, region, device_rc, error);
    if (error) error->retries = state->retries;
    return K_ERROR_DEVICE;
  }
  flags = device_rc == 0 ? K_take_flags(device, region, state) : 0u;
  if (K_CPU_ON_OVERFLOW && flags != 0 && state->failures++ == 0) {
    K_fail(&state->first, K_ERROR_OVERFLOW, 0, K_regions[region].expr_id, K_regions[region].node);
    state->first.region = (int32_t)region;
  }
  if (device_rc != 0 || (K_CPU_ON_OVERFLOW && flags != 0)) {
    state->converted = 0;
    ++state->cpu_regions;
    return K_ON_CPU;
  }
  K_keep_flags(flags, region, state);
  return K_STOP_ON_OVERFLOW && flags != 0 ? K_end(error, K_ERROR_OVERFLOW, state) : 0;
}

/* When the instructions of a span ran: 0, and the layer's times are widened by it. */
static int K_widen(const K_device* device, uint32_t from, uint32_t to, mrvl_layer* layer) {
  const mrvl_device* const d = K_device_of(device, layer->region);
  for (uint32_t i = from; i < to; ++i) {
    uint64_t begin = 0, end = 0;
    const int rc = d->ran(d->context, device->models[layer->region], i, &begin, &end);
    if (rc != 0) return rc;
    if (begin < layer->begin) layer->begin = begin;
    if (end > layer->end) layer->end = end;
  }
  return 0;
}

int K_layers(const K_device* device, int region, mrvl_layer_hook hook, void* user) {
  if (K_check_device(device, NULL) != 0 || region < 0 || region >= K_REGION_COUNT || !hook) return 0;
  const mrvl_device* const d = K_device_of(device, (size_t)region);
  if (!MRVL_DEVICE_HAS(d, ran) || !d->ran || !device->models[region]) return 0;
  const K_region* const r = &K_regions[region];
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->span_count; ++i)
    if (r->spans[i].layer >= count) count = r->spans[i].layer + 1u;
  int told = 0;
  for (uint32_t l = 0; l < count; ++l) {
    mrvl_layer layer = {(uint32_t)region, l, 0u, NULL, UINT64_MAX, 0u};
    for (uint32_t i = 0, begin = 0; i < r->span_count; begin = r->spans[i].end, ++i) {
      if (r->spans[i].layer != l) continue;
      if (!layer.node) layer.expr_id = r->spans[i].expr_id, layer.node = r->spans[i].node;
      if (K_widen(device, begin, r->spans[i].end, &layer) != 0) return told;
    }
    if (!layer.node) continue;
    hook(user, &layer);
    ++told;
  }
  return told;
}

static uint32_t K_number(const unsigned char* at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

#ifndef MRVL_NO_HASH
/* SHA-256 (FIPS 180-4). */
static uint32_t K_turned(uint32_t x, int by) {
  return x >> by | x << (32 - by);
}

static void K_hash_block(uint32_t* h, const unsigned char* block) {
  static const uint32_t k[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
      0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
      0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
      0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb,
      0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624,
      0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
      0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb,
      0xbef9a3f7, 0xc67178f2};
  uint32_t w[64], s[8];
  for (int t = 0; t < 16; ++t)
    w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
           (uint32_t)block[4 * t + 3];
  for (int t = 16; t < 64; ++t)
    w[t] = (K_turned(w[t - 2], 17) ^ K_turned(w[t - 2], 19) ^ w[t - 2] >> 10) + w[t - 7] +
           (K_turned(w[t - 15], 7) ^ K_turned(w[t - 15], 18) ^ w[t - 15] >> 3) + w[t - 16];
  memcpy(s, h, sizeof s);
  for (int t = 0; t < 64; ++t) {
    const uint32_t a = s[7] + (K_turned(s[4], 6) ^ K_turned(s[4], 11) ^ K_turned(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[t] + w[t];
    const uint32_t b = (K_turned(s[0], 2) ^ K_turned(s[0], 13) ^ K_turned(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += a;
    s[0] = a + b;
  }
  for (int i = 0; i < 8; ++i) h[i] += s[i];
}

/* Whether they are bytes with this hash. */
static int K_has_hash(const unsigned char* p, size_t bytes, const unsigned char* hash) {
  uint32_t h[8] = {
      0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint64_t bits = (uint64_t)bytes * 8;
  unsigned char last[128] = {0};
  size_t rest = bytes % 64, end;
  for (size_t i = 0; i + 64 <= bytes; i += 64) K_hash_block(h, p + i);
  memcpy(last, p + (bytes - rest), rest);
  last[rest] = 0x80;
  end = rest < 56 ? 64 : 128;
  for (int i = 0; i < 8; ++i) last[end - 1 - (size_t)i] = (unsigned char)(bits >> 8 * i);
  for (size_t i = 0; i < end; i += 64) K_hash_block(h, last + i);
  for (int i = 0; i < 32; ++i)
    if (hash[i] != (unsigned char)(h[i / 4] >> (24 - i % 4 * 8))) return 0;
  return 1;
}
#define K_HAS_HASH(binary, bytes, from, hash) K_has_hash((binary) + (from), (bytes) - (from), hash)
#else
#define K_HAS_HASH(binary, bytes, from, hash) 1
#endif

/* The fields of the binary's metadata: identity, ports, bytes of all inputs and of all outputs; and, unless
 * MRVL_NO_HASH is defined, whether the identity is that of what follows. */
static int K_is_own(const K_region* r, const unsigned char* binary, size_t bytes) {
  if (bytes < MRVL_IDENTITY_OFFSET + sizeof r->identity ||
      memcmp(binary + MRVL_IDENTITY_OFFSET, r->identity, sizeof r->identity) != 0)
    return 0;
  if (memcmp(binary, "MRVP", 4) == 0) /* of a plug-in: its identity is of the ports, too */
    return K_HAS_HASH(binary, bytes, MRVL_IDENTITY_OFFSET + MRVL_IDENTITY_BYTES, r->identity);
  if (bytes < 8192 || memcmp(binary, "MRVL", 4) != 0 || binary[345] != r->inputs || binary[346] != r->outputs)
    return 0;
  if (r->input_bytes == 0 && r->output_bytes == 0) return 1; /* made by another compiler */
  return K_number(binary + 348) == r->input_bytes && K_number(binary + 352) == r->output_bytes &&
         K_HAS_HASH(binary, bytes, 256, r->identity);
}

int K_load(K_device* device, int region, const void* binary, size_t bytes, K_error* error) {
  int rc = K_check_device(device, error);
  if (rc != 0) return rc;
  if (region < 0 || region >= K_REGION_COUNT || !binary) return K_fail(error, K_ERROR_ARGUMENT, 0, 0u, "");
  const mrvl_device* const d = K_device_of(device, (size_t)region);
  if (!d->load) return K_fail(error, K_ERROR_ARGUMENT, 0, 0u, "");
  const K_region* const r = &K_regions[region];
  void *model = NULL, *const before = device->models[region];
  if (!K_is_own(r, (const unsigned char*)binary, bytes))
    return K_fail(error, K_ERROR_BINARY, 0, r->expr_id, r->node);
  const int device_rc = d->load(d->context, binary, bytes, &model);
  if (device_rc != 0) return K_fail(error, K_ERROR_DEVICE, device_rc, r->expr_id, r->node);
  device->models[region] = model;
  if (before && d->unload) d->unload(d->context, before);
  return K_fail(error, 0, 0, 0u, "");
}

int K_limit_time(const K_device* device, uint64_t microseconds, K_error* error) {
  int rc = K_check_device(device, error);
  if (rc != 0) return rc;
  for (size_t i = 0; i < K_REGION_COUNT; ++i) {
    const K_region* const r = &K_regions[i];
    const mrvl_device* const d = K_device_of(device, i);
    if (!device->models[i]) continue;
    if (!MRVL_DEVICE_HAS(d, limit_time) || !d->limit_time)
      return K_fail(error, K_ERROR_DEVICE, 0, r->expr_id, r->node);
    rc = d->limit_time(d->context, device->models[i], microseconds);
    if (rc != 0) return K_fail(error, K_ERROR_DEVICE, rc, r->expr_id, r->node);
  }
  return K_fail(error, 0, 0, 0u, "");
}

void K_unload(K_device* device) {
  if (K_check_device(device, NULL) != 0) return;
  for (size_t i = 0; i < K_REGION_COUNT; ++i) {
    const mrvl_device* const d = K_device_of(device, i);
    if (device->models[i] && d->unload) d->unload(d->context, device->models[i]);
    device->models[i] = NULL;
  }
}

//@ piece device_flight
/* Hands a region to the device, where its driver can, and the CPU is not to compute it anyway. */
// What fails here is told, and got over, by K_run_region.
static void K_begin_region(const K_device* device, size_t region, const mrvl_input* in, size_t in_count,
    const mrvl_output* out, size_t out_count, K_run_state* state) {
  const mrvl_device* const d = K_device_of(device, region);
  void* const model = device->models[region];
  if (K_CPU_ON_OVERFLOW && state->input) return;
  if (!model || !MRVL_DEVICE_HAS(d, wait) || !d->submit || !d->wait) return;
  K_mark(out, out_count, K_FIRST_MARK);
  state->begun_rc = d->submit(d->context, model, in, in_count, out, out_count, &state->ticket);
  state->begun = 1;
}

/* Waits for it: its ports are the driver's until then. */
static void K_await_region(const K_device* device, size_t region, K_run_state* state) {
  const mrvl_device* const d = K_device_of(device, region);
  if (!state->begun || state->begun_rc != 0 || !device->models[region]) return;
  state->begun_rc = d->wait(d->context, device->models[region], state->ticket);
}

typedef char K_flight_holds_state[sizeof(K_run_state) <= sizeof(((K_flight*)0)->state) ? 1 : -1];

//@ piece input_limits
/* Whether an element is less or more than what was tried. NaN is neither: it is found where it gets. */
static int K_beyond(const float* x, size_t count, float least, float most) {
  uint32_t beyond = 0u;
  for (size_t i = 0; i < count; ++i) beyond |= (uint32_t)(x[i] < least) | (uint32_t)(x[i] > most);
  return beyond != 0u;
}

//@ piece input_smallest
/* Whether all elements are smaller than what was tried, but for an input of zeros where that was well. */
static int K_small(const float* x, size_t count, float smallest, int zero) {
  uint32_t some = 0u;
  for (size_t i = 0; i < count; ++i) {
    if (x[i] >= smallest || x[i] <= -smallest) return 0;
    some |= (uint32_t)(x[i] < 0.0f) | (uint32_t)(x[i] > 0.0f);
  }
  return count > 0 && (some != 0u || !zero);
}

//@ piece input_smallest_half
static int K_small_half(const uint16_t* x, size_t count, int32_t smallest, int zero) {
  uint32_t some = 0u;
  for (size_t i = 0; i < count; ++i) {
    const int32_t size = x[i] & 0x7fff;
    if (size >= smallest && size <= 0x7c00) return 0;
    some |= (uint32_t)(size > 0) & (uint32_t)(size <= 0x7c00);
  }
  return count > 0 && (some != 0u || !zero);
}

//@ piece input_limits_half
/* The same of fp16: without their sign bit, and negated where it is set, its bits are in the order of
 * numbers. */
static int K_beyond_half(const uint16_t* x, size_t count, int32_t least, int32_t most) {
  uint32_t beyond = 0u;
  for (size_t i = 0; i < count; ++i) {
    const int32_t size = x[i] & 0x7fff, v = x[i] & 0x8000 ? -size : size;
    beyond |= ((uint32_t)(v < least) | (uint32_t)(v > most)) & (uint32_t)(size <= 0x7c00);
  }
  return beyond != 0u;
}
