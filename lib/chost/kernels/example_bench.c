//@ piece example_bench
/* Of --steps: the least time of each operator and region. */
typedef struct step {
  uint32_t expr_id;
  double begin, least;
} step;

typedef struct steps {
  step* all;
  size_t count, room;
} steps;

static void time_step(void* user, uint32_t expr_id, const char* name, int done) {
  steps* s = (steps*)user;
  const double now = now_ms();
  size_t i = 0;
  (void)name;
  while (i < s->count && s->all[i].expr_id != expr_id) ++i;
  if (i == s->room) {
    step* more = (step*)allocate((s->room = 2 * s->room + 64) * sizeof(step));
    if (s->count > 0) memcpy(more, s->all, s->count * sizeof(step));
    s->all = more;
  }
  if (i == s->count) {
    s->all[s->count].expr_id = expr_id;
    s->all[s->count++].least = -1;
  }
  step* const own = &s->all[i];
  if (!done) {
    own->begin = now_ms();
    return;
  }
  if (own->least < 0 || now - own->begin < own->least) own->least = now - own->begin;
}

static int bench_steps(long runs, const tensor* in, tensor* out, void* arena, const K_device* device) {
  steps s = {NULL, 0, 0};
  K_error error;
  for (long i = 0; i < runs; ++i) {
    const int rc = run_once(in, out, arena, device, time_step, &s, &error);
    if (rc != 0) return report(rc, &error);
  }
  for (size_t i = 0; i < s.count; ++i)
    printf("step %lu least_ms %.6f\n", (unsigned long)s.all[i].expr_id, s.all[i].least);
  return 0;
}

/* `batch` runs: what one takes, by the clock and of the processor. */
static int time_batch(long batch, const tensor* in, tensor* out, void* arena, const K_device* device,
    double* ms, double* cpu_ms) {
  const double cpu_start = cpu_now_ms(), start = now_ms();
  K_error error;
  for (long i = 0; i < batch; ++i) {
    const int rc = run_once(in, out, arena, device, NULL, NULL, &error);
    if (rc != 0) return report(rc, &error);
  }
  *ms = (now_ms() - start) / (double)batch;
  *cpu_ms = (cpu_now_ms() - cpu_start) / (double)batch;
  return 0;
}

/* Samples are batches of runs that take a while, as far as there are eight of them. The clock counts what
 * others did meanwhile: the least sample is the one that tells, where not all are disturbed. The processor's
 * own time is no yardstick, as virtual machines now and then count too little of it. */
static int bench(long runs, const tensor* in, tensor* out, void* arena, const K_device* device) {
  const double long_enough = 0.2; /* ms */
  double *ms = (double*)allocate((size_t)runs * sizeof(double)),
         *cpu_ms = (double*)allocate((size_t)runs * sizeof(double));
  long batch = 1, samples, disturbed = 0;
  int rc = 0;
  for (int i = 0; i < 2 && rc == 0; ++i) rc = time_batch(1, in, out, arena, device, ms, cpu_ms);
  if (rc != 0) return rc;
  while (batch < runs / 8 && ms[0] * (double)batch < long_enough) batch *= 2;
  samples = runs / batch;
  for (long i = 0; i < samples; ++i) {
    rc = time_batch(batch, in, out, arena, device, &ms[i], &cpu_ms[i]);
    if (rc != 0) return rc;
    disturbed += ms[i] > 1.05 * cpu_ms[i];
  }
  qsort(ms, (size_t)samples, sizeof(double), compare_double);
  qsort(cpu_ms, (size_t)samples, sizeof(double), compare_double);
  printf("median_ms %.6f min_ms %.6f cpu_ms %.6f disturbed %ld of %ld\n", ms[samples / 2], ms[0],
      cpu_ms[samples / 2], disturbed, samples);
  return 0;
}

//@ piece example_flight
/* A run in flight, with all that is its own. */
typedef struct flight {
  K_inputs inputs;
  K_outputs outputs;
  void* arena;
  tensor out[K_OUTPUT_COUNT + 1];
  K_flight run;
} flight;

static int runs_in_flight = 0; /* --in-flight */

static int take_flights(int* argc, char** argv) {
  for (int i = 1; i + 1 < *argc; ++i) {
    if (strcmp(argv[i], "--in-flight") != 0) continue;
    runs_in_flight = (int)strtol(argv[i + 1], NULL, 10);
    if (runs_in_flight < 1 || runs_in_flight > MRVL_DEVICE_IN_FLIGHT) return 2;
    *argc -= 2;
    memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i) * sizeof *argv);
    break;
  }
  return 0;
}

//@ piece example_bench_flight
/* Memory for each run in flight; results of the first lie where those of the run before do not. */
static void make_flights(flight* all, const tensor* out) {
  for (int f = 0; f < runs_in_flight; ++f) {
    memset(&all[f], 0, sizeof all[f]);
    all[f].arena = allocate(K_ARENA_BYTES);
    for (int i = 0; i < K_OUTPUT_COUNT; ++i) {
      all[f].out[i] = out[i];
      all[f].out[i].data = allocate(output_ports[i].bytes);
    }
  }
}

/* Whether the results are the bits of the run before, where they have bits that say so. */
static int same_results(const flight* f, const tensor* out) {
  for (int i = 0; i < K_OUTPUT_COUNT; ++i) {
    if (output_ports[i].dynamic || !output_ports[i].type) continue;
    if (memcmp(f->out[i].data, out[i].data, output_ports[i].bytes) != 0) return 0;
  }
  return 1;
}

/* `runs` runs, so many of them in flight at once: images a second. */
static int bench_flights(long runs, const tensor* in, const tensor* out, const K_device* device) {
  static flight all[MRVL_DEVICE_IN_FLIGHT];
  K_error error;
  long begun = 0;
  if (runs_in_flight == 0) return 0;
  make_flights(all, out);
  const double start = now_ms();
  for (long ended = 0; ended < runs; ++ended) {
    flight* const f = &all[ended % runs_in_flight];
    while (begun < runs && begun < ended + runs_in_flight) {
      const int rc = submit_one(in, &all[begun++ % runs_in_flight], device, &error);
      if (rc != 0) return report(rc, &error);
    }
    const int rc = K_wait(&f->run, &error);
    if (rc != 0) return report(rc, &error);
  }
  printf("in_flight %d images_per_second %.3f\n", runs_in_flight, 1e3 * (double)runs / (now_ms() - start));
  for (int f = 0; f < runs_in_flight && f < runs; ++f)
    if (!same_results(&all[f], out)) return fail(1, "in flight", "the results are other bits");
  return 0;
}
