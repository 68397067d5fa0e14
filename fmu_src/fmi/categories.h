/* The log categories: the model description lists them, and the logger uses no others. */
#ifndef FMI_CATEGORIES_H
#define FMI_CATEGORIES_H

/* X(identifier, name, description) */
#define CATEGORY_LIST(X)                                                                                             \
    X(ERROR, "logStatusError", "what went wrong; always logged")                                                     \
    X(WARNING, "logStatusWarning", "what is doubtful in the robot file, in a parameter or in the motion")            \
    X(DISCARD, "logStatusDiscard", "a state or step that cannot be computed; another one may work")                  \
    X(SOLVER, "solver", "the method of integration and its statistics: steps, right-hand sides, restarts, failures") \
    X(ALL, "logAll", "everything")

enum category {
#define CATEGORY_CODE(identifier, name, description) CATEGORY_##identifier,
    CATEGORY_LIST(CATEGORY_CODE)
#undef CATEGORY_CODE
        CATEGORY_COUNT
};

#endif
