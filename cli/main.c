#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tolerance.h"
#include "base/vendor.h"
#include "cli.h"
#include "result.h"
#include "robot/nearest.h"

/* Options of cli/holding.h */
#define HOLDING_OPTIONS                                                                                                \
    "  --hold NAMES   joints that keep their positions, separated by commas; --free NAMES: that move. They win over\n" \
    "                 `static` of the robot file\n"                                                                    \
    "  --hold-actuators NAMES  line actuators that keep their lengths; --free-actuators NAMES: whose forces are "      \
    "given\n"

static const struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    const char *details; /* options and what else --help says */
    int (*run)(int argc, char **argv);
    bool own_output; /* -o is the command's own */
} commands[] = {
    {"check", "ROBOT [--json]",
     "validates a robot file and prints its links, joints, coordinates, masses, frequencies and warnings",
     "  --json   machine-readable instead of a table\n  -o FILE  result file instead of standard output\n\n"
     "  For loops it prints their constraints, how many of them are independent, and the start positions that close "
     "them\n"
     "  (in JSON a STATE, `start`), and notes which joints move for that and by how much (in JSON `notes`). Loops that "
     "cannot\n"
     "  be closed are an error, and so is a joint that would have to move by more than 0.3 rad or 0.3 m, unless the "
     "loop "
     "has\n"
     "  \"start\": \"approximate\".\n\n"
     "  Warnings (in JSON `warnings`) name values that are valid and almost surely a slip, with the number and what is "
     "usual,\n"
     "  and say when more modes would change the first frequency by more than 1 %. They do not change the exit code.\n",
     command_check, false},
    {"eval", "ROBOT STATE [options]",
     "evaluates one state: accelerations, mass matrix, bias, energies, tip, frames; prints JSON",
     "  STATE is a JSON file (-: standard input) with q, qd, tau, tip_force, tip_torque, frame_wrench,\n"
     "  prescribed_qdd, actuator_force, all optional. Defaults are the robot's start (q, qd) and zero (the rest).\n"
     "  q and qd are arrays, or objects with FMU variable names as keys: {\"q\": {\"j1.q\": 0.6, \"two.eta[1]\": "
     "0.01}}.\n"
     "  frame_wrench has frames of the robot as keys: {\"F\": [fx, fy, fz, tx, ty, tz]}. If it has qdd, the result "
     "has\n"
     "  `inverse` too: M qdd + h minus the shares of wrenches and actuator forces.\n\n"
     "  --algorithm recursive|composite         how qdd is computed (default: recursive)\n"
     "  --elastic-terms full|linear|ruthless    instead of what the robot file says\n"
     "  --json                                  accepted; the output is JSON in any case\n"
     "  -o FILE                                 result file instead of standard output\n",
     command_eval, false},
    {"simulate", "ROBOT --until T --step H [options]",
     "simulates the robot as the FMU does and prints all outputs and locals as CSV",
     "  --until T         end of the simulation [s]\n"
     "  --step H          communication and output step [s]\n"
     "  --inputs CSV      inputs by name, first column time; constant before the first and after the last row.\n"
     "                    Prescribed motion J.q, J.qd, J.qdd: the quintic through these of both rows; columns that\n"
     "                    are left out are derived from the others\n"
     "  --interpolate linear|cubic    other inputs between rows (default linear). cubic: a smooth spline through the\n"
     "                    rows\n"
     "  --hold            inputs are held from row to row and jump at rows, as an importer that sets them would do;\n"
     "                    prescribed motion is q + qd s + qdd s^2/2 from each row on\n"
     "  --at STATE        start from a state file (-: standard input); its forces are constant unless --inputs has a "
     "column for them\n"
     "  --set NAME=VALUE  a parameter, by its FMU name; may be repeated\n"
     "  --rtol R          relative tolerance, below 1 (default 1e-6)\n"
     "  --method M        method of integration: auto (default), cvode, esdirk, explicit or symmetric, or its number 0 "
     "to 4\n"
     "                    (solver.method)\n"
     "  --json            JSON instead of CSV: columns, rows\n"
     "  -o CSV            result file instead of standard output\n"
     "  --stats           method and why it was chosen, steps, right-hand sides, Jacobians, restarts, residuals,\n"
     "                    factorizations, Newton iterations, failures, events, CPU seconds as JSON on standard error\n",
     command_simulate, false},
    {"inverse", "ROBOT --trajectory CSV | --profile cycloid ... [options]",
     "joint torques and actuator forces for a joint motion, as CSV that simulate --inputs takes",
     "  The elastic motion that goes with the joint motion is integrated, and so are passive joints. Where an open "
     "robot\n"
     "  has as many line actuators as passive joints between their points, the actuators move these joints in place "
     "of\n"
     "  drives: the motion of these joints is given too, and the forces A.force are in the result. Other actuators "
     "exert\n"
     "  no force. A joint with two coordinates counts as two; the motion of a joint with a quaternion cannot be "
     "given:\n"
     "  passive, it is integrated.\n\n"
     "  --trajectory CSV     columns time, then q, qd, qdd of every joint with a drive, by FMU name; cubic between "
     "rows\n"
     "  --profile cycloid    q = start + k (t - T/pi sin(pi t/T)), exact at every instant, with\n"
     "  --rate K,K,...       k of every joint with a drive [rad/s or m/s], two where it has two coordinates\n"
     "  --period T,T,...     T of every joint with a drive [s]\n"
     "  --until T --step H   rows of a profile [s]\n"
     "  --start static|zero  the start: at rest under gravity, elastic coordinates and passive joints that nothing "
     "moves\n"
     "                       (default), or elastic coordinates zero\n" HOLDING_OPTIONS
     "  --elastic CSV        second table: elastic motion, tip, and everything else that simulate prints\n"
     "  --set NAME=VALUE     a parameter, by its FMU name; may be repeated\n"
     "  --rtol R             relative tolerance, below 1 (default 1e-8)\n"
     "  --rigid              elastic coordinates are zero; needs the motion of passive joints too, unless the robot "
     "has\n"
     "                       loops, which determine it\n"
     "  --json               JSON instead of CSV, in both tables: columns, rows\n"
     "  -o CSV               result file instead of standard output\n",
     command_inverse, false},
    {"view", "ROBOT [--at STATE] [--result CSV]... [--modes] [options]",
     "writes one HTML file that shows the robot in 3-D: sliders for its joints, results, mode shapes",
     "  --at STATE       pose: a JSON file (-: standard input) as for eval (default: the robot's start)\n"
     "  --result CSV     a result to play, from simulate or any importer, with the names of the FMU's variables; up to "
     "4,\n"
     "                   drawn over each other or side by side\n"
     "  --inputs CSV     positions of prescribed joints, which are inputs and not in the result\n"
     "  --modes          mode shapes with frequency and damping, at the pose; numbers are those of `limber modes`\n"
     "  --joints locked|free  of the modes, as for `limber modes`\n"
     "  --open           opens the page in the browser (xdg-open)\n"
     "  -o FILE          the page (default: the name of ROBOT with .html, in this folder)\n\n"
     "  The page needs no network and no server. Its kinematics is that of the FMU, compiled to WebAssembly: loops "
     "stay\n"
     "  closed while a slider moves. docs/viewer.md describes it.\n",
     command_view, true},
    {"picture", "ROBOT -o FILE.svg|FILE.png [--at STATE] [options]",
     "draws the robot at a state in perspective, with names, without a browser",
     "  -o FILE        .svg, or .png (by rsvg-convert)\n"
     "  --at STATE     pose: a JSON file (-: standard input) as for eval (default: the robot's start)\n"
     "  --size WxH     pixels (default 900x560; a PNG has twice as many)\n"
     "  --no-names     without names and axes\n",
     command_picture, true},
    {"report", "ROBOT -o FILE.html [--at STATE] [--sweep JOINT=a:b:n]... [--bode INPUT:OUTPUT]...",
     "writes a page about a robot: picture, links and joints, holding torques, frequencies, poles, zeros, Bode plots",
     "  -o FILE.html         the page, which needs nothing else and can be printed\n"
     "  --at STATE           state file instead of the robot's start\n"
     "  --sweep JOINT=a:b:n  frequencies over n poses of a joint, as for `limber modes`; may be repeated (default: the "
     "first\n"
     "                       three joints with a drive)\n"
     "  --bode INPUT:OUTPUT  poles, zeros and frequency response between variables of the FMU; may be repeated "
     "(default:\n"
     "                       from the first input of a drive or joint to the first output and to the tip)\n\n"
     "  The linear model is that of `limber linearize` about the equilibrium of `limber static`. What cannot be "
     "computed for\n"
     "  a robot is replaced by the reason.\n",
     command_report, true},
    {"fmu", "ROBOT -o FILE.fmu [--generated [--keep NAME]] [--json]",
     "packs the FMU: FMI 2.0, co-simulation and model exchange, documentation inside",
     "  -o FILE.fmu  the file to write; an existing file is replaced\n"
     "  --generated  steps with code that is generated for this robot; needs a C compiler: CC names it (default cc),\n"
     "               CFLAGS adds to its options. The FMU is for this system alone. docs/generate.md has the details\n"
     "  --keep NAME  with --generated, a parameter that stays one of the code: gravity, payload.mass (of the tip "
     "link),\n"
     "               LINK.payload.mass; may be repeated. Setting another one in the FMU makes it slower, not wrong\n"
     "  --json       machine-readable summary\n\n"
     "  The FMU contains limber_fmu.so and, if it exists, limber_fmu.dll. They are taken from the folder of this "
     "program\n"
     "  or, where it is installed, from lib/limber of its prefix. The environment variables LIMBER_FMU_LIBRARY and\n"
     "  LIMBER_FMU_DLL name other files.\n",
     command_fmu, true},
    {"upgrade", "OLD.json -o NEW.json [--json]",
     "writes a robot file of format 1 as one of format 2 with the same meaning",
     "  -o NEW.json  the file to write; not the one that is read\n"
     "  --json       machine-readable summary\n\n"
     "  Numbers, order and layout of the text stay. The format changes, and beams with bending modes that have no\n"
     "  `foreshortening` get `\"foreshortening\": false`: in format 2 the default is true. A file whose names violate "
     "the\n"
     "  stricter rules of format 2 is rejected, with both places in the message.\n",
     command_upgrade, true},
    {"drive",
     "servo|cylinder|gear|spring|axis|sling|controller ROBOT -o FILE.fmu [--set NAME=VALUE ...] [--sensor NAME ...] "
     "[--json]",
     "packs the FMU of a companion of an arm: an electric servo drive for a joint, a hydraulic cylinder for a line "
     "actuator, an elastic gear, a spring, the motion of an axis, a load in a sling, a controller of the whole arm",
     "  servo             DC motor with gear, current, velocity and position loop; joint position and velocity in, "
     "torque "
     "out\n"
     "  cylinder          cylinder with a 4/3 proportional valve; valve command, length and rate in, force out\n"
     "  gear              elastic gear with play and the rotor of its motor; motor torque, joint position and velocity "
     "in,\n"
     "                    torque out\n"
     "  spring            spring and damper between two pins; length and rate in, force out\n"
     "  axis              up to four smooth moves and a position loop; position in, reference and command out\n"
     "  sling             load on a rope, on the ground until it is lifted; motion of the hook in, force out\n"
     "  controller ROBOT  computed torque with a model of this robot inside, and a loop that corrects it; desired and\n"
     "                    measured motion of the joints in, torques out at sample times (docs/control.md)\n"
     "  --sensor NAME     the controller also takes this output of the robot's FMU, of a strain gauge or an "
     "accelerometer:\n"
     "                    F.curvature[k], F.elongation, F.specific_force[k] of a frame F with \"sensor\": true,\n"
     "                    tip.specific_force[k]; may be repeated; of controller only\n"
     "  -o FILE.fmu       the file to write; an existing file is replaced\n"
     "  --set NAME=VALUE  a parameter's value in this FMU instead of the default; may be repeated\n"
     "  --json            machine-readable summary\n\n"
     "  docs/drives.md has equations and parameters, and how to couple them to an arm. The FMU contains NAME.so and, "
     "if it\n"
     "  exists, NAME.dll, from the same folders as for `limber fmu`. The environment variables LIMBER_DRIVE_LIBRARY "
     "and\n"
     "  LIMBER_DRIVE_DLL name other files.\n",
     command_drive, true},
    {"modes", "ROBOT [--at STATE] [--joints locked|free] [--sweep JOINT=a:b:n] [options]",
     "natural frequencies, damping ratios and participation of coordinates, at a state or over a joint's position",
     "  --at STATE           state file (-: standard input) instead of the robot's start\n"
     "  --static             about an equilibrium, as for linearize\n" HOLDING_OPTIONS
     "  --joints locked      driven joints keep position and velocity (default)\n"
     "  --joints free        driven joints move freely, without torque, or as their drives inside the arm move them\n"
     "                       Passive joints always move, prescribed ones never.\n"
     "  --sweep JOINT=a:b:n  n poses of a joint from a to b [rad or m], the rest as in the state: CSV of frequencies;\n"
     "                       loops follow to every pose from the robot's start; JOINT[k] is coordinate k of two\n"
     "  --plot FILE.svg      plot of the sweep: the first --count modes, or six\n"
     "  --count N            only the first N modes\n"
     "  --json               machine-readable instead of a table or CSV\n"
     "  -o FILE              result file instead of standard output\n\n"
     "  Small motions about the state as if forces held it (accelerations zero, those of prescribed joints as given).\n"
     "  frequency [Hz] and growth [1/s]: of the undamped motion, without damping and friction, with gravity, "
     "velocities,\n"
     "  prescribed motion and tip wrench. A mode without restoring force has frequency 0 and the growth r of exp(r "
     "t).\n"
     "  damping_ratio: phi'D phi/(2 w phi'M phi), D with the derivative of friction at the state's velocities; 0 for w "
     "= 0.\n"
     "  damped_frequency, damped_growth: of the motion with damping and friction, by rising frequency. Strong damping\n"
     "  changes the order of the modes.\n"
     "  participation: |phi_i|^2 M_ii of each coordinate as a fraction of the sum: the kinetic energy of each "
     "coordinate if\n"
     "  it moved alone.\n"
     "  A closed robot has one mode for each independent motion that its loops leave. Joints of loops\n"
     "  that a state leaves open follow from the robot's start to the state.\n"
     "  With drives inside the arm that move (those of lines, and those of joints that are free): modes of the "
     "linearized\n"
     "  robot with its drives and its damping, eigenvalues of A of `limber linearize`; participation of each state: "
     "left\n"
     "  times right eigenvector, as a fraction of the sum.\n",
     command_modes, false},
    {"linearize", "ROBOT [options]",
     "linearizes the robot about an operating point: A, B, C, D with names of states, inputs, outputs; prints JSON",
     "  --at STATE     operating point: a JSON file (-: standard input) as for eval (default: the robot's start)\n"
     "  --static       about the equilibrium that `limber static` finds from there, with the torques and forces that\n"
     "                 hold it: driven joints and line actuators are held, passive joints settle, links "
     "bend\n" HOLDING_OPTIONS
     "  --minimal      a closed robot with only the states that its loops leave free: 2 for every independent motion\n"
     "  --python FILE  also a Python module with `system`, made by control.ss; a slash replaces the dot in names\n"
     "  --matlab FILE  also a MATLAB script that makes `sys` by ss, with names and units\n"
     "  --json         accepted; the output is JSON in any case\n"
     "  -o FILE        result file instead of standard output\n\n"
     "  dx/dt = A x + B u, y = C x + D u for deviations from the operating point. `operating_point` in the output can "
     "be\n"
     "  used as a STATE. States, inputs and outputs are all those of the FMU, but a quaternion is replaced by a small\n"
     "  rotation vector J.dtheta in axes of the hinge frame. Derivatives are exact. The loops of a closed robot are "
     "closed\n"
     "  first.\n",
     command_linearize, false},
    {"static", "ROBOT [options]",
     "static equilibrium: positions at which nothing accelerates, forces that hold it, deflections, and its stability",
     "  --at STATE     where the search begins, and the loads: a JSON file (-: standard input) as for eval (default: "
     "the\n"
     "                 robot's start)\n" HOLDING_OPTIONS
     "  --set NAME=VALUE  a parameter of the FMU, as for simulate; may be repeated\n"
     "  --json         JSON instead of a table; its operating_point can be used as a STATE\n"
     "  -o FILE        result file instead of standard output\n\n"
     "  Driven joints and line actuators are held where they start: the torques and forces that hold them are part of\n"
     "  the answer. Passive joints settle, elastic coordinates bend, loops stay closed. A passive joint of type free "
     "is\n"
     "  held, and the wrench left on it printed. In an open robot whose passive joints are moved by as many "
     "actuators,\n"
     "  these hold the joints at their positions. Joints that are freed take the torque of the STATE, actuators that "
     "are\n"
     "  freed its force. Unstable equilibria are found as well as stable ones: `stability` says which.\n",
     command_static, false},
    {"zeros", "ROBOT --input NAME --output NAME [options]",
     "transmission zeros from an input to an output, and whether they are minimum phase; prints JSON",
     "  --input NAME   an input of the FMU, as J.tau or tip.force[1]\n"
     "  --output NAME  an output of the FMU, as J.q or tip.position[2]\n"
     "  --at STATE     operating point, as for linearize (default: the robot's start)\n"
     "  --static       an equilibrium, as for linearize\n" HOLDING_OPTIONS
     "  --json         accepted; the output is JSON in any case\n"
     "  -o FILE        result file instead of standard output\n\n"
     "  `zeros` are [re, im] in 1/s, by modulus, and so are `poles`; `relative_degree` is the number of poles minus\n"
     "  that of zeros, `gain` the factor of prod (s - z) / prod (s - p). Motions that are not coupled to both input "
     "and output are\n"
     "  removed, and so are pairs that cancel at the origin. Other motions that the input does not excite, or that the "
     "output\n"
     "  does not show, may appear as zeros that equal poles.\n"
     "  Rounding: with W a bound of the robot's frequencies and n the number of states, zeros and poles below\n"
     "  sqrt(10 n eps) W are 0; `minimum_phase` is false if some zero has re > 1e-6 |z|; a row of C, a column of B or "
     "a\n"
     "  direct term below 1e-10 of its vector's size is 0.\n"
     "  A closed robot is taken in minimal coordinates, as by linearize --minimal.\n",
     command_zeros, false},
    {"matrices", "ROBOT STATE [--json]",
     "the matrices of M qdd + C qd + K (q - rest) + damping + G = B tau at a state; prints JSON",
     "  STATE is a JSON file (-: standard input) as for eval; only q and qd are used.\n\n"
     "  M  mass matrix, n x n, rows of prescribed joints included\n"
     "  C  Coriolis matrix (Christoffel symbols), n x n: C qd are the velocity terms of the bias, without damping and\n"
     "     friction. M_dot - 2 C is skew with elastic_terms full; linear and ruthless drop terms of it\n"
     "  K  stiffness, n x n: strain and joint springs; constant\n"
     "  G  gravity, n\n"
     "  B  n x numbers in tau, in the order of tau; zero columns for passive and prescribed joints\n"
     "  constraint_jacobian  of a closed robot: a row for every constraint, in the order of `gap` of eval\n"
     "  coordinates  their names\n\n"
     "  --json   accepted; the output is JSON in any case\n"
     "  -o FILE  result file instead of standard output\n",
     command_matrices, false},
    {"generate", "ROBOT -o DIR [--keep NAME] [--wrenches] [--elastic-terms TERMS]",
     "writes straight-line C99 code of the robot's dynamics, with a test program and a CMake file",
     "  Functions: forward dynamics, inverse dynamics, mass matrix and bias, Jacobian, tip kinematics, residual. "
     "Prints\n"
     "  the operations of each. The code needs only libm; the test program compares it with results of the library.\n"
     "  docs/generate.md has the details.\n\n"
     "  -o DIR                                  folder of the result, which is made\n"
     "  --keep NAME                             a parameter that stays an argument: gravity, payload.mass (of the tip\n"
     "                                          link), LINK.payload.mass; may be repeated\n"
     "  --wrenches                              wrenches on the tip and on frames are arguments\n"
     "  --elastic-terms full|linear|ruthless    instead of what the robot file says\n",
     command_generate, true},
    {"equations", "ROBOT [--format FORMAT] [options]",
     "prints the equations of motion as expressions in named parameters and coordinates",
     "  Of M qdd + C qd + K (q - rest) + G = B tau the matrices of `limber matrices`, with the parameters' meanings,\n"
     "  units and values. Damping, friction, stops, forces of actuators and of loops are not shown.\n"
     "  docs/equations.md has examples.\n\n"
     "  --format text|latex|sympy|matlab        text (default), LaTeX, a Python module for SymPy, a MATLAB function\n"
     "  --terms N                               entries are multiplied out and simplified where that leads to at most\n"
     "                                          N terms (default 500), else intermediate variables are used; 0: "
     "always\n"
     "  --elastic-terms full|linear|ruthless    instead of what the robot file says\n"
     "  -o FILE                                 result file instead of standard output\n",
     command_equations, false},
    {"bench", "ROBOT [--json]", "measures nanoseconds per call at random states, best of many batches",
     "  --json   machine-readable instead of a table\n  -o FILE  result file instead of standard output\n",
     command_bench, false},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int print_overview(FILE *stream)
{
    fprintf(stream, "usage: limber COMMAND ...\n\nDynamics of robots with flexible links.\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(stream,
            "\n`limber COMMAND --help` explains a command. Exit codes: 0 success, 1 a problem with the input, 2 wrong\n"
            "usage, 3 the computation failed.\n");
    return stream == stdout ? EXIT_OK : EXIT_USAGE;
}

static int print_help(const struct command *command)
{
    printf("usage: limber %s %s\n\n%s\n\n%s", command->name, command->arguments, command->summary, command->details);
    return EXIT_OK;
}

static const struct command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static int report_unknown(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    const char *meant = nearest(name, COMMAND_COUNT, names);
    fprintf(stderr, "limber: there is no command \"%s\"", name);
    if (meant != NULL) fprintf(stderr, ", did you mean \"%s\"?\n", meant);
    else fprintf(stderr, "; `limber --help` lists them\n");
    return EXIT_USAGE;
}

static int asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return 1;
    return 0;
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "limber: %s: ", command);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "; see `limber %s --help`\n", command);
    return EXIT_USAGE;
}

