/* pipeline.c - a job with a pipeline: a step as people draw it, and slowdowns of ranks in steps. The figures are those of tpa job. */
#include "charts/parts.h"
#include "derive/features.h"
#include "job/job.h"

static const struct trace_wants job_wants = { .args = OPERATIONS_WANTS };

static bool pipeline_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    SCOPED_OBJECT struct job *job = job_of_trace(request->trace, &request->steps);
    job_add_schedule_chart(job, &request->ranks, picture);
    return chart_is_drawn(picture, err, "no microbatches are known in these steps and ranks");
}

static bool heat_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    SCOPED_OBJECT struct job *job = job_of_trace(request->trace, &request->steps);
    job_add_heat_chart(job, picture);
    return chart_is_drawn(picture, err, "no microbatches are known in these steps");
}

const struct chart_type chart_type_pipeline = {
    .name = "pipeline",
    .title = "Pipeline",
    .help = "a step of a pipeline: ranks and time, microbatches numbered, bubbles hatched",
    .wants = { &job_wants },
    .needs = FEATURE_EVENTS,
    .jobs_steps = true,
    .draw = pipeline_draw,
};

const struct chart_type chart_type_heat = {
    .name = "heat",
    .title = "Slowdown of ranks in steps",
    .help = "slowdowns of the ranks of a pipeline in each step",
    .wants = { &job_wants },
    .needs = FEATURE_EVENTS,
    .jobs_steps = true,
    .draw = heat_draw,
};
