/* usage: mrvl-device-check LIBRARY|simulator BINARY.mrvl...
 *
 * Tests a driver against docs/device.md with model binaries of mrvlc. LIBRARY exports `mrvl_device*
 * mrvl_driver_open(void)` and `void mrvl_driver_close(mrvl_device*)`. A line for each thing that is not as it
 * should be; exit code 1 when there is one, 2 where nothing could be tested. C99. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void test_load(const mrvl_device* d, const program* p) {
  unsigned char* damaged = malloc(p->bytes);
  void* model = damaged;
  memset(damaged, 0, p->bytes);
  EXPECT(d->load(d->context, damaged, p->bytes, &model) != 0, "load takes zeros for a binary");
  EXPECT(d->load(d->context, p->binary, METADATA / 2, &model) != 0, "load takes half of the metadata");
  EXPECT(d->load(d->context, p->binary, p->bytes - 1, &model) != 0,
         "load takes a binary without its last byte");
  free(damaged);
}

static void test_refusals(const mrvl_device* d, void* model, const program* p) {
  enum { NONE = 0x5a };
  ports io = make_ports(p, 1, 0, NONE);
  EXPECT(d->run(d->context, model, io.in, p->inputs, io.out, p->outputs - 1) != 0,
         "run takes too few outputs");
  if (p->inputs > 0) {
    EXPECT(d->run(d->context, model, io.in, p->inputs - 1, io.out, p->outputs) != 0,
           "run takes too few inputs");
    io.in[0].bytes -= 1;
    EXPECT(run(d, model, p, &io) != 0, "run takes an input that is too short");
    io.in[0].bytes += 1;
  }
  io.out[0].bytes -= 1;
  EXPECT(run(d, model, p, &io) != 0, "run takes an output that is too short");
  io.out[0].bytes += 2;
  EXPECT(run(d, model, p, &io) != 0, "run takes an output that is too long");
  EXPECT(untouched(p, &io, NONE), "a run that was refused wrote to outputs");
  free_ports(p, &io);
}

static void test_runs(const mrvl_device* d, void* model, void* other, const program* p) {
  ports first = make_ports(p, 1, 0, 0x55), again = make_ports(p, 1, 0, 0xaa),
        elsewhere = make_ports(p, 1, 0, 0x55);
  ports different = make_ports(p, 99, 0, 0x55), shifted = make_ports(p, 1, 4, 0x55),
        whole = make_ports(p, 1, 0, 0x55);
  if (run(d, model, p, &first) != 0) {
    fault("run fails");
    return;
  }
  EXPECT(guards_hold(p, &first, 0x55), "run writes outside of its outputs");
  int kept = 1;
  for (size_t i = 0; i < p->inputs; ++i)
    kept = kept && memcmp(first.in[i].data, whole.in[i].data, p->input_bytes[i]) == 0;
  EXPECT(kept, "run changes its inputs");
  EXPECT(run(d, other, p, &different) == 0, "a second handle of the same binary does not run");
  EXPECT(run(d, model, p, &again) == 0 && equal(p, &first, &again),
         "the same inputs give other bits, or an output is not written");
  EXPECT(run(d, other, p, &elsewhere) == 0 && equal(p, &first, &elsewhere),
         "two handles of one binary give other bits");
  EXPECT(run(d, model, p, &shifted) == 0 && equal(p, &first, &shifted),
         "ports that are aligned to 4 bytes give other bits");
  EXPECT(guards_hold(p, &shifted, 0x55), "run writes outside of outputs that are aligned to 4 bytes");
  ports* all[] = {&first, &again, &elsewhere, &different, &shifted, &whole};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free_ports(p, all[i]);
}

static void test_state(const mrvl_device* d, void* model, const program* p) {
  ports quiet = make_ports(p, 1, 0, 0), loud = make_ports(p, 1, 0, 0);
  for (size_t i = 0; i < p->inputs; ++i)
    memset((void*)(uintptr_t)loud.in[i].data, 0xff, p->input_bytes[i]); /* NaN */
  if (MRVL_DEVICE_HAS(d, flags) && d->flags && run(d, model, p, &quiet) == 0) {
    const uint32_t before = d->flags(d->context, model);
    EXPECT((before & ~(MRVL_FLAG_OVERFLOW | MRVL_FLAG_INVALID)) == 0, "flags has bits that mean nothing");
    EXPECT(run(d, model, p, &loud) == 0, "run fails on NaN");
    EXPECT(run(d, model, p, &quiet) == 0 && d->flags(d->context, model) == before,
           "flags of a run are still there after the next one");
  }
  if (MRVL_DEVICE_HAS(d, failed_at) && d->failed_at) {
    EXPECT(run(d, model, p, &quiet) == 0 && d->failed_at(d->context, model) == MRVL_NO_INSTRUCTION,
           "failed_at names an instruction of a run that did not fail");
  }
  if (MRVL_DEVICE_HAS(d, identity) && d->identity) {
    const unsigned char* id = d->identity(d->context, model);
    EXPECT(id && memcmp(id, p->binary + MRVL_IDENTITY_OFFSET, MRVL_IDENTITY_BYTES) == 0,
           "identity is not the binary's");
  }
  if (MRVL_DEVICE_HAS(d, ran) && d->ran && run(d, model, p, &quiet) == 0) {
    uint64_t begin = 1, end = 0;
    EXPECT(d->ran(d->context, model, 0, &begin, &end) != 0 || begin <= end,
           "ran says that an instruction ended before it began");
    EXPECT(d->ran(d->context, model, MRVL_NO_INSTRUCTION, &begin, &end) != 0,
           "ran knows an instruction that is not there");
  }
  free_ports(p, &quiet);
  free_ports(p, &loud);
}

