#include "generate/formats.h"

#define PLAIN_SIGNS(sign)                                                                                  \
    .operation = plain, .power = sign "%d", .wave = {"%s(", ")"}, .square_of_wave = {"%s(", ")" sign "2"}, \
    .variable = "v%d"

static const struct operation_text plain[OPERATIONS] = {
    [ADD] = {NULL, " + ", NULL},   [SUB] = {NULL, " - ", NULL},      [MUL] = {NULL, "*", NULL},
    [DIV] = {NULL, "/", NULL},     [SIN] = {"sin(", NULL, ")"},      [COS] = {"cos(", NULL, ")"},
    [SQRT] = {"sqrt(", NULL, ")"}, [STUMPFF] = {"S(%d, ", NULL, ")"}};

static const struct operation_text latex[OPERATIONS] = {
    [ADD] = {NULL, " + ", NULL},     [SUB] = {NULL, " - ", NULL},       [MUL] = {NULL, "\\, ", NULL},
    [DIV] = {"\\frac{", "}{", "}"},  [SIN] = {"\\sin(", NULL, ")"},     [COS] = {"\\cos(", NULL, ")"},
    [SQRT] = {"\\sqrt{", NULL, "}"}, [STUMPFF] = {"S_{%d}(", NULL, ")"}};

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static const struct piece text_page[] = {
    {.kind = HEAD},
    {.kind = TEXT, .text = "\ncoordinates q = ("},
    {.kind = COORDINATES, .text = "%n", .separator = ", "},
    {.kind = TEXT, .text = ")\nrates qd = ("},
    {.kind = RATES, .text = "%n", .separator = ", "},
    {.kind = TEXT, .text = ")\n"},
    {.kind = RATES, .text = "  %n: %m\n"},
    {.kind = TEXT, .text = "\nparameters\n"},
    {.kind = PARAMETERS, .text = "  %n = %v [%u]: %m\n"},
    {.kind = TEXT_DEFINITIONS, .text = "\nwith\n"},
    {.kind = TEXT_STUMPFF, .text = "S(k, y) = sum over j of (-y)^j/(2 j + k)!\n"},
    {.kind = DEFINITIONS},
    {.kind = EQUATIONS, .text = "\n%n: %m\n"},
    {.kind = END},
};

static const struct piece latex_page[] = {
    {.kind = HEAD},
    {.kind = TEXT,
     .text = "% \\usepackage{amsmath,longtable}; \\allowdisplaybreaks lets long equations go over pages\n\n"
             "\\[ M \\ddot q + C \\dot q + K (q - q_{\\mathrm{rest}}) + G = B \\tau"},
    {.kind = TEXT_LOOPS, .text = " + J^T \\lambda, \\quad J \\dot q = 0"},
    {.kind = TEXT, .text = ", \\quad q = ("},
    {.kind = COORDINATES, .text = "%n", .separator = ", "},
    {.kind = TEXT, .text = ")"},
    {.kind = REST, .text = ", \\quad q_{\\mathrm{rest}}{:}\\ %n = %v"},
    {.kind = TEXT, .text = " \\]\n\n\\begin{longtable}{llll}\nsymbol & value & unit & meaning \\\\\n"},
    {.kind = PARAMETERS, .text = "$%n$ & $%v$ & %u & %m \\\\\n"},
    {.kind = TEXT, .text = "\\end{longtable}\n"},
    {.kind = TEXT_DEFINITIONS, .text = "\nwith\n\\begin{align*}\n"},
    {.kind = TEXT_STUMPFF, .text = "S_k(y) &= \\sum_j \\frac{(-y)^j}{(2 j + k)!} \\\\\n"},
    {.kind = DEFINITIONS},
    {.kind = TEXT_DEFINITIONS, .text = "\\end{align*}\n"},
    {.kind = EQUATIONS, .text = "\n%m\n\\begin{align*}\n", .after = "\\end{align*}\n"},
    {.kind = END},
};

static const char sympy_functions[] =
    "}\n\n"
    "variables = []  # (symbol, definition) of intermediate variables, in an order in which they can be evaluated\n\n"
    "def variable(name, definition):\n"
    "    variables.append((symbols(name), sympify(definition)))\n"
    "    return variables[-1][0]\n\n"
    "def substituted(expression):\n"
    "    \"\"\"With the definitions in place of all intermediate variables.\"\"\"\n"
    "    for symbol, definition in reversed(variables): expression = expression.xreplace({symbol: definition})\n"
    "    return expression\n\n"
    "def point(q, qd, values=parameters):\n"
    "    \"\"\"Numbers of all symbols at a state: M.xreplace(point(q, qd)).\"\"\"\n"
    "    given = {**values, **dict(zip(coordinates, q)), **dict(zip(rates, qd))}\n"
    "    numbers = {symbol: Float(number) for symbol, number in given.items()}\n"
    "    for symbol, definition in variables: numbers[symbol] = definition.xreplace(numbers)\n"
    "    return numbers\n\n";

