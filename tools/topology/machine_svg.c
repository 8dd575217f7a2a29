/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The picture of a machine: title, the tree of packages, NUMA nodes, PCI switches, GPUs and NICs
 * with the lines between them, and below it the legend and the matrix of paths.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/topology/layout.h"
#include "tools/topology/pictures.h"
#include "tools/topology/text.h"

enum { TEXT = 11, LINE = 14, NAME = 13, NVLINK_WIDTH = 3 };

/* Groups of GPUs in turn, as their lines may cross. */
static const char *const nvlink_colours[] = {"#3a3a3a", "#8d8d8d", "#7d5a3c"};

static const struct look package_look = {"#f7f7f5", "#8a8a85", 1, 8, false};
static const struct look numa_look = {"#ecefe9", "#9aa393", 1, 6, false};
static const struct look switch_look = {"#ffffff", "#9a9a9a", 1, 4, true};
static const struct look down_look = {"#f2f2f2", "#a0a0a0", 1, 4, true};
static const struct look plain_look = {"#ffffff", "#777777", 1, 4, false};

/* ---- lines of text in a box -------------------------------------------------------- */

struct column {
    struct canvas *c;
    struct rect    box;
    int            y;
};

static void write_line(struct column *col, const char *text)
{
    struct label l = {col->box.x + 8, col->y += LINE, col->box.w - 16, TEXT, LEFT, false, NULL};
    canvas_label(col->c, &l, text);
}

/* The first line: a name, and at the right what it belongs to. */
static struct column write_head(struct canvas *c, struct rect box, const char *name,
                                const char *right, const char *colour)
{
    int          right_w = canvas_width(right, TEXT, true);
    struct label l = {box.x + 8, box.y + 18, box.w - 16 - right_w - 6, NAME, LEFT, true, NULL};
    struct label r = {box.x + box.w - 8, box.y + 18, right_w, TEXT, RIGHT, true, colour};
    canvas_label(c, &l, name);
    canvas_label(c, &r, right);
    return (struct column){c, box, box.y + 20};
}

/* ---- devices ----------------------------------------------------------------------- */

static void format_rail_line(const struct view *v, uint32_t user, bool backup, char *out,
                             size_t cap)
{
    const struct ct_rail *rail = view_rail(v, user);
    int16_t               nic = backup ? rail->backup : rail->primary;
    if (nic < 0) {
        snprintf(out, cap, "%s", backup ? "no backup" : "no NIC");
    } else {
        char more[16] = "";
        if (!backup && rail->nmore > 0) {
            snprintf(more, sizeof more, " + %u", rail->nmore);
        }
        snprintf(out, cap, "%s %s%s  %s", backup ? "backup" : "uses", v->m.nics[nic].name, more,
                 ct_path_name(backup ? rail->backup_path : rail->primary_path));
    }
}

/* Rail -1: of none. */
static struct look rail_look(int rail)
{
    struct look look = {canvas_tint(rail), canvas_colour(rail), 2, 4, false};
    return rail < 0 ? plain_look : look;
}

static void format_nvlinks(const struct view *v, uint32_t gpu, char *out, size_t cap)
{
    uint32_t n = view_nvlinks(v, gpu);
    if (v->m.gpus[gpu].domain[0] != '\0') {
        snprintf(out, cap, "NVLink domain %s", v->m.gpus[gpu].domain);
    } else if (v->m.gpus[gpu].nvswitch) {
        snprintf(out, cap, n > 0 ? "%u NVLinks to switches" : "NVLinks to switches", n);
    } else {
        snprintf(out, cap, n > 0 ? "%u NVLinks" : "no NVLink", n);
    }
}

