/* Sites of a robot as frames on the links of a model. */
#ifndef DYN_SITES_H
#define DYN_SITES_H

#include "dyn/model.h"

/* The sections of a flexible link: its tip, those that children, loops, lines and loads act on, those that are only observed. */
enum status sites_make_sections(struct model *model, int link);

/* A site of the robot. Its link and the sections of this link are made already. */
struct anchor sites_anchor(const struct model *model, const struct site *site);

/* Anchors of loops, lines and frames, and the strains at stations. After all links. */
enum status sites_make_anchors(struct model *model);

#endif
