#include "table.h"

void table_name(struct table *table, const char *name)
{
    const bool first = table->n_names++ == 0;
    if (table->json) fprintf(table->stream, "%s\"%s\"", first ? "{\"columns\": [" : ", ", name);
    else fprintf(table->stream, "%s%s", first ? "" : ",", name);
}

void table_row(struct table *table, double first, const double *number, int count)
{
    const bool begins = table->n_rows++ == 0; /* the first row ends the line of names */
    if (table->json) fputs(begins ? "],\n\"rows\": [\n[" : ",\n[", table->stream);
    else if (begins) fputc('\n', table->stream);
    fprintf(table->stream, "%.17g", first);
    for (int i = 0; i < count; i++) fprintf(table->stream, "%s%.17g", table->json ? ", " : ",", number[i]);
    fputc(table->json ? ']' : '\n', table->stream);
}

void table_end(const struct table *table)
{
    if (table->json) fputs(table->n_rows > 0 ? "\n]}\n" : "],\n\"rows\": []}\n", table->stream);
    else if (table->n_rows == 0) fputc('\n', table->stream);
}
