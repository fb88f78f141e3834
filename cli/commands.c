/* commands.c - finding a command by its name. */
#include "cli/commands.h"

#include "analyze/registry.h"
#include "cli/cmd_analysis.h"

#define COMMAND_ROW(name) &cmd_##name,
static const struct command *const before[] = { COMMANDS_BEFORE(COMMAND_ROW) };
static const struct command *const behind[] = { COMMANDS_BEHIND(COMMAND_ROW) NULL };
#undef COMMAND_ROW

const struct command *command_at(size_t index)
{
    enum { BEFORE = sizeof before / sizeof *before, BEHIND = sizeof behind / sizeof *behind };
    size_t analysis_count = 0;
    while (analyses[analysis_count])
        analysis_count++;
    if (index < BEFORE)
        return before[index];
    if (index < BEFORE + analysis_count)
        return cmd_analysis_at(index - BEFORE);
    index -= BEFORE + analysis_count;
    return index < BEHIND ? behind[index] : NULL;
}

const struct command_mode command_modes[] = {
    { "top", "callers", "callers" },          { "top", "callees", "callees" }, { "gpu", "gaps", "gaps" },
    { "launches", "sequences", "sequences" }, { "fleet", "facts", "facts" },   { 0 },
};

const struct command_mode *command_mode_of(const struct command *command, const char *word)
{
    word += strncmp(word, "--", 2) == 0 ? 2 : 0;
    for (const struct command_mode *mode = command_modes; mode->command; mode++)
        if (strcmp(mode->command, command->name) == 0 && strcmp(mode->option, word) == 0)
            return mode;
    return NULL;
}

bool command_is_mode(const struct command *command)
{
    for (const struct command_mode *mode = command_modes; mode->command; mode++)
        if (strcmp(mode->stands_for, command->name) == 0)
            return true;
    return false;
}

const struct command *command_find(const char *name, struct tpa_error *err)
{
    struct suggest near = suggest_for(name, strlen(name));
    for (size_t i = 0; command_at(i); i++) {
        if (strcmp(command_at(i)->name, name) == 0)
            return command_at(i);
        if (command_at(i)->section != SECTION_HIDDEN)
            suggest_consider(&near, command_at(i)->name);
    }
    suggest_consider(&near, "version");
    if (near.best)
        tpa_fail(err, TPA_NOWHERE, "there is no command '%s'; did you mean %s?", name, near.best);
    else
        tpa_fail(err, TPA_NOWHERE, "there is no command '%s'", name);
    tpa_hint(err, "tpa help lists the commands");
    return NULL;
}

void command_operand_bounds(const struct command *command, size_t *least, size_t *most)
{
    *least = *most = 0;
    const char *text = command->operands ? command->operands : "";
    while (*text) {
        size_t len = strcspn(text, " ");
        *least += text[0] != '[';
        *most = memmem(text, len, "...", 3) ? SIZE_MAX : *most == SIZE_MAX ? SIZE_MAX : *most + 1;
        text += len + (text[len] == ' ');
    }
}
