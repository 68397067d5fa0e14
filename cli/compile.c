#include "pack.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "installed.h"
#include "result.h"
#include "robot/read.h"

enum { MOST_WORDS = 256 };

extern char **environ;

/* A command as words; environment variables are split at spaces. */
struct command_line {
    int n; /* may exceed MOST_WORDS: there were too many */
    char *word[MOST_WORDS + 1];
    struct arena *arena;
};

static void add_word(struct command_line *command, const char *word)
{
    char *copy = arena_string(command->arena, word);
    if (copy != NULL && command->n < MOST_WORDS) command->word[command->n] = copy;
    command->n++;
}

static void add_words(struct command_line *command, const char *words)
{
    char *copy = arena_string(command->arena, words != NULL ? words : ""), *rest = copy;
    for (char *word; copy != NULL && (word = strtok_r(rest, " \t", &rest)) != NULL;) add_word(command, word);
}

static void add_path(struct command_line *command, const char *before, const char *folder, const char *name)
{
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s%s/%s", before, folder, name) < PATH_SIZE) add_word(command, path);
    else command->arena->failed = true;
}

static const char *compiler(void)
{
    const char *name = getenv("CC");
    return name != NULL && name[strspn(name, " \t")] != '\0' ? name : "cc";
}

/* The temporary folder and its files */
struct sources {
    const char *folder;
    char library[PATH_SIZE];
    struct report *report;
    int n;
    FILE *file[CODE_FILES];
    char path[CODE_FILES][PATH_SIZE];
};

/* The sources and the object that all FMUs contain, linked to one library that exports the fmi2 functions only, like limber_fmu.so */
static void make_command(struct command_line *command, const struct sources *sources, const char *parts)
{
    static const char *const before =
        "-std=c99 -O2 -fPIC -fvisibility=hidden -ffp-contract=fast -fno-math-errno -fno-trapping-math";
    static const char *const link = "-shared -static-libgcc -Wl,-Bsymbolic -Wl,--gc-sections -s";
    add_words(command, compiler());
    add_words(command, before);
    add_words(command, getenv("CFLAGS"));
    add_path(command, "-I", parts, "");
    for (int i = 0; i < sources->n; i++)
        if (strcmp(strrchr(sources->path[i], '.'), ".c") == 0) add_word(command, sources->path[i]);
    add_path(command, "", parts, "limber_fmu.o");
    add_words(command, link);
    add_word(command, "-o");
    add_word(command, sources->library);
    add_word(command, "-lm");
}

/* The compiler's messages go to standard error. */
static bool run_compiler(const struct command_line *command, struct report *report)
{
    pid_t process;
    int status = 0;
    const int error = posix_spawnp(&process, command->word[0], NULL, NULL, command->word, environ);
    if (error == 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    const bool missing = error == ENOENT || (error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127);
    if (missing)
        report_add(report, REPORT_ERROR,
                   "--generated needs a C compiler, and '%s' was not found: install gcc or clang (Debian: apt-get "
                   "install gcc libc6-dev), or name one in the environment variable CC",
                   command->word[0]);
    else if (error != 0)
        report_add(report, REPORT_ERROR, "--generated: '%s' cannot be run: %s", command->word[0], strerror(error));
    else
        report_add(report, REPORT_ERROR,
                   "--generated: the compiler '%s' failed; its messages are above. It must build shared libraries with "
                   "libc and libm (Debian: apt-get install gcc libc6-dev)",
                   compiler());
    return false;
}

static FILE *open_source(void *context, const char *name)
{
    struct sources *sources = context;
    FILE *file = NULL;
    errno = ENAMETOOLONG;
    if (sources->n == CODE_FILES) return NULL;
    char *path = sources->path[sources->n];
    if (snprintf(path, PATH_SIZE, "%s/%s", sources->folder, name) < PATH_SIZE) file = fopen(path, "w");
    if (file != NULL) {
        result_remember(path);
        sources->file[sources->n++] = file;
    } else
        report_add(sources->report, REPORT_ERROR, "%s/%s: cannot be written: %s", sources->folder, name,
                   strerror(errno));
    return file;
}

static void remove_sources(const struct sources *sources)
{
    for (int i = 0; i < sources->n; i++) {
        (void)unlink(sources->path[i]);
        result_discard(sources->path[i]);
    }
    (void)unlink(sources->library);
    result_discard(sources->library);
    (void)rmdir(sources->folder);
    result_discard(sources->folder);
}

static struct blob build(const struct generation *what, const char *guid, struct sources *sources, const char *parts,
                         struct arena *arena)
{
    struct report *report = sources->report;
    struct blob library = {0};
    struct command_line command = {.arena = arena};
    const struct code_files files = {open_source, sources};
    const enum status status = generate_write_fmu(what, guid, &files);
    bool written = true;
    for (int i = 0; i < sources->n; i++) {
        const bool wrong = ferror(sources->file[i]) != 0;
        written = fclose(sources->file[i]) == 0 && !wrong && written;
    }
    if (!written)
        report_add(report, REPORT_ERROR, "%s: a file cannot be written completely; is the disk full?", sources->folder);
    if (status != STATUS_OK && report->errors == 0)
        report_add(report, REPORT_ERROR, "--generated: the code cannot be generated: %s", status_text(status));
    if (status != STATUS_OK || !written) return library;
    make_command(&command, sources, parts);
    if (command.n > MOST_WORDS)
        report_add(report, REPORT_ERROR, "--generated: CC and CFLAGS have %d words too many", command.n - MOST_WORDS);
    if (arena->failed || command.n > MOST_WORDS || !run_compiler(&command, report)) return library;
    library.bytes = document_load_file(sources->library, arena, &library.size, report);
    return library;
}

struct blob compile_library(const struct generation *what, const char *guid, struct arena *arena, struct report *report)
{
    const char *place = getenv("TMPDIR");
    char folder[PATH_SIZE], parts[PATH_SIZE];
    bool found;
    struct blob library = {0};
    struct sources sources = {.folder = folder, .report = report};
    if (!installed_path("limber_fmu.o", parts, &found) || !found) {
        report_add(report, REPORT_ERROR,
                   "--generated: cannot find limber_fmu.o, which generated code is linked with: it is built and "
                   "installed with limber_fmu.so");
        return library;
    }
    *strrchr(parts, '/') = '\0';
    snprintf(folder, sizeof folder - 32, "%s/limber-XXXXXX", place != NULL && *place != '\0' ? place : "/tmp");
    if (mkdtemp(folder) == NULL) {
        report_add(report, REPORT_ERROR, "%s: a temporary folder cannot be made: %s", folder, strerror(errno));
        return library;
    }
    snprintf(sources.library, PATH_SIZE, "%.*s/library.so", PATH_SIZE - 32, folder);
    result_remember(folder);
    result_remember(sources.library);
    library = build(what, guid, &sources, parts, arena);
    remove_sources(&sources);
    if (library.bytes == NULL && report->errors == 0)
        report_add(report, REPORT_ERROR, "--generated: %s", status_text(STATUS_NO_MEMORY));
    return library;
}