static const struct piece sympy_page[] = {
    {.kind = HEAD},
    {.kind = TEXT,
     .text = "from sympy import Float, Rational, cos, factorial, sin, sqrt, symbols, sympify, zeros\n\n"
             "coordinates = ["},
    {.kind = COORDINATES, .text = "symbols('%n')", .separator = ", "},
    {.kind = TEXT, .text = "]\n"},
    {.kind = COORDINATES, .text = "%n", .separator = ", ", .after = "%, = coordinates\n"},
    {.kind = TEXT, .text = "rates = ["},
    {.kind = RATES, .text = "symbols('%n')", .separator = ", "},
    {.kind = TEXT, .text = "]\n"},
    {.kind = RATES, .text = "%n", .separator = ", ", .after = "%, = rates\n"},
    {.kind = PARAMETERS, .text = "%n = symbols('%n')\n"},
    {.kind = TEXT, .text = "parameters = {\n"},
    {.kind = PARAMETERS, .text = "    %n: %v,  # [%u] %m\n"},
    {.kind = TEXT, .text = sympy_functions},
    {.kind = TEXT_STUMPFF,
     .text = "def S(k, y):  # sum over j of (-y)^j/(2 j + k)!, enough terms for angles up to 90 degrees\n"
             "    return sum((-y)**j/factorial(2*j + k) for j in range(12))\n\n"},
    {.kind = DEFINITIONS},
    {.kind = EQUATIONS, .text = "\n# %m\n%n = zeros(%r, %c)\n"},
    {.kind = END},
};

static const struct piece matlab_page[] = {
    {.kind = TEXT, .text = "function [M, C, K, G, B"},
    {.kind = TEXT_LOOPS, .text = ", J"},
    {.kind = TEXT, .text = "] = equations(q, qd, p)\n"},
    {.kind = HEAD},
    {.kind = TEXT,
     .text = "% Without p the parameters are those of the robot file.\n"
             "if nargin < 3, p = parameters(); end\n"},
    {.kind = COORDINATES, .text = "%n = q(%i);\n"},
    {.kind = RATES, .text = "%n = qd(%i);\n"},
    {.kind = PARAMETERS, .text = "%n = p.%n;\n"},
    {.kind = TEXT_STUMPFF,
     .text = "S = @(k, y) sum((-y).^(0:11)./factorial(2*(0:11) + k)); % sum over j of (-y)^j/(2 j + k)!\n"},
    {.kind = DEFINITIONS},
    {.kind = EQUATIONS, .text = "%% %m\n%n = zeros(%r, %c);\n"},
    {.kind = TEXT, .text = "end\n\nfunction p = parameters()\np = struct();\n"},
    {.kind = PARAMETERS, .text = "p.%n = %v; %% [%u] %m\n"},
    {.kind = TEXT, .text = "end\n"},
    {.kind = END},
};

/* ---- the table --------------------------------------------------------------------------------------------------- */

const struct format formats[FORMATS] = {
    [FORMAT_TEXT] =
        {
            .name = "text",
            PLAIN_SIGNS("^"),
            .fraction = "%d/%d",
            .comment = "",
            .width = 120,
            .line_break = "\n      ",
            .first_index = 1,
            .defined = "%n = %t\n",
            .entry = "%n[%i,%j] = %t\n",
            .entry_of_vector = "%n[%i] = %t\n",
            .zero = "%n = 0\n",
            .page = text_page,
        },
    [FORMAT_LATEX] =
        {
            .name = "latex",
            .operation = latex,
            .latex = true,
            .power = "^{%d}",
            .fraction = "\\tfrac{%d}{%d}",
            .wave = {"\\%s(", ")"},
            .square_of_wave = {"\\%s^{2}(", ")"},
            .variable = "v_{%d}",
            .comment = "% ",
            .width = 75,
            .line_break = " \\\\\n&\\quad ",
            .first_index = 1,
            .defined = "%n &= %t \\\\\n",
            .entry = "%n_{%i,%j} &= %t \\\\\n",
            .entry_of_vector = "%n_{%i} &= %t \\\\\n",
            .zero = "%n &= 0 \\\\\n",
            .page = latex_page,
        },
    [FORMAT_SYMPY] =
        {
            .name = "sympy",
            PLAIN_SIGNS("**"),
            .fraction = "Rational(%d, %d)",
            .comment = "# ",
            .defined = "%n = variable('%n', %t)\n",
            .entry = "%n[%i, %j] = %t\n",
            .entry_of_vector = "%n[%i] = %t\n",
            .mirrored = "%n[%j, %i] = %n[%i, %j]\n",
            .page = sympy_page,
        },
    [FORMAT_MATLAB] =
        {
            .name = "matlab",
            PLAIN_SIGNS("^"),
            .fraction = "%d/%d",
            .comment = "% ",
            .first_index = 1,
            .defined = "%n = %t;\n",
            .entry = "%n(%i,%j) = %t;\n",
            .entry_of_vector = "%n(%i) = %t;\n",
            .mirrored = "%n(%j,%i) = %n(%i,%j);\n",
            .page = matlab_page,
        },
};
