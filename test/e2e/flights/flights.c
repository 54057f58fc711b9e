/* usage: flights FOLDER
 * The stub NAME (replaced by the name of a model; IN_BYTES and OUT_BYTES by the sizes of its ports) with runs
 * in flight: on handles of its own in several threads, by drivers without `submit`, with faults, and called
 * wrongly. All results are the bits of NAME_run. */
#include <pthread.h>

#include "NAME.h"
#include "any_stub.h"

enum { IMAGES = 10, THREADS = 3, DEEP = MRVL_DEVICE_IN_FLIGHT };
static const size_t in_bytes[] = {IN_BYTES}, out_bytes[] = {OUT_BYTES};

/* All of one run but the device. */
typedef struct image {
  NAME_inputs in;
  NAME_outputs out;
  unsigned char* results[NAME_OUTPUT_COUNT];
  NAME_error error;
  int rc;
} image;

static image expected[IMAGES];
static unsigned char* binaries[NAME_REGION_COUNT];
static size_t sizes[NAME_REGION_COUNT];

/* Those of one image leave fp16 when they are converted. */
enum { LOUD = 4 };
static void fill(float* x, size_t count, unsigned seed, float scale) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1103515245u + 12345u;
    x[i] = scale * (float)(seed >> 16 & 0xff) / 256.0f;
  }
}

/* Members of the structs are pointers all, in the order of the ports. */
static void make_image(image* m, unsigned seed, float scale) {
  memset(m, 0, sizeof *m);
  for (size_t i = 0; i < NAME_INPUT_COUNT; ++i) {
    void* memory = aligned(in_bytes[i]);
    fill((float*)memory, in_bytes[i] / sizeof(float), seed + (unsigned)i, scale);
    memcpy((char*)&m->in + i * sizeof memory, &memory, sizeof memory);
  }
  for (size_t i = 0; i < NAME_OUTPUT_COUNT; ++i) {
    m->results[i] = (unsigned char*)aligned(out_bytes[i]);
    memset(m->results[i], 0xa5, out_bytes[i]);
    memcpy((char*)&m->out + i * sizeof(void*), &m->results[i], sizeof(void*));
  }
}

static int same(const image* a, const image* b) {
  for (size_t i = 0; i < NAME_OUTPUT_COUNT; ++i)
    if (memcmp(a->results[i], b->results[i], out_bytes[i]) != 0) return 0;
  return 1;
}

static int load(NAME_device* device, const mrvl_device* table) {
  NAME_error error;
  memset(device, 0, sizeof *device);
  device->device = table;
  for (int r = 0; r < NAME_REGION_COUNT; ++r)
    if (NAME_load(device, r, binaries[r], sizes[r], &error) != 0)
      return fail("a region was not loaded", "NAME");
  return 0;
}

static void hooked(void* user, uint32_t expr_id, const char* name, int done) {
  (void)name, (void)done;
  *(uint32_t*)user = *(uint32_t*)user * 31u + expr_id;
}

/* All images, `depth` at once; what each ended with stands in it. */
static void fly(const NAME_device* device, image* images, int depth) {
  NAME_flight flights[DEEP];
  void* arenas[DEEP];
  uint32_t hooks[DEEP];
  int begun = 0;
  memset(flights, 0, sizeof flights);
  for (int d = 0; d < depth; ++d) memset(arenas[d] = aligned(NAME_ARENA_BYTES), 0xff, NAME_ARENA_BYTES);
  for (int ended = 0; ended < IMAGES; ++ended) {
    for (; begun < IMAGES && begun < ended + depth; ++begun) {
      image* m = &images[begun];
      hooks[begun % depth] = 0;
      m->rc = NAME_submit(&m->in, &m->out, arenas[begun % depth], device, hooked, &hooks[begun % depth],
                          &flights[begun % depth], &m->error);
      if (m->rc != 0) exit(fail("submit fails", "NAME"));
    }
    image* m = &images[ended];
    m->rc = NAME_wait(&flights[ended % depth], &m->error);
    if (m->rc != m->error.code) exit(fail("two codes", "NAME"));
  }
}

/* Of the first run on a fresh handle, in turn. */
static void run_all(const NAME_device* device, image* images) {
  void* arena = aligned(NAME_ARENA_BYTES);
  for (int i = 0; i < IMAGES; ++i)
    images[i].rc = NAME_run(&images[i].in, &images[i].out, arena, device, NULL, NULL, &images[i].error);
}

static image* make_images(void) {
  image* images = (image*)malloc(IMAGES * sizeof(image));
  for (unsigned i = 0; i < IMAGES; ++i) make_image(&images[i], 77u * i + 1u, i == LOUD ? 1e6f : 1.0f);
  return images;
}

static int equal_errors(const NAME_error* a, const NAME_error* b) {
  return a->code == b->code && a->device_code == b->device_code && a->expr_id == b->expr_id &&
         strcmp(a->node, b->node) == 0 && a->region == b->region && a->layer == b->layer &&
         a->device_flags == b->device_flags && a->retries == b->retries && a->cpu_regions == b->cpu_regions;
}

static int check_bits(const mrvl_device* table, int depth) {
  NAME_device device;
  image* images = make_images();
  if (load(&device, table) != 0) return 1;
  fly(&device, images, depth);
  for (int i = 0; i < IMAGES; ++i)
    if (images[i].rc != 0 || !same(&images[i], &expected[i]) ||
        !equal_errors(&images[i].error, &expected[i].error))
      return fail("other bits or flags in flight", "NAME");
  NAME_unload(&device);
  return 0;
}

static void* flyer(void* depth) {
  return check_bits(simulator, *(const int*)depth) == 0 ? depth : NULL;
}

