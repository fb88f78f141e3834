cmake_minimum_required(VERSION 3.25)
# Write the file (cli/parts.h) that says which commit this is and what it is built with: when building, as commits come and go
# between that and configuring. Nothing is written where nothing changed.
#
#     cmake -DSOURCE=... -DFEATURES=... -DOUT=... -P version.cmake
set(commit unknown)
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(found)
    set(commit "commit ${found}")
  endif()
elseif(EXISTS ${SOURCE}/COMMIT) # of an archive
  file(STRINGS ${SOURCE}/COMMIT commit LIMIT_COUNT 1)
endif()
if(commit STREQUAL unknown)
  set(commit "commit unknown")
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT
"#include \"cli/parts.h\"
const char version_commit[] = \"@commit@\";
const char version_features[] = \"@FEATURES@\";
")
