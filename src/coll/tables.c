/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that are part of the library. tune.h is made by the build from src/coll/tuning. */
#include "coll/tuning.h"

#include "tune.h"

const char ct_tuning_default[] = CT_TUNE_default;
const char ct_tuning_reproducible[] = CT_TUNE_reproducible;
