#include "robot/nearest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { LONGEST = 63, FAR = 1000 };

/* Levenshtein's distance, one row of the table at a time. */
static int edits(const char *a, const char *b)
{
    const size_t length = strlen(b);
    if (strlen(a) > LONGEST || length > LONGEST) return FAR;

    int row[LONGEST + 1];
    for (size_t j = 0; j <= length; j++) row[j] = (int)j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        int diagonal = row[0];
        row[0] = (int)i + 1;
        for (size_t j = 0; j < length; j++) {
            const int change = diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]));
            const int insertion = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            diagonal = row[j + 1];
            row[j + 1] = change < insertion ? change : insertion;
        }
    }
    return row[length];
}

const char *nearest(const char *word, int count, const char *const *candidate)
{
    const char *best = NULL;
    int fewest = (int)strlen(word) / 3 + 1; /* as many edits as a typing error may have */
    if (strlen(word) < 3) fewest = 0;
    for (int i = 0; i < count; i++) {
        const int distance = edits(word, candidate[i]);
        if (distance > fewest || (best != NULL && distance == fewest)) continue;
        best = candidate[i];
        fewest = distance;
    }
    return best;
}
