/* Start of a Cortex-M4 or M7 without an operating system: vectors, memory, floating-point unit, cycle
 * counter. printf goes to the debugger or emulator by semihosting (newlib's rdimon). */
#include "startup.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern uint32_t data_begin[], data_end[], data_load[], bss_begin[], bss_end[], stack_top[];
extern void initialise_monitor_handles(void);
int main(void);

/* ARMv7-M Architecture Reference Manual, B3.3 (SysTick) and B3.2.20 (CPACR). */
#define SYST_CSR (*(volatile uint32_t*)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t*)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t*)0xE000E018u)
#define CPACR (*(volatile uint32_t*)0xE000ED88u)

#define SYST_PERIOD 0x1000000u /* SysTick counts 24 bits */

static volatile uint32_t periods;

static void count_period(void) {
  ++periods;
}

uint64_t cycles_now(void) {
  uint32_t before, count;
  do {
    before = periods;
    count = SYST_CVR;
  } while (before != periods);
  return (uint64_t)before * SYST_PERIOD + (SYST_PERIOD - 1u - count);
}

static void fault(void) {
  printf("fault\n");
  exit(1);
}

void reset(void) {
  CPACR |= 0xFu << 20; /* coprocessors 10 and 11: the floating-point unit */
  __asm volatile("dsb\n isb");
  memcpy(data_begin, data_load, (size_t)((char*)data_end - (char*)data_begin));
  memset(bss_begin, 0, (size_t)((char*)bss_end - (char*)bss_begin));
  initialise_monitor_handles();
  SYST_RVR = SYST_PERIOD - 1u;
  SYST_CVR = 0;
  SYST_CSR = 7; /* processor clock, interrupt, on */
  exit(main());
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(uintptr_t)stack_top,
    reset,
    fault,
    fault,
    fault,
    fault,
    fault,
    0,
    0,
    0,
    0,
    fault,
    fault,
    0,
    fault,
    count_period};
