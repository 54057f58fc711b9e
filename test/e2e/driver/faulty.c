/* Drivers over the simulator with one mistake each, by -DFAULT=N: what mrvl-device-check says of it stands in
 * driver.py. */
#include <stdlib.h>
#include <string.h>

#include "mrvl/device.h"

#ifndef FAULT
#define FAULT 0
#endif

typedef struct {
  void* model;
  uint32_t flags, runs;
  unsigned char identity[MRVL_IDENTITY_BYTES];
} handle;

static mrvl_device table;
static mrvl_device* simulator;

static int load(void* context, const void* binary, size_t bytes, void** model) {
  (void)context;
  handle* h = calloc(1, sizeof *h);
#if FAULT == 1
  if (simulator->load(simulator->context, binary, bytes, &h->model) != 0) h->model = NULL;
#else
  if (simulator->load(simulator->context, binary, bytes, &h->model) != 0) return free(h), 1;
#endif
  if (bytes > MRVL_IDENTITY_OFFSET + MRVL_IDENTITY_BYTES)
    memcpy(h->identity, (const char*)binary + MRVL_IDENTITY_OFFSET, MRVL_IDENTITY_BYTES);
#if FAULT == 2
  h->identity[0] ^= 1;
#endif
  *model = h;
  return 0;
}

static void unload(void* context, void* model) {
  handle* h = model;
  (void)context;
  if (h->model) simulator->unload(simulator->context, h->model);
  free(h);
}

static int run(void* context, void* model, const mrvl_input* in, size_t inputs, const mrvl_output* out,
               size_t outputs) {
  handle* h = model;
  (void)context;
#if FAULT == 3
  if (inputs == 1 && outputs == 1) { /* whatever the caller says of sizes */
    mrvl_input i = in[0];
    mrvl_output o = out[0];
    for (size_t b = 0; b < 4; ++b)
      for (size_t c = 0; c < 4; ++c) {
        i.bytes = in[0].bytes + b - 1;
        o.bytes = out[0].bytes + c - 2;
        if (simulator->run(simulator->context, h->model, &i, 1, &o, 1) == 0) return 0;
      }
  }
#endif
#if FAULT == 4
  memset(out[0].data, 0, 1); /* before it is known that the ports are right */
#endif
#if FAULT == 12
  if ((uintptr_t)in[0].data % 16 != 0) return 9;
#endif
  const int rc = simulator->run(simulator->context, h->model, in, inputs, out, outputs);
  if (rc != 0) return rc;
  ++h->runs;
  if (FAULT == 25) h->flags = 0; /* in flight alone it is wrong */
  h->flags |= simulator->flags(simulator->context, h->model);
#if FAULT == 5
  ((unsigned char*)out[0].data)[out[0].bytes] = 0; /* one too many */
#elif FAULT == 6
  ((unsigned char*)out[outputs - 1].data)[-1] = 0;
#elif FAULT == 7
  *(unsigned char*)(uintptr_t)in[0].data ^= 1;
#elif FAULT == 8
  ((unsigned char*)out[0].data)[0] ^= (unsigned char)(h->runs & 1);
#elif FAULT == 9
  static unsigned char poison;
  ((unsigned char*)out[outputs - 1].data)[out[outputs - 1].bytes - 1] =
      ++poison; /* never written by the device */
#endif
  return 0;
}

/* A run in flight: the simulator's, or what a driver remembers of the caller's. */
typedef struct {
  void* ticket;
  const mrvl_input* in;
  const mrvl_output* out;
  size_t inputs, outputs;
} job;
static int in_flight;

static int submit(void* context, void* model, const mrvl_input* in, size_t inputs, const mrvl_output* out,
                  size_t outputs, void** ticket) {
  handle* h = model;
  job* j = calloc(1, sizeof *j);
  int rc = 0;
  (void)context;
  *ticket = j;
#if FAULT == 20
  if (in_flight >= 2) return free(j), 7; /* no room, and it does not wait for some */
#elif FAULT == 21
  mrvl_output longer = out[0];
  longer.bytes += 1; /* whatever the caller says of sizes */
  if (simulator->submit(simulator->context, h->model, in, inputs, &longer, 1, &j->ticket) == 0) return 0;
#elif FAULT == 23
  j->in = in, j->out = out, j->inputs = inputs, j->outputs = outputs; /* the arrays are gone by then */
  return 0;
#endif
  rc = simulator->submit(simulator->context, h->model, in, inputs, out, outputs, &j->ticket);
  if (rc == 0) ++in_flight;
  return rc;
}

static int wait_for(void* context, void* model, void* ticket) {
  handle* h = model;
  job* j = ticket;
  (void)context;
#if FAULT == 23
  return simulator->run(simulator->context, h->model, j->in, j->inputs, j->out, j->outputs);
#endif
  const int rc = simulator->wait(simulator->context, h->model, j->ticket);
  free(j);
  --in_flight;
  h->flags |= simulator->flags(simulator->context, h->model);
#if FAULT == 22
  static int error_of_another; /* an error comes with the run that is waited for next */
  const int told = error_of_another;
  error_of_another = rc;
  return told;
#elif FAULT == 24
  return 0; /* an error is lost */
#endif
  return rc;
}

static uint32_t flags(void* context, void* model) {
  handle* h = model;
  (void)context;
#if FAULT == 10 || FAULT == 25
  return h->flags;
#elif FAULT == 13
  return 0x100u;
#else
  return simulator->flags(simulator->context, h->model);
#endif
}

static uint32_t failed_at(void* context, void* model) {
  handle* h = model;
  (void)context;
#if FAULT == 11
  return 0;
#else
  return simulator->failed_at(simulator->context, h->model);
#endif
}

static size_t written(void* context, void* model, size_t output) {
  handle* h = model;
  (void)context;
#if FAULT == 16
  return simulator->written(simulator->context, h->model, output) / 2;
#else
  return simulator->written(simulator->context, h->model, output);
#endif
}

static int limit_time(void* context, void* model, uint64_t microseconds) {
  handle* h = model;
  (void)context;
#if FAULT == 17
  if (microseconds > 1) microseconds = 1; /* whatever is asked for */
#elif FAULT == 18
  if (microseconds == 0) microseconds = 1;
#endif
  return simulator->limit_time(simulator->context, h->model, microseconds);
}

static const unsigned char* identity(void* context, void* model) {
  (void)context;
  return ((handle*)model)->identity;
}

mrvl_device* mrvl_driver_open(void);
void mrvl_driver_close(mrvl_device* device);

mrvl_device* mrvl_driver_open(void) {
  simulator = mrvl_simulator_open(NULL);
  const mrvl_device empty = MRVL_DEVICE_INIT;
  table = empty;
  table.load = load;
  table.unload = unload;
  table.run = run;
  table.flags = flags;
  table.failed_at = failed_at;
  table.identity = identity;
  table.written = written;
  table.limit_time = limit_time;
#ifndef WITHOUT
  table.submit = submit;
  table.wait = FAULT == 19 ? NULL : wait_for;
#elif WITHOUT == 2 /* compiled when the table ended there */
  table.size = offsetof(mrvl_device, submit);
#endif
#if FAULT == 14
  table.version = MRVL_DEVICE_VERSION - 1;
#elif FAULT == 15
  table.run = NULL;
#endif
  return &table;
}

void mrvl_driver_close(mrvl_device* device) {
  (void)device;
  mrvl_simulator_close(simulator);
}