static int check_threads(void) {
  pthread_t threads[THREADS];
  int depths[THREADS] = {1, 2, DEEP}, wrong = 0;
  for (int t = 0; t < THREADS; ++t)
    if (pthread_create(&threads[t], NULL, flyer, &depths[t]) != 0) return fail("no thread", "NAME");
  for (int t = 0; t < THREADS; ++t) {
    void* result = NULL;
    pthread_join(threads[t], &result);
    wrong |= !result;
  }
  return wrong;
}

/* One run of the device fails: it is the run of one image, which ends as it does in turn. Where there is one
 * region it is known which. */
static int check_fault(mrvl_fault_kind kind, uint32_t instruction, uint32_t after, int depth) {
  const mrvl_fault fault = {kind, instruction, after, 1, 3}, none = {MRVL_FAULT_NONE, 0, 0, 0, 0};
  image *images = make_images(), *turns = make_images();
  NAME_device device;
  int met = 0, turn = -1;
  if (load(&device, simulator) != 0) return 1;
  if (NAME_limit_time(&device, 2000, NULL) != 0) return fail("no time limit", "NAME");
  mrvl_simulator_fault(simulator, &fault);
  run_all(&device, turns);
  mrvl_simulator_fault(simulator, &fault);
  fly(&device, images, depth);
  mrvl_simulator_fault(simulator, &none);
  for (int i = 0; i < IMAGES; ++i)
    if (turns[i].rc != 0 || turns[i].error.retries != 0 || turns[i].error.cpu_regions != 0) turn = i;
  for (int i = 0; i < IMAGES; ++i) {
    const NAME_error* e = &images[i].error;
    if (images[i].rc == 0 && e->retries == 0 && e->cpu_regions == 0) {
      if (!same(&images[i], &expected[i])) return fail("a run beside a fault has other bits", "NAME");
      continue;
    }
    ++met;
    if (NAME_REGION_COUNT > 1) continue;
    if (i != turn || !equal_errors(e, &turns[i].error)) return fail("the fault is another run's", "NAME");
    if (images[i].rc == 0 && !same(&images[i], &turns[i])) return fail("other bits after a fault", "NAME");
  }
  NAME_unload(&device);
  /* What was not told is noticed, and a second run made good for it. */
  return met == (kind == MRVL_FAULT_UNTOLD ? 0 : 1) ? 0 : fail("not one run met the fault", "NAME");
}

static int check_faults(void) {
  static const mrvl_fault_kind kinds[] = {MRVL_FAULT_ERROR, MRVL_FAULT_HANG, MRVL_FAULT_INTERRUPT,
                                          MRVL_FAULT_SHORT, MRVL_FAULT_UNTOLD};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    for (uint32_t after = 0; after < 4; ++after)
      if (check_fault(kinds[k], k + after, after, after % 2 ? 2 : DEEP) != 0) return 1;
  return 0;
}

static int check_misuse(void) {
  NAME_device device;
  NAME_flight flight;
  NAME_error error;
  image* images = make_images();
  void* arena = aligned(NAME_ARENA_BYTES);
  memset(&flight, 0, sizeof flight);
  if (load(&device, simulator) != 0) return 1;
  if (NAME_wait(&flight, &error) != NAME_ERROR_ARGUMENT || NAME_wait(NULL, &error) != NAME_ERROR_ARGUMENT)
    return fail("wait without submit", "NAME");
  if (NAME_submit(&images[0].in, &images[0].out, arena, &device, NULL, NULL, NULL, &error) !=
      NAME_ERROR_ARGUMENT)
    return fail("submit without a flight", "NAME");
  if (NAME_submit(NULL, &images[0].out, arena, &device, NULL, NULL, &flight, &error) != NAME_ERROR_ARGUMENT ||
      NAME_wait(&flight, &error) != NAME_ERROR_ARGUMENT)
    return fail("a flight that was refused", "NAME");
  if (NAME_submit(&images[0].in, &images[0].out, arena, &device, NULL, NULL, &flight, NULL) != 0 ||
      NAME_wait(&flight, NULL) != 0 || NAME_wait(&flight, NULL) != NAME_ERROR_ARGUMENT)
    return fail("wait twice", "NAME");
  NAME_unload(&device);
  return 0;
}

int main(int argc, char** argv) {
  char file[4096];
  NAME_device device;
  simulator = mrvl_simulator_open("cn10ka");
  if (argc != 2 || !simulator) return 2;
  for (int r = 0; r < NAME_REGION_COUNT; ++r) {
    snprintf(file, sizeof file, "%s/NAME.region%d.mrvl", argv[1], r);
    binaries[r] = slurp(file, &sizes[r]);
  }
  image* turns = make_images();
  if (load(&device, simulator) != 0) return 1;
  run_all(&device, turns);
  memcpy(expected, turns, sizeof expected);
  for (int i = 0; i < IMAGES; ++i)
    if (expected[i].rc != 0 || (i > 0 && same(&expected[i], &expected[i - 1])))
      return fail("images give equal results, or none", "NAME");
  if (!(expected[LOUD].error.device_flags & MRVL_FLAG_OVERFLOW) || expected[LOUD - 1].error.device_flags != 0)
    return fail("not the loud image leaves fp16", "NAME");
  NAME_unload(&device);
  mrvl_device without = *simulator, old = *simulator;
  without.submit = NULL;
  old.size = offsetof(mrvl_device, submit);
  if (check_bits(simulator, 1) || check_bits(simulator, 2) || check_bits(simulator, DEEP)) return 1;
  if (check_bits(&without, 2) || check_bits(&old, 2)) return 1;
  if (check_threads() || check_faults() || check_misuse()) return 1;
  mrvl_simulator_close(simulator);
  return 0;
}
