/* test_help.c - cli/help.h: every command has a place in `tpa help`. */
#include "tests/unit/unit.h"
#include "cli/commands.h"
#include "cli/help.h"

// clang-format off
// clang-format on

TEST(every_command_is_listed_once_or_is_a_mode_of_another)
{
    for (size_t i = 0; command_at(i); i++) {
        const struct command *command = command_at(i);
        if (command->section != SECTION_HIDDEN && help_lists(command->name) == command_is_mode(command))
            fail_msg("%s: %s", command->name,
                     help_lists(command->name) ? "a mode, and listed" : "not listed");
    }
}

TEST(every_mode_stands_for_a_command)
{
    for (const struct command_mode *mode = command_modes; mode->command; mode++) {
        const struct command *command = command_find(mode->command, NULL);
        assert_non_null(command);
        assert_non_null(command_find(mode->stands_for, NULL));
        assert_ptr_equal(command_mode_of(command, mode->option), mode);
        for (const struct opt *row = command->options; row && !opt_is_end(row); row++)
            assert_true(!row->name ||
                        strcmp(row->name, mode->option) != 0); /* the option would never be reached */
    }
}

/* Eleven commands and nine questions: with usage and the last lines it fits a terminal of 30 lines at 80 columns. */
TEST(the_overview_fits_a_screen)
{
    SCRATCH_BUFFER(text);
    help_overview(80, &text);
    size_t lines = 0;
    for (size_t i = 0; i < text.count; i++)
        lines += text.at[i] == '\n';
    assert_in_range(lines, 15, 30);
}
