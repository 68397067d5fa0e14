/* The most similar known word: for "did you mean" in messages. */
#ifndef ROBOT_NEAREST_H
#define ROBOT_NEAREST_H

/* The candidate fewest edits away from word, letter case not counting; NULL where none is similar. */
const char *nearest(const char *word, int count, const char *const *candidate);

#endif
