/* A driver to begin with: every function that a device needs, with what is left to do. Build and test it so:
 *
 *   cc -std=c99 -shared -fPIC -I PREFIX/include -o driver.so driver.c
 *   mrvl-device-check ./driver.so OUT/NAME.region0.mrvl
 *
 * What each function must do: docs/device.md. A stub takes the table from wherever the program has it;
 * mrvl_driver_open is the name that mrvl-device-check looks for. C99. */
#include <stdlib.h>
#include <string.h>

#include "mrvl/device.h"

enum { NOT_WRITTEN = 1, BAD_BINARY = 2, BAD_PORTS = 3, NO_MEMORY = 4 };
enum { METADATA = 8192, MOST_OUTPUTS = 32 };

typedef struct {
  unsigned char identity[MRVL_IDENTITY_BYTES];
  size_t inputs, outputs;
  uint64_t limit;            /* of a run, in microseconds; 0: a time of your choice */
  uint32_t flags, failed_at; /* of the last run */
  size_t written[MOST_OUTPUTS];
  /* TODO: where the device has the model: addresses of code, weights, inputs and outputs. */
} model;

static int load(void* context, const void* binary, size_t bytes, void** handle) {
  const unsigned char* file = binary;
  (void)context;
  *handle = NULL;
  /* TODO: the checks of docs/isa.md, Container: checksums, sections within the file, memory of the device. */
  if (bytes < METADATA || memcmp(file, "MRVL", 4) != 0) return BAD_BINARY;
  model* m = calloc(1, sizeof *m);
  if (!m) return NO_MEMORY;
  memcpy(m->identity, file + MRVL_IDENTITY_OFFSET, sizeof m->identity);
  m->inputs = file[345];
  m->outputs = file[346];
  m->failed_at = MRVL_NO_INSTRUCTION;
  /* TODO: copy code and weights to the device's memory, clean the cache; run the section init. The file's
   * bytes are gone when this function has returned. */
  *handle = m;
  return 0;
}

static void unload(void* context, void* handle) {
  (void)context;
  /* TODO: end the jobs in flight, so that nothing writes to their ports; give back the device's memory. */
  free(handle);
}

static int run(void* context, void* handle, const mrvl_input* inputs, size_t input_count,
               const mrvl_output* outputs, size_t output_count) {
  model* m = handle;
  (void)context;
  (void)inputs;
  (void)outputs;
  m->flags = 0;
  memset(m->written, 0, sizeof m->written);
  m->failed_at = MRVL_NO_INSTRUCTION;
  /* TODO: each port's bytes against the metadata's, too, before anything is read or written. */
  if (input_count != m->inputs || output_count != m->outputs) return BAD_PORTS;
  /* TODO: 1. copy inputs to where the device reads them (its buffers are aligned to 128 bytes), clean the
   * cache;
   *       2. start the job, wait for its interrupt, no longer than m->limit: else MRVL_DEVICE_TIMEOUT, and
   * the device is reset;
   *       3. drop the cache, copy all outputs; flags, failed_at and written from the device's registers. */
  return NOT_WRITTEN;
}

static const unsigned char* identity(void* context, void* handle) {
  (void)context;
  return ((model*)handle)->identity;
}

static uint32_t flags(void* context, void* handle) {
  (void)context;
  return ((model*)handle)->flags;
}

static uint32_t failed_at(void* context, void* handle) {
  (void)context;
  return ((model*)handle)->failed_at;
}

static int limit_time(void* context, void* handle, uint64_t microseconds) {
  (void)context;
  ((model*)handle)->limit = microseconds;
  return 0;
}

static size_t written(void* context, void* handle, size_t output) {
  (void)context;
  return output < MOST_OUTPUTS ? ((model*)handle)->written[output] : 0;
}

/* Where the hardware takes a job while another runs: `run` in two halves. Until then leave both out of the
 * table, or take them as they stand: the job is done at once, and stubs gain nothing. */
typedef struct {
  int code; /* TODO: and what flags, failed_at and written will tell of this run; the job's number */
} job;

static int submit(void* context, void* handle, const mrvl_input* inputs, size_t input_count,
                  const mrvl_output* outputs, size_t output_count, void** ticket) {
  job* j = malloc(sizeof *j);
  *ticket = NULL;
  if (!j) return NO_MEMORY;
  /* TODO: refuse ports as `run` does; 1. copy inputs and clean the cache; 2. start the job, or queue it
   * behind those that run: MRVL_DEVICE_IN_FLIGHT of them at least. */
  j->code = run(context, handle, inputs, input_count, outputs, output_count);
  if (j->code == BAD_PORTS) {
    free(j);
    return BAD_PORTS;
  }
  *ticket = j;
  return 0;
}

static int wait_for(void* context, void* handle, void* ticket) {
  job* j = ticket;
  const int code = j->code;
  (void)context;
  (void)handle;
  /* TODO: wait for the interrupt of this job, no longer than the limit counted from its begin; 3. of `run`.
   */
  free(j);
  return code;
}

mrvl_device* mrvl_driver_open(void);
void mrvl_driver_close(mrvl_device* device);

mrvl_device* mrvl_driver_open(void) {
  const mrvl_device empty = MRVL_DEVICE_INIT;
  mrvl_device* device = malloc(sizeof *device);
  if (!device) return NULL;
  *device = empty;
  device->load = load;
  device->unload = unload;
  device->run = run;
  device->identity = identity;
  device->flags = flags;
  device->failed_at = failed_at;
  device->limit_time = limit_time;
  device->written = written;
  device->submit = submit;
  device->wait = wait_for;
  /* TODO: device->context: the open device file. cycles and ran, where the hardware counts. */
  return device;
}

void mrvl_driver_close(mrvl_device* device) {
  free(device);
}
