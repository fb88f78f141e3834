/* vector.c - print by which vector instructions tpa reads JSON on this processor. */
#include "ingest/json_index.h"

#include <stdio.h>

int main(void)
{
    return puts(json_index_instructions()) < 0;
}