static void draw_user(struct canvas *c, const struct layout *l, const struct view *v, uint32_t user)
{
    const struct ct_rail *rail = view_rail(v, user);
    struct look           look = rail_look(rail->index);
    char                  name[32], right[32] = "", line[256], cpus[160], pci[32], bytes[32];
    char                  title[320];
    view_user_name(v, user, name, sizeof name);
    if (rail->index >= 0) {
        snprintf(right, sizeof right, "rail %d%s", rail->index, rail->mapped ? " (map)" : "");
    }
    if (v->m.ngpus > 0) {
        const struct ct_machine_gpu *g = &v->m.gpus[user];
        ct_pci_format(&g->pci, pci, sizeof pci);
        snprintf(title, sizeof title, "%s: %s, PCI %s%s%s%s%s", name, g->name, pci,
                 g->uuid[0] ? ", " : "", g->uuid, g->domain[0] ? ", NVLink domain " : "",
                 g->domain);
        canvas_open(c, "gpu", name + 4, title, l->user_at[user], &look);
        struct column col = write_head(c, l->user_at[user], name, right, NULL);
        write_line(&col, g->name);
        text_bytes(g->memory_bytes, bytes, sizeof bytes);
        snprintf(line, sizeof line, "%s%s%s", g->pci.known ? pci : "PCI not known",
                 bytes[0] ? ", " : "", bytes);
        write_line(&col, line);
        format_nvlinks(v, user, line, sizeof line);
        write_line(&col, line);
        format_rail_line(v, user, false, line, sizeof line);
        write_line(&col, line);
        format_rail_line(v, user, true, line, sizeof line);
        write_line(&col, line);
    } else {
        const struct ct_numa *n = &v->m.numas[user];
        view_cpus(&n->cpus, cpus, sizeof cpus);
        snprintf(title, sizeof title, "processors of %s: %s", name, cpus);
        canvas_open(c, "cpus", name + 5, title, l->user_at[user], &look);
        struct column col = write_head(c, l->user_at[user], "processors", right, NULL);
        snprintf(line, sizeof line, "%d hardware threads", CPU_COUNT(&n->cpus));
        write_line(&col, line);
        write_line(&col, cpus);
        format_rail_line(v, user, false, line, sizeof line);
        write_line(&col, line);
        format_rail_line(v, user, true, line, sizeof line);
        write_line(&col, line);
    }
    canvas_close(c);
}

static void draw_nic(struct canvas *c, const struct layout *l, const struct view *v, uint32_t nic)
{
    const struct ct_nic *n = &v->m.nics[nic];
    int                  rail = v->nic_rail[nic];
    struct look          look = !n->up ? down_look : rail_look(rail);
    char                 right[32] = "", line[128], title[320], pci[32];
    ct_pci_format(&n->pci, pci, sizeof pci);
    if (!n->up) {
        snprintf(right, sizeof right, "DOWN");
    } else if (rail >= 0) {
        snprintf(right, sizeof right, "rail %d", rail);
    }
    view_link(n, line, sizeof line);
    snprintf(title, sizeof title, "%s port %u: %s, %s, PCI %s%s%s%s%s%s%s", n->name, n->port, line,
             n->up ? "up" : "down", pci, n->netdev[0] ? ", interface " : "", n->netdev,
             n->firmware[0] ? ", firmware " : "", n->firmware, n->label[0] ? ", " : "", n->label);
    char name[48];
    snprintf(name, sizeof name, "%s:%u", n->name, n->port);
    canvas_open(c, "nic", name, title, l->nic_at[nic], &look);
    struct column col = write_head(c, l->nic_at[nic], n->name, right, n->up ? NULL : "#8b1a00");
    write_line(&col, line);
    snprintf(line, sizeof line, "%s, port %u", n->pci.known ? pci : "PCI not known", n->port);
    write_line(&col, line);
    snprintf(line, sizeof line, "%s%s%s", n->netdev, n->bond[0] ? " in " : "", n->bond);
    if (line[0] != '\0') {
        write_line(&col, line);
    }
    if (n->firmware[0] != '\0') {
        write_line(&col, n->firmware);
    }
    if (n->label[0] != '\0') {
        write_line(&col, n->label);
    }
    canvas_close(c);
}

/* ---- the tree ---------------------------------------------------------------------- */

