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

typedef struct mrvl_device {
  void* context; /* the driver's own */

  /* Loads a model binary (.mrvl); the bytes need not outlive the call. *model is the driver's handle. */
  int (*load)(void* context, const void* binary, size_t bytes, void** model);
  void (*unload)(void* context, void* model);

  /* One inference. inputs[i] and outputs[i]: the binary's ports in order, in their inner type and stored
   * layout. */
  int (*run)(void* context, void* model, const void* const* inputs, void* const* outputs);

  /* Cycles of the last run on this handle, 0 when unknown. May be null. */
  uint64_t (*cycles)(void* context, void* model);
} mrvl_device;

/* Optional hook, called before (done = 0) and after (done = 1) every operator and region of the stub.
 * expr_id: the expression of the ID map; name: the ONNX node. */
typedef void (*mrvl_hook)(void* user, uint32_t expr_id, const char* name, int done);

/* The simulator as a device: lib/runtime. Returns null when memory is short. target: "cn10ka", the name of a
 * package in a folder of $MRVLC_TARGET_PATH, or the path of a target file. A run uses as many threads as
 * there are processors, or $MRVLC_JOBS; its outputs never depend on that. */
mrvl_device* mrvl_simulator_open(const char* target);
void mrvl_simulator_close(mrvl_device* device);
/* Text of the last error of this device, never null. */
const char* mrvl_simulator_error(const mrvl_device* device);

#ifdef __cplusplus
}
#endif

#endif /* MRVL_DEVICE_H */
