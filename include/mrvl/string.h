/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of string tensors in generated code: bytes that somebody else keeps, not terminated. Those of
 * inputs are the caller's; those of outputs lie in inputs, in the weights, or in the arena, and stay valid
 * until one of these changes or goes away. C99. */
#ifndef MRVL_STRING_H
#define MRVL_STRING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mrvl_string {
  const char* data; /* UTF-8; may be null when size is 0 */
  size_t size;
} mrvl_string;

#ifdef __cplusplus
}
#endif

#endif
