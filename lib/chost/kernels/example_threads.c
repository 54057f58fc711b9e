//@ piece example_threads
/* The threads that the model's loops are given. Compiled with -fopenmp they are OpenMP's, which
 * OMP_WAIT_POLICY=active keeps awake between loops, else a pool of POSIX threads. */
static int take_threads(int* argc, char** argv) {
  int workers = K_MAX_WORKERS;
  for (int i = 1; i + 1 < *argc; ++i) {
    if (strcmp(argv[i], "--threads") != 0) continue;
    workers = (int)strtol(argv[i + 1], NULL, 10);
    *argc -= 2;
    memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i) * sizeof *argv);
    break;
  }
  return workers < 1 ? 1 : workers < K_MAX_WORKERS ? workers : K_MAX_WORKERS;
}

#ifdef _OPENMP
static void run_parts(void* context, int parts, mrvl_task task, const void* data) {
  (void)context;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int i = 0; i < parts; ++i) task(data, i, parts);
}

static int start_workers(mrvl_parallel* parallel, int workers) {
  parallel->workers = workers;
  parallel->run = run_parts;
  return 0;
}

static void stop_workers(mrvl_parallel* parallel) {
  parallel->workers = 0;
}
#elif !defined(__unix__) && !defined(__APPLE__)
#error "the threads of this example are those of POSIX or OpenMP (-fopenmp)"
#else
#include <pthread.h>

/* Thread i of the pool takes part i; part 0 is the caller's. */
typedef struct pool {
  pthread_mutex_t lock;
  pthread_cond_t changed, done;
  pthread_t threads[K_MAX_WORKERS];
  mrvl_task task;
  const void* data;
  int parts, workers, started, asleep, quit;
  int round, left; /* read without the lock: how many loops there were; threads that are not done with it */
} pool;

static pool workers_pool;

/* Loops follow each other within microseconds, and to wake a thread takes tens of them: it looks for as long
 * before it sleeps. */
enum { LOOKS = 60000 };

static void wait_for_round(pool* p, int seen) {
  for (int i = 0; i < LOOKS; ++i) {
    if (__atomic_load_n(&p->round, __ATOMIC_ACQUIRE) != seen) return;
  }
  pthread_mutex_lock(&p->lock);
  ++p->asleep;
  while (__atomic_load_n(&p->round, __ATOMIC_ACQUIRE) == seen) pthread_cond_wait(&p->changed, &p->lock);
  --p->asleep;
  pthread_mutex_unlock(&p->lock);
}

static void* work(void* index) {
  pool* const p = &workers_pool;
  const int mine = (int)(intptr_t)index;
  for (int seen = 0;; ++seen) {
    wait_for_round(p, seen);
    if (p->quit) return NULL;
    if (mine < p->parts) p->task(p->data, mine, p->parts);
    if (__atomic_sub_fetch(&p->left, 1, __ATOMIC_ACQ_REL) > 0) continue;
    pthread_mutex_lock(&p->lock);
    pthread_cond_signal(&p->done);
    pthread_mutex_unlock(&p->lock);
  }
}

static void next_round(pool* p) {
  pthread_mutex_lock(&p->lock);
  __atomic_store_n(&p->left, p->started, __ATOMIC_RELAXED);
  __atomic_store_n(&p->round, p->round + 1, __ATOMIC_RELEASE);
  if (p->asleep) pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
}

static void run_parts(void* context, int parts, mrvl_task task, const void* data) {
  pool* const p = (pool*)context;
  p->task = task;
  p->data = data;
  p->parts = parts;
  next_round(p);
  task(data, 0, parts);
  for (int i = 0; i < LOOKS; ++i) {
    if (__atomic_load_n(&p->left, __ATOMIC_ACQUIRE) == 0) return;
  }
  pthread_mutex_lock(&p->lock);
  while (__atomic_load_n(&p->left, __ATOMIC_ACQUIRE) > 0) pthread_cond_wait(&p->done, &p->lock);
  pthread_mutex_unlock(&p->lock);
}

static void stop_workers(mrvl_parallel* parallel) {
  pool* const p = &workers_pool;
  p->quit = 1;
  if (p->started > 0) next_round(p);
  for (int i = 0; i < p->started; ++i) pthread_join(p->threads[i], NULL);
  p->started = 0;
  parallel->workers = 0;
}

static int start_workers(mrvl_parallel* parallel, int workers) {
  pool* const p = &workers_pool;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->changed, NULL);
  pthread_cond_init(&p->done, NULL);
  for (int i = 1; i < workers; ++i) {
    if (pthread_create(&p->threads[p->started], NULL, work, (void*)(intptr_t)i) != 0) return 1;
    ++p->started;
  }
  parallel->workers = workers;
  parallel->context = p;
  parallel->run = run_parts;
  return 0;
}
#endif
