/* The progress of long work, on a terminal only: one line of standard error that is overwritten. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/* For struct report. `done` of `all` parts of this work are done. */
void progress_show(const char *what, int done, int all);

/* Clears the line. */
void progress_end(void);

#endif
