/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the programs of all processing elements, feeds them and collects what they compute. Elements are
 * shared out to ranks: of MPI where it is built with -DMRVL_MPI, else all in this process. Messages are parts
 * of values, and credits that say that one was read. C99. */
#include "coordinator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#ifdef MRVL_MPI
#include <mpi.h>
#include <time.h>
#endif

/* Seconds without anything to do after which a rank says what it waits for. */
#define PATIENCE 60

/* Numbers of a task's edges, in `edges` from `begin` to before `end`. */
struct links {
  uint32_t begin, end;
};

static struct {
  uint32_t images, ranks, rank;       /* rank: of this process, with MPI */
  uint32_t seed;                      /* of the order of delivery; 0: as sent */
  unsigned char** memory;             /* by element; NULL: of another rank */
  uint32_t *position, *begin, *order; /* of each element: its next task, where its tasks begin in `order` */
  uint32_t* fired;                    /* by task, the host's two last: images that are done */
  uint32_t *sent, *freed, *arrived;   /* by edge */
  struct links *in, *out;             /* by task */
  uint32_t *in_edges, *out_edges;
  struct queue* queues;              /* by rank */
  unsigned char **inputs, **outputs; /* all images */
} s;

/* The host's tasks follow those of the elements, as do its two elements: it feeds and collects independently.
 */
static uint32_t task_index(uint32_t task) {
  return task == MESH_FEED ? mesh_counts.tasks : task == MESH_COLLECT ? mesh_counts.tasks + 1 : task;
}
static uint32_t pe_of(uint32_t index) {
  return index < mesh_counts.tasks ? mesh_tasks[index].pe : mesh_counts.pes + (index - mesh_counts.tasks);
}
/* Ranks have elements that follow each other; the first has the host, too. */
static uint32_t rank_of(uint32_t pe) {
  return pe >= mesh_counts.pes ? 0 : (uint32_t)((uint64_t)pe * s.ranks / mesh_counts.pes);
}
static int is_here(uint32_t rank) {
#ifdef MRVL_MPI
  return rank == s.rank;
#else
  (void)rank;
  return 1;
#endif
}

/* Lists by task: where `next` says to which an edge belongs. */
static uint32_t* list_edges(struct links* links, int incoming) {
  const uint32_t tasks = mesh_counts.tasks + 2;
  uint32_t* const edges = mesh_room(mesh_counts.edges, sizeof *edges);
  uint32_t* const at = mesh_room(tasks + 1, sizeof *at);
  for (uint32_t e = 0; e < mesh_counts.edges; ++e)
    ++at[task_index(incoming ? mesh_edges[e].to : mesh_edges[e].from) + 1];
  for (uint32_t t = 0; t < tasks; ++t) {
    at[t + 1] += at[t];
    links[t].begin = at[t];
    links[t].end = at[t + 1];
  }
  for (uint32_t e = 0; e < mesh_counts.edges; ++e)
    edges[at[task_index(incoming ? mesh_edges[e].to : mesh_edges[e].from)]++] = e;
  free(at);
  return edges;
}

static void list_tasks(void) {
  const uint32_t pes = mesh_counts.pes + 2, tasks = mesh_counts.tasks + 2;
  s.begin = mesh_room(pes + 1, sizeof *s.begin);
  s.order = mesh_room(tasks, sizeof *s.order);
  s.position = mesh_room(pes, sizeof *s.position);
  for (uint32_t t = 0; t < tasks; ++t) ++s.begin[pe_of(t) + 1];
  for (uint32_t p = 0; p < pes; ++p) s.begin[p + 1] += s.begin[p];
  for (uint32_t t = 0; t < tasks; ++t) s.order[s.begin[pe_of(t)] + s.position[pe_of(t)]++] = t;
  memset(s.position, 0, pes * sizeof *s.position);
}

