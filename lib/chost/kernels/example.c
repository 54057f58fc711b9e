//@ piece example
typedef struct port {
  const char *name, *file, *type; /* type: NumPy's, "<f4"; null: .npy holds no such values */
  size_t bytes;
  int rank;
  long shape[8];
  unsigned dynamic; /* bit d: dimension d is known at run time only, and at most shape[d] */
  size_t size; /* bytes of an element */
  int texts, sequence, optional;
  long length; /* of a sequence: tensors at most, each in a slot of so many bytes */
  size_t slot;
} port;

/* A tensor read from a file: its data, and how many times the model's leading dimension. */
typedef struct tensor {
  void* data;
  long repeats;
  size_t bytes; /* of one repeat */
  int64_t dim[8];
} tensor;

static int fail(int code, const char* what, const char* name) {
  fprintf(stderr, "%s: %s\n", what, name);
  return code;
}

/* Memory aligned to 64 bytes, released all at once. Aligned by hand: aligned_alloc is not C99. */
static void** blocks;

static void* allocate(size_t bytes) {
  void** block = (void**)malloc(sizeof(void*) + bytes + 64);
  unsigned char* p = (unsigned char*)(block + 1);
  if (!block) exit(fail(4, "out of memory", "example"));
  *block = (void*)blocks;
  blocks = block;
  return p + (64 - (uintptr_t)p % 64) % 64;
}

static int release(int rc) {
  while (blocks) {
    void** next = (void**)*blocks;
    free((void*)blocks);
    blocks = next;
  }
  return rc;
}

static void* read_all(const char* path, size_t* bytes) {
  FILE* f = fopen(path, "rb");
  long size;
  void* data;
  if (!f) return NULL;
  if (fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0) {
    fclose(f);
    return NULL;
  }
  data = allocate((size_t)size + 1);
  *bytes = fread(data, 1, (size_t)size, f);
  ((char*)data)[*bytes] = 0;
  fclose(f);
  return *bytes == (size_t)size ? data : NULL;
}

/* The dictionary of a .npy header: type, order and shape as the port wants them; returns the number of
 * repeats, or 0. */
static long check_header(const char* text, const port* p, int may_repeat, tensor* t) {
  const char *type = strstr(text, "'descr'"), *order = strstr(text, "'fortran_order'"),
             *shape = strstr(text, "'shape'");
  long repeats = 1;
  if (!type || !order || !shape || !(type = strchr(type + 7, '\'')) || !(shape = strchr(shape, '(')))
    return 0;
  if (strncmp(type + 1, p->type, strlen(p->type)) != 0 || type[1 + strlen(p->type)] != '\'') return 0;
  if (!(order = strchr(order, ':')) || order[1 + strspn(order + 1, " ")] != 'F') return 0;
  ++shape;
  for (int d = 0; d < p->rank; ++d) {
    char* end;
    long n = strtol(shape, &end, 10);
    if (end == shape) return 0;
    if (p->dynamic >> d & 1u) {
      if (n < 0 || n > p->shape[d]) return 0;
    } else if (n != p->shape[d]) {
      if (d > 0 || !may_repeat || p->shape[0] <= 0 || n <= 0 || n % p->shape[0] != 0) return 0;
      repeats = n / p->shape[0];
    }
    t->dim[d] = p->dynamic >> d & 1u ? n : p->shape[d];
    t->bytes *= (size_t)t->dim[d];
    shape = end + strspn(end, " ,");
  }
  if (t->bytes > p->bytes) return 0;
  return *shape == ')' ? repeats : 0;
}

static int read_npy(const char* path, const port* p, int may_repeat, tensor* t) {
  size_t bytes = 0, start, length;
  unsigned char* file = (unsigned char*)read_all(path, &bytes);
  char* text;
  if (!file) return fail(3, "cannot read", path);
  if (bytes < 12 || memcmp(file, "\x93NUMPY", 6) != 0) return fail(3, "not a .npy file", path);
  start = file[6] == 1 ? 10 : 12;
  length = (size_t)file[8] | (size_t)file[9] << 8;
  if (file[6] != 1) length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
  if (length > bytes - start) return fail(3, "not a .npy file", path);
  text = (char*)allocate(length + 1);
  memcpy(text, file + start, length);
  text[length] = 0;
  t->bytes = p->size;
  t->repeats = check_header(text, p, may_repeat, t);
  if (t->repeats == 0) return fail(2, "wrong type or shape for this input", path);
  if (bytes - start - length != t->bytes * (size_t)t->repeats) return fail(3, "wrong number of bytes", path);
  t->data = allocate(t->bytes * (size_t)t->repeats);
  memcpy(t->data, file + start + length, t->bytes * (size_t)t->repeats);
  return 0;
}

