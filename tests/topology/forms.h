/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the programs of this folder write the forms of a thing: FOLDER/NAME.svg, .json and .txt. */
#ifndef CT_TESTS_TOPOLOGY_FORMS_H
#define CT_TESTS_TOPOLOGY_FORMS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* The one argument; ends the program if there is none. */
static inline const char *forms_folder(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        exit(2);
    }
    return argv[1];
}

struct forms {
    FILE *svg, *json, *text;
};

static inline FILE *forms_create(const char *folder, const char *name, const char *ending)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, ending);
    FILE *to = fopen(path, "w");
    if (to == NULL) {
        perror(path);
        exit(1);
    }
    return to;
}

static inline struct forms forms_open(const char *folder, const char *name)
{
    return (struct forms){forms_create(folder, name, "svg"), forms_create(folder, name, "json"),
                          forms_create(folder, name, "txt")};
}

/* Ends the program where there is no picture. */
static inline void forms_close(struct forms *f, const char *name, bool drawn)
{
    fclose(f->svg);
    fclose(f->json);
    fclose(f->text);
    if (!drawn) {
        fprintf(stderr, "%s: no picture\n", name);
        exit(1);
    }
}

#endif
