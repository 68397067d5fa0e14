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
    {.what = HEAD},
    {.what = TEXT, .text = "\ncoordinates q = ("},
    {.what = COORDINATES, .text = "%n", .separator = ", "},
    {.what = TEXT, .text = ")\nrates qd = ("},
    {.what = RATES, .text = "%n", .separator = ", "},
    {.what = TEXT, .text = ")\n"},
    {.what = RATES, .text = "  %n: %m\n"},
    {.what = TEXT, .text = "\nparameters\n"},
    {.what = PARAMETERS, .text = "  %n = %v [%u]: %m\n"},
    {.what = TEXT_DEFINITIONS, .text = "\nwith\n"},
    {.what = TEXT_STUMPFF, .text = "S(k, y) = sum over j of (-y)^j/(2 j + k)!\n"},
    {.what = DEFINITIONS},
    {.what = EQUATIONS, .text = "\n%n: %m\n"},
    {.what = END},
};

static const struct piece latex_page[] = {
    {.what = HEAD},
    {.what = TEXT,
     .text = "% \\usepackage{amsmath,longtable}; \\allowdisplaybreaks lets long equations go over pages\n\n"
             "\\[ M \\ddot q + C \\dot q + K (q - q_{\\mathrm{rest}}) + G = B \\tau"},
    {.what = TEXT_LOOPS, .text = " + J^T \\lambda, \\quad J \\dot q = 0"},
    {.what = TEXT, .text = ", \\quad q = ("},
    {.what = COORDINATES, .text = "%n", .separator = ", "},
    {.what = TEXT, .text = ")"},
    {.what = REST, .text = ", \\quad q_{\\mathrm{rest}}{:}\\ %n = %v"},
    {.what = TEXT, .text = " \\]\n\n\\begin{longtable}{llll}\nsymbol & value & unit & meaning \\\\\n"},
    {.what = PARAMETERS, .text = "$%n$ & $%v$ & %u & %m \\\\\n"},
    {.what = TEXT, .text = "\\end{longtable}\n"},
    {.what = TEXT_DEFINITIONS, .text = "\nwith\n\\begin{align*}\n"},
    {.what = TEXT_STUMPFF, .text = "S_k(y) &= \\sum_j \\frac{(-y)^j}{(2 j + k)!} \\\\\n"},
    {.what = DEFINITIONS},
    {.what = TEXT_DEFINITIONS, .text = "\\end{align*}\n"},
    {.what = EQUATIONS, .text = "\n%m\n\\begin{align*}\n", .after = "\\end{align*}\n"},
    {.what = END},
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
    {.what = HEAD},
    {.what = TEXT,
     .text = "from sympy import Float, Rational, cos, factorial, sin, sqrt, symbols, sympify, zeros\n\n"
             "coordinates = ["},
    {.what = COORDINATES, .text = "symbols('%n')", .separator = ", "},
    {.what = TEXT, .text = "]\n"},
    {.what = COORDINATES, .text = "%n", .separator = ", ", .after = "%, = coordinates\n"},
    {.what = TEXT, .text = "rates = ["},
    {.what = RATES, .text = "symbols('%n')", .separator = ", "},
    {.what = TEXT, .text = "]\n"},
    {.what = RATES, .text = "%n", .separator = ", ", .after = "%, = rates\n"},
    {.what = PARAMETERS, .text = "%n = symbols('%n')\n"},
    {.what = TEXT, .text = "parameters = {\n"},
    {.what = PARAMETERS, .text = "    %n: %v,  # [%u] %m\n"},
    {.what = TEXT, .text = sympy_functions},
    {.what = TEXT_STUMPFF,
     .text = "def S(k, y):  # sum over j of (-y)^j/(2 j + k)!, enough terms for angles up to 90 degrees\n"
             "    return sum((-y)**j/factorial(2*j + k) for j in range(12))\n\n"},
    {.what = DEFINITIONS},
    {.what = EQUATIONS, .text = "\n# %m\n%n = zeros(%r, %c)\n"},
    {.what = END},
};

static const struct piece matlab_page[] = {
    {.what = TEXT, .text = "function [M, C, K, G, B"},
    {.what = TEXT_LOOPS, .text = ", J"},
    {.what = TEXT, .text = "] = equations(q, qd, p)\n"},
    {.what = HEAD},
    {.what = TEXT,
     .text = "% Without p the parameters are those of the robot file.\n"
             "if nargin < 3, p = parameters(); end\n"},
    {.what = COORDINATES, .text = "%n = q(%i);\n"},
    {.what = RATES, .text = "%n = qd(%i);\n"},
    {.what = PARAMETERS, .text = "%n = p.%n;\n"},
    {.what = TEXT_STUMPFF,
     .text = "S = @(k, y) sum((-y).^(0:11)./factorial(2*(0:11) + k)); % sum over j of (-y)^j/(2 j + k)!\n"},
    {.what = DEFINITIONS},
    {.what = EQUATIONS, .text = "%% %m\n%n = zeros(%r, %c);\n"},
    {.what = TEXT, .text = "end\n\nfunction p = parameters()\np = struct();\n"},
    {.what = PARAMETERS, .text = "p.%n = %v; %% [%u] %m\n"},
    {.what = TEXT, .text = "end\n"},
    {.what = END},
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
            .defined = "%n &= %t \\\\\n",
            .entry = "%n_{%i,%j} &= %t \\\\\n",
            .entry_of_vector = "%n_{%i} &= %t \\\\\n",
            .zero = "%n &= 0 \\\\\n",
            .page = latex_page,
        },
    [FORMAT_SYMPY] =
        {
            .name = "sympy",
            .from_zero = true,
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
            .defined = "%n = %t;\n",
            .entry = "%n(%i,%j) = %t;\n",
            .entry_of_vector = "%n(%i) = %t;\n",
            .mirrored = "%n(%j,%i) = %n(%i,%j);\n",
            .page = matlab_page,
        },
};
