/* usage: policies FOLDER SEED CASES RETRIES
 * The stub NAME (replaced by the name of a model) on a simulator that plays seeded random faults of all
 * kinds: a run ends with the right outputs, or with an error that names region and operator, and in time.
 * What may be: RETRIES runs more of a region, and the CPU where the stub was compiled with it
 * (NAME_CPU_ON_ERROR). Prints how the cases ended. */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <time.h>

#include "NAME.h"
#include "any_stub.h"

enum { LIMIT_US = 2000, MOST_INSTRUCTIONS = 500 };

static NAME_device device;
static NAME_inputs in;
static NAME_outputs out;
static void* arena;
static unsigned long state;
static float *results, *reference, *on_cpu;

static unsigned random_below(unsigned n) {
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (unsigned)(state >> 33) % n;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All inputs and outputs are float. What an output must overwrite is no number, and nothing of the run before
 * is left in the arena. */
static int infer(NAME_error* error, float scale) {
  float* values;
  memcpy(&values, &in, sizeof values);
  for (size_t i = 0; i < NAME_INPUT0_ELEMENTS; ++i)
    values[i] = scale * (float)((i * 2654435761u) % 1000u) / 1000.0f;
  memcpy(&results, &out, sizeof results);
  for (size_t i = 0; i < NAME_OUTPUT0_ELEMENTS; ++i) results[i] = NAN;
  memset(arena, 0xff, NAME_ARENA_BYTES);
  return NAME_run(&in, &out, arena, &device, NULL, NULL, error);
}

static int same(const float* expected) {
  return memcmp(results, expected, sizeof(float) * NAME_OUTPUT0_ELEMENTS) == 0;
}

static int close_to(const float* expected) {
  for (size_t i = 0; i < NAME_OUTPUT0_ELEMENTS; ++i)
    if (!(fabsf(results[i] - expected[i]) <= 1e-2f * (1.0f + fabsf(expected[i])))) return 0;
  return 1;
}

static float* keep(void) {
  float* copy = (float*)aligned(sizeof(float) * NAME_OUTPUT0_ELEMENTS);
  memcpy(copy, results, sizeof(float) * NAME_OUTPUT0_ELEMENTS);
  return copy;
}

static int load(const char* folder) {
  NAME_error error;
  char file[4096];
  size_t bytes;
  int failed = 0;
  for (int r = 0; r < NAME_REGION_COUNT; ++r) {
    snprintf(file, sizeof file, "%s/NAME.region%d.mrvl", folder, r);
    unsigned char* binary = slurp(file, &bytes);
    if (NAME_load(&device, r, binary, bytes, &error) != 0) {
      if (error.code != NAME_ERROR_DEVICE || error.node[0] == 0)
        exit(fail("a load that failed tells nothing", "NAME"));
      failed = 1;
    }
    free(binary);
  }
  if (NAME_limit_time(&device, LIMIT_US, &error) != 0) exit(fail("a time limit was not taken", "NAME"));
  return failed;
}

static mrvl_fault draw(void) {
  mrvl_fault f;
  f.kind = (mrvl_fault_kind)(1 + random_below(MRVL_FAULT_LOAD));
  f.instruction = random_below(4) == 0 ? random_below(8) : random_below(MOST_INSTRUCTIONS);
  f.after = random_below(3) == 0 ? random_below(4) : 0;
  f.runs = random_below(2) == 0 ? 0 : 1 + random_below(3);
  f.bytes = random_below(3) == 0 ? random_below(4) : random_below(4096);
  return f;
}

/* How a case ended: 0 as if nothing had been, 1 after other runs, 2 by the CPU, 3 with an error; -1: wrong.
 */
static int judge(const mrvl_fault* f, int rc, const NAME_error* error, unsigned retries, int absent) {
  if (error->code != rc) return -1;
  if (error->retries > retries * NAME_REGION_COUNT || error->cpu_regions > NAME_REGION_COUNT) return -1;
  if (rc != 0) {
    const int named = error->node[0] != 0 && error->region >= 0 && error->region < NAME_REGION_COUNT;
    const int knows = f->kind == MRVL_FAULT_ERROR || f->kind == MRVL_FAULT_HANG;
    if (NAME_CPU_ON_ERROR || absent) return -1;
    if (f->runs != 0 && f->runs <= retries) return -1; /* another run would have done it */
    return rc == NAME_ERROR_DEVICE && named && (!knows || error->layer >= 0) ? 3 : -1;
  }
  if (error->cpu_regions == 0) return same(reference) ? error->retries > 0 : -1;
  if (!NAME_CPU_ON_ERROR || error->node[0] == 0 || !close_to(reference)) return -1;
  if (error->cpu_regions == NAME_REGION_COUNT && !same(on_cpu)) return -1;
  return 2;
}

static int one_case(const char* folder, unsigned retries) {
  NAME_error error;
  const mrvl_fault f = draw(), none = {MRVL_FAULT_NONE, 0, 0, 0, 0};
  mrvl_simulator_fault(simulator, &f);
  int absent = 0;
  if (f.kind == MRVL_FAULT_LOAD) {
    NAME_unload(&device);
    absent = load(folder);
    if (absent && !NAME_CPU_ON_ERROR) {
      if (infer(&error, 1.0f) != NAME_ERROR_ARGUMENT || error.node[0] == 0) return -1;
      mrvl_simulator_fault(simulator, &none);
      NAME_unload(&device);
      return load(folder) == 0 ? 3 : -1;
    }
  }
  const double begin = seconds();
  const int rc = infer(&error, 1.0f);
  const double allowed = 1e-6 * LIMIT_US * NAME_REGION_COUNT * (retries + 1) * 2 + 5.0;
  int end = seconds() - begin < allowed ? judge(&f, rc, &error, retries, absent) : -1;
  if (end < 0)
    fprintf(stderr,
            "NAME: kind %d, instruction %u, after %u, runs %u, bytes %lu: rc %d, %u retries, %u on the CPU\n",
            (int)f.kind, f.instruction, f.after, f.runs, (unsigned long)f.bytes, rc, error.retries,
            error.cpu_regions);
  mrvl_simulator_fault(simulator, &none);
  if (f.kind == MRVL_FAULT_LOAD) {
    NAME_unload(&device);
    if (load(folder) != 0) end = -1;
  }
  if (infer(&error, 1.0f) != 0 || !same(reference)) end = -1; /* nothing stays behind */
  return end;
}

/* Without handles the CPU computes all; values beyond fp16 are its work when that was asked for. */
static int whole_on_cpu(void) {
  NAME_error error;
  NAME_device loaded = device;
  for (int r = 0; r < NAME_REGION_COUNT; ++r) device.models[r] = NULL;
  const int rc = infer(&error, 1.0f);
  if (!NAME_CPU_ON_ERROR) {
    device = loaded;
    return rc == NAME_ERROR_ARGUMENT;
  }
  on_cpu = keep();
  const int right = rc == 0 && error.cpu_regions == NAME_REGION_COUNT && close_to(reference);
  const int wide = infer(&error, 1e7f) == 0;
  float* const large = keep();
  device = loaded;
  const int again = infer(&error, 1e7f) == 0 && error.cpu_regions > 0 && error.device_flags == 0;
  return right && wide && again && (NAME_REGION_COUNT > 1 || same(large));
}

/* A driver without the members that came last. */
static int older_driver(void) {
  NAME_error error;
  mrvl_device older = *simulator;
  older.size = offsetof(mrvl_device, limit_time);
  device.device = &older;
  const int refused = NAME_limit_time(&device, LIMIT_US, &error) == NAME_ERROR_DEVICE && error.node[0] != 0;
  const int runs = infer(&error, 1.0f) == 0 && same(reference);
  device.device = simulator;
  return refused && runs;
}

static size_t one_too_few(void* context, void* model, size_t output) {
  return simulator->written(context, model, output) - 1;
}

/* A driver that counts a byte less than all, though the last one is there. */
static int incomplete(void) {
  NAME_error error;
  mrvl_device counting = *simulator;
  counting.written = one_too_few;
  device.device = &counting;
  const int rc = infer(&error, 1.0f);
  device.device = simulator;
  if (NAME_CPU_ON_ERROR) return rc == 0 && error.cpu_regions == NAME_REGION_COUNT && same(on_cpu);
  return rc == NAME_ERROR_DEVICE && error.device_code == MRVL_DEVICE_SHORT && error.node[0] != 0;
}

int main(int argc, char** argv) {
  NAME_error error;
  unsigned ends[4] = {0, 0, 0, 0};
  if (argc != 5 || !(simulator = mrvl_simulator_open("cn10ka"))) return 2;
  const int cases = atoi(argv[3]);
  const unsigned retries = (unsigned)atoi(argv[4]);
  state = strtoul(argv[2], NULL, 10);
  device.device = simulator;
  arena = aligned(NAME_ARENA_BYTES);
  point_all(&in, sizeof in), point_all(&out, sizeof out);
  if (load(argv[1]) != 0 || infer(&error, 1.0f) != 0) return fail("it fails without a fault", "NAME");
  reference = keep();
  if (!whole_on_cpu()) return fail("without handles, or with large values", "NAME");
  if (!older_driver()) return fail("with a driver that knows no time limit", "NAME");
  if (!incomplete()) return fail("with an output that is not whole", "NAME");
  for (int i = 0; i < cases; ++i) {
    const int end = one_case(argv[1], retries);
    if (end < 0) return fail("a fault was not dealt with", "NAME");
    ++ends[end];
  }
  printf("%u %u %u %u\n", ends[0], ends[1], ends[2], ends[3]);
  NAME_unload(&device);
  mrvl_simulator_close(simulator);
  return 0;
}
