/* The reader of robot files: paths in a JSON document, typed values at these paths, and functions for each part of a robot. (State files
   of commands, files of drives and of controllers are read with the same functions.)

   A `json_path` is a value of the document, or one that is missing, with pointers to its parents up to the document's root, so that every
   message can print path and value. An `object` records which of its members were read: any other member is an unknown key. Reading does
   not stop at an error: the error is reported, and the default value remains. */
#ifndef ROBOT_READ_H
#define ROBOT_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vendor.h"
#include "robot/robot.h"

struct json_object;
struct drive_row;

/* Links read so far, by their names and by those of their joints: hash tables of their numbers plus 1, 0: empty. */
enum named { NAMED_LINK, NAMED_JOINT, NAMED_COUNT };
struct link_index {
    size_t capacity;
    int n; /* links in the tables */
    int *slot[NAMED_COUNT];
};

/* Shared by all places of a document. */
struct reader {
    const char *file; /* what messages call the document */
    struct report *report;
    struct robot *robot;
    const struct json_path *frames; /* the array of frames, each of which is read when it is first needed */
    bool *frame_read;
    const struct link *link; /* the link that is being read, which robot->n_links does not count yet; else NULL */
    struct link_index index;
    struct json_object *root;
    struct vendor_memory memory; /* of the tree */
};

struct json_path {
    struct reader *reader;
    const struct json_path *parent; /* NULL: the whole document; must outlive this path  */
    const char *key;                /* NULL: an item of an array                         */
    int index;
    bool given;                /* whether the document has it                       */
    struct json_object *value; /* NULL: not given, or null                           */
};

enum { MOST_MODES = 50 }; /* of a family, and of a nodal body */
enum { MAX_KEYS = 64 };   /* of an object; the parameters of a drive are the most */

struct object {
    struct json_path at;
    int n_asked;
    const char *asked[MAX_KEYS]; /* keys of the members read so far      */
};

enum need { OPTIONAL, REQUIRED };
enum range { ANY, NON_NEGATIVE, POSITIVE };

/* A number's meaning, unit and range, for checks and messages. */
struct quantity {
    const char *what;
    const char *unit;
    enum range range;
};