/* Loads the elements' constants; 0: a message was printed. */
static int load(const char* folder) {
  const size_t length = strlen(folder) + sizeof "/weights.bin";
  char* const path = mesh_room(length, 1);
  snprintf(path, length, "%s/weights.bin", folder);
  FILE* const f = fopen(path, "rb");
  int good = f != NULL;
  s.memory = mesh_room(mesh_counts.pes, sizeof *s.memory);
  for (uint32_t p = 0; good && p < mesh_counts.pes; ++p) {
    const struct mesh_pe* const pe = &mesh_pes[p];
    if (!is_here(rank_of(p))) continue;
    s.memory[p] = mesh_room(pe->program->memory_bytes, 1);
    good = fseek(f, (long)pe->blob_offset, SEEK_SET) == 0 &&
           fread(s.memory[p], 1, pe->blob_bytes, f) == pe->blob_bytes;
  }
  if (f != NULL) fclose(f);
  if (!good) fprintf(stderr, "mesh: %s cannot be read\n", path);
  free(path);
  return good;
}

static void send(uint32_t rank, struct message* m) {
#ifdef MRVL_MPI
  if (rank != s.rank) {
    mesh_transfer(rank, m);
    return;
  }
#endif
  mesh_append(&s.queues[rank], m);
}

static unsigned char* sender_memory(const struct mesh_edge* e, uint32_t image) {
  if (e->from == MESH_FEED)
    return s.inputs[e->from_port] + image * mesh_port_bytes(&mesh_inputs[e->from_port]);
  return s.memory[mesh_tasks[e->from].pe];
}

static unsigned char* receiver_memory(const struct mesh_edge* e, uint32_t image) {
  if (e->to == MESH_COLLECT) return s.outputs[e->port] + image * mesh_port_bytes(&mesh_outputs[e->port]);
  return s.memory[mesh_tasks[e->to].pe] + (size_t)(image % e->credits) * e->slot_bytes;
}

static void send_part(uint32_t edge, uint32_t image) {
  const struct mesh_edge* const e = &mesh_edges[edge];
  const unsigned char* const from = sender_memory(e, image) + e->from_offset;
  struct message* const m = mesh_message(edge, 0, (size_t)e->count * e->run);
  for (uint32_t i = 0; i < e->count; ++i)
    memcpy(m->payload + (size_t)i * e->run, from + (size_t)i * e->from_step, e->run);
  ++s.sent[edge];
  send(rank_of(pe_of(task_index(e->to))), m);
}

static void deliver(struct message* m) {
  const struct mesh_edge* const e = &mesh_edges[m->edge];
  if (m->is_credit) {
    ++s.freed[m->edge];
  } else {
    unsigned char* const to = receiver_memory(e, s.arrived[m->edge]) + e->to_offset;
    for (uint32_t i = 0; i < e->count; ++i)
      memcpy(to + (size_t)i * e->to_step, m->payload + (size_t)i * e->run, e->run);
    ++s.arrived[m->edge];
  }
  free(m);
}

/* Why a task cannot begin its next image; -1: it can. */
static int64_t waits_for(uint32_t task, int* for_credit) {
  const uint32_t image = s.fired[task];
  *for_credit = 0;
  for (uint32_t i = s.in[task].begin; i < s.in[task].end; ++i)
    if (s.arrived[s.in_edges[i]] <= image) return s.in_edges[i];
  *for_credit = 1;
  for (uint32_t i = s.out[task].begin; i < s.out[task].end; ++i) {
    const uint32_t e = s.out_edges[i];
    if (s.sent[e] - s.freed[e] >= mesh_edges[e].credits) return e;
  }
  return -1;
}

static void fire(uint32_t pe, uint32_t task) {
  const uint32_t image = s.fired[task];
  if (pe < mesh_counts.pes) mesh_pes[pe].program->tasks[s.position[pe]](s.memory[pe], image);
  for (uint32_t i = s.out[task].begin; i < s.out[task].end; ++i) send_part(s.out_edges[i], image);
  for (uint32_t i = s.in[task].begin; i < s.in[task].end; ++i) {
    const uint32_t e = s.in_edges[i];
    /* Nobody waits for the last ones. */
    if (image + mesh_edges[e].credits < s.images)
      send(rank_of(pe_of(task_index(mesh_edges[e].from))), mesh_message(e, 1, 0));
  }
  ++s.fired[task];
}

