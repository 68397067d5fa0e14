/* A small importer for Windows. Standard input holds words: the library, the resource location, the guid, and what to do. The
   answer goes to standard output, numbers with all their digits. Nonzero where something fails, with the reason on standard
   error.

   simulate  n_in n_out n_steps step tolerance, references, one row of inputs a step: co-simulation with inputs held over each
             step; after half of the steps the state is saved, and after the last one put into a second instance, which does the
             second half again
   evaluate  n_states, states; n_in, references, values; n_unknown, references; n_known, references, seeds: derivatives and the
             directional derivative in model exchange
   threads   n: so many threads instantiate at the same time, many times, while the locale writes a decimal comma */
#include <windows.h>

#include <fmi2Functions.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_LIST(X)        \
    X(Instantiate)              \
    X(FreeInstance)             \
    X(SetupExperiment)          \
    X(EnterInitializationMode)  \
    X(ExitInitializationMode)   \
    X(EnterContinuousTimeMode)  \
    X(SetContinuousStates)      \
    X(GetDerivatives)           \
    X(GetDirectionalDerivative) \
    X(SetReal)                  \
    X(GetReal)                  \
    X(DoStep)                   \
    X(GetFMUstate)              \
    X(SetFMUstate)              \
    X(FreeFMUstate)             \
    X(SerializedFMUstateSize)   \
    X(SerializeFMUstate)        \
    X(DeSerializeFMUstate)      \
    X(Terminate)

struct library {
#define FUNCTION_POINTER(name) fmi2##name##TYPE *name;
    FUNCTION_LIST(FUNCTION_POINTER)
#undef FUNCTION_POINTER
    char location[4096], guid[64];
};

/* ---- what fails ends the program ----------------------------------------------------------------------------------------- */

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

#define REQUIRE(call)                                      \
    do {                                                   \
        if ((call) != fmi2OK) fail("%s: not fine", #call); \
    } while (0)

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String message, ...)
{
    (void)environment;
    fprintf(stderr, "%s, %s, %d: %s\n", name, category, (int)status, message);
}

static const fmi2CallbackFunctions callbacks = {.logger = log_message};

static void *take(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    if (block == NULL) fail("out of memory");
    return block;
}

/* ---- reading and writing ------------------------------------------------------------------------------------------------- */

/* The rest of a line, which may hold blanks */
static void read_line(char *text, int size)
{
    if (fgets(text, size, stdin) == NULL) fail("the input ends early");
    text[strcspn(text, "\r\n")] = '\0';
}

static double read_number(void)
{
    double number;
    if (scanf("%lf", &number) != 1) fail("a number was expected");
    return number;
}

static double *read_numbers(size_t count)
{
    double *numbers = take(count, sizeof *numbers);
    for (size_t i = 0; i < count; i++) numbers[i] = read_number();
    return numbers;
}

static size_t read_count(void)
{
    return (size_t)read_number();
}

static fmi2ValueReference *read_references(size_t count)
{
    fmi2ValueReference *references = take(count, sizeof *references);
    for (size_t i = 0; i < count; i++) references[i] = (fmi2ValueReference)read_number();
    return references;
}

static void print_row(size_t count, const double *numbers)
{
    for (size_t i = 0; i < count; i++) printf("%s%.17g", i > 0 ? "," : "", numbers[i]);
    putchar('\n');
}

/* ---- library and instances ----------------------------------------------------------------------------------------------- */

