/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps in the arena, for programs built with -DMRVL_GUARD. Every buffer in it has a gap of its own size in
 * front of it and one behind it; the arena, NAME_ARENA_BYTES, is three times as large. AddressSanitizer
 * (-fsanitize=address) ends the program at the first access to a gap; without it the ends of the gaps that
 * are next to an operator's buffers are looked at when it is done, and MRVL_GUARD_FAILED(node, offset) is
 * what happens when one was written: unless defined otherwise, a message and abort(). */
#ifndef MRVL_GUARD_H
#define MRVL_GUARD_H

#include <stddef.h>
#include <string.h>

#ifndef MRVL_GUARD_FAILED
#include <stdio.h>
#include <stdlib.h>
#define MRVL_GUARD_FAILED(node, offset)                                                 \
  (fprintf(stderr, "the arena was written between its buffers, at byte %lu, by '%s'\n", \
           (unsigned long)(offset), node),                                              \
   abort())
#endif

#if defined(__SANITIZE_ADDRESS__)
#define MRVL_GUARD_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MRVL_GUARD_ASAN 1
#endif
#endif

/* A buffer of the plan without gaps: its address; an arena in the arena, whose buffers have the gaps; a view
 * of a buffer, once that is open; bytes of an arena. */
#define MRVL_AT(a, offset, bytes) mrvl_guard_open(&guard, a, (size_t)3 * (size_t)(offset), bytes)
#define MRVL_ARENA_AT(a, offset, bytes) mrvl_guard_arena(a, (size_t)3 * (size_t)(offset), bytes)
#define MRVL_OPEN(view, offset, bytes) ((void)MRVL_AT(a, offset, bytes), (view))
#define MRVL_ARENA_SIZE(bytes) (3 * (bytes))
/* At the beginning of a function that has an arena, and around each operator. */
#define MRVL_GUARD_ARENA(a, bytes)                             \
  mrvl_guard guard MRVL_GUARD_AT_END = {NULL, 0, 0, {0}, {0}}; \
  mrvl_guard_begin(&guard, a, (size_t)3 * (size_t)(bytes))
#define MRVL_GUARD_STEP(node, done) mrvl_guard_step(&guard, node, done);

#ifdef MRVL_GUARD_ASAN
#define MRVL_GUARD_AT_END __attribute__((cleanup(mrvl_guard_end)))
#ifdef __cplusplus
extern "C" {
#endif
void __asan_poison_memory_region(void const volatile* address, size_t bytes);
void __asan_unpoison_memory_region(void const volatile* address, size_t bytes);
#ifdef __cplusplus
}
#endif
#else
#define MRVL_GUARD_AT_END
#endif

enum { MRVL_GUARD_MARK = 0x6b, MRVL_GUARD_DEEP = 256, MRVL_GUARD_OPEN = 64 };

/* The arena of a function that is running, and the buffers of the operator that does. */
typedef struct mrvl_guard {
  unsigned char* arena;
  size_t bytes;
  int count;
  size_t offset[MRVL_GUARD_OPEN], size[MRVL_GUARD_OPEN];
} mrvl_guard;

static inline size_t mrvl_guard_room(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static inline void mrvl_guard_begin(mrvl_guard* guard, unsigned char* arena, size_t bytes) {
  guard->arena = arena;
  guard->bytes = bytes;
#ifdef MRVL_GUARD_ASAN
  if (bytes > 0) __asan_poison_memory_region(arena, bytes);
#endif
}

static inline void mrvl_guard_end(mrvl_guard* guard) {
#ifdef MRVL_GUARD_ASAN
  if (guard->bytes > 0) __asan_unpoison_memory_region(guard->arena, guard->bytes);
#endif
  guard->count = 0;
}

/* Bytes next to a buffer, `first` those in front of it, whose last ones are marked. */
static inline void mrvl_guard_shut(unsigned char* gap, size_t bytes, int first) {
#ifdef MRVL_GUARD_ASAN
  (void)first;
  __asan_poison_memory_region(gap, bytes);
#else
  const size_t marked = bytes < MRVL_GUARD_DEEP ? bytes : MRVL_GUARD_DEEP;
  memset(first ? gap + (bytes - marked) : gap, MRVL_GUARD_MARK, marked);
#endif
}

/* Buffers that lie where this one does were needed before it: a region converts, runs and converts back. */
static inline void mrvl_guard_forget(mrvl_guard* guard, size_t offset, size_t bytes) {
  int kept = 0;
  for (int i = 0; i < guard->count; ++i) {
    const size_t begin = guard->offset[i], end = begin + 3 * mrvl_guard_room(guard->size[i]);
    if (begin < offset + 3 * mrvl_guard_room(bytes) && offset < end) continue;
    guard->offset[kept] = begin;
    guard->size[kept++] = guard->size[i];
  }
  guard->count = kept;
}

static inline unsigned char* mrvl_guard_open(mrvl_guard* guard, unsigned char* a, size_t offset,
                                             size_t bytes) {
  const size_t room = mrvl_guard_room(bytes);
  unsigned char* const data = a + offset + room;
  for (int i = 0; i < guard->count; ++i) {
    if (guard->offset[i] == offset && guard->size[i] == bytes) return data;
  }
  mrvl_guard_forget(guard, offset, bytes);
  mrvl_guard_shut(a + offset, room, 1);
  mrvl_guard_shut(data + bytes, 2 * room - bytes, 0);
#ifdef MRVL_GUARD_ASAN
  __asan_unpoison_memory_region(data, bytes);
#endif
  if (guard->count < MRVL_GUARD_OPEN) {
    guard->offset[guard->count] = offset;
    guard->size[guard->count++] = bytes;
  }
  return data;
}

static inline unsigned char* mrvl_guard_arena(unsigned char* a, size_t offset, size_t bytes) {
#ifdef MRVL_GUARD_ASAN
  __asan_unpoison_memory_region(a + offset, 3 * mrvl_guard_room(bytes));
#endif
  (void)bytes;
  return a + offset;
}

static inline void mrvl_guard_look(const mrvl_guard* guard, size_t from, size_t bytes, int first,
                                   const char* node) {
#ifndef MRVL_GUARD_ASAN
  const size_t marked = bytes < MRVL_GUARD_DEEP ? bytes : MRVL_GUARD_DEEP;
  const size_t begin = first ? from + bytes - marked : from;
  for (size_t i = begin; i < begin + marked; ++i) {
    if (guard->arena[i] != MRVL_GUARD_MARK) {
      MRVL_GUARD_FAILED(node, i);
      return;
    }
  }
#else
  (void)guard, (void)from, (void)bytes, (void)first, (void)node;
#endif
}

static inline void mrvl_guard_step(mrvl_guard* guard, const char* node, int done) {
  for (int i = 0; done && i < guard->count; ++i) {
    const size_t room = mrvl_guard_room(guard->size[i]), end = guard->offset[i] + room + guard->size[i];
    mrvl_guard_look(guard, guard->offset[i], room, 1, node);
    mrvl_guard_look(guard, end, 2 * room - guard->size[i], 0, node);
  }
  guard->count = 0;
}

#endif