/* Everything that an element can do now; whether there was anything. */
static int run_pe(uint32_t pe) {
  int ran = 0, for_credit;
  const uint32_t tasks = s.begin[pe + 1] - s.begin[pe];
  for (;;) {
    if (tasks == 0) return 0;
    const uint32_t task = s.order[s.begin[pe] + s.position[pe]];
    if (s.fired[task] == s.images || waits_for(task, &for_credit) >= 0) return ran;
    fire(pe, task);
    s.position[pe] = (s.position[pe] + 1) % tasks;
    ran = 1;
  }
}

static int is_finished(uint32_t rank) {
  for (uint32_t t = 0; t < mesh_counts.tasks + 2; ++t)
    if (rank_of(pe_of(t)) == rank && s.fired[t] < s.images) return 0;
  return 1;
}

static int run_rank(uint32_t rank) {
  int ran = 0;
  while (s.queues[rank].count > 0) {
    deliver(mesh_take(&s.queues[rank], &s.seed));
    ran = 1;
    /* With a seed elements go on between any two messages. */
    if (s.seed != 0 && mesh_drawn(&s.seed) % 2 == 0) break;
  }
  for (uint32_t p = 0; p < mesh_counts.pes + 2; ++p)
    if (rank_of(p) == rank) ran |= run_pe(p);
  return ran;
}

static void name_task(uint32_t task) {
  if (task == MESH_FEED || task == MESH_COLLECT)
    fprintf(stderr, "the host");
  else
    fprintf(stderr, "PE %u.%u, node '%s'", mesh_pes[mesh_tasks[task].pe].chip,
            mesh_pes[mesh_tasks[task].pe].core, mesh_tasks[task].node);
}

/* Who waits, for which edge. */
static void say_stuck(uint32_t rank) {
  for (uint32_t p = 0; p < mesh_counts.pes + 2; ++p) {
    if (rank_of(p) != rank || s.begin[p] == s.begin[p + 1]) continue;
    int for_credit;
    const uint32_t task = s.order[s.begin[p] + s.position[p]];
    const int64_t edge = s.fired[task] < s.images ? waits_for(task, &for_credit) : -1;
    if (edge < 0) continue;
    fprintf(stderr, "mesh: ");
    name_task(task < mesh_counts.tasks ? task : task == mesh_counts.tasks ? MESH_FEED : MESH_COLLECT);
    fprintf(stderr, ", image %u: waits for %s edge %u, ", s.fired[task], for_credit ? "room on" : "data of",
            (unsigned)edge);
    name_task(for_credit ? mesh_edges[edge].to : mesh_edges[edge].from);
    fprintf(stderr, "\n");
  }
}

#ifdef MRVL_MPI
/* 0: nothing went on for too long. */
static int run_all(void) {
  MPI_Request all = MPI_REQUEST_NULL;
  int done = 0, waits = 0;
  time_t since = time(NULL);
  while (!done) {
    mesh_receive(&s.queues[s.rank]);
    if (run_rank(s.rank))
      since = time(NULL);
    else if (!waits && time(NULL) - since > PATIENCE) {
      say_stuck(s.rank);
      return 0;
    }
    mesh_forget_sent(0);
    if (!waits && is_finished(s.rank)) {
      MPI_Ibarrier(MPI_COMM_WORLD, &all);
      waits = 1;
    }
    if (waits) MPI_Test(&all, &done, MPI_STATUS_IGNORE);
  }
  mesh_forget_sent(1);
  return 1;
}
#else
/* 0: nothing can go on. */
static int run_all(void) {
  for (;;) {
    int ran = 0, finished = 1;
    for (uint32_t r = 0; r < s.ranks; ++r) {
      ran |= run_rank(r);
      finished &= is_finished(r);
    }
    if (finished) return 1;
    if (ran) continue;
    for (uint32_t r = 0; r < s.ranks; ++r) say_stuck(r);
    return 0;
  }
}
#endif