static void load(struct library *library)
{
    char file[4096];
    wchar_t wide[4096];
    read_line(file, sizeof file);
    read_line(library->location, sizeof library->location);
    read_line(library->guid, sizeof library->guid);
    if (MultiByteToWideChar(CP_UTF8, 0, file, -1, wide, 4096) == 0) fail("%s: not a path", file);
    const HMODULE module = LoadLibraryW(wide);
    if (module == NULL) fail("%s: cannot be loaded, error %lu", file, GetLastError());
#define FIND_FUNCTION(name)                                                                   \
    library->name = (fmi2##name##TYPE *)(void (*)(void))GetProcAddress(module, "fmi2" #name); \
    if (library->name == NULL) fail("fmi2%s is not there", #name);
    FUNCTION_LIST(FIND_FUNCTION)
#undef FIND_FUNCTION
}

static fmi2Component instantiate(const struct library *library, fmi2Type type)
{
    fmi2Component c =
        library->Instantiate("arm", type, library->guid, library->location, &callbacks, fmi2False, fmi2False);
    if (c == NULL) fail("refused");
    return c;
}

static fmi2Component start(const struct library *library, fmi2Type type, double tolerance)
{
    fmi2Component c = instantiate(library, type);
    REQUIRE(library->SetupExperiment(c, tolerance > 0, tolerance, 0, fmi2False, 0));
    REQUIRE(library->EnterInitializationMode(c));
    REQUIRE(library->ExitInitializationMode(c));
    return c;
}

static void stop(const struct library *library, fmi2Component c)
{
    REQUIRE(library->Terminate(c));
    library->FreeInstance(c);
}

/* ---- co-simulation --------------------------------------------------------------------------------------------------------- */

struct run {
    size_t n_in, n_out, n_steps;
    double step;
    fmi2ValueReference *in, *out;
    double *inputs; /* n_steps x n_in */
};

static void advance(const struct library *library, fmi2Component c, const struct run *run, size_t from, size_t to)
{
    double *row = take(run->n_out, sizeof *row);
    for (size_t k = from; k < to; k++) {
        REQUIRE(library->SetReal(c, run->in, run->n_in, run->inputs + k * run->n_in));
        REQUIRE(library->DoStep(c, (double)k * run->step, run->step, fmi2False));
        REQUIRE(library->GetReal(c, run->out, run->n_out, row));
        print_row(run->n_out, row);
    }
    free(row);
}

static fmi2Byte *save(const struct library *library, fmi2Component c, size_t *size)
{
    fmi2FMUstate state = NULL;
    REQUIRE(library->GetFMUstate(c, &state));
    REQUIRE(library->SerializedFMUstateSize(c, state, size));
    fmi2Byte *bytes = take(*size, 1);
    REQUIRE(library->SerializeFMUstate(c, state, bytes, *size));
    REQUIRE(library->FreeFMUstate(c, &state));
    return bytes;
}

static fmi2Component restore(const struct library *library, const fmi2Byte *bytes, size_t size)
{
    fmi2Component c = instantiate(library, fmi2CoSimulation);
    fmi2FMUstate state = NULL;
    REQUIRE(library->DeSerializeFMUstate(c, bytes, size, &state));
    REQUIRE(library->SetFMUstate(c, state));
    REQUIRE(library->FreeFMUstate(c, &state));
    return c;
}

static void simulate(const struct library *library)
{
    struct run run = {.n_in = read_count(), .n_out = 0};
    run.n_out = read_count();
    run.n_steps = read_count();
    run.step = read_number();
    const double tolerance = read_number();
    run.in = read_references(run.n_in);
    run.out = read_references(run.n_out);
    run.inputs = read_numbers(run.n_steps * run.n_in);

    size_t size;
    fmi2Component c = start(library, fmi2CoSimulation, tolerance);
    advance(library, c, &run, 0, run.n_steps / 2);
    fmi2Byte *bytes = save(library, c, &size);
    advance(library, c, &run, run.n_steps / 2, run.n_steps);
    stop(library, c);

    c = restore(library, bytes, size);
    advance(library, c, &run, run.n_steps / 2, run.n_steps);
    stop(library, c);
    free(bytes);
    free(run.inputs);
    free(run.out);
    free(run.in);
}

/* ---- model exchange -------------------------------------------------------------------------------------------------------- */

static void evaluate(const struct library *library)
{
    const size_t n = read_count();
    double *x = read_numbers(n), *derivatives = take(n, sizeof *derivatives);
    const size_t n_in = read_count();
    fmi2ValueReference *in = read_references(n_in);
    double *inputs = read_numbers(n_in);
    const size_t n_unknown = read_count();
    fmi2ValueReference *unknown = read_references(n_unknown);
    double *changes = take(n_unknown, sizeof *changes);
    const size_t n_known = read_count();
    fmi2ValueReference *known = read_references(n_known);
    double *seeds = read_numbers(n_known);

    fmi2Component c = start(library, fmi2ModelExchange, 0);
    REQUIRE(library->EnterContinuousTimeMode(c));
    REQUIRE(library->SetContinuousStates(c, x, n));
    REQUIRE(library->SetReal(c, in, n_in, inputs));
    REQUIRE(library->GetDerivatives(c, derivatives, n));
    print_row(n, derivatives);
    REQUIRE(library->GetDirectionalDerivative(c, unknown, n_unknown, known, n_known, seeds, changes));
    print_row(n_unknown, changes);
    stop(library, c);

    void *blocks[] = {x, derivatives, in, inputs, unknown, changes, known, seeds};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) free(blocks[i]);
}

/* ---- threads and a decimal comma --------------------------------------------------------------------------------------------- */

enum { MOST_THREADS = 16, TIMES = 50 };

static DWORD WINAPI instantiate_often(void *library)
{
    for (int i = 0; i < TIMES; i++) stop(library, start(library, fmi2CoSimulation, 0));
    return 0;
}

static void run_threads(struct library *library)
{
    const size_t n = read_count();
    HANDLE threads[MOST_THREADS];
    if (n > MOST_THREADS) fail("at most %d threads", MOST_THREADS);
    if (setlocale(LC_ALL, "German_Germany.1252") == NULL) fail("there is no locale with a decimal comma");
    for (size_t i = 0; i < n; i++) threads[i] = CreateThread(NULL, 0, instantiate_often, library, 0, NULL);
    WaitForMultipleObjects((DWORD)n, threads, TRUE, INFINITE);
    for (size_t i = 0; i < n; i++) CloseHandle(threads[i]);
    instantiate_often(library);
    puts(localeconv()->decimal_point);
}

int main(void)
{
    static struct library library;
    char what[16] = "";
    load(&library);
    read_line(what, sizeof what);
    if (strcmp(what, "simulate") == 0) simulate(&library);
    else if (strcmp(what, "evaluate") == 0) evaluate(&library);
    else if (strcmp(what, "threads") == 0) run_threads(&library);
    else fail("what to do? simulate, evaluate or threads, not '%s'", what);
    return 0;
}
