/* SPDX-License-Identifier: Apache-2.0 */
/* The run-time interface that programs for the Marvell MLIP are written against, libmldpc, both ways: its
 * functions, which the library `mldpc` of mrvlc gives over the simulator, and a device (mrvl/device.h) over
 * whichever libmldpc is there, so that a stub of mrvlc calls a real card.
 *
 * The names and what they do are those of TVM's contrib `mrvl` run time; where that says nothing of types,
 * alignment or errors, what stands here is assumed. Types of ports are those of the binary's metadata
 * (docs/isa.md): `quantised` is how the device takes and gives a port, `dequantised` how the model does. A
 * conversion changes the type and never the order of elements. The ports of a model lie one after the other,
 * without gaps. One thread at a time. C99. */
#ifndef MRVL_MLDPC_H
#define MRVL_MLDPC_H

#include "mrvl/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MRVL_ML_INPUT_QUANTISED 0
#define MRVL_ML_INPUT_DEQUANTISED 1
#define MRVL_ML_OUTPUT_QUANTISED 2
#define MRVL_ML_OUTPUT_DEQUANTISED 3

/* 0 on success, below 0 an error; before all others. The arguments are the card's; the simulator's are
 * ignored: $MRVL_MLDPC_TARGET is its target (cn10ka), $MRVLC_JOBS its threads. */
int mrvl_ml_init(int argc, char** argv);
int mrvl_ml_finish(void);
/* A number from 0 for the model, below 0: an error. The bytes need not outlive the call. */
int mrvl_ml_model_load(const void* buffer, uint64_t size);
int mrvl_ml_model_unload(int model);
/* Memory for all ports of a direction, aligned to 128 bytes, and how many bytes those are. Null: an error. */
void* mrvl_ml_io_alloc(int model, int kind, uint64_t* size);
void mrvl_ml_io_free(int model, int kind, void* memory);
/* Inputs from the model's types to the device's, outputs back. */
int mrvl_ml_model_quantize(int model, const void* dequantised, void* quantised);
int mrvl_ml_model_dequantize(int model, const void* quantised, void* dequantised);
/* `batches`: how often, with ports one set behind the other; a model holds as many images as it was
 * compiled for. */
int mrvl_ml_model_run(int model, const void* inputs, void* outputs, int batches);

/* A device over libmldpc: `library`, else $MRVL_LIBMLDPC_PATH, else /usr/lib/libmldpc.so. Never null but when
 * memory is short; mrvl_mldpc_error says why a library does not serve, and load then fails. Ports of either
 * type are taken: as the device has them, or, where their bytes say so, as the model has them. Its own
 * library must not be open elsewhere in the process: it counts its users itself. */
mrvl_device* mrvl_mldpc_open(const char* library);
void mrvl_mldpc_close(mrvl_device* device);
const char* mrvl_mldpc_error(const mrvl_device* device);

#ifdef __cplusplus
}
#endif

#endif /* MRVL_MLDPC_H */