static int write_npy(
    const char* folder, const port* p, const void* data, const int64_t* dim, long repeats, int stacked) {
  char header[512], shape[256] = "";
  size_t length = strlen(folder) + strlen(p->file) + 8, used = 0;
  char* path = (char*)allocate(length);
  int rank = p->rank == 0 && stacked ? 1 : p->rank;
  size_t bytes = p->size * (size_t)repeats;
  FILE* f;
  int ok;
  for (int d = 0; d < p->rank; ++d) bytes *= (size_t)(p->dynamic ? dim[d] : p->shape[d]);
  for (int d = 0; d < rank; ++d) {
    const long n = (p->rank == 0 ? 1 : p->dynamic ? (long)dim[d] : p->shape[d]) * (d == 0 ? repeats : 1);
    used += (size_t)snprintf(shape + used, sizeof shape - used, "%ld,%s", n, d + 1 < rank ? " " : "");
  }
  if (rank > 1) shape[used - 1] = 0;
  snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", p->type, shape);
  used = strlen(header);
  while ((10 + used + 1) % 64 != 0) header[used++] = ' ';
  header[used++] = '\n';
  snprintf(path, length, "%s/%s.npy", folder, p->file);
  f = fopen(path, "wb");
  if (!f) return fail(3, "cannot write", path);
  ok = fwrite("\x93NUMPY\x01\x00", 1, 8, f) == 8;
  ok &= fputc((int)(used & 255u), f) != EOF && fputc((int)(used >> 8), f) != EOF;
  ok &= fwrite(header, 1, used, f) == used;
  ok &= fwrite(data, 1, bytes, f) == bytes;
  ok &= fclose(f) == 0;
  return ok ? 0 : fail(3, "cannot write", path);
}

/* Without POSIX times are those of the processor. */
static double now_ms(void) {
#ifdef CLOCK_MONOTONIC
  struct timespec t;
  if (clock_gettime(CLOCK_MONOTONIC, &t) == 0) return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
#endif
  return 1e3 * (double)clock() / (double)CLOCKS_PER_SEC;
}

// Processor time of all threads.
static double cpu_now_ms(void) {
#ifdef CLOCK_PROCESS_CPUTIME_ID
  struct timespec t;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0)
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
#endif
  return 1e3 * (double)clock() / (double)CLOCKS_PER_SEC;
}