struct arguments {
  const char *folder, *output_folder;
  uint32_t ranks, seed;
  int repeat;
  char** inputs;
  int input_count;
};

static int usage(void) {
  fprintf(stderr,
          "usage: mesh [--dir OUT] [--ranks N] [--order SEED] [--repeat-axis0] [--output-dir DIR] INPUT.npy "
          "...\n");
  return 2;
}

/* 0: it was not understood. */
static int parse(int argc, char** argv, struct arguments* a) {
  for (int i = 1; i < argc; ++i) {
    const char* const word = argv[i];
    if (strncmp(word, "--", 2) != 0) {
      a->inputs[a->input_count++] = argv[i];
      continue;
    }
    if (strcmp(word, "--repeat-axis0") == 0) {
      a->repeat = 1;
      continue;
    }
    if (++i == argc) return 0;
    if (strcmp(word, "--dir") == 0)
      a->folder = argv[i];
    else if (strcmp(word, "--output-dir") == 0)
      a->output_folder = argv[i];
    else if (strcmp(word, "--ranks") == 0)
      a->ranks = (uint32_t)strtoul(argv[i], NULL, 10);
    else if (strcmp(word, "--order") == 0)
      a->seed = (uint32_t)strtoul(argv[i], NULL, 10);
    else
      return 0;
  }
  return a->input_count == (int)mesh_counts.inputs && a->ranks > 0;
}

/* The inputs' images, and room for those of the outputs. */
static int read_inputs(const struct arguments* a) {
  s.inputs = mesh_room(mesh_counts.inputs, sizeof *s.inputs);
  s.outputs = mesh_room(mesh_counts.outputs, sizeof *s.outputs);
  for (uint32_t i = 0; i < mesh_counts.inputs; ++i) {
    uint32_t images = 0;
    s.inputs[i] = mesh_read(&mesh_inputs[i], a->inputs[i], a->repeat, &images);
    if (s.inputs[i] == NULL) return 0;
    if (i > 0 && images != s.images) {
      fprintf(stderr, "mesh: inputs have different numbers of images\n");
      return 0;
    }
    s.images = images;
  }
  for (uint32_t i = 0; i < mesh_counts.outputs; ++i)
    s.outputs[i] = mesh_room(s.images, mesh_port_bytes(&mesh_outputs[i]));
  return 1;
}

static int run(const struct arguments* a) {
  const uint32_t tasks = mesh_counts.tasks + 2;
  if (!read_inputs(a) || !load(a->folder)) return 3;
  s.fired = mesh_room(tasks, sizeof *s.fired);
  s.sent = mesh_room(mesh_counts.edges, sizeof *s.sent);
  s.freed = mesh_room(mesh_counts.edges, sizeof *s.freed);
  s.arrived = mesh_room(mesh_counts.edges, sizeof *s.arrived);
  s.in = mesh_room(tasks, sizeof *s.in);
  s.out = mesh_room(tasks, sizeof *s.out);
  s.queues = mesh_room(s.ranks, sizeof *s.queues);
  s.in_edges = list_edges(s.in, 1);
  s.out_edges = list_edges(s.out, 0);
  list_tasks();
  if (!run_all()) return 1;
  if (s.rank != 0 || a->output_folder == NULL) return 0;
  for (uint32_t i = 0; i < mesh_counts.outputs; ++i)
    if (!mesh_write(&mesh_outputs[i], a->output_folder, s.outputs[i], s.images, a->repeat)) return 3;
  return 0;
}

int main(int argc, char** argv) {
  struct arguments a = {".", NULL, 1, 0, 0, NULL, 0};
#ifdef MRVL_MPI
  int rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  s.rank = (uint32_t)rank;
#endif
  a.inputs = mesh_room((size_t)argc, sizeof *a.inputs);
  int code = parse(argc, argv, &a) ? 0 : usage();
  s.ranks = a.ranks;
  s.seed = a.seed;
#ifdef MRVL_MPI
  s.ranks = (uint32_t)ranks;
#endif
  if (code == 0) code = run(&a);
#ifdef MRVL_MPI
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
#endif
  return code;
}
