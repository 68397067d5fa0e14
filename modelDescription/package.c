#include "package.h"

#include <stdio.h>
#include <string.h>
#include <zip.h>
#include <zlib.h>

#include "licenses.h"

enum { NAME_SIZE = 1024 };
enum { PLAIN_FILE = 0100644, PROGRAM_FILE = 0100755 };
enum { LARGE = 1 << 24, CLOSE = 9, FAST = 3 }; /* level of compression: lists of numbers gain nothing beyond 3 */
enum { FIRST_OF_1980 = 1 << 5 | 1 };           /* the earliest date in a zip file */

const struct platform platforms[PLATFORM_COUNT] = {
    [PLATFORM_LINUX] = {"Linux", "linux64", "so", "\177ELF"},
    [PLATFORM_WINDOWS] = {"Windows", "win64", "dll", "MZ"},
};

struct package {
    zip_t *zip;
    struct report *report;
    bool failed;
};

static void report_failure(const struct package *package, const char *what)
{
    zip_error_t *error = zip_get_error(package->zip);
    const int code = zip_error_code_zip(error); /* libzip sets it for most reasons */
    const bool memory = code == ZIP_ER_MEMORY || code == ZIP_ER_OK ||
                        (code == ZIP_ER_ZLIB && zip_error_code_system(error) == Z_MEM_ERROR);
    report_add(package->report, REPORT_ERROR, "%s: %s", what,
               memory ? status_text(STATUS_NO_MEMORY) : zip_error_strerror(error));
}

/* The bytes must remain valid until the archive is closed. */
static void add(struct package *package, const char *name, struct blob blob, zip_uint32_t mode)
{
    if (package->failed) return;
    package->failed = true;
    if (blob.bytes == NULL) {
        report_add(package->report, REPORT_ERROR, "%s: cannot be generated: %s", name, status_text(STATUS_NO_MEMORY));
        return;
    }
    zip_source_t *source = zip_source_buffer(package->zip, blob.bytes, blob.size, 0);
    const zip_int64_t added = source != NULL ? zip_file_add(package->zip, name, source, ZIP_FL_ENC_UTF_8) : -1;
    if (added < 0) zip_source_free(source);
    const zip_uint64_t index = (zip_uint64_t)added;
    const zip_uint32_t level = blob.size < LARGE ? CLOSE : FAST;
    package->failed = added < 0 || zip_set_file_compression(package->zip, index, ZIP_CM_DEFLATE, level) != 0 ||
                      zip_file_set_dostime(package->zip, index, 0, FIRST_OF_1980, 0) != 0 ||
                      zip_file_set_external_attributes(package->zip, index, 0, ZIP_OPSYS_UNIX, mode << 16) != 0;
    if (package->failed) report_failure(package, name);
}

static void add_licenses(struct package *package, const struct fmu *fmu)
{
    for (int i = 0; i < license_count; i++) {
        if (licenses[i].of_scene && fmu->viewer.bytes == NULL) continue;
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "documentation/licenses/%s", licenses[i].file);
        add(package, name, (struct blob){licenses[i].text, licenses[i].size}, PLAIN_FILE);
    }
}

static void add_all(struct package *package, const struct fmu *fmu, struct blob resource,
                    const struct libraries *libraries, struct arena *arena)
{
    const bool is_robot = fmu->model != NULL; /* or has one inside */
    const char *file = fmu->variables->discrete ? "controller" : is_robot ? "robot" : "drive";
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "resources/%s.json", file);
    add(package, "modelDescription.xml", description_make(fmu, arena), PLAIN_FILE);
    const struct blob icon = icon_make(fmu, arena);
    add(package, "model.png", icon, PLAIN_FILE);
    add(package, "terminalsAndIcons/icon.png", icon, PLAIN_FILE);
    add(package, "terminalsAndIcons/terminalsAndIcons.xml", terminals_make(fmu, arena), PLAIN_FILE);
    add(package, name, resource, PLAIN_FILE);
    for (int p = 0; p < PLATFORM_COUNT; p++) {
        snprintf(name, sizeof name, "binaries/%s/%s.%s", platforms[p].folder, fmu->name, platforms[p].ending);
        if (libraries->of[p].bytes != NULL) add(package, name, libraries->of[p], PROGRAM_FILE);
    }
    add(package, "documentation/index.html", page_make(fmu, resource, arena), PLAIN_FILE);
    if (fmu->viewer.bytes != NULL) add(package, "documentation/viewer.js", fmu->viewer, PLAIN_FILE);
    add_licenses(package, fmu);
}

static struct blob copy_bytes(zip_source_t *buffer, struct arena *arena)
{
    zip_stat_t stat;
    struct blob blob = {0};
    if (zip_source_open(buffer) != 0) return blob;
    char *bytes = zip_source_stat(buffer, &stat) == 0 ? arena_allocate(arena, (size_t)stat.size, 1) : NULL;
    if (bytes != NULL && zip_source_read(buffer, bytes, stat.size) == (zip_int64_t)stat.size)
        blob = (struct blob){bytes, (size_t)stat.size};
    zip_source_close(buffer);
    return blob;
}

struct blob package_make(const struct fmu *fmu, struct blob resource, const struct libraries *libraries,
                         struct arena *arena, struct report *report)
{
    struct package package = {.report = report};
    struct blob blob = {0};
    zip_source_t *buffer = zip_source_buffer_create(NULL, 0, 0, NULL);
    if (buffer != NULL) package.zip = zip_open_from_source(buffer, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    if (package.zip == NULL) {
        zip_source_free(buffer); /* NULL is ignored */
        report_add(report, REPORT_ERROR, "%s", status_text(STATUS_NO_MEMORY));
        return blob;
    }
    zip_source_keep(buffer); /* until its bytes are copied */
    add_all(&package, fmu, resource, libraries, arena);
    report_progress(report, "compression", 0, 1);
    if (!package.failed && zip_close(package.zip) != 0) {
        package.failed = true;
        report_failure(&package, "the FMU cannot be packed");
    }
    if (package.failed) zip_discard(package.zip);
    else blob = copy_bytes(buffer, arena);
    zip_source_free(buffer);
    if (!package.failed && blob.bytes == NULL) report_add(report, REPORT_ERROR, "%s", status_text(STATUS_NO_MEMORY));
    return blob;
}
