/* usage: card BINARY INPUTS OUTPUTS: a program written against libmldpc alone. INPUTS and OUTPUTS are all
 * ports in the types of the model, one behind the other. */
#include <stdio.h>
#include <stdlib.h>

#include "mrvl/mldpc.h"

static void* read_file(const char* path, uint64_t* size) {
  FILE* f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  *size = (uint64_t)ftell(f);
  rewind(f);
  void* bytes = malloc((size_t)*size + 1);
  if (bytes && fread(bytes, 1, (size_t)*size, f) != *size) bytes = NULL;
  fclose(f);
  return bytes;
}

#define CHECK(what, holds)                 \
  do {                                     \
    if (!(holds)) {                        \
      fprintf(stderr, "card: %s\n", what); \
      return 1;                            \
    }                                      \
  } while (0)

int main(int argc, char** argv) {
  uint64_t size = 0, given = 0, bytes[4];
  void* io[4];
  CHECK("usage", argc == 4);
  void* binary = read_file(argv[1], &size);
  void* inputs = read_file(argv[2], &given);
  CHECK("files", binary && inputs);
  CHECK("load before init", mrvl_ml_model_load(binary, size) < 0);
  CHECK("init", mrvl_ml_init(argc, argv) == 0);
  CHECK("init twice", mrvl_ml_init(argc, argv) < 0);
  CHECK("load of half a file", mrvl_ml_model_load(binary, size / 2) < 0);
  const int other = mrvl_ml_model_load(binary, size), model = mrvl_ml_model_load(binary, size);
  CHECK("load", other >= 0 && model >= 0 && other != model);
  CHECK("unload", mrvl_ml_model_unload(other) == 0 && mrvl_ml_model_unload(other) < 0);
  for (int kind = 0; kind < 4; ++kind) {
    io[kind] = mrvl_ml_io_alloc(model, kind, &bytes[kind]);
    CHECK("io_alloc", io[kind] && (uintptr_t)io[kind] % 128 == 0);
  }
  CHECK("io_alloc of no model", !mrvl_ml_io_alloc(other, 0, NULL) && !mrvl_ml_io_alloc(model, 4, NULL));
  CHECK("bytes of inputs", bytes[MRVL_ML_INPUT_DEQUANTISED] == given);
  CHECK("quantize", mrvl_ml_model_quantize(model, inputs, io[MRVL_ML_INPUT_QUANTISED]) == 0);
  CHECK("run", mrvl_ml_model_run(model, io[MRVL_ML_INPUT_QUANTISED], io[MRVL_ML_OUTPUT_QUANTISED], 1) == 0);
  CHECK("run of no batch", mrvl_ml_model_run(model, io[0], io[2], 0) < 0);
  CHECK("dequantize",
        mrvl_ml_model_dequantize(model, io[MRVL_ML_OUTPUT_QUANTISED], io[MRVL_ML_OUTPUT_DEQUANTISED]) == 0);
  FILE* out = fopen(argv[3], "wb");
  CHECK("output", out && fwrite(io[MRVL_ML_OUTPUT_DEQUANTISED], 1, bytes[MRVL_ML_OUTPUT_DEQUANTISED], out) ==
                             bytes[MRVL_ML_OUTPUT_DEQUANTISED]);
  fclose(out);
  for (int kind = 0; kind < 4; ++kind) mrvl_ml_io_free(model, kind, io[kind]);
  CHECK("finish", mrvl_ml_finish() == 0 && mrvl_ml_finish() < 0);
  free(binary);
  free(inputs);
  return 0;
}
