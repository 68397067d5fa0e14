#include "compile.h"

#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "installed.h"
#include "robot/read.h"

enum { MOST_WORDS = 256 };

extern char **environ;

/* A command as words; those of variables are separated by spaces. */
struct command {
    int n; /* more than MOST_WORDS: too many */
    char *word[MOST_WORDS + 1];
    struct arena *arena;
};

static void add_word(struct command *command, const char *word)
{
    char *copy = arena_string(command->arena, word);
    if (copy != NULL && command->n < MOST_WORDS) command->word[command->n] = copy;
    command->n++;
}

static void add_words(struct command *command, const char *words)
{
    char *copy = arena_string(command->arena, words != NULL ? words : ""), *rest = copy;
    for (char *word; copy != NULL && (word = strtok_r(rest, " \t", &rest)) != NULL;) add_word(command, word);
}

static void add_path(struct command *command, const char *before, const char *folder, const char *name, const char *end)
{
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s%s/%s%s", before, folder, name, end) < PATH_SIZE) add_word(command, path);
    else command->arena->failed = true;
}

static const char *compiler(void)
{
    const char *name = getenv("CC");
    return name != NULL && name[strspn(name, " \t")] != '\0' ? name : "cc";
}

/* Sources and what all FMUs are made of, into one library: only the fmi2 functions leave it, as from limber_fmu.so */
static void make_command(struct command *command, const struct generation *what, const char *folder, const char *parts)
{
    static const char *const before =
        "-std=c99 -O2 -fPIC -fvisibility=hidden -ffp-contract=fast -fno-math-errno -fno-trapping-math";
    static const char *const link = "-shared -static-libgcc -Wl,-Bsymbolic -Wl,--gc-sections -s";
    add_words(command, compiler());
    add_words(command, before);
    add_words(command, getenv("CFLAGS"));
    add_path(command, "-I", parts, "", "");
    add_path(command, "", folder, what->prefix, "_forward.c");
    add_path(command, "", folder, what->prefix, "_residual.c");
    add_path(command, "", folder, what->prefix, "_code.c");
    add_path(command, "", parts, "limber_fmu.o", "");
    add_words(command, link);
    add_word(command, "-o");
    add_path(command, "", folder, "library.so", "");
    add_word(command, "-lm");
}

/* Its messages go to standard error */
static bool run(const struct command *command, struct report *report)
{
    pid_t process;
    int status = 0;
    const int error = posix_spawnp(&process, command->word[0], NULL, NULL, command->word, environ);
    if (error == 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    const bool missing = error == ENOENT || (error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127);
    if (missing)
        report_add(
            report, REPORT_ERROR,
            "--generated needs a C compiler, and '%s' was not found: install gcc or clang (Debian: apt-get install "
            "gcc libc6-dev), or name one in the environment variable CC",
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

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

/* Files in the temporary folder */
struct sources {
    const char *folder;
    struct report *report;
    int n;
    FILE *file[CODE_FILES];
};

static FILE *open_source(void *context, const char *name)
{
    struct sources *sources = context;
    char path[PATH_SIZE];
    FILE *file = NULL;
    if (sources->n < CODE_FILES && snprintf(path, sizeof path, "%s/%s", sources->folder, name) < PATH_SIZE)
        file = fopen(path, "w");
    if (file != NULL) sources->file[sources->n++] = file;
    else report_add(sources->report, REPORT_ERROR, "%s/%s: cannot be written", sources->folder, name);
    return file;
}

static bool write_sources(const struct generation *what, const char *guid, const char *folder, struct report *report)
{
    struct sources sources = {.folder = folder, .report = report};
    const struct code_files files = {open_source, &sources};
    bool fine = generate_write_fmu(what, guid, &files) == STATUS_OK, written = true;
    for (int i = 0; i < sources.n; i++) {
        const bool wrong = ferror(sources.file[i]) != 0;
        written = fclose(sources.file[i]) == 0 && !wrong && written;
    }
    if (!written)
        report_add(report, REPORT_ERROR, "%s: a file cannot be written completely; is the disk full?", folder);
    return fine && written;
}

static struct blob build(const struct generation *what, const char *guid, const char *folder, const char *parts,
                         struct arena *arena, struct report *report)
{
    struct blob library = {0};
    struct command command = {.arena = arena};
    char path[PATH_SIZE];
    if (!write_sources(what, guid, folder, report)) return library;
    make_command(&command, what, folder, parts);
    if (command.n > MOST_WORDS)
        report_add(report, REPORT_ERROR, "--generated: CC and CFLAGS have %d words too many", command.n - MOST_WORDS);
    if (arena->failed || command.n > MOST_WORDS || !run(&command, report)) return library;
    if (snprintf(path, sizeof path, "%s/library.so", folder) < PATH_SIZE)
        library.bytes = file_load(path, arena, &library.size, report);
    return library;
}

struct blob compile_library(const struct generation *what, const char *guid, struct arena *arena, struct report *report)
{
    const char *place = getenv("TMPDIR");
    char folder[PATH_SIZE], parts[PATH_SIZE];
    bool found;
    struct blob library = {0};
    if (!installed_path("limber_fmu.o", parts, &found) || !found) {
        report_add(
            report, REPORT_ERROR,
            "--generated: cannot find limber_fmu.o, which generated code is linked with: it is built and installed "
            "with limber_fmu.so");
        return library;
    }
    *strrchr(parts, '/') = '\0';
    snprintf(folder, sizeof folder - 32, "%s/limber-XXXXXX", place != NULL && *place != '\0' ? place : "/tmp");
    if (mkdtemp(folder) == NULL) {
        report_add(report, REPORT_ERROR, "%s: a temporary folder cannot be made: %s", folder, strerror(errno));
        return library;
    }
    library = build(what, guid, folder, parts, arena, report);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    if (library.bytes == NULL && report->errors == 0)
        report_add(report, REPORT_ERROR, "--generated: the code cannot be generated");
    return library;
}
