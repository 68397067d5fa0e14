/* modelDescription.xml, from the variable table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dependencies.h"
#include "flex/frequencies.h"
#include "fmi/categories.h"
#include "licenses.h"
#include "units.h"
#include "xml.h"

/* ---- attributes --------------------------------------------------------------------------------------------------- */

static void write_common_capabilities(struct xml *xml, const char *identifier)
{
    xml_attribute(xml, "modelIdentifier", identifier);
    xml_attribute(xml, "canBeInstantiatedOnlyOncePerProcess", "false");
    xml_true(xml, "canGetAndSetFMUstate");
    xml_true(xml, "canSerializeFMUstate");
    xml_true(xml, "providesDirectionalDerivative");
}

static void write_interfaces(struct xml *xml, const struct fmu *fmu)
{
    const char *identifier = fmu->name;
    const int n_links = fmu->model != NULL ? fmu->model->n_links : 0;
    /* Gaps open and quaternions lose their norm while an importer integrates: fmi2CompletedIntegratorStep checks both */
    bool may_drift = fmu->model != NULL && robot_is_closed(fmu->model->robot);
    for (int i = 0; i < n_links; i++) may_drift = may_drift || joint_quaternion(&fmu->model->robot->link[i].joint) >= 0;
    if (!fmu->variables->discrete) {
        xml_begin(xml, "ModelExchange");
        write_common_capabilities(xml, identifier);
        if (!may_drift) xml_true(xml, "completedIntegratorStepNotNeeded");
        xml_end(xml);
    }

    xml_begin(xml, "CoSimulation");
    write_common_capabilities(xml, identifier);
    xml_true(xml, "canHandleVariableCommunicationStepSize");
    xml_true(xml, "canInterpolateInputs");
    xml_integer(xml, "maxOutputDerivativeOrder", 1);
    xml_end(xml);
}

/* ---- units and types ------------------------------------------------------------------------------------------------- */

static void write_units(struct xml *xml, const struct variables *variables)
{
    xml_begin(xml, "UnitDefinitions");
    for (int r = 0; r < variables->n; r++) {
        const char *unit = variables->row[r].unit;
        bool new = unit != NULL;
        for (int s = 0; s < r && new; s++)
            new = variables->row[s].unit == NULL || strcmp(variables->row[s].unit, unit) != 0;
        if (!new) continue;
        int exponent[BASE_COUNT];
        if (!unit_exponents(unit, exponent)) xml->failed = true; /* the table has a unit that is missing in units.c */
        xml_begin(xml, "Unit");
        xml_attribute(xml, "name", unit);
        xml_begin(xml, "BaseUnit");
        for (int b = 0; b < BASE_COUNT; b++)
            if (exponent[b] != 0) xml_integer(xml, base_unit_name[b], exponent[b]);
        xml_end(xml);
        for (int d = 0; d < display_unit_count; d++) {
            if (strcmp(display_units[d].unit, unit) != 0) continue;
            xml_begin(xml, "DisplayUnit");
            xml_attribute(xml, "name", display_units[d].name);
            xml_number(xml, "factor", display_units[d].factor);
            xml_end(xml);
        }
        xml_end(xml);
    }
    xml_end(xml);
}

/* ---- default experiment ------------------------------------------------------------------------------------------------ */

/* About ten periods of the lowest clamped frequency of the links, or of 1 Hz for a rigid robot; one second for a drive, which is fast.
   Rounded to 1, 2 or 5 times a power of ten, within 1 to 100 s; a thousand steps. */
static void write_experiment(struct xml *xml, const struct fmu *fmu)
{
    static const char *const stops[] = {"1", "2", "5", "10", "20", "50", "100"};
    static const char *const steps[] = {"0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"};
    double lowest = INFINITY;
    for (int k = 0; fmu->model != NULL && k < fmu->model->n_links; k++) {
        double hz;
        const int count = frequencies_of_link(&fmu->model->robot->link[k], &hz, 1);
        xml->failed = xml->failed || count == FREQUENCIES_NO_MEMORY;
        if (count > 0 && hz > 0) lowest = fmin(lowest, hz);
    }
    const double wanted = fmu->model == NULL ? 1 : isfinite(lowest) ? 10 / lowest : 10;
    size_t i = 0;
    while (i + 1 < sizeof stops / sizeof stops[0] && strtod(stops[i], NULL) < wanted) i++;
    xml_begin(xml, "DefaultExperiment");
    xml_attribute(xml, "startTime", "0");
    xml_attribute(xml, "stopTime", stops[i]);
    xml_attribute(xml, "tolerance", "1e-6");
    xml_attribute(xml, "stepSize", steps[i]);
    xml_end(xml);
}

