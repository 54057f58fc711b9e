/* SPDX-License-Identifier: Apache-2.0 */
/* The device interface a generated host stub calls. A driver for real hardware, or the simulator, fills in
 * the table.
 *
 * A stub never stores the table or a handle: the caller passes both with every inference, so stubs are
 * re-entrant. All functions return 0 on success, else an error code of their own that the stub passes on.
 * C99. */
#ifndef MRVL_DEVICE_H
#define MRVL_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a member changes its meaning; a stub refuses tables of another version. New members come at
 * the end and do not change it: `size` says which ones a table has. */
#define MRVL_DEVICE_VERSION 2

/* Bytes of a model binary's identity: the SHA-256 of its content, at byte MRVL_IDENTITY_OFFSET of the file.
 */
#define MRVL_IDENTITY_BYTES 32
#define MRVL_IDENTITY_OFFSET 12

/* A port of a binary: its memory, and how many bytes of it there are. */
typedef struct mrvl_input {
  const void* data;
  size_t bytes;
} mrvl_input;
typedef struct mrvl_output {
  void* data;
  size_t bytes;
} mrvl_output;

typedef struct mrvl_device {
  uint32_t version; /* MRVL_DEVICE_VERSION */
  uint32_t size;    /* sizeof(mrvl_device), where the driver was compiled */
  void* context;    /* the driver's own */

  /* Loads a model binary (.mrvl); the bytes need not outlive the call. *model is the driver's handle. */
  int (*load)(void* context, const void* binary, size_t bytes, void** model);
  void (*unload)(void* context, void* model);

  /* One inference. inputs[i] and outputs[i]: the binary's ports in order, in their inner type and stored
   * layout. An error, with nothing read or written, unless their numbers and sizes are the binary's. */
  int (*run)(void* context, void* model, const mrvl_input* inputs, size_t input_count,
             const mrvl_output* outputs, size_t output_count);

  /* Cycles of the last run on this handle, 0 when unknown. May be null. */
  uint64_t (*cycles)(void* context, void* model);

  /* The MRVL_IDENTITY_BYTES of the binary that was loaded, valid until unload. May be null: a stub then knows
   * only what its own load function saw. */
  const unsigned char* (*identity)(void* context, void* model);

  /* What the last run on this handle met, bits MRVL_FLAG_*: raised by any instruction, cleared when a run
   * begins. May be null: nothing is known then. */
  uint32_t (*flags)(void* context, void* model);

  /* Where the last run on this handle failed: the number of an instruction in the binary's section main, from
   * 0, which had begun and did not end well. MRVL_NO_INSTRUCTION when the run did not fail or nobody knows.
   * May be null. A stub tells the layer and the ONNX operator by it. */
  uint32_t (*failed_at)(void* context, void* model);

  /* When an instruction of section main, numbered from 0, began and ended in the last run on this handle, in
   * cycles since that section began. Not 0 where the run failed or nobody knows. May be null. A stub tells by
   * it when each layer ran: NAME_layers. */
  int (*ran)(void* context, void* model, uint32_t instruction, uint64_t* begin, uint64_t* end);

  /* From now on a run on this handle that takes longer gives up, answers MRVL_DEVICE_TIMEOUT, and the handle
   * can run again; 0: after a time that the driver chooses. An error when that cannot be promised. May be
   * null: a stub is then given no time limit. */
  int (*limit_time)(void* context, void* model, uint64_t microseconds);

  /* Bytes of an output, from its begin, that the device wrote in the last run on this handle, by the device's
   * own count. May be null where nothing counts: a stub then looks whether the last byte was written. */
  size_t (*written)(void* context, void* model, size_t output);

  /* Hands a run to the device and returns at once; `wait` ends it. Both may be null, together: a caller then
   * has `run`. Ports as of `run`, refused as there; the two arrays need not outlive the call. What they point
   * at is the driver's until `wait` has returned: inputs stay as they are, outputs are not touched. Not 0:
   * nothing was begun, and *ticket means nothing. A handle takes MRVL_DEVICE_IN_FLIGHT runs at once at least;
   * a driver that has no room for one more waits here until it has. Runs of a handle, those of `run` among
   * them, begin in the order of the calls. The limit of `limit_time` counts from when the device begins the
   * run. */
  int (*submit)(void* context, void* model, const mrvl_input* inputs, size_t input_count,
                const mrvl_output* outputs, size_t output_count, void** ticket);
  /* Waits for the end of that run, and returns what `run` would have. Once for each ticket, in any order.
   * `cycles`, `flags`, `failed_at`, `ran` and `written` are then of this run. */
  int (*wait)(void* context, void* model, void* ticket);
} mrvl_device;

#define MRVL_NO_INSTRUCTION 0xffffffffu

/* Runs that a handle of a driver with `submit` takes before the first of them is waited for. */
#define MRVL_DEVICE_IN_FLIGHT 4

/* Codes of `load` and `run` that mean the same with every driver; all others are the driver's own. */
/* No end within the time limit: the device hangs, or its interrupt was lost. */
#define MRVL_DEVICE_TIMEOUT (-1001)
/* Of stubs: a run that ended well, and left an output incomplete. */
#define MRVL_DEVICE_SHORT (-1002)
/* Of stubs: the region's binary is not loaded. */
#define MRVL_DEVICE_ABSENT (-1003)

/* A value became infinite that no infinite operand accounts for: it left the range of its format. */
#define MRVL_FLAG_OVERFLOW 1u
/* A result was NaN. */
#define MRVL_FLAG_INVALID 2u
/* Raised by stubs, not by devices: an element of an input lies beyond what was tried when the model was
 * compiled. */
