/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the emulations of CUDA and of verbs have in common: settings that are numbers, and errors on
 * demand. Each of the two libraries links it for itself and exports none of it. This header
 * includes no emulation's own.
 */
#ifndef EMU_COMMON_H
#define EMU_COMMON_H

#include <stdbool.h>

/* Of the library that links it, in its settings.c: what its messages begin with, and the variable
 * that lists errors. */
extern const char emu_title[], emu_fail_variable[];

/* The number in a variable of the environment, `lacking` if that is not set or empty. Another text
 * or a number that is not from min to max ends the program with a line that says so: a test that
 * runs with other settings than it asked for would be worse. */
unsigned long emu_number(const char *name, unsigned long lacking, unsigned long min,
                         unsigned long max);

/* Errors on demand. The variable is a list, separated by commas, of NAME=CODE (each call of NAME
 * fails) and NAME:K=CODE (the K-th call, counted from 1, fails). CODE is more than 0. What is not
 * such a list ends the program as above. NULL: no errors. */
void emu_inject_set(const char *list);
/* The code with which this call fails, and does nothing else; 0: it does not. */
int emu_inject(const char *call);
/* Whether a function is the one of that name, or a version of it (NAME_v2). */
bool emu_is_named(const char *call, const char *name);

#endif
