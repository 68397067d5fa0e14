#include "analysis/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/failure.h"
#include "robot/read.h"

static int count_of(const char *text, char wanted)
{
    int count = 0;
    for (; *text != '\0'; text++) count += *text == wanted;
    return count;
}

/* The next field, up to a comma or the end of the line, without spaces and quotes around it. */
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

/* Names of the columns, and memory for this number of rows */
static enum status read_header(char *line, int rows, struct arena *arena, struct report *report, struct csv *csv)
{
    csv->n_columns = count_of(line, ',') + 1;
    csv->name = arena_allocate(arena, (size_t)csv->n_columns, sizeof *csv->name);
    csv->number = arena_allocate(arena, (size_t)rows * (size_t)csv->n_columns, sizeof *csv->number);
    for (int i = 0; i < csv->n_columns && !arena->failed; i++) csv->name[i] = arena_string(arena, cut_field(&line));
    if (arena->failed) return failure_status(report, STATUS_NO_MEMORY);
    if (strcmp(csv->name[0], "time") != 0) {
        const bool separated = csv->n_columns == 1 && strpbrk(csv->name[0], ";\t") != NULL;
        report_add(report, REPORT_ERROR, "%s: line 1: the first column must be time, not '%.60s'%s", csv->file,
                   csv->name[0], separated ? "...; columns are separated by commas" : "");
        return STATUS_BAD_INPUT;
    }
    for (int i = 1; i < csv->n_columns; i++)
        for (int j = 0; j < i; j++) {
            if (strcmp(csv->name[i], csv->name[j]) != 0) continue;
            report_add(report, REPORT_ERROR, "%s: line 1: column %s is given twice", csv->file, csv->name[i]);
            return STATUS_BAD_INPUT;
        }
    return STATUS_OK;
}

static enum status read_row(int line_number, char *line, enum csv_times times, struct report *report, struct csv *csv)
{
    double *row = csv->number + (size_t)csv->n_columns * (size_t)csv->n_rows;
    const int found = count_of(line, ',') + 1;
    if (found != csv->n_columns) {
        report_add(report, REPORT_ERROR, "%s: line %d: expected %d numbers, found %d", csv->file, line_number,
                   csv->n_columns, found);
        return STATUS_BAD_INPUT;
    }
    for (int i = 0; i < csv->n_columns; i++) {
        char *field = cut_field(&line), *end;
        row[i] = strtod(field, &end);
        if (*field != '\0' && *end == '\0' && isfinite(row[i])) continue;
        report_add(report, REPORT_ERROR, "%s: line %d, %s: '%s' is not a finite number", csv->file, line_number,
                   csv->name[i], field);
        return STATUS_BAD_INPUT;
    }
    const double before = csv->n_rows > 0 ? row[-csv->n_columns] : -INFINITY;
    if (!(row[0] > before) && !(times == TIMES_MAY_REPEAT && row[0] == before)) {
        report_add(report, REPORT_ERROR, "%s: line %d: time must increase from row to row", csv->file, line_number);
        return STATUS_BAD_INPUT;
    }
    csv->n_rows++;
    return STATUS_OK;
}

enum status csv_read(const char *file, enum csv_times times, struct arena *arena, struct report *report,
                     struct csv *csv)
{
    *csv = (struct csv){.file = file};
    const char *bytes = document_load(file, arena, report);
    if (bytes == NULL) return STATUS_NO_FILE;
    char *text = arena_string(arena, bytes); /* which is split into lines and fields */
    if (text == NULL) return failure_status(report, STATUS_NO_MEMORY);
    const int lines = count_of(text, '\n') + 1;
    int line_number = 0;
    for (char *line = text, *next; *line != '\0'; line = next) {
        char *end = line + strcspn(line, "\n");
        enum status status = STATUS_OK;
        next = *end == '\0' ? end : end + 1;
        *end = '\0';
        line_number++;
        if (line_number == 1) {
            status = read_header(line, lines, arena, report, csv);
        } else if (line[strspn(line, " \t\r")] != '\0') {
            status = read_row(line_number, line, times, report, csv);
        }
        if (status != STATUS_OK) return status;
    }
    if (csv->n_rows > 0) return STATUS_OK;
    report_add(report, REPORT_ERROR, "%s: expected a header line and at least one row of numbers", file);
    return STATUS_BAD_INPUT;
}
