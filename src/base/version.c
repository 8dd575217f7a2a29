/* SPDX-License-Identifier: BSD-3-Clause */
/* Version, digest and build. digest.h is made by the build from the library's sources. */
#include "base/version.h"

#include <config.h> /* not this folder's: the build's */
#include "digest.h"

_Static_assert(sizeof CT_BUILD_DIGEST == CT_DIGEST_LEN + 1, "length of the digest");

const char *ct_version_string(void)
{
    return PACKAGE_VERSION;
}

const char *ct_version_digest(void)
{
    return CT_BUILD_DIGEST;
}

const char *ct_version_build(void)
{
    return "compiler " __VERSION__ ", flags " CT_BUILD_CFLAGS;
}
