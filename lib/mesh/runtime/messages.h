/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between elements: parts of values, and credits that say that one was read. */
#ifndef MESH_MESSAGES_H
#define MESH_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

struct message {
  struct message* next;
  uint32_t edge, is_credit;
  size_t bytes; /* of the payload */
  unsigned char payload[];
};
struct queue {
  struct message *first, *last;
  uint32_t count;
};

/* Zeros; ends the program where there is no memory. */
void* mesh_room(size_t count, size_t bytes);
/* With room for `bytes`, to be freed. */
struct message* mesh_message(uint32_t edge, int is_credit, size_t bytes);
void mesh_append(struct queue* queue, struct message* message);
/* The first message of a queue that has one; with a seed other than 0 any, but of an edge and kind always the
 * one that was appended first. */
struct message* mesh_take(struct queue* queue, uint32_t* seed);
uint32_t mesh_drawn(uint32_t* seed);

#ifdef MRVL_MPI
/* Sends it, and frees it when it is sent. */
void mesh_transfer(uint32_t rank, struct message* message);
/* Appends all that have come. */
void mesh_receive(struct queue* queue);
/* Frees what is sent; `wait`: all of it. */
void mesh_forget_sent(int wait);
#endif

#endif
