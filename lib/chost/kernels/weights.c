//@ piece weights
/* A number that differs when a byte does: what is multiplied is odd, so no step loses anything. */
static uint64_t K_sum_weights(const unsigned char* p, size_t bytes) {
  uint64_t sum = bytes, word = 0;
  for (; bytes >= sizeof word; bytes -= sizeof word, p += sizeof word) {
    memcpy(&word, p, sizeof word);
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sum ^= sum >> 32;
  }
  if (bytes == 0) return sum;
  word = 0;
  memcpy(&word, p, bytes);
  sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return sum ^ sum >> 32;
}

int K_load_weights(K_device* device, const void* weights, size_t bytes, K_error* error) {
  if (!device || !weights) return K_fail(error, K_ERROR_ARGUMENT, 0, 0u, "");
  device->weights = NULL;
  if ((uintptr_t)weights % K_WEIGHTS_ALIGN != 0) return K_fail(error, K_ERROR_WEIGHTS, 1, 0u, "");
  if (bytes != K_WEIGHTS_BYTES) return K_fail(error, K_ERROR_WEIGHTS, 2, 0u, "");
  if (K_sum_weights((const unsigned char*)weights, bytes) != K_WEIGHTS_SUM)
    return K_fail(error, K_ERROR_WEIGHTS, 3, 0u, "");
  device->weights = weights;
  return K_fail(error, 0, 0, 0u, "");
}