/* Counts of bytes, and a time limit that no run of a test comes near. */
static void test_limits(const mrvl_device* d, void* model, const program* p) {
  const uint64_t hour = 3600u * (uint64_t)1000000u;
  ports io = make_ports(p, 1, 0, 0x55);
  if (MRVL_DEVICE_HAS(d, written) && d->written && run(d, model, p, &io) == 0) {
    for (size_t i = 0; i < p->outputs; ++i)
      EXPECT(d->written(d->context, model, i) == p->output_bytes[i],
             "written is not all bytes of an output after a run that ended well");
  }
  if (MRVL_DEVICE_HAS(d, limit_time) && d->limit_time) {
    EXPECT(d->limit_time(d->context, model, hour) == 0 && run(d, model, p, &io) == 0,
           "no run ends within a time limit of an hour");
    EXPECT(d->limit_time(d->context, model, 0) == 0 && run(d, model, p, &io) == 0,
           "run fails after the time limit was taken away");
  }
  free_ports(p, &io);
}

static void test_binary(const mrvl_device* d, const char* path) {
  program p;
  now_testing = path;
  memset(&p, 0, sizeof p);
  if (!read_program(path, &p)) {
    fault("is no model binary of mrvlc");
    return;
  }
  void *model = NULL, *other = NULL;
  test_load(d, &p);
  /* The bytes are gone when load has returned. */
  unsigned char* copy = malloc(p.bytes);
  memcpy(copy, p.binary, p.bytes);
  const int loaded = d->load(d->context, copy, p.bytes, &model);
  memset(copy, 0xff, p.bytes);
  free(copy);
  if (loaded != 0 || d->load(d->context, p.binary, p.bytes, &other) != 0) {
    fault("load fails");
    return;
  }
  test_refusals(d, model, &p);
  test_runs(d, model, other, &p);
  test_state(d, model, &p);
  test_limits(d, model, &p);
  test_in_flight(d, model, &p);
  d->unload(d->context, model);
  ports after = make_ports(&p, 1, 0, 0);
  EXPECT(run(d, other, &p, &after) == 0, "a handle does not run after another was unloaded");
  free_ports(&p, &after);
  d->unload(d->context, other);
  EXPECT(d->load(d->context, p.binary, p.bytes, &model) == 0, "load fails after unload");
  d->unload(d->context, model);
  free(p.binary);
}

static int table_serves(const mrvl_device* d) {
  now_testing = "table";
  EXPECT(d->version == MRVL_DEVICE_VERSION, "its version is another one");
  EXPECT(d->size >= offsetof(mrvl_device, run) + sizeof d->run,
         "its size has no room for load, unload and run");
  if (faults == 0) EXPECT(d->load && d->unload && d->run, "load, unload or run is null");
  return faults == 0;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s LIBRARY|simulator BINARY.mrvl...\n", argv[0]);
    return 2;
  }
  mrvl_device* device = NULL;
  void* library = NULL;
  if (strcmp(argv[1], "simulator") == 0) {
    device = mrvl_simulator_open(NULL);
  } else {
    mrvl_device* (*open_driver)(void) = NULL;
    library = dlopen(argv[1], RTLD_NOW);
    if (library) *(void**)&open_driver = dlsym(library, "mrvl_driver_open");
    if (open_driver) device = open_driver();
  }
  if (!device) {
    fprintf(stderr, "%s: no device: the library does not load, has no mrvl_driver_open, or that gives none\n",
            argv[1]);
    return 2;
  }
  if (table_serves(device))
    for (int i = 2; i < argc; ++i) test_binary(device, argv[i]);
  if (faults == 0) printf("%s: as it should be, with %d binaries\n", argv[1], argc - 2);
  if (!library) {
    mrvl_simulator_close(device);
  } else {
    void (*close_driver)(mrvl_device*) = NULL;
    *(void**)&close_driver = dlsym(library, "mrvl_driver_close");
    if (close_driver) close_driver(device);
  }
  return faults == 0 ? 0 : 1;
}