/* ---- variables --------------------------------------------------------------------------------------------------------- */

const char *description_causality(enum causality causality)
{
    static const char *const names[] = {"input", "output", "local", "parameter"};
    return names[causality];
}

const char *description_variability(enum variability variability)
{
    static const char *const names[] = {"continuous", "fixed", "tunable", "discrete"};
    return names[variability];
}

static void write_variable(struct xml *xml, const struct variable *v)
{
    static const char *const type_names[] = {"Real", "Integer", "Boolean"};
    static const char *const initial_names[] = {NULL, "exact", "calculated"};
    xml_begin(xml, "ScalarVariable");
    xml_attribute(xml, "name", v->name);
    xml_integer(xml, "valueReference", v->reference);
    xml_attribute(xml, "description", v->description);
    xml_attribute(xml, "causality", description_causality(v->causality));
    xml_attribute(xml, "variability", description_variability(v->variability));
    if (v->initial != INITIAL_NONE) xml_attribute(xml, "initial", initial_names[v->initial]);

    xml_begin(xml, type_names[v->type]);
    if (v->unit != NULL) xml_attribute(xml, "unit", v->unit);
    if (v->display_unit != NULL) xml_attribute(xml, "displayUnit", v->display_unit);
    if (v->limit != NULL && v->type != TYPE_BOOLEAN) { /* what the FMU accepts */
        if (isfinite(v->limit->min)) xml_number(xml, "min", v->limit->min);
        if (isfinite(v->limit->max)) xml_number(xml, "max", v->limit->max);
    }
    if (v->causality == CAUSALITY_INPUT || v->initial == INITIAL_EXACT) switch (v->type) {
        case TYPE_REAL: xml_number(xml, "start", v->start); break;
        case TYPE_BOOLEAN: xml_attribute(xml, "start", v->start != 0 ? "true" : "false"); break;
        case TYPE_INTEGER: xml_integer(xml, "start", (int)v->start); break;
        }
    if (v->nominal > 0) xml_number(xml, "nominal", v->nominal);
    if (v->derivative_of >= 0) xml_integer(xml, "derivative", v->derivative_of + 1);
    if (v->reinit) xml_true(xml, "reinit");
    xml_end(xml);
    xml_end(xml);
}

/* ---- structure ----------------------------------------------------------------------------------------------------------- */

enum { DIGITS = 12 }; /* of the number of a row, with a space */

/* The data from which the lists of dependencies are computed. */
struct dependencies {
    const struct fmu *fmu;
    const struct structure *structure; /* for dependencies_have()                                  */
    struct knowns {
        int n, *row;
    } run, start; /* rows that dependencies_is_known(), dependencies_is_initial_known()         */
    char *list;   /* capacity for the numbers of all rows             */
};

static struct knowns select_knowns(const struct variables *variables, bool (*is)(const struct variable *),
                                   struct arena *arena)
{
    struct knowns knowns = {.row = arena_allocate(arena, (size_t)variables->n, sizeof *knowns.row)};
    for (int r = 0; r < variables->n && !arena->failed; r++)
        if (is(&variables->row[r])) knowns.row[knowns.n++] = r;
    return knowns;
}

