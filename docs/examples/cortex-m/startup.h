/* What startup.c offers to a program. */
#ifndef STARTUP_H
#define STARTUP_H
#include <stdint.h>

/* Processor cycles since reset, by SysTick. */
uint64_t cycles_now(void);

#endif