static int compare_double(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

//@ piece example_device
/* Loads model i of the folder onto the simulator that it runs on; a message and a code when that fails. */
static int load_model(K_device* device, const mrvl_device* simulator, const char* folder, int i) {
  K_error error;
  size_t bytes = 0, length = strlen(folder) + strlen(model_stem) + 40;
  char* path = (char*)allocate(length);
  void* data;
  snprintf(path, length, "%s/%s.region%d.mrvl", folder, model_stem, i);
  data = read_all(path, &bytes);
  if (!data) return fail(3, "cannot read", path);
  if (K_load(device, i, data, bytes, &error) == 0) return 0;
  if (K_CPU_ON_ERROR && error.code == K_ERROR_DEVICE) {
    fprintf(stderr, "warning: %s: %s; the CPU computes it\n", path, mrvl_simulator_error(simulator));
    return 0;
  }
  return fail(1, path,
      error.code == K_ERROR_BINARY    ? "it is not the binary this program was made with"
      : error.code == K_ERROR_VERSION ? "the simulator is of another version than this program"
                                      : mrvl_simulator_error(simulator));
}

//@ piece example_weights
/* Reads the weights and hands them to the model. A program that has them in flash, or maps them, needs no
 * memory for them. */
static int load_weights(K_device* device, const char* folder) {
  K_error error;
  size_t bytes = 0, length = strlen(folder) + sizeof weights_file + 1;
  char* path = (char*)allocate(length);
  void* data;
  snprintf(path, length, "%s/%s", folder, weights_file);
  data = read_all(path, &bytes);
  if (!data) return fail(3, "cannot read", path);
  if (K_load_weights(device, data, bytes, &error) == 0) return 0;
  return fail(1, path, "these are not the weights this program was made with");
}

//@ piece example_arena
/* The arena, where Linux has pages of 2 MiB for who asks for them: fewer faults in a first run, faster memory
 * in all. */
static void* allocate_arena(size_t bytes) {
#ifdef MADV_HUGEPAGE
  const size_t page = (size_t)2 << 20, pages = (bytes + page - 1) / page;
  unsigned char* p = (unsigned char*)allocate((pages + 1) * page);
  p += (page - (uintptr_t)p % page) % page;
  (void)madvise(p, pages * page, MADV_HUGEPAGE); /* a wish: without, it is memory as any other */
  return p;
#else
  return allocate(bytes);
#endif
}

//@ piece example_main
typedef struct arguments {
  const char *input_files[K_INPUT_COUNT + 1], *output_dir, *dir, *targets[8];
  int target_count;
  long bench;
  int repeat, cycles, steps;
} arguments;

static int usage(const char* what) {
  fprintf(stderr,
      "%s\nusage: --input NAME=FILE.npy ... [--output-dir DIR] [--repeat-axis0] [--bench N] [--steps] "
      "[--cycles]\n"
      "       [--target NAME|FILE, of each device] [--dir DIR]\ninputs:",
      what);
  for (int i = 0; i < K_INPUT_COUNT; ++i) fprintf(stderr, " %s", shown(input_ports[i].name));
  fprintf(stderr, "\n");
  return 2;
}

/* "NAME=FILE"; a name may hold '=' itself, so the names decide. The name's form in file names does as well.
 */
static int take_input(arguments* a, const char* text) {
  for (int form = 0; form < 2; ++form) {
    for (int i = 0; i < K_INPUT_COUNT; ++i) {
      const char* name = form == 0 ? input_ports[i].name : input_ports[i].file;
      const size_t n = strlen(name);
      if (strncmp(text, name, n) == 0 && text[n] == '=') {
        a->input_files[i] = text + n + 1;
        return 0;
      }
    }
  }
  return usage("--input names no input of the model");
}

static int parse(int argc, char** argv, arguments* a) {
  for (int i = 1; i < argc; ++i) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(name, "--repeat-axis0") == 0) {
      a->repeat = 1;
      continue;
    }
    if (strcmp(name, "--cycles") == 0) {
      a->cycles = 1;
      continue;
    }
    if (strcmp(name, "--steps") == 0) {
      a->steps = 1;
      continue;
    }
    if (!value) return usage("an option without value");
    ++i;
    if (strcmp(name, "--input") == 0) {
      if (take_input(a, value) != 0) return 2;
    } else if (strcmp(name, "--output-dir") == 0) {
      a->output_dir = value;
    } else if (strcmp(name, "--dir") == 0) {
      a->dir = value;
    } else if (strcmp(name, "--target") == 0) {
      if (a->target_count >= 8) return usage("--target is given too often");
      a->targets[a->target_count++] = value;
    } else if (strcmp(name, "--bench") == 0) {
      a->bench = strtol(value, NULL, 10);
      if (a->bench < 1 || a->bench > 1000000) return usage("--bench takes 1 to 1000000");
    } else {
      return usage("unknown option");
    }
  }
  return 0;
}

static int report(int code, const K_error* error) {
  static const char* const texts[] = {"none", "an argument is missing", "the arena is missing or not aligned",
      "the device failed", "a shape known at run time only exceeds its bound, or shapes do not fit",
      "a value that decides about a shape, or an index, is not allowed",
      "a model binary is not the one this program was made with",
      "the device is of another version than this program",
      "fp16 overflow: values left the range of their format",
      "a function of a library failed: the code is what it returned"};
  const char* text = code >= 0 && code < (int)(sizeof texts / sizeof texts[0]) ? texts[code] : "unknown";
  if (code == K_ERROR_OVERFLOW && error->device_flags & MRVL_FLAG_INPUT) {
    fprintf(stderr,
        "inference refused input '%s': beyond what was tried when the model was compiled (error %d)\n",
        shown(error->node), code);
    return 1;
  }
  fprintf(stderr, "inference failed at node '%s': %s (error %d, device code %d, expression %lu)\n",
      shown(error->node), text, code, error->device_code, (unsigned long)error->expr_id);
  if (error->layer >= 0)
    fprintf(stderr, "it is computed in region %ld, layer %ld\n", (long)error->region, (long)error->layer);
  return 1;
}

