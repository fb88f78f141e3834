/* operations.c - see operations.h: names of types and dimensions. Operations are found in operations_read.c. */
#include "job/operations.h"

const char *job_dimension_name(unsigned dimension)
{
    static const char *const names[] = { "dp", "pp", "tp", "cp", "ep", "world", "-" };
    return names[dimension < JOB_NO_DIMENSION ? dimension : JOB_NO_DIMENSION];
}

static const char *const type_names[OPERATION_OTHER] = {
    [FORWARD_COMPUTE] = "forward-compute", [BACKWARD_COMPUTE] = "backward-compute",
    [WEIGHT_COMPUTE] = "weight-compute",   [FORWARD_SEND] = "forward-send",
    [FORWARD_RECV] = "forward-recv",       [BACKWARD_SEND] = "backward-send",
    [BACKWARD_RECV] = "backward-recv",
};

const char *operation_type_word(uint32_t type)
{
    return type_names[type];
}

const char *job_form_name(enum job_form form)
{
    static const char *const names[] = {
        [JOB_OF_DEVICES] = "devices", [JOB_OF_HOSTS] = "hosts", [JOB_TIMELINE] = "timeline"
    };
    return names[form];
}

const char *operation_type_name(const struct operations *all, uint32_t type)
{
    return type < OPERATION_OTHER ? type_names[type] : names_text(all->types, type - OPERATION_OTHER);
}

uint32_t operation_type_find(const struct operations *all, const char *name)
{
    for (uint32_t type = 0; type < OPERATION_OTHER; type++)
        if (strcmp(type_names[type], name) == 0)
            return type;
    name_id id = names_find(all->types, name, strlen(name));
    return id == NAME_NONE ? OPERATION_NONE : OPERATION_OTHER + id;
}
