/* fleet_side.c - see fleet_side.h. */
#include "cli/fleet_side.h"

#include "figures/facts_file.h"
#include "fleet/fleet.h"
#include <dirent.h>
#include <sys/stat.h>

static bool ends_in_facts(const char *name)
{
    size_t len = strlen(name), ending = strlen(".facts");
    return name[0] != '.' && len > ending && strcmp(name + len - ending, ".facts") == 0;
}

static bool directory_is(const char *path)
{
    DIR *directory = opendir(path);
    bool found = false;
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));)
        found = ends_in_facts(entry->d_name);
    if (directory)
        closedir(directory);
    return found;
}

static bool file_is(const char *path)
{
    struct tpa_error err = { 0 };
    struct source_limits limits = { 0 };
    SCOPED_BY(source_free_at) struct source *source = source_open(path, &limits, &err);
    const char *bytes = NULL;
    size_t len = source ? source_peek(source, &bytes, &err) : 0;
    return len && facts_look_like(bytes, len);
}

bool fleet_side_is(char *const *paths, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        struct stat about;
        if (strcmp(paths[i], "-") != 0 && stat(paths[i], &about) == 0)
            found =
                S_ISDIR(about.st_mode) ? directory_is(paths[i]) : S_ISREG(about.st_mode) && file_is(paths[i]);
    }
    return found;
}

static bool fleet_side_check_options(const struct measure_options *options, struct tpa_error *err)
{
    const char *option = options->by != MEASURE_BY_OPERATOR && options->by != MEASURE_BY_KERNEL ? "--by"
                         : options->inclusive  ? "--inclusive"
                         : options->first_step ? "--first-step"
                                               : NULL;
    if (!option)
        return true;
    tpa_fail(err, TPA_NOWHERE, "facts do not hold what %s needs", option);
    return tpa_hint(err, "give the traces themselves, or leave out %s; --by op and --by kernel are available",
                    option);
}

bool fleet_side_measure(struct measures *measures, char *const *paths, size_t count,
                        const struct load_args *load, const struct measure_options *options,
                        struct result *result, struct fleet_map *map, struct tpa_error *err)
{
    *map = (struct fleet_map){ .load = *load };
    if (!fleet_side_check_options(options, err) || !fleet_map(paths, count, map, err))
        return false;
    struct fleet_job job;
    SCOPED_ARENA struct arena scratch = { 0 };
    fleet_job_init(&job, map->facts, &scratch);
    fleet_map_notice_job(map, &job, result);
    return measure_fleet(measures, map->facts, map->failures.count,
                         map->failures.count ? map->failures.at[0].reason : NULL, err);
}
