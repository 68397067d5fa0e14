/* Pieces of HTML pages: the documentation of an FMU, reports. */
#ifndef HTML_H
#define HTML_H

#include "xml.h"

/* <head> with the style sheet of all pages. */
void html_head(struct xml *xml, const char *title);

void html_heading(struct xml *xml, const char *text);
void html_paragraph(struct xml *xml, const char *text);

/* A table with n columns; a heading that begins with # is over numbers, without the #. */
void html_begin_table(struct xml *xml, int n, const char *const *heads);
void html_end_table(struct xml *xml);
void html_cell(struct xml *xml, const char *text);
void html_code_cell(struct xml *xml, const char *text);
void html_begin_number(struct xml *xml);
void html_number_cell(struct xml *xml, double value);

/* Of the documentation of a robot (page.c): picture, facts, scene, joints, links, frames. Without a resource there is no scene. */
void page_write_robot(struct xml *xml, const struct fmu *fmu, struct blob resource, struct arena *arena);

#endif
