#include "xml.h"

#include <libxml/xmlwriter.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 512 };

const char *exact_number(double value, char text[NUMBER_SIZE])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

/* The writer's functions return -1 on failure. */
static void keep(struct xml *xml, int result)
{
    if (result < 0) xml->failed = true;
}

void xml_open(struct xml *xml, enum document document)
{
    memset(xml, 0, sizeof *xml);
    xml->buffer = xmlBufferCreate();
    if (xml->buffer != NULL) xml->writer = xmlNewTextWriterMemory(xml->buffer, 0);
    if (xml->writer == NULL) {
        xml->failed = true;
        return;
    }
    if (document == DOCUMENT_XML) {
        keep(xml, xmlTextWriterSetIndent(xml->writer, 1));
        keep(xml, xmlTextWriterSetIndentString(xml->writer, BAD_CAST "  "));
        keep(xml, xmlTextWriterStartDocument(xml->writer, "1.0", "UTF-8", NULL));
    } else if (document == DOCUMENT_HTML) keep(xml, xmlTextWriterWriteRaw(xml->writer, BAD_CAST "<!DOCTYPE html>\n"));
}

struct blob xml_close(struct xml *xml, struct arena *arena)
{
    struct blob blob = {0};
    if (!xml->failed) keep(xml, xmlTextWriterEndDocument(xml->writer));
    if (xml->writer != NULL) xmlFreeTextWriter(xml->writer); /* flushes */
    if (!xml->failed) {
        const size_t size = (size_t)xmlBufferLength(xml->buffer);
        char *bytes = arena_take(arena, size + 1, 1);
        if (bytes != NULL) {
            memcpy(bytes, xmlBufferContent(xml->buffer), size);
            blob = (struct blob){bytes, size};
        }
    }
    if (xml->buffer != NULL) xmlBufferFree(xml->buffer);
    return blob;
}

void xml_begin(struct xml *xml, const char *element)
{
    if (!xml->failed) keep(xml, xmlTextWriterStartElement(xml->writer, BAD_CAST element));
}

void xml_end(struct xml *xml)
{
    if (!xml->failed) keep(xml, xmlTextWriterEndElement(xml->writer));
}

void xml_end_full(struct xml *xml)
{
    if (!xml->failed) keep(xml, xmlTextWriterFullEndElement(xml->writer));
}

void xml_text(struct xml *xml, const char *text)
{
    if (!xml->failed) keep(xml, xmlTextWriterWriteString(xml->writer, BAD_CAST text));
}

void xml_raw(struct xml *xml, const char *text)
{
    if (!xml->failed) keep(xml, xmlTextWriterWriteRaw(xml->writer, BAD_CAST text));
}

void xml_attribute(struct xml *xml, const char *name, const char *value)
{
    if (!xml->failed) keep(xml, xmlTextWriterWriteAttribute(xml->writer, BAD_CAST name, BAD_CAST value));
}

void xml_number(struct xml *xml, const char *name, double value)
{
    char text[NUMBER_SIZE];
    xml_attribute(xml, name, exact_number(value, text));
}

void xml_integer(struct xml *xml, const char *name, int value)
{
    xml_attribute_printf(xml, name, "%d", value);
}

void xml_true(struct xml *xml, const char *name)
{
    xml_attribute(xml, name, "true");
}

void xml_begin_attribute(struct xml *xml, const char *name)
{
    if (!xml->failed) keep(xml, xmlTextWriterStartAttribute(xml->writer, BAD_CAST name));
}

void xml_end_attribute(struct xml *xml)
{
    if (!xml->failed) keep(xml, xmlTextWriterEndAttribute(xml->writer));
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
