/* usage: swap FOLDER OTHER.mrvl...
 * The stub NAME (replaced by the name of a model) with its own binaries in FOLDER and with those of other
 * models. Every other binary must be refused before the device runs: by NAME_load, and by NAME_run when a
 * program put the handle of another binary in place itself. The simulator stands behind a table that counts
 * its runs. */
#include "NAME.h"
#include "any_stub.h"

static int runs;

static int counted_run(void* context, void* model, const mrvl_input* inputs, size_t input_count,
                       const mrvl_output* outputs, size_t output_count) {
  ++runs;
  return simulator->run(context, model, inputs, input_count, outputs, output_count);
}

static int infer(const NAME_device* device, void* arena, NAME_error* error) {
  static NAME_inputs in;
  static NAME_outputs out;
  static int ready;
  if (!ready) point_all(&in, sizeof in), point_all(&out, sizeof out);
  ready = 1;
  return NAME_run(&in, &out, arena, device, NULL, NULL, error);
}

/* One binary in the place of the one of a region; the others are the right ones. */
static int refuses(NAME_device* device, int region, void* arena, const unsigned char* binary, size_t bytes,
                   const char* file) {
  NAME_error error;
  void *right = device->models[region], *other = NULL;
  int rc = NAME_load(device, region, binary, bytes, &error);
  if (rc != NAME_ERROR_BINARY || error.code != rc || device->models[region] != right)
    return fail("was loaded", file);
  if (simulator->load(simulator->context, binary, bytes, &other) != 0)
    return fail("is no valid binary", file);
  device->models[region] = other;
  rc = infer(device, arena, &error);
  simulator->unload(simulator->context, other);
  device->models[region] = right;
  if (rc != NAME_ERROR_BINARY || error.code != rc) return fail("was taken by NAME_run", file);
  return runs == 0 ? 0 : fail("was run", file);
}

static int unloads;

static void counted_unload(void* context, void* model) {
  ++unloads;
  simulator->unload(context, model);
}

static int no_load(void* context, const void* binary, size_t bytes, void** model) {
  (void)context, (void)binary, (void)bytes;
  *model = NULL;
  return 7;
}

/* A changed byte is noticed; what is loaded stays when the next one is refused, and is given back once that
 * is there. */
static int reloads(NAME_device* device, mrvl_device* table, int region, unsigned char* own, size_t bytes,
                   const char* file) {
  NAME_error error;
  void* const before = device->models[region];
  own[bytes - 5] ^= 1;
  if (NAME_load(device, region, own, bytes, &error) != NAME_ERROR_BINARY)
    return fail("was loaded damaged", file);
  own[bytes - 5] ^= 1;
  table->load = no_load;
  if (NAME_load(device, region, own, bytes, &error) != NAME_ERROR_DEVICE || error.device_code != 7)
    return fail("was loaded though the driver refused", file);
  table->load = simulator->load;
  if (device->models[region] != before) return fail("was lost", file);
  unloads = 0;
  table->unload = counted_unload;
  if (NAME_load(device, region, own, bytes, &error) != 0) return fail("was not loaded again", file);
  table->unload = simulator->unload;
  return unloads == 1 ? 0 : fail("the one before was not given back", file);
}

/* What a device is asked that cannot tell which binary it has, or whose buffers are not those of the binary.
 */
static int guards(NAME_device* device, void* arena, const mrvl_device* counted) {
  NAME_error error;
  mrvl_device odd = *counted;
  mrvl_input in[64];
  mrvl_output out[64];
  memset(in, 0, sizeof in);
  memset(out, 0, sizeof out);
  device->device = &odd;
  odd.version = MRVL_DEVICE_VERSION + 1;
  if (infer(device, arena, &error) != NAME_ERROR_VERSION) return fail("another version was taken", "device");
  odd.version = MRVL_DEVICE_VERSION;
  odd.size = 8;
  if (infer(device, arena, &error) != NAME_ERROR_VERSION) return fail("a shorter table was taken", "device");
  device->device = counted;
  if (NAME_load(device, -1, in, sizeof in, &error) != NAME_ERROR_ARGUMENT ||
      NAME_load(device, NAME_REGION_COUNT, in, sizeof in, &error) != NAME_ERROR_ARGUMENT)
    return fail("a region that is not there was taken", "device");
  if (simulator->run(simulator->context, device->models[0], in, 33, out, 1) == 0 ||
      simulator->run(simulator->context, device->models[0], in, 1, out, 1) == 0)
    return fail("buffers of other sizes were taken", "device");
  return runs == 0 ? 0 : fail("was run", "device");
}

int main(int argc, char** argv) {
  static NAME_device device;
  mrvl_device counted;
  NAME_error error;
  void* arena = aligned(NAME_ARENA_BYTES);
  int swaps = 0;
  char file[4096];
  size_t bytes;
  simulator = mrvl_simulator_open("cn10ka");
  if (argc < 2 || !simulator) return 2;
  counted = *simulator;
  counted.run = counted_run;
  device.device = &counted;
  for (int r = 0; r < NAME_REGION_COUNT; ++r) {
    snprintf(file, sizeof file, "%s/NAME.region%d.mrvl", argv[1], r);
    unsigned char* own = slurp(file, &bytes);
    if (NAME_load(&device, r, own, bytes - 1, &error) == 0) return fail("was loaded cut short", file);
    if (NAME_load(&device, r, own, bytes, &error) != 0) return fail("was not loaded", file);
    if (reloads(&device, &counted, r, own, bytes, file) != 0) return 1;
    free(own);
  }
  for (int i = 2; i < argc; ++i) {
    unsigned char* other = slurp(argv[i], &bytes);
    for (int r = 0; r < NAME_REGION_COUNT; ++r, ++swaps) {
      if (refuses(&device, r, arena, other, bytes, argv[i]) != 0) return 1;
    }
    free(other);
  }
  if (guards(&device, arena, &counted) != 0) return 1;
  if (infer(&device, arena, &error) != 0 || runs != NAME_REGION_COUNT) return fail("does not run", argv[1]);
  NAME_unload(&device);
  printf("%d\n", swaps);
  mrvl_simulator_close(simulator);
  return 0;
}