int cli_no_memory(const char *command)
{
    fprintf(stderr, "limber: %s: %s\n", command, status_text(STATUS_NO_MEMORY));
    return cli_exit_code(STATUS_NO_MEMORY);
}

int cli_positive(const char *command, const char *option, const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    if (*text != '\0' && *end == '\0' && isfinite(*number) && *number > 0) return EXIT_OK;
    return cli_usage(command, "%s takes a positive number, not '%s'", option, text);
}

int cli_tolerance(const char *command, const char *option, const char *text, double *number)
{
    const int code = cli_positive(command, option, text, number);
    if (code != EXIT_OK || is_tolerance(*number)) return code;
    return cli_usage(command, "%s takes a number from %g to less than 1, not '%s'", option, TIGHTEST_TOLERANCE, text);
}

void cli_print_error(void *context, enum report_level level, const char *text)
{
    (void)context;
    if (level == REPORT_ERROR) fprintf(stderr, "limber: %s\n", text);
}

void cli_print_warning(void *context, enum report_level level, const char *text)
{
    (void)context;
    fprintf(stderr, "limber: %s%s\n", level == REPORT_ERROR ? "" : "warning: ", text);
}

static void print_message(void *context, enum report_level level, const char *text)
{
    const char *command = context;
    fprintf(stderr, "limber: %s: %s%s\n", command, level == REPORT_ERROR ? "" : "warning: ", text);
}

