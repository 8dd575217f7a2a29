/* SPDX-License-Identifier: BSD-3-Clause */
/* ctran_info --calibration and --calibrate: what this machine's memory and kernel cost. */
#ifndef CTRAN_TOOLS_CALIBRATION_H
#define CTRAN_TOOLS_CALIBRATION_H

#include "base/base.h"

/* Prints each figure: its value, where it comes from, and what it is of. Always true. */
bool calibration_show(const struct ct_config *cfg, const struct ct_log *log);
/* Measures, keeps the figures in the user's file, and prints them. False: they cannot be kept,
 * which has been logged. */
bool calibration_measure(const struct ct_config *cfg, const struct ct_log *log);

#endif