/* Of the first run that did not go as it should. */
static void warn(const K_error* error) {
  static int warned;
  if (!warned && (error->retries > 0 || error->cpu_regions > 0)) {
    warned = 1;
    fprintf(stderr,
        "warning: in the region of node '%s' (device code %d): %lu runs again, %lu regions on the CPU\n",
        shown(error->node), error->device_code, (unsigned long)error->retries,
        (unsigned long)error->cpu_regions);
  }
  if (warned || error->device_flags == 0) return;
  warned = 1;
  if (error->device_flags & MRVL_FLAG_INPUT) {
    fprintf(stderr,
        "warning: input '%s' lies beyond what was tried when the model was compiled (flags %lu)\n",
        shown(error->node), (unsigned long)error->device_flags);
    return;
  }
  fprintf(stderr, "warning: %s in the region of node '%s' (flags %lu)\n",
      error->device_flags & MRVL_FLAG_OVERFLOW ? "fp16 overflow" : "fp16: a result is not a number",
      shown(error->node), (unsigned long)error->device_flags);
}

//@ piece example_run
/* A state that no file gives: zeros. */
static int begin_state(const port* p, tensor* t) {
  t->bytes = p->bytes;
  t->repeats = 1;
  t->data = memset(allocate(p->bytes), 0, p->bytes);
  return 0;
}

/* All repeats of all inputs; outputs are stacked along axis 0. A state goes from each repeat to the next,
 * unless its file has one for each. */
static int run_all(const arguments* a, void* arena, const K_device* device) {
  static const tensor none;
  tensor inputs[K_INPUT_COUNT + 1], in[K_INPUT_COUNT + 1], out[K_OUTPUT_COUNT + 1];
  void* all[K_OUTPUT_COUNT + 1] = {NULL};
  long repeats = 1, counts[K_OUTPUT_COUNT + 1] = {0};
  K_error error;
  inputs[K_INPUT_COUNT] = in[K_INPUT_COUNT] = out[K_OUTPUT_COUNT] = none;
  for (int i = 0; i < K_INPUT_COUNT; ++i) {
    inputs[i] = none;
    if (!a->input_files[i] && state_outputs[i] < 0) return usage("an input is missing");
    const int rc = a->input_files[i] ? read_input(a->input_files[i], &input_ports[i], a->repeat, &inputs[i])
                                     : begin_state(&input_ports[i], &inputs[i]);
    if (rc != 0) return rc;
    if (inputs[i].repeats != 1 && repeats != 1 && inputs[i].repeats != repeats)
      return usage("inputs repeat differently");
    if (inputs[i].repeats != 1) repeats = inputs[i].repeats;
    in[i] = inputs[i];
  }
  for (int i = 0; i < K_OUTPUT_COUNT; ++i) {
    if (repeats > 1 && (output_ports[i].dynamic || !output_ports[i].type))
      return usage("outputs of different shapes cannot be stacked");
    all[i] = allocate(output_ports[i].bytes * (size_t)repeats);
    out[i] = none;
    counts[i] = repeats;
  }
  for (int i = 0; i < K_INPUT_COUNT; ++i) {
    if (state_outputs[i] < 0 || inputs[i].repeats != 1) continue;
    all[state_outputs[i]] = inputs[i].data;
    counts[state_outputs[i]] = 1;
  }
  for (long r = 0; r < repeats; ++r) {
    for (int i = 0; i < K_INPUT_COUNT; ++i)
      in[i].data =
          (unsigned char*)inputs[i].data + (inputs[i].repeats == 1 ? 0 : (size_t)r * inputs[i].bytes);
    for (int i = 0; i < K_OUTPUT_COUNT; ++i)
      out[i].data = (unsigned char*)all[i] + (counts[i] == 1 ? 0 : (size_t)r * output_ports[i].bytes);
    const int rc = run_once(in, out, arena, device, NULL, NULL, &error);
    if (rc != 0) return report(rc, &error);
    warn(&error);
  }
  if (a->bench > 0) {
    int rc = bench(a->bench, in, out, arena, device);
    if (rc == 0 && a->steps) rc = bench_steps(a->bench, in, out, arena, device);
    if (rc != 0) return rc;
  }
  for (int i = 0; a->output_dir && i < K_OUTPUT_COUNT; ++i) {
    const int rc = write_output(a->output_dir, &output_ports[i], all[i], out[i].dim, counts[i], a->repeat);
    if (rc != 0) return rc;
  }
  return 0;
}
