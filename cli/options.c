#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tolerance.h"
#include "cli.h"

enum { LABEL_SIZE = 512, LIST_SIZE = 2048 }; /* texts of messages */

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

const struct option *options_find(const struct command *command, const char *name)
{
    for (const struct option *row = command->option; row->name != NULL; row++)
        if (row->type > OPTION_ARGUMENT && strcmp(row->name, name) == 0) return row;
    return NULL;
}

static uint64_t bit_of(const struct command *command, const struct option *row)
{
    return row != NULL ? (uint64_t)1 << (row - command->option) : 0;
}

/* "--at STATE", "ROBOT" */
static int label_of(const struct option *row, char label[LABEL_SIZE])
{
    return snprintf(label, LABEL_SIZE, "%s%s%s", row->name, row->value != NULL ? " " : "",
                    row->value != NULL ? row->value : "");
}

/* Item i of n items of a list in a message: "a, b or c" */
static void add_item(char list[LIST_SIZE], int i, int n, const char *conjunction, const char *item, int length)
{
    const size_t used = i > 0 ? strlen(list) : 0;
    snprintf(list + used, LIST_SIZE - used, "%s%.*s", i == 0 ? "" : i + 1 < n ? ", " : conjunction, length, item);
}

/* 1 for the first of the words that | separates; 0, with the words as a list for a message, if it is none of them */
static int find_word(const char *words, const char *text, char list[LIST_SIZE])
{
    int n = 1;
    for (const char *bar = words; (bar = strchr(bar, '|')) != NULL; bar++) n++;
    for (int i = 0; i < n; i++) {
        const size_t length = strcspn(words, "|");
        if (strlen(text) == length && memcmp(words, text, length) == 0) return i + 1;
        add_item(list, i, n, " or ", words, (int)length);
        words += length + 1;
    }
    return 0;
}

bool options_whole_number(const char *text, int least, int most, int *number)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    *number = (int)value;
    return end != text && *end == '\0' && errno == 0 && value >= least && value <= most;
}

static int store_value(const char *command, const struct option *row, const char *text, void *to)
{
    double *number = to;
    int *whole = to;
    const char **string = to;
    struct text_list *list = to;
    char *end, words[LIST_SIZE];
    const int most = row->most > 0 ? row->most : row->type == OPTION_WHOLE ? INT_MAX : MOST_SETTINGS;
    switch (row->type) {
    case OPTION_FLAG: *(bool *)to = true; break;
    case OPTION_POSITIVE:
    case OPTION_TOLERANCE:
        *number = strtod(text, &end);
        if (*text == '\0' || *end != '\0' || !isfinite(*number) || *number <= 0)
            return cli_usage(command, "%s takes a positive number, not '%s'", row->name, text);
        if (row->type == OPTION_TOLERANCE && !is_tolerance(*number))
            return cli_usage(command, "%s takes a number from %g to less than 1, not '%s'", row->name,
                             TIGHTEST_TOLERANCE, text);
        break;
    case OPTION_WHOLE:
        if (options_whole_number(text, row->least, most, whole)) break;
        if (most == INT_MAX) return cli_usage(command, "%s takes a positive whole number, not '%s'", row->name, text);
        return cli_usage(command, "%s takes a whole number from %d to %d, not '%s'", row->name, row->least, most, text);
    case OPTION_CHOICE:
        *whole = find_word(row->value, text, words);
        if (*whole == 0) return cli_usage(command, "%s is %s, not '%s'", row->name, words, text);
        break;
    case OPTION_LIST:
    case OPTION_SETTINGS:
        if (row->type == OPTION_SETTINGS && strchr(text, '=') == NULL)
            return cli_usage(command, "%s takes %s, not '%s'", row->name, row->value, text);
        if (list->n == most) return cli_usage(command, "%s %s: at most %d times", row->name, text, most);
        list->text[list->n++] = text;
        break;
    default: *string = text;
    }
    return EXIT_OK;
}

/* Arguments, or options, that are required and not given */
static int report_missing(const struct command *command, uint64_t given, bool arguments)
{
    char list[LIST_SIZE], item[LABEL_SIZE];
    const struct option *missing[64];
    int n = 0;
    for (const struct option *row = command->option; row->name != NULL; row++)
        if (arguments ? row->type == OPTION_ARGUMENT && !row->optional : row->required)
            if ((given & bit_of(command, row)) == 0) missing[n++] = row;
    for (int i = 0; i < n; i++) {
        (void)label_of(missing[i], item);
        add_item(list, i, n, " and ", item, LABEL_SIZE);
    }
    return n == 0 ? EXIT_OK : cli_usage(command->name, "expected %s", list);
}

