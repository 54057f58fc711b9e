/* What the tests of a driver share: model binaries, memory of runs with guards, and mistakes that are told.
 */
#ifndef MRVL_CHECK_H
#define MRVL_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "mrvl/device.h"

enum { GUARD = 64, MOST_PORTS = 32, METADATA = 8192 };

/* How many mistakes were told; the binary that is tested. */
extern int faults;
extern const char* now_testing;
void fault(const char* what);

#define EXPECT(holds, what)    \
  do {                         \
    if (!(holds)) fault(what); \
  } while (0)

/* Ports, from the metadata of the container (docs/isa.md). */
typedef struct {
  unsigned char* binary;
  size_t bytes;
  size_t inputs, outputs;
  size_t input_bytes[MOST_PORTS], output_bytes[MOST_PORTS];
} program;
int read_program(const char* path, program* p);

/* Memory of one run, with guards on both sides of every port. */
typedef struct {
  mrvl_input in[MOST_PORTS];
  mrvl_output out[MOST_PORTS];
  unsigned char *in_memory[MOST_PORTS], *out_memory[MOST_PORTS];
} ports;
/* `shift`: bytes by which ports are less aligned; `pattern`: of outputs and guards before the run. */
ports make_ports(const program* p, unsigned seed, size_t shift, unsigned char pattern);
void free_ports(const program* p, ports* io);
int guards_hold(const program* p, const ports* io, unsigned char pattern);
int untouched(const program* p, const ports* io, unsigned char pattern);
int equal(const program* p, const ports* a, const ports* b);
int run(const mrvl_device* d, void* model, const program* p, const ports* io);

/* flights.c: submit and wait, where the driver has them. */
void test_in_flight(const mrvl_device* d, void* model, const program* p);

#endif