static void draw_slice(struct canvas *c, const struct layout *l, const struct view *v,
                       const struct slice *s)
{
    const struct band *b = &l->bands[s->band];
    if (s->bridge >= 0) {
        char        name[96], pci[32];
        struct rect r = {s->x, b->head_y, s->w, b->bottom - 2 * PAD - b->head_y};
        ct_pci_format(&v->m.bridges[s->bridge].pci, pci, sizeof pci);
        snprintf(name, sizeof name, "PCI switch %s", pci);
        if (s->parts > 1) {
            snprintf(name, sizeof name, "PCI switch %s, part %d of %d", pci, s->part + 1, s->parts);
        }
        canvas_open(c, "switch", name, name, r, &switch_look);
        struct label t = {s->x + PAD, b->head_y + 15, s->w - 2 * PAD, TEXT, LEFT, false, NULL};
        canvas_label(c, &t, name);
    }
    for (uint32_t i = 0; i < s->nusers; i++) {
        draw_user(c, l, v, (uint32_t)l->users[s->user + i]);
    }
    for (uint32_t i = 0; i < s->nnics; i++) {
        draw_nic(c, l, v, (uint32_t)l->nics[s->nic + i]);
    }
    if (s->bridge >= 0) {
        canvas_close(c);
    }
}

/* With `where`, for what is drawn once for each band. */
static void open_numa(struct canvas *c, const struct view *v, int numa, const char *where,
                      struct rect r)
{
    char name[64] = "NUMA node not known", cpus[256] = "", head[400], more[400] = "",
         third[128] = "";
    if (numa >= 0) {
        const struct ct_numa *n = &v->m.numas[numa];
        const struct ct_rail *rail = &v->rails.numas[numa];
        char                  bytes[32];
        snprintf(name, sizeof name, "NUMA node %u", n->os_index);
        view_cpus(&n->cpus, cpus, sizeof cpus);
        text_bytes(n->memory_bytes, bytes, sizeof bytes);
        snprintf(more, sizeof more, "CPUs %s", cpus);
        if (view_numa_is_memory(v, (uint32_t)numa)) {
            snprintf(more, sizeof more, "%s", "memory alone");
        }
        if (v->m.ngpus > 0 && rail->primary >= 0) {
            snprintf(third, sizeof third, "without GPU: %s  %s", v->m.nics[rail->primary].name,
                     ct_path_name(rail->primary_path));
        }
        snprintf(head, sizeof head, "%s%s%s%s", name, bytes[0] ? ", " : "", bytes, where);
    } else {
        snprintf(head, sizeof head, "%s%s", name, where);
    }
    canvas_open(c, "numa", head, more[0] ? more : head, r, &numa_look);
    struct label one = {r.x + PAD, r.y + 16, r.w - 2 * PAD, 12, LEFT, true, NULL};
    struct label two = {r.x + PAD, r.y + 31, r.w - 2 * PAD, TEXT, LEFT, false, NULL};
    canvas_label(c, &one, head);
    struct label three = {r.x + PAD, r.y + 45, r.w - 2 * PAD, TEXT, LEFT, false, NULL};
    canvas_label(c, &two, more);
    canvas_label(c, &three, third);
}

static void open_package(struct canvas *c, int package, const char *where, struct rect r)
{
    char head[96];
    snprintf(head, sizeof head, "Package %d%s", package, where);
    if (package < 0) {
        snprintf(head, sizeof head, "Elsewhere%s", where);
    }
    canvas_open(c, "package", head, head, r, &package_look);
    struct label l = {r.x + PAD, r.y + 18, r.w - 2 * PAD, NAME, LEFT, true, NULL};
    canvas_label(c, &l, head);
}

