/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clusters that no one has, for the picture that ctran_info draws of one: from none and one host to
 * 131,072 GPUs, alike and unlike, with names of all sorts. Writes FOLDER/NAME.svg, .json and .txt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forms.h"

#include "tools/topology/site.h"

static const char hostile[] = "<r>\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c&\"'\x01\x1b[1m\xff]]>%s and a "
                              "name far too long";

/* Names that live until forget_names. */
struct name {
    struct name *next;
    char         text[128];
};
static struct name *names;

static const char *name_of(const char *what, uint32_t n)
{
    struct name *new = malloc(sizeof *new);
    if (new == NULL) {
        abort();
    }
    snprintf(new->text, sizeof new->text, "%s%u", what, n);
    new->next = names;
    names = new;
    return new->text;
}

static void forget_names(void)
{
    for (struct name *next; names != NULL; names = next) {
        next = names->next;
        free(names);
    }
}

struct shape {
    const char *name;
    uint32_t    dcs, zones, racks, hosts; /* each in one of what is above */
    uint16_t    ngpus, nrails;
    uint32_t    domain; /* hosts of an NVLink domain, 0: none */
    bool        uneven; /* racks differ */
    bool        hostile;
};

static const struct shape shapes[] = {
    {"none", 0, 0, 0, 0, 0, 0, 0, false, false},
    {"one", 1, 1, 1, 1, 8, 8, 0, false, false},
    {"racks4", 1, 2, 2, 4, 8, 8, 0, false, false},
    {"nvl72", 1, 1, 4, 18, 4, 4, 18, false, false},
    {"unlabelled", 1, 1, 1, 64, 0, 0, 0, false, false},
    {"dcs", 3, 2, 2, 4, 8, 4, 2, false, false},
    {"many_dcs", 150, 1, 1, 1, 2, 2, 0, false, false},
    {"racks", 2, 2, 32, 16, 8, 8, 0, true, false},
    {"zones", 2, 12, 40, 8, 8, 8, 4, true, false},
    {"huge", 4, 8, 32, 16, 8, 8, 0, false, false}, /* 131,072 GPUs */
    {"vast", 60, 40, 6, 2, 4, 64, 2, true, false},
    {"hostile", 2, 2, 2, 3, 60000, 64, 2, false, true},
};

static struct site_host *make_hosts(const struct shape *s, uint32_t *n)
{
    size_t            most = (size_t)s->dcs * s->zones * s->racks * (s->hosts + 3) + 1;
    struct site_host *hosts = calloc(most, sizeof *hosts);
    uint32_t          rack_number = 0;
    *n = 0;
    for (uint32_t dc = 0; hosts != NULL && dc < s->dcs; dc++) {
        const char *dc_name = s->hostile ? name_of(hostile, dc) : name_of("dc", dc);
        for (uint32_t zone = 0; zone < s->zones; zone++) {
            const char *zone_name = s->hostile ? name_of(hostile, zone) : name_of("z", zone);
            for (uint32_t rack = 0; rack < s->racks; rack++, rack_number++) {
                const char *rack_name = s->hostile ? name_of(hostile, rack) : name_of("r", rack);
                uint32_t    more = s->uneven ? rack_number * 7 % 3 : 0;
                for (uint32_t i = 0; i < s->hosts + more; i++) {
                    struct site_host *h = &hosts[*n];
                    h->name = s->hostile ? name_of(hostile, *n) : name_of("node", *n);
                    h->label = (struct ct_label){"", rack_name, zone_name, dc_name};
                    h->ngpus = s->ngpus;
                    h->nrails = s->nrails;
                    if (s->domain > 0) {
                        h->label.nvlink = name_of("nvl", rack_number * 64 + i / s->domain);
                    }
                    if (s->ngpus == 0) {
                        h->label = (struct ct_label){"", "", "", ""};
                    }
                    (*n)++;
                }
            }
        }
    }
    return hosts;
}

int main(int argc, char **argv)
{
    const char *folder = forms_folder(argc, argv);
    for (size_t i = 0; i < CT_ARRAY_LEN(shapes); i++) {
        uint32_t          n;
        struct site       s;
        struct site_host *hosts = make_hosts(&shapes[i], &n);
        if (hosts == NULL || site_init(&s, hosts, n) != CTRAN_SUCCESS) {
            fprintf(stderr, "%s: no memory\n", shapes[i].name);
            return 1;
        }
        snprintf(s.name, sizeof s.name, "%s", shapes[i].hostile ? hostile : shapes[i].name);
        snprintf(s.source, sizeof s.source, "a test");
        struct forms f = forms_open(folder, shapes[i].name);
        bool         drawn = site_svg(&s, f.svg);
        site_json(&s, f.json);
        site_text(&s, f.text);
        forms_close(&f, shapes[i].name, drawn);
        site_fini(&s);
        forget_names();
    }
    return 0;
}
