/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Below the tree of a machine: what the lines mean, each rail with its users, and the matrix of
 * paths from users to GPUs and NICs, where cells of rails have the rail's colour around them.
 */
#include <string.h>

#include "tools/topology/pictures.h"

enum { TEXT = 11, HEAD = 13, ROW = 20, CELL_W = 46, CELL_H = 18, LIST_W = 470, NAME_W = 150 };

static const struct {
    const char *fill, *what;
} paths[] = {
    [CT_PATH_SAME] = {"#ffffff", "the same device"},
    [CT_PATH_NVL] = {"#fdeeb5", "NVLinks (NV18: eighteen of them)"},
    [CT_PATH_PIX] = {"#d8f0d8", "at most one PCI bridge or switch"},
    [CT_PATH_PXB] = {"#d7ebf5", "several PCI bridges or switches"},
    [CT_PATH_PHB] = {"#d3dcee", "one host bridge of the processor"},
    [CT_PATH_NODE] = {"#d9d2e6", "host bridges of one NUMA node"},
    [CT_PATH_SYS] = {"#d6cfcb", "between NUMA nodes"},
};

static void put(struct canvas *c, int x, int y, int room, bool bold, const char *text)
{
    struct label l = {x, y, room, bold ? HEAD : TEXT, LEFT, bold, NULL};
    canvas_label(c, &l, text);
}

/* ---- lines and paths --------------------------------------------------------------- */

static int draw_sample(struct canvas *c, int x, int y, const char *text, const char *colour,
                       int width, bool dashed)
{
    const int line[][2] = {{x, y + ROW / 2}, {x + 40, y + ROW / 2}};
    canvas_line(c, "sample", text, NULL, line, 2, colour, width, dashed);
    put(c, x + 52, y + 14, LIST_W - 52, false, text);
    return y + ROW;
}

static bool is_used(const struct view *v, enum ct_path path)
{
    for (uint32_t u = 0; u < view_nusers(v); u++) {
        for (uint32_t i = 0; i < v->m.ngpus; i++) {
            if (ct_machine_path_gpus(&v->m, u, i) == path) {
                return true;
            }
        }
        for (uint32_t i = 0; i < v->m.nnics; i++) {
            if (view_is_user(v, u) && view_path(v, u, i) == path) {
                return true;
            }
        }
    }
    return false;
}

static int draw_legend(struct canvas *c, const struct view *v, int x, int y)
{
    bool links = false;
    for (uint32_t i = 0; i < v->m.ngpus; i++) {
        int group;
        view_nvlink_group(v, i, &group);
        links = links || group >= 0;
    }
    bool rail = false, more = false, backup = false;
    for (uint32_t i = 0; i < view_nusers(v); i++) {
        rail = rail || (view_is_user(v, i) && view_rail(v, i)->primary >= 0);
        more = more || (view_is_user(v, i) && view_rail(v, i)->nmore > 0);
        backup = backup || (view_is_user(v, i) && view_rail(v, i)->backup >= 0);
    }
    if (rail || links) {
        put(c, x, y += 14, LIST_W, true, "Lines");
        y += 6;
    }
    if (rail) {
        y = draw_sample(c, x, y, "rail: the NIC that is used, in the rail's colour",
                        canvas_colour(0), 3, false);
    }
    if (more) {
        y = draw_sample(c, x, y, "NICs that serve beside it", canvas_colour(0), 1, false);
    }
    if (backup) {
        y = draw_sample(c, x, y, "backup: the NIC that is used when that one fails",
                        canvas_colour(0), 2, true);
    }
    if (links) {
        y = draw_sample(c, x, y, "NVLinks: these GPUs reach each other without PCI", "#3a3a3a", 3,
                        false);
    }
    put(c, x, y += 22, LIST_W, true, "Paths, nearest first");
    y += 6;
    for (int p = CT_PATH_NVL; p <= CT_PATH_SYS; p++) {
        if (!is_used(v, (enum ct_path)p)) {
            continue;
        }
        struct look  look = {paths[p].fill, "#999999", 1, 2, false};
        struct rect  r = {x, y + 1, CELL_W, CELL_H};
        struct label l = {x + CELL_W / 2, y + 14, CELL_W - 4, TEXT, MIDDLE, false, NULL};
        canvas_open(c, "key", ct_path_name((enum ct_path)p), paths[p].what, r, &look);
        canvas_label(c, &l, ct_path_name((enum ct_path)p));
        canvas_close(c);
        put(c, x + 52, y + 14, LIST_W - 52, false, paths[p].what);
        y += ROW;
    }
    return y;
}

/* ---- rails ------------------------------------------------------------------------- */

enum use { FIRST, BESIDE, BACKUP };

static bool uses(const struct ct_rail *rail, int16_t nic, enum use use)
{
    bool more = false;
    for (int k = 0; k < rail->nmore; k++) {
        more = more || rail->more[k] == nic;
    }
    return use == FIRST ? rail->primary == nic : use == BESIDE ? more : rail->backup == nic;
}

/* "GPU 0, GPU 1; beside the first NIC of GPU 2; backup of GPU 3". */
static void format_users(const struct view *v, int16_t nic, char *out, size_t cap)
{
    static const char *const of[] = {"", "beside the first NIC of ", "backup of "};
    size_t                   at = 0;
    snprintf(out, cap, "%s", "");
    for (int use = FIRST; use <= BACKUP; use++) {
        bool begun = false;
        for (uint32_t i = 0; i < view_nusers(v) && at < cap; i++) {
            if (view_is_user(v, i) && uses(view_rail(v, i), nic, (enum use)use)) {
                char name[32];
                view_user_name(v, i, name, sizeof name);
                snprintf(out + at, cap - at, "%s%s%s",
                         begun    ? ", "
                         : at > 0 ? "; "
                                  : "",
                         begun ? "" : of[use], name);
                at += strlen(out + at);
                begun = true;
            }
        }
    }
}

