/* The options and arguments of a command as rows of a table: parsing, checks, messages and --help follow from them. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum { MOST_SETTINGS = 256 };

/* What a row is, and the type of its value in the command's struct of options */
enum option_type {
    OPTION_TERM,      /* only explained by --help                                              */
    OPTION_ARGUMENT,  /* const char *: given by its position                                   */
    OPTION_FLAG,      /* bool                                                                  */
    OPTION_TEXT,      /* const char *                                                          */
    OPTION_NAMES,     /* const char *: names separated by commas                               */
    OPTION_RESULT,    /* const char *: a file that the command writes                          */
    OPTION_REDIRECT,  /* const char *: the file to which main() redirects standard output      */
    OPTION_POSITIVE,  /* double                                                                */
    OPTION_TOLERANCE, /* double: a relative tolerance                                          */
    OPTION_WHOLE,     /* int from `least` to `most`                                            */
    OPTION_CHOICE,    /* int: 1 for the first word of `value`, 2 for the second; 0: not given  */
    OPTION_LIST,      /* struct text_list: may be repeated `most` times                        */
    OPTION_SETTINGS   /* struct text_list of NAME=VALUE                                        */
};

struct option {
    const char *name;  /* "--at"; of an argument or a term, what --help calls it              */
    const char *value; /* what --help calls the value; of a choice, its words separated by |  */
    enum option_type type;
    size_t to; /* offset of the value in the command's struct of options                      */
    const char *help;
    bool required;        /* the option must be given                                               */
    bool optional;        /* the argument may be omitted                                            */
    int least, most;      /* bounds of a whole number; `most` also of a list's length               */
    const char *needs;    /* options that must be given too, separated by spaces                    */
    const char *excludes; /* options that must not be given with this one                           */
    const char *reason;   /* for both messages: "--plot draws a sweep: give --sweep JOINT=a:b:n too" */
};

/* The values of an option that may be repeated */
struct text_list {
    int n;
    const char *text[MOST_SETTINGS];
};

/* Joints and lines that a static equilibrium holds or frees: lists of names, separated by commas; NULL: not given. */
struct holding {
    const char *hold, *free, *hold_lines, *free_lines;
};

enum { JOINTS_LOCKED = 1, JOINTS_FREE }; /* --joints */

/* The options that several commands share. The struct of options of every command begins with it. */
struct common {
    const char *command; /* its name, for messages              */
    struct arena *arena; /* memory until the command ends       */
    const char *robot;   /* robot file                          */
    const char *at;      /* STATE file; NULL: the robot's start */
    const char *output;  /* -o                                  */
    int elastic_terms;   /* enum elastic_terms; 0: as in the robot file */
    int joints;          /* JOINTS_FREE, otherwise locked       */
    bool equilibrium;    /* --static                            */
    bool json;
    struct holding holding;
    struct text_list set; /* NAME=VALUE */
};

#define TO(member)        offsetof(struct options, member)
#define TO_COMMON(member) offsetof(struct common, member)

/* Rows that several commands share */
#define OPTION(...) \
    {               \
        __VA_ARGS__ \
    }
#define OPTION_ROBOT       OPTION("ROBOT", NULL, OPTION_ARGUMENT, TO_COMMON(robot), .help = NULL)
#define OPTION_STATE(HELP) OPTION("STATE", NULL, OPTION_ARGUMENT, TO_COMMON(at), .help = HELP)
#define OPTION_AT(HELP)    OPTION("--at", "STATE", OPTION_TEXT, TO_COMMON(at), .help = HELP)
#define OPTION_AT_POINT \
    OPTION_AT("operating point: a JSON file (-: standard input) as for eval (default: the robot's start)")
#define OPTION_STATIC OPTION("--static", NULL, OPTION_FLAG, TO_COMMON(equilibrium), .help = STATIC_HELP)
#define OPTION_SET                                                 \
    OPTION("--set", "NAME=VALUE", OPTION_SETTINGS, TO_COMMON(set), \
           .help = "sets a parameter by its FMU name; may be repeated")
#define OPTION_JOINTS(HELP) OPTION("--joints", "locked|free", OPTION_CHOICE, TO_COMMON(joints), .help = HELP)
#define OPTION_ELASTIC_TERMS                                                                   \
    OPTION("--elastic-terms", "full|linear|ruthless", OPTION_CHOICE, TO_COMMON(elastic_terms), \
           .help = "replaces `elastic_terms` of the robot file")
#define OPTION_JSON(HELP)  OPTION("--json", NULL, OPTION_FLAG, TO_COMMON(json), .help = HELP)
#define OPTION_JSON_ALWAYS OPTION_JSON("accepted; the output is always JSON")
#define OPTION_OUTPUT \
    OPTION("-o", "FILE", OPTION_REDIRECT, TO_COMMON(output), .help = "result file instead of standard output")
#define OPTION_FILE(VALUE, HELP) OPTION("-o", VALUE, OPTION_RESULT, TO_COMMON(output), .required = true, .help = HELP)

/* --hold, --free and the same for lines. The arguments of the macro are further members of these rows. */
#define OPTIONS_HOLDING(...)                                                                                       \
    OPTION("--hold", "NAMES", OPTION_NAMES, TO_COMMON(holding.hold), .help = HOLD_HELP, __VA_ARGS__),              \
        OPTION("--free", "NAMES", OPTION_NAMES, TO_COMMON(holding.free), .help = "joints that move", __VA_ARGS__), \
        OPTION("--hold-actuators", "NAMES", OPTION_NAMES, TO_COMMON(holding.hold_lines),                           \
               .help = "line actuators that keep their lengths", __VA_ARGS__),                                     \
        OPTION("--free-actuators", "NAMES", OPTION_NAMES, TO_COMMON(holding.free_lines),                           \
               .help = "line actuators whose forces are given", __VA_ARGS__)
#define OF_AN_EQUILIBRIUM .needs = "--static", .reason = "is an option of an equilibrium"
#define STATIC_HELP \
    "about the equilibrium that `limber static` finds from there, with the torques and forces that hold it"
#define HOLD_HELP "joints that keep their positions, separated by commas; overrides `static` in the robot file"

struct cli_model;
struct report;

/* A subcommand. Its file defines it, main.c lists it. */
struct command {
    const char *name, *summary;
    const char *details;         /* paragraphs at the end of --help, separated by line feeds; NULL: none */
    const struct option *option; /* rows in the order of --help; the last has no name                    */
    size_t size;                 /* of the struct of options                                             */
    const void *defaults;        /* such a struct; NULL: all zero                                        */
    /* These get the struct of options and return exit codes. Messages in the report are printed with the command's name. The last
       is for commands on a model: main() loads it; `run` is NULL then. */
    int (*check)(const void *options); /* what the rows cannot express; NULL: nothing */
    int (*run)(const void *options, struct report *report);
    int (*run_model)(const void *options, struct cli_model *loaded, struct report *report);
};

/* The row of an option; NULL: the command has none of this name. */
const struct option *options_find(const struct command *command, const char *name);

/* Reads the arguments behind the command's name into its struct of options. An exit code; wrong usage is reported. */
int options_parse(const struct command *command, int argc, char **argv, void *options);

/* Whether a text is nothing but a whole number in these bounds. */
bool options_whole_number(const char *text, int least, int most, int *number);

/* The text of --help */
void options_help(const struct command *command);

#endif
