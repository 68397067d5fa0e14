/* terminalsAndIcons/terminalsAndIcons.xml (FMI 2.0.4, section 2.3, refers to FMI 3.0, section 2.4.9, whose version the file names): the
   flanges of an arm and of its companions. Two terminals of a kind have the same members, input on one side and output on the other, so
   that a tool connects them as one plug. Kinds that a tool defines begin with an underscore and its name. */
#include <stdio.h>
#include <string.h>

#include "xml.h"

enum { MOST_MEMBERS = 9, NAME_SIZE = 1024 };

/* A flange of an arm: variables OWNER.member, of which the first is an input. Of a companion: the variables named here. */
static const struct terminal {
    const char *kind, *unit, *companion_name, *description; /* unit of the first member */
    struct {
        const char *name, *of_companion;
    } member[MOST_MEMBERS];
} terminals[] = {
    {"_limber.joint", "N.m", "joint", "a joint that turns and its drive", {{"tau", "tau"}, {"q", "q"}, {"qd", "qd"}}},
    {"_limber.slide", "N", "slide", "a joint that slides and its drive", {{"tau", "tau"}, {"q", "q"}, {"qd", "qd"}}},
    {"_limber.line",
     "N",
     "line",
     "the two points of a line and what acts between them",
     {{"force", "force"}, {"length", "length"}, {"rate", "rate"}}},
    {"_limber.point",
     "N",
     "hook",
     "a point of the arm and what acts on it, world axes",
     {{"force[1]", "force[1]"},
      {"force[2]", "force[2]"},
      {"force[3]", "force[3]"},
      {"position[1]", "hook.position[1]"},
      {"position[2]", "hook.position[2]"},
      {"position[3]", "hook.position[3]"},
      {"velocity[1]", "hook.velocity[1]"},
      {"velocity[2]", "hook.velocity[2]"},
      {"velocity[3]", "hook.velocity[3]"}}},
};

/* The variable of a member; owner "" for a companion. False: there is none. */
static bool member_name(const struct fmu *fmu, const struct terminal *t, int member, const char *owner,
                        char name[NAME_SIZE])
{
    const char *suffix = fmu->model != NULL ? t->member[member].name : t->member[member].of_companion;
    snprintf(name, NAME_SIZE, "%s%s", owner, suffix);
    const int row = variables_find(fmu->variables, name);
    const bool is_arm = fmu->model != NULL && !fmu->variables->discrete; /* a controller is the other side of an arm */
    const enum causality wanted =
        (member == 0 || strncmp(suffix, "force", 5) == 0) == is_arm ? CAUSALITY_INPUT : CAUSALITY_OUTPUT;
    if (row < 0 || fmu->variables->row[row].causality != wanted) return false;
    return member > 0 || strcmp(fmu->variables->row[row].unit, t->unit) == 0;
}

/* `some`: whether there was one before; the schema allows no empty list */
static void write_terminal(struct xml *xml, const struct fmu *fmu, const struct terminal *t, const char *owner,
                           bool *some)
{
    char name[NAME_SIZE];
    for (int m = 0; m < MOST_MEMBERS && t->member[m].name != NULL; m++)
        if (!member_name(fmu, t, m, owner, name)) return;
    if (!*some) xml_begin(xml, "Terminals");
    *some = true;
    xml_begin(xml, "Terminal");
    if (*owner == '\0') snprintf(name, sizeof name, "%s", t->companion_name);
    else snprintf(name, sizeof name, "%.*s", (int)strlen(owner) - 1, owner); /* without its dot */
    xml_attribute(xml, "name", name);
    xml_attribute(xml, "matchingRule", "plug");
    xml_attribute(xml, "terminalKind", t->kind);
    xml_attribute(xml, "description", t->description);
    for (int m = 0; m < MOST_MEMBERS && t->member[m].name != NULL; m++) {
        member_name(fmu, t, m, owner, name);
        xml_begin(xml, "TerminalMemberVariable");
        xml_attribute(xml, "variableName", name);
        xml_attribute(xml, "memberName", t->member[m].name);
        xml_attribute(xml, "variableKind", "signal");
        xml_end(xml);
    }
    xml_end(xml);
}

/* Every OWNER.first_member of an arm or a controller has a flange of its kind, if the other members are there */
static void write_arm_terminals(struct xml *xml, const struct fmu *fmu, const struct terminal *t, bool *some)
{
    const size_t length = strlen(t->member[0].name);
    for (int r = 0; r < fmu->variables->n; r++) {
        const char *name = fmu->variables->row[r].name;
        const size_t owner = strlen(name) > length ? strlen(name) - length : 0;
        char text[NAME_SIZE];
        if (owner == 0 || owner >= sizeof text || name[owner - 1] != '.') continue;
        if (strcmp(name + owner, t->member[0].name) != 0) continue;
        snprintf(text, sizeof text, "%.*s", (int)owner, name);
        write_terminal(xml, fmu, t, text, some);
    }
}

static void write_area(struct xml *xml, const char *element, bool scaled)
{
    xml_begin(xml, element);
    xml_attribute(xml, "x1", "-100");
    xml_attribute(xml, "y1", "-100");
    xml_attribute(xml, "x2", "100");
    xml_attribute(xml, "y2", "100");
    if (scaled) xml_attribute(xml, "suggestedScalingFactorTo_mm", "0.1");
    xml_end(xml);
}

struct blob terminals_make(const struct fmu *fmu, struct arena *arena)
{
    struct xml xml;
    bool some = false;
    xml_open(&xml, DOCUMENT_XML);
    xml_begin(&xml, "fmiTerminalsAndIcons");
    xml_attribute(&xml, "fmiVersion", "3.0");
    xml_begin(&xml, "GraphicalRepresentation");
    write_area(&xml, "CoordinateSystem", true);
    write_area(&xml, "Icon", false);
    xml_end(&xml);
    for (size_t i = 0; i < sizeof terminals / sizeof terminals[0]; i++)
        if (fmu->model != NULL) write_arm_terminals(&xml, fmu, &terminals[i], &some);
        else write_terminal(&xml, fmu, &terminals[i], "", &some);
    if (some) xml_end(&xml);
    xml_end(&xml);
    return xml_close(&xml, arena);
}