static int draw_rails(struct canvas *c, const struct view *v, int x, int y)
{
    put(c, x, y += 14, LIST_W, true, v->rails.nrails > 0 ? "Rails" : "No rails");
    y += 6;
    for (uint32_t i = 0; i < v->m.nnics; i++) {
        int rail = v->nic_rail[i];
        if (rail < 0) {
            continue;
        }
        char        name[32], users[1024], text[1200];
        struct look look = {canvas_colour(rail), canvas_colour(rail), 1, 2, false};
        struct rect r = {x, y + 4, 40, 12};
        snprintf(name, sizeof name, "rail %d", rail);
        format_users(v, (int16_t)i, users, sizeof users);
        snprintf(text, sizeof text, "%s port %u: %s", v->m.nics[i].name, v->m.nics[i].port, users);
        canvas_open(c, "swatch", name, text, r, &look);
        canvas_close(c);
        put(c, x + 52, y + 14, 54, false, name);
        put(c, x + 110, y + 14, LIST_W - 110, false, text);
        y += ROW;
    }
    return y;
}

/* ---- matrix ------------------------------------------------------------------------ */

/* Row `row` stands for a GPU, and after the GPUs for a NIC. */
static void row_name(const struct view *v, uint32_t row, char *out, size_t cap)
{
    if (row < v->m.ngpus) {
        snprintf(out, cap, "GPU %u", row);
    } else {
        const struct ct_nic *n = &v->m.nics[row - v->m.ngpus];
        snprintf(out, cap, n->port > 1 ? "%s port %u" : "%s", n->name, n->port);
    }
}

static void draw_cell(struct canvas *c, const struct view *v, uint32_t row, uint32_t user,
                      struct rect r)
{
    char         text[16], title[192], a[64], b[32];
    enum ct_path path;
    struct look  look = {NULL, "#b5b5b5", 1, 2, false};
    if (row < v->m.ngpus) {
        path = ct_machine_path_gpus(&v->m, user, row);
        view_gpu_path(v, user, row, text, sizeof text);
    } else {
        const struct ct_rail *rail = view_rail(v, user);
        int                   nic = (int)(row - v->m.ngpus);
        path = view_path(v, user, (uint32_t)nic);
        snprintf(text, sizeof text, "%s", ct_path_name(path));
        bool serves = uses(rail, (int16_t)nic, FIRST) || uses(rail, (int16_t)nic, BESIDE);
        if (serves || uses(rail, (int16_t)nic, BACKUP)) {
            look.stroke = canvas_colour(rail->index);
            look.width = 2;
            look.dashed = !serves;
        }
    }
    row_name(v, row, a, sizeof a);
    view_user_name(v, user, b, sizeof b);
    snprintf(title, sizeof title, "%s and %s: %s", b, a, paths[path].what);
    look.fill = paths[path].fill;
    canvas_open(c, "cell", NULL, title, r, &look);
    struct label l = {r.x + r.w / 2, r.y + 13, r.w - 4, TEXT, MIDDLE, look.width == 2, NULL};
    canvas_label(c, &l, text);
    canvas_close(c);
}

static struct rect draw_matrix(struct canvas *c, const struct view *v, int x, int y)
{
    uint32_t all = view_nusers(v), rows = v->m.ngpus + v->m.nnics, users = 0;
    uint32_t user[CT_MACHINE_NUMAS]; /* of each column */
    for (uint32_t i = 0; i < all; i++) {
        if (view_is_user(v, i)) {
            user[users++] = i;
        }
    }
    struct rect r = {x, y, NAME_W + 8 + (int)users * CELL_W, 0};
    if (users == 0 || rows == 0) {
        r.w = 0;
        return r;
    }
    put(c, x, y += 14, r.w, true, "Paths");
    y += 6;
    for (uint32_t u = 0; u < users; u++) {
        char         name[32];
        struct label l = {x + NAME_W + 8 + (int)u * CELL_W + CELL_W / 2,
                          y + 13,
                          CELL_W - 2,
                          10,
                          MIDDLE,
                          false,
                          NULL};
        snprintf(name, sizeof name, v->m.ngpus > 0 ? "GPU %u" : "node %u",
                 v->m.ngpus > 0 ? user[u] : v->m.numas[user[u]].os_index);
        canvas_label(c, &l, name);
    }
    y += ROW;
    for (uint32_t row = 0; row < rows; row++, y += ROW) {
        char         name[64];
        struct label l = {x + NAME_W, y + 13, NAME_W, TEXT, RIGHT, false, NULL};
        row_name(v, row, name, sizeof name);
        canvas_label(c, &l, name);
        for (uint32_t u = 0; u < users; u++) {
            draw_cell(c, v, row, user[u],
                      (struct rect){x + NAME_W + 9 + (int)u * CELL_W, y, CELL_W - 3, CELL_H});
        }
    }
    r.h = y - r.y;
    return r;
}

struct rect draw_key(struct canvas *c, const struct view *v, struct rect room)
{
    int left = draw_legend(c, v, room.x, room.y);
    left = draw_rails(c, v, room.x, left + 12);
    struct rect matrix = draw_matrix(c, v, room.x + LIST_W + 40, room.y);
    int         w = matrix.x + matrix.w - room.x;
    room.w = room.w > w ? room.w : w;
    room.h = left - room.y > matrix.h ? left - room.y : matrix.h;
    return room;
}