struct report cli_report(const char *command)
{
    return (struct report){.line = print_message, .context = (void *)(uintptr_t)command};
}

int cli_exit_code(enum status status)
{
    switch (status) {
    case STATUS_OK: return EXIT_OK;
    case STATUS_BAD_ROBOT:
    case STATUS_BAD_DRIVE:
    case STATUS_BAD_INPUT:
    case STATUS_NO_FILE: return EXIT_INPUT;
    default: return EXIT_COMPUTATION;
    }
}

static void print_error(void *context, enum report_level level, const char *text)
{
    (void)context;
    if (level == REPORT_ERROR) fprintf(stderr, "%s\n", text);
}

struct robot *cli_load(const char *file, int *exit_code)
{
    struct report report = {.line = print_error};
    struct robot *robot;
    *exit_code = cli_exit_code(robot_read_file(file, &robot, &report));
    return robot;
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat x, y;
    const bool both = stat(a, &x) == 0 && (strcmp(b, "-") == 0 ? fstat(STDIN_FILENO, &y) : stat(b, &y)) == 0;
    return both && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Options whose value is a file to be written, of all commands */
static bool names_result(const char *option)
{
    static const char *const options[] = {"-o", "--python", "--matlab", "--plot", "--elastic"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i]) == 0) return true;
    return false;
}

