/* SPDX-License-Identifier: BSD-3-Clause */
/* The forms of a machine: text, JSON and a picture. */
#ifndef TOPOLOGY_PICTURES_H
#define TOPOLOGY_PICTURES_H

#include "canvas.h"
#include "view.h"

void machine_text(const struct view *v, FILE *to);
/* One object; lines after the first are indented by `indent`. */
void machine_json(const struct view *v, FILE *to, int indent);
/* False: no memory, or it cannot be written. */
bool machine_svg(const struct view *v, FILE *to);

/* Of key_svg.c: legend, list of rails and matrix of paths below the tree; what they take, which may
 * be wider than the room. */
struct rect draw_key(struct canvas *c, const struct view *v, struct rect room);

#endif
