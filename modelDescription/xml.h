/* XML and HTML as text. Errors are kept: after one, which is memory that ran out, there is no document. */
#ifndef XML_H
#define XML_H

#include <stdbool.h>

#include "fmu.h"

enum { XML_DEPTH = 32 };

struct xml {
    char *text;
    size_t size, capacity;
    const char *element[XML_DEPTH]; /* those that are open */
    int depth;
    bool indented;  /* each element begins a line       */
    bool in_tag;    /* <element is not yet followed by > */
    bool in_value;  /* of an attribute                   */
    bool has_lines; /* the last that was written ends a line, not a text */
    bool failed;
};

enum document { DOCUMENT_XML, DOCUMENT_HTML, DOCUMENT_PART }; /* a part has no first line of its own */

void xml_open(struct xml *xml, enum document document);
/* Returns the finished document and frees the memory of its making. */
struct blob xml_close(struct xml *xml, struct arena *arena);

void xml_begin(struct xml *xml, const char *element); /* the name must remain valid until its end */
void xml_end(struct xml *xml);                        /* <e/> if it is empty                                */
void xml_end_full(struct xml *xml);                   /* <e></e> if it is empty, as HTML requires           */
void xml_text(struct xml *xml, const char *text);
void xml_raw(struct xml *xml, const char *text); /* not escaped: for style sheets         */
void xml_attribute(struct xml *xml, const char *name, const char *value);
void xml_number(struct xml *xml, const char *name, double value); /* reads back exactly   */
void xml_integer(struct xml *xml, const char *name, int value);
void xml_true(struct xml *xml, const char *name);
/* An attribute in pieces: its value is what xml_text() and xml_printf() write in between. */
void xml_begin_attribute(struct xml *xml, const char *name);
void xml_end_attribute(struct xml *xml);

/* Text, or an attribute, formatted as by printf(); up to 511 characters. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void xml_printf(struct xml *xml, const char *format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void xml_attribute_printf(struct xml *xml, const char *name, const char *format, ...);

/* <element>text</element> */
void xml_leaf(struct xml *xml, const char *element, const char *text);

#endif
