#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "robot/read.h"

static int count_of(const char *text, char wanted)
{
    int count = 0;
    for (; *text != '\0'; text++) count += *text == wanted;
    return count;
}

/* The next field, cut off at a comma or the end of the line; spaces and quotes around it are dropped. */
static char *cut_field(char **line)
{
    char *field = *line, *end = field + strcspn(field, ",");
    *line = *end == '\0' ? end : end + 1;
    *end = '\0';
    field += strspn(field, " \t\"");
    for (char *last = field + strlen(field); last > field && strchr(" \t\"\r", last[-1]) != NULL; last--)
        last[-1] = '\0';
    return field;
}

static int read_header(const char *file, char *line, struct arena *arena, struct csv *csv)
{
    csv->n_columns = count_of(line, ',') + 1;
    csv->name = arena_take(arena, (size_t)csv->n_columns, sizeof *csv->name);
    if (csv->name == NULL) return 1;
    for (int i = 0; i < csv->n_columns; i++) csv->name[i] = arena_string(arena, cut_field(&line));
    if (arena->failed) return 1;
    if (strcmp(csv->name[0], "time") != 0) {
        fprintf(stderr, "limber: %s: line 1: the first column must be time, not '%s'\n", file, csv->name[0]);
        return 1;
    }
    for (int i = 1; i < csv->n_columns; i++)
        for (int j = 0; j < i; j++) {
            if (strcmp(csv->name[i], csv->name[j]) != 0) continue;
            fprintf(stderr, "limber: %s: line 1: the column %s stands twice\n", file, csv->name[i]);
            return 1;
        }
    return 0;
}

static int read_row(const char *file, int line_number, char *line, struct csv *csv)
{
    double *row = csv->number + (size_t)csv->n_columns * (size_t)csv->n_rows;
    if (count_of(line, ',') + 1 != csv->n_columns) {
        fprintf(stderr, "limber: %s: line %d: expected %d numbers, found %d\n", file, line_number, csv->n_columns,
                count_of(line, ',') + 1);
        return 1;
    }
    for (int i = 0; i < csv->n_columns; i++) {
        char *field = cut_field(&line), *end;
        row[i] = strtod(field, &end);
        if (*field == '\0' || *end != '\0' || !isfinite(row[i])) {
            fprintf(stderr, "limber: %s: line %d, %s: '%s' is not a finite number\n", file, line_number, csv->name[i],
                    field);
            return 1;
        }
    }
    if (csv->n_rows > 0 && !(row[0] > row[-csv->n_columns])) {
        fprintf(stderr, "limber: %s: line %d: time must increase from row to row\n", file, line_number);
        return 1;
    }
    csv->n_rows++;
    return 0;
}

int csv_read(const char *file, struct arena *arena, struct csv *csv)
{
    struct report report = {.line = cli_print_error};
    size_t length;
    memset(csv, 0, sizeof *csv);
    const char *bytes = document_load(file, arena, &length, &report);
    char *text = bytes != NULL ? arena_string(arena, bytes) : NULL;
    if (text == NULL) return 1;
    const int lines = count_of(text, '\n') + 1;
    int bad = 0, line_number = 0;
    for (char *line = text; *line != '\0' && bad == 0;) {
        char *end = line + strcspn(line, "\n"), *next = *end == '\0' ? end : end + 1;
        *end = '\0';
        line_number++;
        if (line_number == 1) {
            bad = read_header(file, line, arena, csv);
            csv->number = arena_take(arena, (size_t)lines * (size_t)csv->n_columns, sizeof *csv->number);
            bad = bad != 0 || csv->number == NULL;
        } else if (line[strspn(line, " \t\r")] != '\0') {
            bad = read_row(file, line_number, line, csv);
        }
        line = next;
    }
    if (bad == 0 && csv->n_rows == 0) {
        fprintf(stderr, "limber: %s: expected a header line and at least one row of numbers\n", file);
        bad = 1;
    }
    return bad;
}

static void write_numbers(FILE *stream, const char *between, const double *number, int count)
{
    for (int i = 0; i < count; i++) fprintf(stream, "%s%.17g", i > 0 ? between : "", number[i]);
}

void csv_write_row(FILE *stream, const double *number, int count)
{
    write_numbers(stream, ",", number, count);
    fputc('\n', stream);
}

void table_name(struct table *table, const char *name)
{
    const bool first = table->n_names++ == 0;
    if (table->json) fprintf(table->stream, "%s\"%s\"", first ? "{\"columns\": [" : ", ", name);
    else fprintf(table->stream, "%s%s", first ? "" : ",", name);
}

/* Ends the line of names with the first row */
static void begin_row(struct table *table)
{
    const bool first = table->n_rows++ == 0;
    if (table->json) fputs(first ? "],\n\"rows\": [\n" : ",\n", table->stream);
    else if (first) fputc('\n', table->stream);
}

void table_row(struct table *table, const double *number, int count)
{
    begin_row(table);
    if (!table->json) {
        csv_write_row(table->stream, number, count);
        return;
    }
    fputc('[', table->stream);
    write_numbers(table->stream, ", ", number, count);
    fputc(']', table->stream);
}

void table_end(const struct table *table)
{
    if (table->json) fputs(table->n_rows > 0 ? "\n]}\n" : "],\n\"rows\": []}\n", table->stream);
    else if (table->n_rows == 0) fputc('\n', table->stream);
}
