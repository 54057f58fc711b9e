//@ piece device
/* What the table of a device must be, before one of its functions is called. */
static int K_check_device(const K_device* device, K_error* error) {
  if (!device || !device->device) return K_fail(error, K_ERROR_ARGUMENT, 0, 0u, "");
  if (device->device->version != MRVL_DEVICE_VERSION || !MRVL_DEVICE_HAS(device->device, run))
    return K_fail(error, K_ERROR_VERSION, 0, 0u, "");
  return 0;
}

/* Whether the handle of a region is that of this stub's binary, as far as the device can tell. */
static int K_check_model(const K_device* device, size_t region, K_error* error) {
  const mrvl_device* const d = device->device;
  const K_region* const r = &K_regions[region];
  const unsigned char* identity;
  if (!device->models[region]) return K_fail(error, K_ERROR_ARGUMENT, 0, r->expr_id, r->node);
  if (!MRVL_DEVICE_HAS(d, identity) || !d->identity) return 0;
  identity = d->identity(d->context, device->models[region]);
  if (identity && memcmp(identity, r->identity, sizeof r->identity) == 0) return 0;
  return K_fail(error, K_ERROR_BINARY, 0, r->expr_id, r->node);
}

static int K_check_models(const K_device* device, K_error* error) {
  int rc = K_check_device(device, error);
  if (rc == 0 && !device->device->run) rc = K_fail(error, K_ERROR_ARGUMENT, 0, 0u, "");
  for (size_t i = 0; i < K_REGION_COUNT && rc == 0; ++i) rc = K_check_model(device, i, error);
  return rc;
}

/* Flags that regions raised, and the first region that did; what the conversion of the next region's inputs
 * raised. */
typedef struct K_raised {
  uint32_t flags, converted;
  size_t region;
} K_raised;

/* Those of the last run of a region, and of its inputs. */
static uint32_t K_take_flags(const K_device* device, size_t region, K_raised* raised) {
  const mrvl_device* const d = device->device;
  uint32_t flags = raised->converted;
  raised->converted = 0;
  if (MRVL_DEVICE_HAS(d, flags) && d->flags) flags |= d->flags(d->context, device->models[region]);
  if (flags != 0 && raised->flags == 0) raised->region = region;
  raised->flags |= flags;
  return flags;
}

/* The end of a run: `code` when flags were raised, with the region that raised them first. */
static int K_end(K_error* error, int code, const K_raised* raised) {
  const K_region* const r = &K_regions[raised->region];
  if (raised->flags == 0) return K_fail(error, 0, 0, 0u, "");
  code = K_fail(error, code, 0, r->expr_id, r->node);
  if (error) error->device_flags = raised->flags;
  return code;
}

/* The device failed in a region: the layer and its operator, where the device says at which instruction. */
static int K_fail_run(const K_device* device, size_t region, int device_code, K_error* error) {
  const mrvl_device* const d = device->device;
  const K_region* const r = &K_regions[region];
  const int code = K_fail(error, K_ERROR_DEVICE, device_code, r->expr_id, r->node);
  uint32_t at = MRVL_NO_INSTRUCTION;
  if (!error) return code;
  error->region = (int32_t)region;
  if (MRVL_DEVICE_HAS(d, failed_at) && d->failed_at) at = d->failed_at(d->context, device->models[region]);
  for (uint32_t i = 0, begin = 0; i < r->span_count; begin = r->spans[i].end, ++i) {
    if (at < begin || at >= r->spans[i].end) continue;
    error->layer = (int32_t)r->spans[i].layer;
    error->expr_id = r->spans[i].expr_id;
    error->node = r->spans[i].node;
  }
  return code;
}

/* When the instructions of a span ran: 0, and the layer's times are widened by it. */
static int K_widen(const K_device* device, uint32_t from, uint32_t to, mrvl_layer* layer) {
  const mrvl_device* const d = device->device;
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
  if (!MRVL_DEVICE_HAS(device->device, ran) || !device->device->ran || !device->models[region]) return 0;
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

/* The fields of the binary's metadata: identity, ports, bytes of all inputs and of all outputs. */
static int K_is_own(const K_region* r, const unsigned char* binary, size_t bytes) {
  if (bytes < MRVL_IDENTITY_OFFSET + sizeof r->identity ||
      memcmp(binary + MRVL_IDENTITY_OFFSET, r->identity, sizeof r->identity) != 0)
    return 0;
  if (memcmp(binary, "MRVP", 4) == 0) return 1; /* of a plug-in: its identity is of the ports, too */
  if (bytes < 8192 || memcmp(binary, "MRVL", 4) != 0 || binary[345] != r->inputs || binary[346] != r->outputs)
    return 0;
  if (r->input_bytes == 0 && r->output_bytes == 0) return 1; /* made by another compiler */
  return K_number(binary + 348) == r->input_bytes && K_number(binary + 352) == r->output_bytes;
}

int K_load(K_device* device, int region, const void* binary, size_t bytes, K_error* error) {
  int rc = K_check_device(device, error);
  if (rc != 0) return rc;
  if (region < 0 || region >= K_REGION_COUNT || !binary || !device->device->load)
    return K_fail(error, K_ERROR_ARGUMENT, 0, 0u, "");
  const K_region* const r = &K_regions[region];
  void** const model = &device->models[region];
  *model = NULL;
  if (!K_is_own(r, (const unsigned char*)binary, bytes))
    return K_fail(error, K_ERROR_BINARY, 0, r->expr_id, r->node);
  const int device_rc = device->device->load(device->device->context, binary, bytes, model);
  if (device_rc != 0) {
    *model = NULL;
    return K_fail(error, K_ERROR_DEVICE, device_rc, r->expr_id, r->node);
  }
  return K_fail(error, 0, 0, 0u, "");
}

void K_unload(K_device* device) {
  if (K_check_device(device, NULL) != 0) return;
  for (size_t i = 0; i < K_REGION_COUNT; ++i) {
    if (device->models[i] && device->device->unload)
      device->device->unload(device->device->context, device->models[i]);
    device->models[i] = NULL;
  }
}
