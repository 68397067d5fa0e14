/* The constant part of a scene as JSON, for the viewer. */
#ifndef SCENE_DESCRIBE_H
#define SCENE_DESCRIBE_H

#include "view/scene/scene.h"

struct json_object;

/* Everything but positions, which are scene_numbers(). After scene_pose(). NULL: out of memory. The caller owns it. */
struct json_object *scene_describe(const struct scene *scene);

#endif