/* Rejects a result file that is also read or written by the command in another way: its arguments name all files */
static int check_results(const char *command, int argc, char **argv)
{
    for (int o = 1; o + 1 < argc; o++) {
        if (!names_result(argv[o])) continue;
        const char *file = argv[o + 1];
        for (int i = 1; i < argc; i++) {
            const bool other = i != o && i != o + 1;
            if (other && (cli_same_file(file, argv[i]) || (names_result(argv[i - 1]) && strcmp(file, argv[i]) == 0)))
                return cli_usage(command, "%s %s: the same file as %s", argv[o], file, argv[i]);
        }
        o++;
    }
    return EXIT_OK;
}

/* `-o FILE` sends what a command prints there; it is taken out of the arguments. */
static int redirect(const char *command, int *argc, char **argv, struct result *result)
{
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "-o") != 0) continue;
        if (i + 1 >= *argc) return cli_usage(command, "-o takes a file name");
        const int code = result_open(argv[i + 1], stdout, result);
        if (code != EXIT_OK) return code;
        for (int j = i + 2; j < *argc; j++) argv[j - 2] = argv[j];
        *argc -= 2;
        return EXIT_OK;
    }
    return EXIT_OK;
}

/* A result that could not be written is an error. */
static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "limber: the result could not be written: %s\n", strerror(errno));
    return code == EXIT_OK ? EXIT_INPUT : code;
}

