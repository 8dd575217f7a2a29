/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's compressed lists, as it puts them into the environment of a job. Pure functions. */
#ifndef CT_TOPO_SLURMLIST_H
#define CT_TOPO_SLURMLIST_H

#include <stdint.h>

/* "n[1-3,07],m2" as a list of names that ends with NULL and is freed by _free; NULL where it is no
 * such list, or names more than `most` hosts. */
char **ct_slurmlist_hosts(const char *text, uint32_t most);
void   ct_slurmlist_free(char **names);

/* "4(x2),3": the number of the i-th node, 0 where the text is none or ends before. */
uint32_t ct_slurmlist_tasks(const char *text, uint32_t i);

#endif
