/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of messages, in a process and over MPI. C99. */
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef MRVL_MPI
#include <mpi.h>
#endif

void* mesh_room(size_t count, size_t bytes) {
  void* const p = calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1);
  if (p == NULL) {
    fprintf(stderr, "mesh: out of memory\n");
    exit(1);
  }
  return p;
}

struct message* mesh_message(uint32_t edge, int is_credit, size_t bytes) {
  /* The number of the edge goes behind the payload over MPI. */
  struct message* const m = mesh_room(1, sizeof *m + bytes + sizeof m->edge);
  m->edge = edge;
  m->is_credit = (uint32_t)is_credit;
  m->bytes = bytes;
  return m;
}

void mesh_append(struct queue* q, struct message* m) {
  m->next = NULL;
  if (q->last != NULL)
    q->last->next = m;
  else
    q->first = m;
  q->last = m;
  ++q->count;
}

uint32_t mesh_drawn(uint32_t* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

struct message* mesh_take(struct queue* q, uint32_t* seed) {
  struct message **at = &q->first, *before = NULL, *m = q->first;
  if (*seed != 0) {
    for (uint32_t skip = mesh_drawn(seed) % q->count; skip > 0; --skip) m = m->next;
    const struct message* const any = m;
    while ((*at)->edge != any->edge || (*at)->is_credit != any->is_credit) {
      before = *at;
      at = &(*at)->next;
    }
    m = *at;
  }
  *at = m->next;
  if (q->last == m) q->last = before;
  --q->count;
  return m;
}

#ifdef MRVL_MPI
/* Messages that are on their way. */
static struct sending {
  MPI_Request request;
  struct message* message;
} * sending;
static uint32_t sending_count, sending_room;

void mesh_forget_sent(int wait) {
  for (uint32_t i = 0; i < sending_count;) {
    int done = 0;
    if (wait)
      MPI_Wait(&sending[i].request, MPI_STATUS_IGNORE), done = 1;
    else
      MPI_Test(&sending[i].request, &done, MPI_STATUS_IGNORE);
    if (!done) {
      ++i;
      continue;
    }
    free(sending[i].message);
    sending[i] = sending[--sending_count];
  }
}

void mesh_transfer(uint32_t rank, struct message* m) {
  if (sending_count == sending_room) {
    sending_room = 2 * sending_room + 16;
    sending = realloc(sending, sending_room * sizeof *sending);
    if (sending == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  sending[sending_count].message = m;
  /* The tag says what it is; it may not hold the number of an edge. */
  memcpy(m->payload + m->bytes, &m->edge, sizeof m->edge);
  MPI_Isend(m->payload, (int)(m->bytes + sizeof m->edge), MPI_BYTE, (int)rank, (int)m->is_credit,
            MPI_COMM_WORLD, &sending[sending_count].request);
  ++sending_count;
  mesh_forget_sent(0);
}

void mesh_receive(struct queue* queue) {
  for (;;) {
    int there = 0, bytes = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there) return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    struct message* const m = mesh_message(0, status.MPI_TAG, (size_t)bytes);
    MPI_Recv(m->payload, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    m->bytes -= sizeof m->edge;
    memcpy(&m->edge, m->payload + m->bytes, sizeof m->edge);
    mesh_append(queue, m);
  }
}
#endif
