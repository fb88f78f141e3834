#include "analyze/many_rows.h"

void many_rows_notice(struct result *result, int64_t left_out)
{
    if (left_out)
        ADD_NOTICE(result, "many_rows", left_out,
                   "devices or streams are left out of tables that reached 262144 rows");
}
