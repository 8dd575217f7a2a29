/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which build this is. The digest is of the library's sources: two builds that differ in it may
 * differ in what they send, so ranks of one job must agree on it.
 */
#ifndef CT_BASE_VERSION_H
#define CT_BASE_VERSION_H

enum { CT_DIGEST_LEN = 16 }; /* hexadecimal digits, no terminator counted */

const char *ct_version_string(void); /* "0.1.0" */
const char *ct_version_digest(void); /* CT_DIGEST_LEN digits */
const char *ct_version_build(void);  /* compiler and features, for people */

#endif