static void draw_band(struct canvas *c, const struct layout *l, const struct view *v,
                      const struct band *b)
{
    uint32_t end = b->slice + b->nslices;
    for (uint32_t i = b->slice; i < end; i++) {
        const struct slice *s = &l->slices[i];
        int                 package = layout_package(v, s->numa);
        bool                new_numa = i == b->slice || s[-1].numa != s->numa;
        bool                new_package = i == b->slice || layout_package(v, s[-1].numa) != package;
        if (new_package) {
            uint32_t last = i;
            while (last + 1 < end && layout_package(v, l->slices[last + 1].numa) == package) {
                last++;
            }
            bool more = i == b->slice && i > 0 && layout_package(v, s[-1].numa) == package;
            int  x = s->x - 2 * PAD;
            open_package(c, package, more ? " (continued)" : "",
                         (struct rect){x, b->y, l->slices[last].x + l->slices[last].w + 2 * PAD - x,
                                       b->bottom - b->y});
        }
        if (new_numa) {
            uint32_t last = i;
            while (last + 1 < end && l->slices[last + 1].numa == s->numa) {
                last++;
            }
            bool more = i == b->slice && i > 0 && s[-1].numa == s->numa;
            int  x = s->x - PAD, y = b->y + 26;
            open_numa(c, v, s->numa, more ? " (continued)" : "",
                      (struct rect){x, y, l->slices[last].x + l->slices[last].w + PAD - x,
                                    b->bottom - PAD - y});
        }
        draw_slice(c, l, v, s);
        if (i + 1 == end || l->slices[i + 1].numa != s->numa) {
            canvas_close(c);
        }
        if (i + 1 == end || layout_package(v, l->slices[i + 1].numa) != package) {
            canvas_close(c);
        }
    }
}

/* ---- lines ------------------------------------------------------------------------- */

static int track_y(const struct band *b, int track)
{
    return b->channel_y + (track + 2) * TRACK;
}

static void draw_net(struct canvas *c, const struct layout *l, const struct view *v,
                     const struct net *n)
{
    static const char *const whats[] = {"rail", "rail, beside the first NIC,", "backup"};
    static const char *const kinds[] = {"rail", "more", "backup"};
    static const int         widths[] = {3, 1, 2};
    const struct ct_rail    *rail = view_rail(v, n->user);
    const struct band       *from = &l->bands[n->user_band], *to = &l->bands[n->nic_band];
    int                      y0 = l->user_at[n->user].y + USER_H, y1 = l->nic_at[n->nic].y;
    int                      ya = track_y(from, n->user_track), yb = track_y(to, n->nic_track);
    const int                straight[][2] = {{n->user_x, y0}, {n->nic_x, y1}};
    const int near[][2] = {{n->user_x, y0}, {n->user_x, ya}, {n->nic_x, ya}, {n->nic_x, y1}};
    const int far[][2] = {{n->user_x, y0}, {n->user_x, ya}, {n->gutter, ya},
                          {n->gutter, yb}, {n->nic_x, yb},  {n->nic_x, y1}};
    char      title[160], user[32], name[80];
    view_user_name(v, n->user, user, sizeof user);
    snprintf(title, sizeof title, "%s of %s: %s, %s", whats[n->kind], user, v->m.nics[n->nic].name,
             ct_path_name(view_path(v, n->user, n->nic)));
    snprintf(name, sizeof name, "%u>%s:%u", n->user, v->m.nics[n->nic].name,
             v->m.nics[n->nic].port);
    const char *kind = kinds[n->kind], *colour = canvas_colour(rail->index);
    const int   width = widths[n->kind];
    const bool  dashed = n->kind == NET_BACKUP;
    if (n->gutter >= 0) {
        canvas_line(c, kind, name, title, far, 6, colour, width, dashed);
    } else if (n->user_track >= 0) {
        canvas_line(c, kind, name, title, near, 4, colour, width, dashed);
    } else {
        canvas_line(c, kind, name, title, straight, 2, colour, width, dashed);
    }
}

static int bus_y(const struct band *b, int track)
{
    return b->user_y - (track + 1) * TRACK - 3;
}

static void draw_bus(struct canvas *c, const struct layout *l, const struct view *v,
                     const struct bus *bus)
{
    int         top = -1, bottom = -1;
    char        name[32];
    const char *colour = nvlink_colours[(bus - l->buses) % (long)CT_ARRAY_LEN(nvlink_colours)];
    snprintf(name, sizeof name, "%d", bus->group);
    for (uint32_t i = 0; i < l->nbands; i++) {
        int lo, hi, y = bus_y(&l->bands[i], bus->track[i]);
        if (!layout_bus_span(l, v, bus, (int)i, &lo, &hi)) {
            continue;
        }
        const int level[][2] = {{bus->gutter >= 0 ? bus->gutter : lo, y}, {hi, y}};
        canvas_line(c, "nvlink", name, "NVLinks", level, 2, colour, NVLINK_WIDTH, false);
        top = top < 0 ? y : top;
        bottom = y;
    }
    if (bus->gutter >= 0) {
        const int upright[][2] = {{bus->gutter, top - 1}, {bus->gutter, bottom + 1}};
        canvas_line(c, "nvlink", name, "NVLinks", upright, 2, colour, NVLINK_WIDTH, false);
    }
    for (uint32_t i = 0; i < v->m.ngpus; i++) {
        int group;
        view_nvlink_group(v, i, &group);
        if (group == bus->group) {
            const struct rect *r = &l->user_at[i];
            const int          band = l->user_band[i], x = r->x + r->w / 2;
            const int stem[][2] = {{x, bus_y(&l->bands[band], bus->track[band])}, {x, r->y}};
            canvas_line(c, "nvlink", name, "NVLinks", stem, 2, colour, NVLINK_WIDTH, false);
        }
    }
}