/* The rows are numbered from 1. With `start` the dependencies are those of the initialization. */
static void write_unknown(struct xml *xml, const struct dependencies *d, int row, bool start)
{
    const struct variables *variables = d->fmu->variables;
    const struct variable *unknown = &variables->row[row];
    struct start_dependence by = {0};
    if (start) by = dependencies_at_start(d->fmu, d->structure, unknown);
    const struct knowns *knowns = start ? &d->start : &d->run;
    char *end = d->list;
    for (int k = 0; k < knowns->n; k++) {
        const struct variable *known = &variables->row[knowns->row[k]];
        const bool depends = start ? dependencies_have_at_start(d->fmu, d->structure, unknown, &by, known)
                                   : dependencies_have(d->fmu, d->structure, unknown, known);
        if (!depends) continue;
        char digit[DIGITS]; /* printf() would take most of the time of a large robot */
        int n = 0;
        for (int number = knowns->row[k] + 1; number > 0; number /= 10) digit[n++] = (char)('0' + number % 10);
        *end++ = ' ';
        while (n > 0) *end++ = digit[--n];
    }
    *end = '\0';
    xml_begin(xml, "Unknown");
    xml_integer(xml, "index", row + 1);
    xml_attribute(xml, "dependencies", d->list + (end > d->list)); /* without the first space */
    xml_end(xml);
}

/* There are two passes over the rows */
static void show_progress(const struct dependencies *d, int rows)
{
    report_progress(d->fmu->report, "model description", rows, 2 * d->fmu->variables->n);
}

static void write_structure(struct xml *xml, const struct dependencies *d)
{
    const struct variables *variables = d->fmu->variables;
    xml_begin(xml, "ModelStructure");
    xml_begin(xml, "Outputs");
    for (int r = 0; r < variables->n; r++) {
        show_progress(d, r);
        if (variables->row[r].causality == CAUSALITY_OUTPUT) write_unknown(xml, d, r, false);
    }
    xml_end(xml);
    if (variables->n_states > 0) {
        xml_begin(xml, "Derivatives");
        for (int s = 0; s < variables->n_states; s++) write_unknown(xml, d, variables->derivative[s], false);
        xml_end(xml);
    }
    xml_begin(xml, "InitialUnknowns");
    for (int r = 0; r < variables->n; r++) {
        const struct variable *v = &variables->row[r];
        const bool state = v->causality == CAUSALITY_LOCAL && dependencies_is_known(v);
        show_progress(d, variables->n + r);
        if (v->causality == CAUSALITY_OUTPUT || v->derivative_of >= 0 || state) write_unknown(xml, d, r, true);
    }
    xml_end(xml);
    xml_end(xml);
}

/* ---- document ------------------------------------------------------------------------------------------------------------ */

struct blob description_make(const struct fmu *fmu, struct arena *arena)
{
    const struct variables *variables = fmu->variables;
    const struct dependencies dependencies = {.fmu = fmu,
                                              .structure = dependencies_structure(fmu, arena),
                                              .run = select_knowns(variables, dependencies_is_known, arena),
                                              .start = select_knowns(variables, dependencies_is_initial_known, arena),
                                              .list = arena_allocate(arena, (size_t)variables->n + 1, DIGITS)};
    if (arena->failed) return (struct blob){0};

    struct xml xml;
    xml_open(&xml, DOCUMENT_XML);
    xml_begin(&xml, "fmiModelDescription");
    xml_attribute(&xml, "fmiVersion", "2.0");
    xml_attribute(&xml, "modelName", fmu->name);
    xml_attribute(&xml, "guid", fmu->guid);
    if (*fmu->description != '\0') xml_attribute(&xml, "description", fmu->description);
    xml_attribute(&xml, "version", LIMBER_VERSION);
    xml_attribute(&xml, "license", license_summary);
    xml_attribute(&xml, "generationTool", "Limber " LIMBER_VERSION);
    xml_attribute(&xml, "variableNamingConvention", "structured");
    xml_integer(&xml, "numberOfEventIndicators", 0);
    write_interfaces(&xml, fmu);
    write_units(&xml, variables);
    xml_begin(&xml, "LogCategories");
#define WRITE_CATEGORY(symbol, name, text)    \
    xml_begin(&xml, "Category");              \
    xml_attribute(&xml, "name", name);        \
    xml_attribute(&xml, "description", text); \
    xml_end(&xml);
    CATEGORY_LIST(WRITE_CATEGORY)
#undef WRITE_CATEGORY
    xml_end(&xml);
    write_experiment(&xml, fmu);
    xml_begin(&xml, "ModelVariables");
    for (int r = 0; r < variables->n; r++) write_variable(&xml, &variables->row[r]);
    xml_end(&xml);
    write_structure(&xml, &dependencies);
    xml_end(&xml);
    return xml_close(&xml, arena);
}