struct call {
    const struct command *command;
    int argc;
    char **argv;
    int code;
};

static void run_command(void *context)
{
    struct call *call = context;
    call->code = call->command->run(call->argc, call->argv);
}

/* json-c survives no failed allocation. Readers guard it (base/vendor.h); where a command writes JSON, memory that runs out ends the
   command, and with it the process, which returns all else that was taken. */
static int run_guarded(const struct command *command, int argc, char **argv)
{
    struct call call = {command, argc, argv, EXIT_OK};
    struct vendor_memory memory = {0};
    const bool finished = vendor_run(&memory, run_command, &call);
    vendor_release(&memory);
    if (finished) return call.code;
    fprintf(stderr, "limber: %s: not finished: %s\n", command->name, status_text(STATUS_NO_MEMORY));
    result_abandon();
    return EXIT_COMPUTATION;
}

int main(int argc, char **argv)
{
    if (argc < 2) return print_overview(stderr);
    if (strcmp(argv[1], "--version") == 0) {
        printf("limber %s\n", LIMBER_VERSION);
        return finish(EXIT_OK);
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL) return asks_for_help(2, argv) ? finish(print_overview(stdout)) : report_unknown(argv[1]);
    if (asks_for_help(argc - 2, argv + 2)) return finish(print_help(command));
    struct result result = {0};
    int count = argc - 1, code = check_results(command->name, count, argv + 1);
    if (code == EXIT_OK && !command->own_output) code = redirect(command->name, &count, argv + 1, &result);
    if (code != EXIT_OK) return code;
    code = run_guarded(command, count, argv + 1);
    return result.stream != NULL ? result_close(&result, code) : finish(code);
}