/* ---- the whole --------------------------------------------------------------------- */

static int draw_title(struct canvas *c, const struct view *v, int w)
{
    const struct ct_machine *m = &v->m;
    char                     head[160], more[256];
    snprintf(head, sizeof head, "%s", m->host[0] ? m->host : "(no name)");
    snprintf(more, sizeof more,
             "packages %u, cores %u, hardware threads %u, NUMA nodes %u, GPUs %u, NIC ports %u, "
             "rails %u; source: %s",
             m->npackages, m->ncores, m->npus, m->nnumas, m->ngpus, m->nnics, v->rails.nrails,
             m->source[0] ? m->source : "not known");
    struct label one = {MARGIN, MARGIN + 16, w - 2 * MARGIN, 20, LEFT, true, NULL};
    struct label two = {MARGIN, MARGIN + 38, w - 2 * MARGIN, 12, LEFT, false, NULL};
    canvas_label(c, &one, head);
    canvas_label(c, &two, more);
    return MARGIN + 38 + 18;
}

static int draw_left_out(struct canvas *c, const struct layout *l, const struct view *v, int w)
{
    char text[160] = "";
    int  y = l->bottom;
    if (l->nempty > 0) {
        snprintf(text, sizeof text,
                 "%u NUMA nodes without processors, memory and devices are not "
                 "shown.",
                 l->nempty);
        struct label t = {MARGIN, y += 18, w - 2 * MARGIN, TEXT, LEFT, false, NULL};
        canvas_label(c, &t, text);
    }
    if (v->m.left_out > 0) {
        snprintf(text, sizeof text, "%u devices more than there is room for are left out.",
                 v->m.left_out);
        struct label t = {MARGIN, y += 18, w - 2 * MARGIN, TEXT, LEFT, false, NULL};
        canvas_label(c, &t, text);
    }
    return y;
}

bool machine_svg(const struct view *v, FILE *to)
{
    struct canvas  c;
    struct layout *l = malloc(sizeof *l);
    bool           good = false;
    if (l == NULL) {
        return false;
    }
    if (canvas_init(&c) == 0) {
        enum { WIDTH_MIN = 1000 };
        char title[160];
        layout_make(l, v, MARGIN, MARGIN + 38 + 18);
        int w = l->w + 2 * MARGIN > WIDTH_MIN ? l->w + 2 * MARGIN : WIDTH_MIN;
        draw_title(&c, v, w);
        for (uint32_t i = 0; i < l->nbands; i++) {
            draw_band(&c, l, v, &l->bands[i]);
        }
        for (uint32_t i = 0; i < l->nnets; i++) {
            draw_net(&c, l, v, &l->nets[i]);
        }
        for (uint32_t i = 0; i < l->nbuses; i++) {
            draw_bus(&c, l, v, &l->buses[i]);
        }
        struct rect room = {MARGIN, draw_left_out(&c, l, v, w) + 28, w - 2 * MARGIN, 0};
        room = draw_key(&c, v, room);
        w = room.w + 2 * MARGIN > w ? room.w + 2 * MARGIN : w;
        snprintf(title, sizeof title, "Topology of %s", v->m.host);
        good = canvas_write(&c, to, w, room.y + room.h + MARGIN, title);
        canvas_fini(&c);
    }
    free(l);
    return good;
}
