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