#define MRVL_FLAG_INPUT 4u

/* An empty table: mrvl_device d = MRVL_DEVICE_INIT; then set the members. */
#define MRVL_DEVICE_INIT                                                                                \
  {                                                                                                     \
    MRVL_DEVICE_VERSION, (uint32_t)sizeof(mrvl_device), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
        NULL, NULL, NULL, NULL, NULL                                                                    \
  }

/* Whether the table of a driver, perhaps compiled with an older header, has the member. */
#define MRVL_DEVICE_HAS(device, member) \
  ((device)->size >= offsetof(mrvl_device, member) + sizeof((device)->member))

/* Optional hook, called before (done = 0) and after (done = 1) every operator and region of the stub.
 * expr_id: the expression of the ID map; name: the ONNX node. */
typedef void (*mrvl_hook)(void* user, uint32_t expr_id, const char* name, int done);

/* A value of a run, of stubs made with `mrvlc compile --trace-values`: an input, or what an operator or a
 * region has written. What is fused into another operator, or stays on the device, has no memory here. */
typedef struct mrvl_value {
  const char* name;  /* of the ONNX tensor */
  const char* file;  /* the name as a file's, without extension, no two alike: mrvlc compare reads FILE.npy;
                      * null:  of a body (If, Loop, Scan), or the model has no tensor of this name */
  const char* node;  /* name of the ONNX node that made it; empty: an input, or the node has none */
  uint32_t expr_id;  /* expression of the ID map that made it, or MRVL_NO_EXPRESSION: an input */
  int type;          /* ONNX's TensorProto.DataType, as it lies here: float for float16 of the CPU */
  const char* numpy; /* the type as files of NumPy have it, "<f4"; null: they hold none such */
  size_t element_bytes; /* of one element */
  int rank;
  int64_t dim[8];   /* rank of them */
  const void* data; /* row by row, until the hook returns; null: a sequence or an optional */
} mrvl_value;
#define MRVL_NO_EXPRESSION 0xffffffffu
typedef void (*mrvl_value_hook)(void* user, const mrvl_value* value);

/* A layer of the ID map in a region's last run: its first operator, and when its first instruction began and
 * its last one ended, in cycles. Layers run at the same time where the program allows. */
typedef struct mrvl_layer {
  uint32_t region, layer; /* as `mrvlc map --layer region:layer` takes them */
  uint32_t expr_id;       /* expression of the ID map */
  const char* node;       /* name of the ONNX node */
  uint64_t begin, end;
} mrvl_layer;
typedef void (*mrvl_layer_hook)(void* user, const mrvl_layer* layer);

/* The simulator as a device: lib/runtime. Returns null when memory is short. target: "cn10ka", the name of a
 * package in a folder of $MRVLC_TARGET_PATH, or the path of a target file. A run uses as many threads as
 * there are processors, or $MRVLC_JOBS; its outputs never depend on that. */
mrvl_device* mrvl_simulator_open(const char* target);
void mrvl_simulator_close(mrvl_device* device);
/* From now on every run fails when it comes to this instruction of section main, as on broken hardware: it
 * writes no outputs. Binaries with fewer instructions run as before; MRVL_NO_INSTRUCTION: all do. For tests
 * of what a program does about errors. */
void mrvl_simulator_fail_at(mrvl_device* device, uint32_t instruction);

/* What broken hardware does, played by the simulator, for tests of what a program does about it. */
typedef enum mrvl_fault_kind {
  MRVL_FAULT_NONE,
  MRVL_FAULT_ERROR,     /* the run ends at the instruction with an error; no output is written */
  MRVL_FAULT_HANG,      /* it never ends, at that instruction: the driver gives up at the time limit */
  MRVL_FAULT_INTERRUPT, /* all is computed, and the driver is not told: it gives up at the time limit */
  MRVL_FAULT_SHORT,     /* the run ends well, and the outputs end after `bytes`; `written` tells */
  MRVL_FAULT_UNTOLD,    /* the same, and `written` does not tell */
  MRVL_FAULT_LOAD       /* a binary is not loaded: `runs` counts loads */
} mrvl_fault_kind;
typedef struct mrvl_fault {
  mrvl_fault_kind kind;
  uint32_t instruction; /* of section main; a binary with fewer runs as before */
  uint32_t after, runs; /* so many runs of this device go well, then so many do not; runs 0: all */
  uint64_t bytes;       /* of all outputs, one after the other, that are written */
} mrvl_fault;
/* From now on; replaces the fault before. Also set by $MRVL_SIMULATOR_FAULT when the device is opened:
 * KIND[@INSTRUCTION][:BYTES][+AFTER][xRUNS], KIND as above in small letters: "hang@12x1". */
void mrvl_simulator_fault(mrvl_device* device, const mrvl_fault* fault);
/* From now on, if `paced` is not 0, the device has one job at a time, in the order of the calls, and
 * each takes the time of its cycles, as on hardware. For measuring images a second. That the simulation
 * itself takes longer does not count where a handle has met the inputs before, among its last four: the
 * outputs are those of that time. Also set by $MRVL_SIMULATOR_PACE, 1, when the device is opened. */
void mrvl_simulator_pace(mrvl_device* device, int paced);
/* Text of the last error of this device, never null. */
const char* mrvl_simulator_error(const mrvl_device* device);

#ifdef __cplusplus
}
#endif

#endif /* MRVL_DEVICE_H */