/* Options in `names`, separated by spaces, that are not given although the row needs them, or that it excludes */
static int check_names(const struct command *command, const struct option *row, const char *names, bool needed,
                       uint64_t given)
{
    char text[LIST_SIZE], label[LABEL_SIZE], *rest = text;
    snprintf(text, sizeof text, "%s", names != NULL ? names : "");
    for (char *name; (name = strtok_r(rest, " ", &rest)) != NULL;) {
        const struct option *other = options_find(command, name);
        if (((given & bit_of(command, other)) != 0) == needed) continue;
        if (!needed) return cli_usage(command->name, "%s %s: leave out %s", row->name, row->reason, name);
        (void)label_of(other, label);
        return cli_usage(command->name, "%s %s: give %s too", row->name, row->reason, label);
    }
    return EXIT_OK;
}

int options_parse(const struct command *command, int argc, char **argv, void *options)
{
    const struct option *argument = command->option;
    uint64_t given = 0;
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char *word = argv[i];
        const bool named = word[0] == '-' && word[1] != '\0';
        while (!named && argument->name != NULL && argument->type != OPTION_ARGUMENT) argument++;
        const struct option *row = named ? options_find(command, word) : argument->name != NULL ? argument++ : NULL;
        if (row == NULL)
            return named ? cli_usage(command->name, "unknown option '%s'", word)
                         : cli_usage(command->name, "too many arguments: '%s'", word);
        const bool file = row->type == OPTION_RESULT || row->type == OPTION_REDIRECT, names = row->type == OPTION_NAMES;
        if (named && row->value != NULL && ++i == argc)
            return cli_usage(command->name, "%s needs a value: %s %s", word, word, row->value);
        if ((file || names) && (given & bit_of(command, row)) != 0) /* of others the last one counts */
            return cli_usage(command->name, "%s is given twice%s", word, names ? ": separate the names by commas" : "");
        if (row->type != OPTION_FLAG && argv[i][0] == '\0')
            return cli_usage(command->name, "%s must not be empty", row->name);
        given |= bit_of(command, row);
        code = store_value(command->name, row, argv[i], (char *)options + row->to);
    }
    if (code == EXIT_OK) code = report_missing(command, given, true);
    if (code == EXIT_OK) code = report_missing(command, given, false);
    for (const struct option *row = command->option; row->name != NULL && code == EXIT_OK; row++) {
        if ((given & bit_of(command, row)) == 0) continue;
        code = check_names(command, row, row->needs, true, given);
        if (code == EXIT_OK) code = check_names(command, row, row->excludes, false, given);
    }
    return code;
}

/* ---- help -------------------------------------------------------------------------------------------------------- */

enum { WIDTH = 116, WIDEST_LABEL = 28 };

/* One paragraph, from `column` on; lines after the first are indented. Returns what follows its line feed; NULL: nothing */
static const char *print_paragraph(const char *text, int column, int indent)
{
    for (bool first = true; *text != '\0' && *text != '\n'; first = false) {
        const int length = (int)strcspn(text, " \n");
        if (!first && column + 1 + length > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
    return *text == '\n' ? text + 1 : NULL;
}

void options_help(const struct command *command)
{
    bool others = false;
    int widest = 0;
    char label[LABEL_SIZE];
    printf("usage: limber %s", command->name);
    for (const struct option *row = command->option; row->name != NULL; row++) {
        const int length = label_of(row, label);
        if (row->type == OPTION_ARGUMENT) printf(row->optional ? " [%s]" : " %s", row->name);
        if (row->required) printf(" %s", label);
        others = others || (row->type > OPTION_ARGUMENT && !row->required);
        if (row->help != NULL && length <= WIDEST_LABEL && length > widest) widest = length;
    }
    printf("%s\n\n", others ? " [options]" : "");
    print_paragraph(command->summary, 0, 0);
    const struct option *last = NULL;
    for (const struct option *row = command->option; row->name != NULL; row++) {
        if (row->help == NULL) continue;
        if (last == NULL || (last->type == OPTION_TERM) != (row->type == OPTION_TERM)) putchar('\n');
        const int length = label_of(row, label), column = widest + 4;
        printf("  %-*s", column - 2, label);
        if (length > widest) printf("\n%*s", column, "");
        print_paragraph(row->help, column, column);
        last = row;
    }
    for (const char *text = command->details; text != NULL;) {
        printf("\n  ");
        text = print_paragraph(text, 2, 2);
    }
}
