#include "xml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 512 };

const char *xml_exact_number(double value, char text[NUMBER_SIZE])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

/* ---- text that grows ------------------------------------------------------------------------------------------------------ */

static void put(struct xml *xml, const char *text, size_t size)
{
    if (xml->failed) return;
    if (xml->capacity - xml->size <= size) { /* one byte is left for the end */
        const size_t capacity = 2 * (xml->size + size) + 4096;
        char *larger = realloc(xml->text, capacity);
        if (larger == NULL) {
            xml->failed = true;
            return;
        }
        xml->text = larger;
        xml->capacity = capacity;
    }
    memcpy(xml->text + xml->size, text, size);
    xml->size += size;
}

static void put_string(struct xml *xml, const char *text)
{
    put(xml, text, strlen(text));
}

/* The reference that replaces a character; NULL: none does. Parsers replace line ends in attributes by spaces and drop carriage
   returns. */
static const char *escaped(char c, bool in_value)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\r': return "&#13;";
    case '\n': return in_value ? "&#10;" : NULL;
    case '\t': return in_value ? "&#9;" : NULL;
    default: return NULL;
    }
}

/* ---- documents ------------------------------------------------------------------------------------------------------------- */

void xml_open(struct xml *xml, enum document document)
{
    memset(xml, 0, sizeof *xml);
    xml->indented = document == DOCUMENT_XML;
    if (document == DOCUMENT_XML) put_string(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    if (document == DOCUMENT_HTML) put_string(xml, "<!DOCTYPE html>\n");
}

struct blob xml_close(struct xml *xml, struct arena *arena)
{
    struct blob blob = {0};
    while (xml->depth > 0) xml_end(xml);
    if (!xml->indented) put_string(xml, "\n");
    char *bytes = xml->failed ? NULL : arena_allocate(arena, xml->size + 1, 1);
    if (bytes != NULL) blob = (struct blob){memcpy(bytes, xml->text, xml->size), xml->size};
    free(xml->text);
    return blob;
}

/* ---- elements ---------------------------------------------------------------------------------------------------------------- */

static void indent(struct xml *xml, int depth)
{
    for (int i = 0; i < depth; i++) put_string(xml, "  ");
}

static void end_tag(struct xml *xml, const char *end)
{
    if (xml->in_tag) put_string(xml, end);
    xml->in_tag = false;
}

void xml_begin(struct xml *xml, const char *element)
{
    end_tag(xml, xml->indented ? ">\n" : ">");
    if (xml->indented) indent(xml, xml->depth);
    put_string(xml, "<");
    put_string(xml, element);
    if (xml->depth < XML_DEPTH) xml->element[xml->depth] = element;
    else xml->failed = true;
    xml->depth++;
    xml->in_tag = true;
}

static void end(struct xml *xml)
{
    xml->has_lines = true;
    if (xml->indented) put_string(xml, "\n");
}

void xml_end(struct xml *xml)
{
    if (!xml->in_tag) {
        xml_end_full(xml);
        return;
    }
    end_tag(xml, "/>");
    xml->depth--;
    end(xml);
}

void xml_end_full(struct xml *xml)
{
    if (xml->in_tag) xml->has_lines = false;
    end_tag(xml, ">");
    xml->depth--;
    if (xml->failed) return;
    if (xml->indented && xml->has_lines) indent(xml, xml->depth);
    put_string(xml, "</");
    put_string(xml, xml->element[xml->depth]);
    put_string(xml, ">");
    end(xml);
}

void xml_raw(struct xml *xml, const char *text)
{
    end_tag(xml, ">");
    xml->has_lines = false;
    put_string(xml, text);
}

void xml_text(struct xml *xml, const char *text)
{
    if (!xml->in_value) xml_raw(xml, "");
    const char *from = text;
    for (; *text != '\0'; text++) {
        const char *instead = escaped(*text, xml->in_value);
        if (instead == NULL) continue;
        put(xml, from, (size_t)(text - from));
        put_string(xml, instead);
        from = text + 1;
    }
    put(xml, from, (size_t)(text - from));
}

/* ---- attributes -------------------------------------------------------------------------------------------------------------- */

void xml_begin_attribute(struct xml *xml, const char *name)
{
    put_string(xml, " ");
    put_string(xml, name);
    put_string(xml, "=\"");
    xml->in_value = true;
}

void xml_end_attribute(struct xml *xml)
{
    put_string(xml, "\"");
    xml->in_value = false;
}

void xml_attribute(struct xml *xml, const char *name, const char *value)
{
    xml_begin_attribute(xml, name);
    xml_text(xml, value);
    xml_end_attribute(xml);
}

void xml_number(struct xml *xml, const char *name, double value)
{
    char text[NUMBER_SIZE];
    xml_attribute(xml, name, xml_exact_number(value, text));
}

void xml_integer(struct xml *xml, const char *name, int value)
{
    xml_attribute_printf(xml, name, "%d", value);
}

void xml_true(struct xml *xml, const char *name)
{
    xml_attribute(xml, name, "true");
}

void xml_printf(struct xml *xml, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    xml_text(xml, text);
}

void xml_attribute_printf(struct xml *xml, const char *name, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    xml_attribute(xml, name, text);
}

void xml_leaf(struct xml *xml, const char *element, const char *text)
{
    xml_begin(xml, element);
    xml_text(xml, text);
    xml_end_full(xml);
}