/* A member that is a number, and where it is stored. */
struct number_field {
    const char *key;
    enum need need;
    struct quantity quantity;
    size_t offset;  /* of the double in the struct that is filled */
    unsigned given; /* flag to set if the file has the member     */
};
/* A row of such a table whose key is the name of the struct's member. */
/* clang-format off */
#define NUMBER(owner, name, need, range, what, unit, flag) \
    {#name, need, {what, unit, range}, offsetof(struct owner, name), flag}
/* clang-format on */
#define FIELD_COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* ---- document.c: text to tree ---------------------------------------------------------------------------------- */

/* Parses a text; false, with an error reported, if it is not JSON. The reader holds the tree until document_free(), which must be called
   in any case and returns whether memory ran out, now or while messages were written. */
bool document_parse(struct reader *reader, const char *text, struct json_path *document);
bool document_free(struct reader *reader);
/* Reads the file of a drive or a controller, one object, with a function. STATUS_NO_MEMORY, or STATUS_BAD_DRIVE if an error was reported. */
enum status document_read(const char *file, const char *text, const char *what, struct report *report,
                          void (*read)(struct object *object, void *context), void *context);
/* The bytes of a file ("-": standard input), terminated by '\0'; NULL, with a report, where it cannot be read. */
const char *document_load_file(const char *file, struct arena *arena, size_t *length, struct report *report);
/* The same of a text: a null byte or a byte-order mark is an error. */
const char *document_load(const char *file, struct arena *arena, struct report *report);

/* ---- path.c: paths, and messages about them --------------------------------------------------------------------- */

/* Reports `FILE: PATH = VALUE: text`, or `FILE: PATH: missing: text` if there is no value; the text says what was expected. */
PRINTF_LIKE(2, 3)
void path_error(const struct json_path *at, const char *format, ...);
PRINTF_LIKE(2, 3)
void path_warn(const struct json_path *at, const char *format, ...);

/* Whether an optional value is absent. (A required value that is absent fails the check that any value must pass.) */
bool path_absent(const struct json_path *at, enum need need);

/* Opens a value as an object; false if there is none, with an error reported if one is required. */
bool path_open_object(struct object *object, const struct json_path *at, enum need need, const char *what);
/* Reports every member that was not read as an unknown key. */
void path_close_object(const struct object *object);
struct json_path path_member(struct object *object, const char *key);
/* Whether the object has a member, without reading it. */
bool path_has_key(const struct object *object, const char *key);
/* Pointers to a member or an item, as arguments; valid until the end of the block. */
#define MEMBER(object, key)            ((const struct json_path[]){path_member(object, key)})
#define MEMBER_OF(object, format, key) ((const struct json_path[]){format_member(object, format, key)})
#define ITEM(array, index)             ((const struct json_path[]){path_item(array, index)})

/* All members of an object, in the order of the document. */
void path_each_member(const struct json_path *object, void (*read)(void *context, const struct json_path *member),
                      void *context);
/* The value as JSON text, in the arena; NULL: out of memory. */
const char *path_text(const struct json_path *at, struct arena *arena);

/* Opens a value as an array of least to most items (most < 0: no limit). False as path_open_object(). */
bool path_open_array(const struct json_path *at, enum need need, int least, int most, const char *what, int *length);
struct json_path path_item(const struct json_path *array, int index);
/* Opens an array, which must not be empty if it is required, and allocates as many structs of this size; NULL with a count of 0 if there
   is nothing to read. */
void *path_open_list(const struct json_path *at, enum need need, const char *what, size_t size, int *count);

/* Reports a member that is not allowed here. */
void path_reject(struct object *object, const char *key, const char *why);

/* ---- value.c: typed values; each returns false and leaves the result unchanged if there is no valid value ----------- */

bool value_is_number(const struct json_path *at);
bool value_is_string(const struct json_path *at);
bool value_is_array(const struct json_path *at);
bool value_is_object(const struct json_path *at);

bool read_number(const struct json_path *at, enum need need, const struct quantity *quantity, double *number);
bool read_numbers(const struct json_path *at, enum need need, const struct quantity *quantity, int count,
                  double *number);
bool read_rows(const struct json_path *at, enum need need, const struct quantity *quantity, int rows, int columns,
               double *number);
bool read_integer(const struct json_path *at, enum need need, const char *what, int least, int most, int *integer);
bool read_flag(const struct json_path *at, const char *what, bool *flag);
const char *read_string(const struct json_path *at, enum need need, const char *what); /* NULL if there is none */
/* The same for free text: without control characters that XML cannot contain. */
const char *read_text(const struct json_path *at, enum need need, const char *what);
int read_choice(const struct json_path *at, enum need need, const char *what,
                const char *const *names); /* -1 likewise   */
/* A member that must be this word. */
void read_word(struct object *object, const char *key, const char *what, const char *word);

/* A vector that is not zero, normalized. */
bool read_direction(const struct json_path *at, enum need need, const char *what, double direction[3]);
/* {xyz, rpy}, both optional; by default the identity. */
void read_pose(const struct json_path *at, const char *what, struct pose *pose);
/* An n x n matrix, row major, symmetric within 1e-9 of its largest entry, then made symmetric exactly. */
bool read_symmetric(const struct json_path *at, enum need need, const struct quantity *quantity, int n, double *matrix);
/* The same two members of any object; an absent member leaves its part of the pose unchanged. */
void read_pose_members(struct object *object, struct pose *pose);
/* A symmetric positive semidefinite n x n matrix, row major, n at most MOST_MODES. */
bool read_semidefinite(const struct json_path *at, enum need need, const struct quantity *quantity, int n,
                       double *matrix);
/* All numbers of a table; returns the flags of those that the file has. */
unsigned read_fields(struct object *object, int count, const struct number_field *field, void *into);

/* ---- format.c: limber-robot/1 to limber-robot/3 ------------------------------------------------------------------ */

/* Reports an error for a value that needs this format; false if it is allowed: in a file of this or a newer format, or not given. */
bool format_reject(const struct json_path *at, int format, const char *what);
/* A member that needs this format; in a file of an older one it is reported and then treated as not given. */
struct json_path format_member(struct object *object, int format, const char *key);

/* A string that is allowed from this format on. */
struct choice {
    const char *name;
    int format;
};
enum { MOST_CHOICES = 15 };
/* As read_choice(), required. */
int read_choice_of_format(const struct json_path *at, const char *what, int count, const struct choice *choice);

/* ---- name.c ----------------------------------------------------------------------------------------------------- */

/* Names are allocated in the robot's arena; NULL if the file has none. */
const char *read_identifier(const struct json_path *at, const char *what);
/* The same for a link, loop, line, coupling or frame, whose name must be unique among those read so far, and for a joint, unique among the
   joints read so far. From format 2 on only a link and its own joint may have the same name. */
const char *read_part_name(const struct json_path *at, const char *what);
const char *read_joint_name(const struct json_path *at, const char *link_name);
/* Index of the link of that name among those read so far; -1: none. */
int name_find_link(struct reader *reader, const char *name);
/* The name of a link; false, with an error reported, if there is no such link. */
bool read_link_name(const struct json_path *at, enum need need, const char *what, int *link);
bool name_same(const char *a, const char *b); /* false for NULL */

/* ---- read_profile.c: quantities along a beam ---------------------------------------------------------------------- */

/* A number, or from format 2 on a table {"x": [...], "value": [...]} along a beam of this length. NOT_GIVEN also if it is not valid. */
enum profile_kind { NOT_GIVEN, IS_NUMBER, IS_TABLE };
enum profile_kind read_profile(const struct json_path *at, enum need need, const struct quantity *quantity,
                               double length, struct profile *profile);
/* The same with `count` numbers in place of one, and as many profiles. */
enum profile_kind read_profiles(const struct json_path *at, enum need need, const struct quantity *quantity,
                                double length, int count, struct profile *profile);
/* The stations x of a table from 0 to the length (0: not known), as fractions of the length; false if they are not valid. */
bool read_stations(const struct json_path *at, double length, int *n, const double **s);

/* ---- the parts of a robot ---------------------------------------------------------------------------------------- */

/* Memory of the robot. */
double *read_allocate(const struct json_path *at, int count);
void read_rigid(const struct json_path *at, struct mass_properties *body, struct pose *tip);
bool read_attached(const struct json_path *at, const char *what, struct mass_properties *body); /* hub, payload */
void read_beam(const struct json_path *at, struct beam *beam);
void read_section(struct object *beam_object, struct beam *beam);
void read_nodal(const struct json_path *at, struct nodal *nodal);
/* Joint and mount of a link; parent_given: the link names its parent. */
void read_joint(const struct json_path *at, bool parent_given, struct link *link);
/* `static` of a joint or a line, from format 2 on. */
enum hold read_hold(struct object *object);
void read_links(const struct json_path *at, struct robot *robot);
/* Opens the array of frames before the links are read; then reads the frames that no joint has needed. */
void read_frames_open(const struct json_path *at, struct robot *robot);
void read_frames(struct reader *reader);
/* The name of a frame, or of a link for its tip frame; false, with an error reported, if there is none. */
bool read_frame_name(const struct json_path *at, const char *what, struct site *site);
bool read_link_or_frame(const struct json_path *at, const char *what, struct site *site);
void read_loops(const struct json_path *at, struct robot *robot);
void read_lines(const struct json_path *at, struct robot *robot);
void read_couplings(const struct json_path *at, struct robot *robot);
/* The optional drive of the joint or line that is being read. */
void read_joint_drive(const struct json_path *at, const struct joint *joint);
void read_line_drive(const struct json_path *at);
void read_supplies(const struct json_path *at, struct robot *robot);
/* An optional parameter of a drive, by its name in the drive's table. */
void read_drive_parameter(struct object *object, const struct drive_row *row, double *value);

#endif
