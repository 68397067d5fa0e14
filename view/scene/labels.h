/* Names in a picture: each beside its object, none over another. */
#ifndef SCENE_LABELS_H
#define SCENE_LABELS_H

#include <stdbool.h>

/* Rectangle in pixels. */
struct box {
    double x, y, width, height;
};

struct label {
    const char *text;
    bool slanted;                /* joints                                                        */
    double at[2];                /* its object                                                    */
    double away;                 /* its distance from there                                       */
    struct box box;              /* set by labels_place()                                         */
    bool placed;                 /* false: there is no space                                      */
    const struct label *earlier; /* the one that was placed before this; NULL: none  */
};

struct cover;

/* Places labels in order, on a page of this size, and if possible not over parts that are drawn (NULL: none). */
void labels_place(struct label *label, int n, double font_size, int width, int height, const struct cover *cover);

/* Width of a text in a sans-serif font, estimated from above. */
double label_width(const char *text, double font_size);

#endif
