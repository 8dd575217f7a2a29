/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A drawing of boxes in boxes, labels and lines, written as SVG that stands alone: no script, no
 * font of its own, nothing that is fetched. Units are pixels. Boxes nest as <g> elements do, so
 * that a program can check what a person sees; lines lie above all boxes. A label is measured by a
 * built-in table of the widest common typeface, and cut to its room with an ellipsis; what was cut
 * is shown when one points at it.
 */
#ifndef TOPOLOGY_CANVAS_H
#define TOPOLOGY_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

struct canvas {
    FILE  *boxes, *lines; /* in memory, until the size is known */
    char  *boxes_text, *lines_text;
    size_t boxes_len, lines_len;
    int    depth;
};

struct rect {
    int x, y, w, h;
};

enum anchor { LEFT, MIDDLE, RIGHT };

struct label {
    int         x, y; /* of the base line, by `anchor` */
    int         room; /* it is not wider than this */
    int         size; /* of the typeface */
    enum anchor anchor;
    bool        bold;
    const char *colour; /* NULL: dark */
};

struct look {
    const char *fill, *stroke;
    int         width;  /* of the stroke */
    int         radius; /* of the corners */
    bool        dashed;
};

/* Colours of rails (and of whatever is counted): told apart by people who see colours otherwise,
 * dark enough on white; they begin anew after `CANVAS_COLOURS`, so a number always stands by. */
enum { CANVAS_COLOURS = 8 };
const char *canvas_colour(int index);
/* A light tint of it to write on. */
const char *canvas_tint(int index);

int  canvas_init(struct canvas *c); /* 0, or -1: no memory */
void canvas_fini(struct canvas *c);

/* Opens a box: what is drawn until canvas_close lies in it. `kind` is its class, `name` tells it
 * from others of its kind, `title` is shown when one points at it. */
void canvas_open(struct canvas *c, const char *kind, const char *name, const char *title,
                 struct rect r, const struct look *look);
void canvas_close(struct canvas *c);
void canvas_label(struct canvas *c, const struct label *l, const char *text);
/* A line through n points, each x after y; with `title`. */
void canvas_line(struct canvas *c, const char *kind, const char *name, const char *title,
                 const int (*points)[2], int n, const char *colour, int width, bool dashed);
/* Width that a label needs at most. */
int canvas_width(const char *text, int size, bool bold);

/* Writes the picture. False: no memory, or the file cannot be written. */
bool canvas_write(struct canvas *c, FILE *to, int w, int h, const char *title);

#endif
