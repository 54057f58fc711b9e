//@ piece example_dump
/* --dump DIR: values of the model as DIR/FILE.npy, for `mrvlc compare --with DIR`; of several runs those of
 * the last. What .npy does not hold, and what is made in bodies, is left out. */
static void dump_value(void* user, const mrvl_value* value) {
  port p;
  if (!value->file || !value->numpy || !value->data) return;
  memset(&p, 0, sizeof p);
  p.file = value->file;
  p.type = value->numpy;
  p.rank = value->rank;
  p.size = value->element_bytes;
  p.dynamic = ~0u; /* all dimensions come with the value */
  if (write_npy((const char*)user, &p, value->data, value->dim, 1, 0) != 0) exit(release(3));
}

static void take_dump(int* argc, char** argv, K_device* device) {
  for (int i = 1; i + 1 < *argc; ++i) {
    if (strcmp(argv[i], "--dump") != 0) continue;
    device->value_hook = dump_value;
    device->value_user = argv[i + 1];
    *argc -= 2;
    memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i) * sizeof *argv);
    return;
  }
}
