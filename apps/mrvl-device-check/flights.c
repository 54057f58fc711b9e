/* Runs in flight: submit and wait. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "check.h"

enum { FLIGHTS = MRVL_DEVICE_IN_FLIGHT };

static int begin(const mrvl_device* d, void* model, const program* p, const ports* io, void** ticket) {
  ports arrays = *io; /* they need not outlive the call */
  const int rc = d->submit(d->context, model, arrays.in, p->inputs, arrays.out, p->outputs, ticket);
  memset(&arrays, 0, sizeof arrays);
  return rc;
}

static int end(const mrvl_device* d, void* model, void* ticket) {
  return d->wait(d->context, model, ticket);
}

static void test_refused_submit(const mrvl_device* d, void* model, const program* p) {
  ports io = make_ports(p, 1, 0, 0x5a);
  void* ticket = NULL;
  io.out[0].bytes -= 1;
  EXPECT(begin(d, model, p, &io, &ticket) != 0, "submit takes an output that is too short");
  io.out[0].bytes += 1;
  EXPECT(d->submit(d->context, model, io.in, p->inputs, io.out, p->outputs - 1, &ticket) != 0,
         "submit takes too few outputs");
  EXPECT(untouched(p, &io, 0x5a), "a submit that was refused wrote to outputs");
  free_ports(p, &io);
}

/* Waited for in another order than they began in; `run` stands behind all of them. */
static void test_flights(const mrvl_device* d, void* model, const program* p) {
  ports expected[FLIGHTS + 1], got[FLIGHTS + 1];
  void* tickets[FLIGHTS] = {NULL};
  int begun = 0, ended = 1, same = 1, clean = 1;
  for (unsigned i = 0; i <= FLIGHTS; ++i) {
    expected[i] = make_ports(p, 11 + i, 0, 0x55);
    got[i] = make_ports(p, 11 + i, 0, 0xaa);
    run(d, model, p, &expected[i]);
  }
  while (begun < FLIGHTS && begin(d, model, p, &got[begun], &tickets[begun]) == 0) ++begun;
  EXPECT(begun == FLIGHTS, "submit takes fewer runs than MRVL_DEVICE_IN_FLIGHT");
  EXPECT(run(d, model, p, &got[FLIGHTS]) == 0 && equal(p, &expected[FLIGHTS], &got[FLIGHTS]),
         "run gives other bits while runs are in flight");
  for (int i = 0; i < begun; ++i) {
    const int next = i ^ 1;
    if (next < begun && end(d, model, tickets[next]) != 0) ended = 0;
    if (next < begun) same = same && equal(p, &expected[next], &got[next]);
  }
  if (begun % 2 == 1) end(d, model, tickets[begun - 1]);
  for (unsigned i = 0; i <= FLIGHTS; ++i) {
    clean = clean && guards_hold(p, &got[i], 0xaa);
    free_ports(p, &expected[i]);
    free_ports(p, &got[i]);
  }
  EXPECT(ended, "a run in flight fails");
  EXPECT(same, "runs in flight give other bits than run");
  EXPECT(clean, "runs in flight write outside of their outputs");
}

/* Flags belong to the run that was waited for last: of a loud run between two quiet ones. */
static void test_flight_flags(const mrvl_device* d, void* model, const program* p) {
  ports io[3] = {make_ports(p, 1, 0, 0), make_ports(p, 1, 0, 0), make_ports(p, 1, 0, 0)};
  void* tickets[3] = {NULL};
  uint32_t expected[3] = {0};
  int begun = 0;
  if (MRVL_DEVICE_HAS(d, flags) && d->flags) {
    for (size_t i = 0; i < p->inputs; ++i)
      memset((void*)(uintptr_t)io[1].in[i].data, 0xff, p->input_bytes[i]); /* NaN */
    for (int i = 0; i < 3; ++i) expected[i] = run(d, model, p, &io[i]) == 0 ? d->flags(d->context, model) : 0;
    while (begun < 3 && begin(d, model, p, &io[begun], &tickets[begun]) == 0) ++begun;
    for (int i = 0; i < begun; ++i) {
      const int next = begun - 1 - i;
      end(d, model, tickets[next]);
      EXPECT(d->flags(d->context, model) == expected[next], "flags are not those of the run waited for");
    }
  }
  for (int i = 0; i < 3; ++i) free_ports(p, &io[i]);
}

/* A time limit of one microsecond is of the runs that begin under it. */
static void test_flight_errors(const mrvl_device* d, void* model, const program* p) {
  ports io[3] = {make_ports(p, 1, 0, 0), make_ports(p, 2, 0, 0), make_ports(p, 3, 0, 0)};
  void* tickets[3] = {NULL};
  int rc[3] = {0}, begun = 0;
  if (MRVL_DEVICE_HAS(d, limit_time) && d->limit_time && d->limit_time(d->context, model, 1) == 0) {
    const int alone = run(d, model, p, &io[1]);
    for (; begun < 3; ++begun) {
      d->limit_time(d->context, model, begun == 1 ? 1 : 0);
      if (begin(d, model, p, &io[begun], &tickets[begun]) != 0) break;
    }
    d->limit_time(d->context, model, 0);
    for (int i = begun; i-- > 0;) rc[i] = end(d, model, tickets[i]);
    EXPECT(rc[0] == 0 && rc[2] == 0, "the error of a run in flight comes with another one");
    EXPECT(begun < 2 || rc[1] == alone, "a run in flight has another error than run");
  }
  for (int i = 0; i < 3; ++i) free_ports(p, &io[i]);
}

/* What is in flight when the handle goes writes nothing any more. */
static void test_unload_in_flight(const mrvl_device* d, const program* p) {
  const struct timespec a_while = {0, 20000000};
  ports io = make_ports(p, 1, 0, 0), before = make_ports(p, 1, 0, 0);
  void *model = NULL, *ticket = NULL;
  if (d->load(d->context, p->binary, p->bytes, &model) != 0) return;
  const int begun = begin(d, model, p, &io, &ticket);
  d->unload(d->context, model);
  for (size_t i = 0; i < p->outputs; ++i) memcpy(before.out[i].data, io.out[i].data, p->output_bytes[i]);
  nanosleep(&a_while, NULL);
  EXPECT(begun != 0 || equal(p, &before, &io), "a run in flight writes after its handle was unloaded");
  free_ports(p, &io);
  free_ports(p, &before);
}

void test_in_flight(const mrvl_device* d, void* model, const program* p) {
  const int submits = MRVL_DEVICE_HAS(d, submit) && d->submit, waits = MRVL_DEVICE_HAS(d, wait) && d->wait;
  EXPECT(submits == waits, "of submit and wait one is null");
  if (!submits || !waits) return;
  test_refused_submit(d, model, p);
  test_flights(d, model, p);
  test_flight_flags(d, model, p);
  test_flight_errors(d, model, p);
  test_unload_in_flight(d, p);
}
