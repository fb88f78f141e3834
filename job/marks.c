/* Learnt from torch/distributed/pipelining/schedules.py of torch 2.15. */
#include "job/recording.h"

/* Read "F", "B", "I", "W"; false: it is none of these. */
static bool read_pass(const char **at, uint32_t *type)
{
    switch (**at) {
    case 'F': *type = FORWARD_COMPUTE; break;
    case 'B':
    case 'I': *type = BACKWARD_COMPUTE; break;
    case 'W': *type = WEIGHT_COMPUTE; break;
    default: return false;
    }
    ++*at;
    return true;
}

struct mark_name mark_read(const char *name)
{
    static const struct mark_name none = { .kind = MARK_NONE };
    struct mark_name mark = { .kind = MARK_COMPUTES, .stage = -1 };
    if (text_skip(&name, "PP:")) {
        mark.stage = quantity_read_number(&name);
        if (mark.stage < 0)
            return none;
        if (text_skip(&name, "SEND_"))
            mark.kind = MARK_SENDS;
        else if (text_skip(&name, "RECV_"))
            mark.kind = MARK_RECEIVES;
        if (!read_pass(&name, &mark.type))
            return none;
    } else if (text_skip(&name, "Forward ")) {
        mark.type = FORWARD_COMPUTE;
    } else if (text_skip(&name, "Backward ")) {
        mark.type = BACKWARD_COMPUTE;
    } else {
        return none;
    }
    mark.microbatch = quantity_read_number(&name);
    return mark.microbatch >= 0 && !*name ? mark : none;
}
