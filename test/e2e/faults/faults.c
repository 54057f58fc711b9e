/* usage: faults FOLDER REGION INSTRUCTION [REGION INSTRUCTION]...
 * The stub NAME (replaced by the name of a model) on a device that fails at that instruction of that region:
 * prints what the error says, "region layer expr_id node", a line each. Once more without a fault, and with a
 * table of before `failed_at` was: the region alone is told then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "NAME.h"

#define MEMORY ((size_t)64 << 20)

static mrvl_device* simulator;
static NAME_device device;
static int faulty_region;
static uint32_t faulty_instruction = MRVL_NO_INSTRUCTION;

static int faulty_run(void* context, void* model, const mrvl_input* inputs, size_t input_count,
                      const mrvl_output* outputs, size_t output_count) {
  const int here = model == device.models[faulty_region];
  mrvl_simulator_fail_at(simulator, here ? faulty_instruction : MRVL_NO_INSTRUCTION);
  return simulator->run(context, model, inputs, input_count, outputs, output_count);
}

static int fail(const char* what) {
  fprintf(stderr, "NAME: %s (%s)\n", what, mrvl_simulator_error(simulator));
  return 1;
}

static unsigned char* slurp(const char* file, size_t* bytes) {
  FILE* f = fopen(file, "rb");
  unsigned char* data = (unsigned char*)malloc(MEMORY * 4);
  if (!f || !data) exit(fail("cannot read"));
  *bytes = fread(data, 1, MEMORY * 4, f);
  fclose(f);
  return data;
}

static void* aligned(size_t bytes) {
  unsigned char* p = (unsigned char*)calloc(bytes + 64, 1);
  if (!p) exit(fail("out of memory"));
  return p + (64 - (size_t)p % 64) % 64;
}

/* Every tensor of the interface is a pointer: all inputs are zeros, all outputs the same memory. */
static int infer(NAME_error* error) {
  static void *zeros, *written, *arena;
  NAME_inputs in;
  NAME_outputs out;
  if (!zeros) zeros = aligned(MEMORY);
  if (!written) written = aligned(MEMORY);
  if (!arena) arena = aligned(NAME_ARENA_BYTES);
  for (size_t i = 0; i < sizeof in / sizeof zeros; ++i)
    memcpy((char*)&in + i * sizeof zeros, &zeros, sizeof zeros);
  for (size_t i = 0; i < sizeof out / sizeof zeros; ++i)
    memcpy((char*)&out + i * sizeof zeros, &written, sizeof written);
  return NAME_run(&in, &out, arena, &device, NULL, NULL, error);
}

static int load(const char* folder) {
  NAME_error error;
  char file[4096];
  size_t bytes;
  for (int r = 0; r < NAME_REGION_COUNT; ++r) {
    snprintf(file, sizeof file, "%s/NAME.region%d.mrvl", folder, r);
    unsigned char* binary = slurp(file, &bytes);
    if (NAME_load(&device, r, binary, bytes, &error) != 0) return fail("a region was not loaded");
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
      return fail("a fault was not told");
    printf("%ld %ld %lu %s\n", (long)error.region, (long)error.layer, (unsigned long)error.expr_id,
           error.node);
  }
  faulty.size = offsetof(mrvl_device, failed_at);
  if (infer(&error) != NAME_ERROR_DEVICE || error.region != faulty_region || error.layer != -1)
    return fail("a shorter table was misread");
  faulty.size = sizeof faulty;
  faulty_instruction = MRVL_NO_INSTRUCTION;
  if (infer(&error) != 0 || error.region != -1 || error.layer != -1) return fail("it fails without a fault");
  NAME_unload(&device);
  mrvl_simulator_close(simulator);
  return 0;
}
