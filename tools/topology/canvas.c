/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes, labels and lines as SVG; see canvas.h. */
#include "tools/topology/canvas.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tools/topology/text.h"

#define FACES "DejaVu Sans, Verdana, Arial, Helvetica, sans-serif"
#define DARK  "#1b1b1b"

/* Okabe and Ito, "Color Universal Design", without yellow, which does not show on white, and with
 * two dark ones that differ from the others in lightness. */
static const char *const colours[CANVAS_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                    "#e69f00", "#56b4e9", "#4b2991", "#6b5b00"};
static const char *const tints[CANVAS_COLOURS] = {"#d9eaf4", "#f9e3d5", "#d6f0e8", "#f7e9f1",
                                                  "#fbf0d5", "#e1f2fb", "#e2dcef", "#eae6cc"};

/* Thousandths of the size that the characters from ' ' to '~' are wide, of DejaVu Sans, which is
 * wider than the other faces. */
enum { FIRST = 32, LAST = 126, OTHERS = 1200 };
static const uint16_t widths[2][LAST - FIRST + 1] = {
    {318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
     636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
     1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
     603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
     500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
     635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838},
    {348,  456, 521, 838, 696, 1002, 872, 306,  457, 457, 523, 838, 380, 415,  380, 365,
     696,  696, 696, 696, 696, 696,  696, 696,  696, 696, 400, 400, 838, 838,  838, 580,
     1000, 774, 762, 734, 830, 683,  683, 821,  837, 372, 372, 775, 637, 995,  837, 850,
     733,  850, 770, 720, 682, 812,  774, 1103, 771, 724, 725, 457, 365, 457,  838, 500,
     500,  675, 716, 593, 716, 678,  435, 716,  712, 343, 343, 665, 343, 1042, 712, 687,
     716,  716, 493, 595, 478, 712,  652, 924,  645, 652, 582, 712, 365, 712,  838},
};

const char *canvas_colour(int index)
{
    return colours[(unsigned)index % CANVAS_COLOURS];
}

const char *canvas_tint(int index)
{
    return tints[(unsigned)index % CANVAS_COLOURS];
}

/* ---- measuring --------------------------------------------------------------------- */

static int char_width(uint32_t c, bool bold)
{
    return c >= FIRST && c <= LAST ? widths[bold][c - FIRST] : OTHERS;
}

static int to_pixels(int64_t thousandths, int size)
{
    return (int)((thousandths * size + 999) / 1000);
}

int canvas_width(const char *text, int size, bool bold)
{
    int64_t sum = 0;
    for (size_t len; *text != '\0'; text += len) {
        sum += char_width(text_char(text, &len), bold);
        if (sum > INT32_MAX / 100) {
            break;
        }
    }
    return to_pixels(sum, size);
}

/* How many bytes of the text fit into the room, with an ellipsis where that is not all. */
static size_t fitting(const char *text, const struct label *l)
{
    if (canvas_width(text, l->size, l->bold) <= l->room) {
        return strlen(text);
    }
    size_t  at = 0;
    int64_t sum = OTHERS; /* the ellipsis */
    for (size_t len; text[at] != '\0'; at += len) {
        sum += char_width(text_char(text + at, &len), l->bold);
        if (to_pixels(sum, l->size) > l->room) {
            break;
        }
    }
    return at;
}

/* ---- drawing ----------------------------------------------------------------------- */

int canvas_init(struct canvas *c)
{
    *c = (struct canvas){.depth = 0};
    c->boxes = open_memstream(&c->boxes_text, &c->boxes_len);
    c->lines = open_memstream(&c->lines_text, &c->lines_len);
    if (c->boxes == NULL || c->lines == NULL) {
        canvas_fini(c);
        return -1;
    }
    return 0;
}

void canvas_fini(struct canvas *c)
{
    if (c->boxes != NULL) {
        fclose(c->boxes);
    }
    if (c->lines != NULL) {
        fclose(c->lines);
    }
    free(c->boxes_text);
    free(c->lines_text);
}

static void put_title(FILE *to, const char *title)
{
    if (title != NULL && title[0] != '\0') {
        fputs("<title>", to);
        text_xml(to, title);
        fputs("</title>", to);
    }
}

static void put_kind(FILE *to, const char *element, const char *kind, const char *name)
{
    fprintf(to, "<%s class=\"%s\"", element, kind);
    if (name != NULL) {
        fputs(" data-name=\"", to);
        text_xml(to, name);
        fputc('"', to);
    }
}

void canvas_open(struct canvas *c, const char *kind, const char *name, const char *title,
                 struct rect r, const struct look *look)
{
    fprintf(c->boxes, "%*s", c->depth++, "");
    put_kind(c->boxes, "g", kind, name);
    fputc('>', c->boxes);
    put_title(c->boxes, title);
    fprintf(c->boxes,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\" "
            "stroke=\"%s\" stroke-width=\"%d\"%s/>\n",
            r.x, r.y, r.w, r.h, look->radius, look->fill, look->stroke, look->width,
            look->dashed ? " stroke-dasharray=\"5 3\"" : "");
}

void canvas_close(struct canvas *c)
{
    fprintf(c->boxes, "%*s</g>\n", --c->depth, "");
}

void canvas_label(struct canvas *c, const struct label *l, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    size_t                   len = fitting(text, l);
    char                    *part = strndup(text, len);
    if (part == NULL || text[0] == '\0') { /* the stream runs out of memory as well, and tells */
        free(part);
        return;
    }
    fprintf(c->boxes,
            "%*s<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\"%s>",
            c->depth, "", l->x, l->y, l->size, anchors[l->anchor],
            l->colour != NULL ? l->colour : DARK, l->bold ? " font-weight=\"bold\"" : "");
    if (text[len] != '\0') {
        put_title(c->boxes, text);
    }
    text_xml(c->boxes, part);
    fprintf(c->boxes, "%s</text>\n", text[len] != '\0' ? "\xe2\x80\xa6" : "");
    free(part);
}

void canvas_line(struct canvas *c, const char *kind, const char *name, const char *title,
                 const int (*points)[2], int n, const char *colour, int width, bool dashed)
{
    put_kind(c->lines, "path", kind, name);
    fprintf(c->lines, " fill=\"none\" stroke=\"%s\" stroke-width=\"%d\"%s d=\"", colour, width,
            dashed ? " stroke-dasharray=\"6 4\"" : "");
    for (int i = 0; i < n; i++) {
        fprintf(c->lines, "%s%d %d", i == 0 ? "M" : " L", points[i][0], points[i][1]);
    }
    fputs("\">", c->lines);
    put_title(c->lines, title);
    fputs("</path>\n", c->lines);
}

bool canvas_write(struct canvas *c, FILE *to, int w, int h, const char *title)
{
    if (fflush(c->boxes) != 0 || fflush(c->lines) != 0 || ferror(c->boxes) || ferror(c->lines)) {
        return false;
    }
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"%s\">\n",
            w, h, w, h, FACES);
    put_title(to, title);
    fprintf(to, "\n<rect class=\"ground\" width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", w, h);
    fwrite(c->boxes_text, 1, c->boxes_len, to);
    fprintf(to, "<g class=\"lines\" stroke-linejoin=\"round\" shape-rendering=\"crispEdges\">\n");
    fwrite(c->lines_text, 1, c->lines_len, to);
    fputs("</g>\n</svg>\n", to);
    return fflush(to) == 0 && !ferror(to);
}
