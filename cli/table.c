#include "table.h"

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
    if (table->json) fputs(first ? "],\n\"rows\": [\n[" : ",\n[", table->stream);
    else if (first) fputc('\n', table->stream);
}

void table_row(struct table *table, double first, const double *number, int count)
{
    begin_row(table);
    fprintf(table->stream, "%.17g", first);
    for (int i = 0; i < count; i++) fprintf(table->stream, "%s%.17g", table->json ? ", " : ",", number[i]);
    fputc(table->json ? ']' : '\n', table->stream);
}

void table_end(const struct table *table)
{
    if (table->json) fputs(table->n_rows > 0 ? "\n]}\n" : "],\n\"rows\": []}\n", table->stream);
    else if (table->n_rows == 0) fputc('\n', table->stream);
}
