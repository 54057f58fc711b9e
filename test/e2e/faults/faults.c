/* usage: faults FOLDER REGION INSTRUCTION [REGION INSTRUCTION]...
 * The stub NAME (replaced by the name of a model) on a device that fails at that instruction of that region:
 * prints what the error says, "region layer expr_id node", a line each. Once more without a fault, and with a
 * table of before `failed_at` was: the region alone is told then. Then what NAME_layers tells of every
 * region, "layer region layer expr_id begin end node"; nothing after a run that failed. */
#include "NAME.h"
#include "any_stub.h"

static NAME_device device;
static int faulty_region;
static uint32_t faulty_instruction = MRVL_NO_INSTRUCTION;

static int faulty_run(void* context, void* model, const mrvl_input* inputs, size_t input_count,
                      const mrvl_output* outputs, size_t output_count) {
  const int here = model == device.models[faulty_region];
  mrvl_simulator_fail_at(simulator, here ? faulty_instruction : MRVL_NO_INSTRUCTION);
  return simulator->run(context, model, inputs, input_count, outputs, output_count);
}

static int infer(NAME_error* error) {
  static NAME_inputs in;
  static NAME_outputs out;
  static void* arena;
  if (!arena) {
    arena = aligned(NAME_ARENA_BYTES);
    point_all(&in, sizeof in), point_all(&out, sizeof out);
  }
  return NAME_run(&in, &out, arena, &device, NULL, NULL, error);
}

static void told(void* user, const mrvl_layer* layer) {
  ++*(int*)user;
  printf("layer %lu %lu %lu %lu %lu %s\n", (unsigned long)layer->region, (unsigned long)layer->layer,
         (unsigned long)layer->expr_id, (unsigned long)layer->begin, (unsigned long)layer->end, layer->node);
}

static int tell_layers(mrvl_device* table) {
  for (int r = 0; r < NAME_REGION_COUNT; ++r) {
    int count = 0;
    if (NAME_layers(&device, r, told, &count) != count || count == 0) return fail("no layers", "NAME");
  }
  table->size = offsetof(mrvl_device, ran);
  if (NAME_layers(&device, 0, told, NULL) != 0) return fail("a shorter table was asked", "NAME");
  table->size = sizeof *table;
  if (NAME_layers(&device, NAME_REGION_COUNT, told, NULL) != 0 || NAME_layers(&device, -1, told, NULL) != 0)
    return fail("a region that is not there", "NAME");
  return 0;
}

static int load(const char* folder) {
  NAME_error error;
  char file[4096];
  size_t bytes;
  for (int r = 0; r < NAME_REGION_COUNT; ++r) {
    snprintf(file, sizeof file, "%s/NAME.region%d.mrvl", folder, r);
    unsigned char* binary = slurp(file, &bytes);
    if (NAME_load(&device, r, binary, bytes, &error) != 0) return fail("a region was not loaded", "NAME");
    free(binary);
  }
  return 0;
}

int main(int argc, char** argv) {
  NAME_error error;
  simulator = mrvl_simulator_open("cn10ka");
  if (argc < 2 || !simulator) return 2;
  mrvl_device faulty = *simulator;
  faulty.run = faulty_run;
  device.device = &faulty;
  if (load(argv[1]) != 0) return 1;
  for (int i = 2; i + 1 < argc; i += 2) {
    faulty_region = atoi(argv[i]);
    faulty_instruction = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    if (infer(&error) != NAME_ERROR_DEVICE || error.code != NAME_ERROR_DEVICE)
      return fail("a fault was not told", "NAME");
    printf("%ld %ld %lu %s\n", (long)error.region, (long)error.layer, (unsigned long)error.expr_id,
           error.node);
  }
  faulty.size = offsetof(mrvl_device, failed_at);
  if (infer(&error) != NAME_ERROR_DEVICE || error.region != faulty_region || error.layer != -1)
    return fail("a shorter table was misread", "NAME");
  faulty.size = sizeof faulty;
  faulty_instruction = MRVL_NO_INSTRUCTION;
  if (infer(&error) != 0 || error.region != -1 || error.layer != -1)
    return fail("it fails without a fault", "NAME");
  if (tell_layers(&faulty) != 0) return 1;
  faulty_instruction = 0;
  if (infer(&error) == 0 || NAME_layers(&device, faulty_region, told, NULL) != 0)
    return fail("layers of a run that failed", "NAME");
  NAME_unload(&device);
  mrvl_simulator_close(simulator);
  return 0;
}
