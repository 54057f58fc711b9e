/* SPDX-License-Identifier: Apache-2.0 */
/* .npy files of inputs and outputs, in the order in which the mesh stores them. C99. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator.h"

/* A length that headers do not reach. */
#define MOST_HEADER 65535

size_t mesh_port_bytes(const struct mesh_port* port) {
  return (size_t)port->size[0] * port->size[1] * port->size[2] * port->element_bytes;
}

/* From or to the model's order, an element at a time. */
static void reorder(const struct mesh_port* p, const unsigned char* from, unsigned char* to, int to_model) {
  const size_t bytes = p->element_bytes;
  size_t stored = 0;
  for (uint32_t row = 0; row < p->size[0]; ++row)
    for (uint32_t x = 0; x < p->size[1]; ++x)
      for (uint32_t channel = 0; channel < p->size[2]; ++channel, stored += bytes) {
        const size_t in_model =
            ((size_t)row * p->strides[0] + (size_t)x * p->strides[1] + (size_t)channel * p->strides[2]) *
            bytes;
        memcpy(to + (to_model ? in_model : stored), from + (to_model ? stored : in_model), bytes);
      }
}

/* "(2, 3)", and "(3,)" of a single dimension; the first `images` times as long, or a new one. */
static void shape_text(const struct mesh_port* p, uint32_t images, int repeat, char* text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "(");
  for (uint32_t d = 0; d < p->rank && used < size; ++d)
    used += (size_t)snprintf(text + used, size - used, "%s%u", d > 0 ? ", " : "",
                             d == 0 && repeat ? p->shape[d] * images : p->shape[d]);
  if (used < size) snprintf(text + used, size - used, "%s)", p->rank == 1 ? "," : "");
}

/* The header's text; 0: it is no .npy file of a version that is known. */
static size_t read_header(FILE* f, char* header) {
  unsigned char begin[12];
  if (fread(begin, 1, 10, f) != 10 || memcmp(begin, "\x93NUMPY", 6) != 0) return 0;
  size_t length = begin[8] + 256u * begin[9];
  if (begin[6] > 1) {
    if (fread(begin + 10, 1, 2, f) != 2) return 0;
    length += 65536u * begin[10] + 16777216u * begin[11];
  }
  if (length == 0 || length > MOST_HEADER || fread(header, 1, length, f) != length) return 0;
  header[length] = '\0';
  return length;
}

/* How many images the file has by its shape; 0: it is of another type or shape. */
static uint32_t images_of(const struct mesh_port* p, const char* header, int repeat) {
  char text[256];
  const char* at = strstr(header, "'shape':");
  snprintf(text, sizeof text, "'%s'", p->type);
  if (at == NULL || strstr(header, text) == NULL || strstr(header, "'fortran_order': False") == NULL)
    return 0;
  at = strchr(at, '(');
  if (at == NULL) return 0;
  if (!repeat || p->rank == 0) {
    shape_text(p, 1, 0, text, sizeof text);
    return strncmp(at, text, strlen(text)) == 0;
  }
  const unsigned long first = strtoul(at + 1, NULL, 10);
  if (first == 0 || first % p->shape[0] != 0 || first / p->shape[0] > 0xffffffu) return 0;
  const uint32_t images = (uint32_t)(first / p->shape[0]);
  shape_text(p, images, 1, text, sizeof text);
  return strncmp(at, text, strlen(text)) == 0 ? images : 0;
}

unsigned char* mesh_read(const struct mesh_port* port, const char* file, int repeat, uint32_t* images) {
  const size_t bytes = mesh_port_bytes(port);
  char* const header = malloc(MOST_HEADER + 1);
  FILE* const f = fopen(file, "rb");
  unsigned char *values = NULL, *const image = malloc(bytes);
  *images = f != NULL && header != NULL && read_header(f, header) > 0 ? images_of(port, header, repeat) : 0;
  if (*images > 0) values = calloc(*images, bytes);
  for (uint32_t i = 0; values != NULL && image != NULL && i < *images; ++i) {
    if (fread(image, 1, bytes, f) != bytes) {
      free(values);
      values = NULL;
      break;
    }
    reorder(port, image, values + (size_t)i * bytes, 0);
  }
  if (values == NULL) fprintf(stderr, "mesh: %s is no .npy file of the model's type and shape\n", file);
  if (f != NULL) fclose(f);
  free(image);
  free(header);
  return values;
}

static int write_values(FILE* f, const struct mesh_port* p, const unsigned char* values, uint32_t images,
                        int repeat) {
  const size_t bytes = mesh_port_bytes(p);
  char shape[256], header[512];
  shape_text(p, images, repeat, shape, sizeof shape);
  const int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                              p->type, shape);
  /* The data begin at a multiple of 64. */
  const size_t padded = ((size_t)length + 1 + 10 + 63) / 64 * 64 - 10;
  const unsigned char begin[10] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded % 256), (unsigned char)(padded / 256)};
  unsigned char* const image = malloc(bytes);
  int good = image != NULL && fwrite(begin, 1, 10, f) == 10 &&
             fprintf(f, "%-*s\n", (int)padded - 1, header) == (int)padded;
  for (uint32_t i = 0; good && i < images; ++i) {
    reorder(p, values + (size_t)i * bytes, image, 1);
    good = fwrite(image, 1, bytes, f) == bytes;
  }
  free(image);
  return good;
}

int mesh_write(const struct mesh_port* port, const char* folder, const unsigned char* values, uint32_t images,
               int repeat) {
  const size_t room = strlen(folder) + strlen(port->file) + sizeof "/.npy.part";
  char *const file = malloc(room), *const part = malloc(room);
  if (file == NULL || part == NULL) return 0;
  snprintf(file, room, "%s/%s.npy", folder, port->file);
  snprintf(part, room, "%s/%s.npy.part", folder, port->file);
  FILE* const f = fopen(part, "wb");
  int good = f != NULL && write_values(f, port, values, images, repeat);
  if (f != NULL) good = fclose(f) == 0 && good;
  good = good && rename(part, file) == 0;
  if (!good) {
    fprintf(stderr, "mesh: %s cannot be written\n", file);
    remove(part);
  }
  free(part);
  free(file);
  return good;
}
