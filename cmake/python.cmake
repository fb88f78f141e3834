# What the Python package needs besides the program: the C part of handing out tables, and the package itself where pip
# builds it (pyproject.toml). `pip install .` sets SKBUILD.
add_library(tpa_arrow MODULE python/arrow_release.c)
set_target_properties(tpa_arrow PROPERTIES PREFIX lib C_VISIBILITY_PRESET hidden)
target_link_options(tpa_arrow PRIVATE -Wl,--unresolved-symbols=ignore-all) # Python's own, which are in the process
if(TPA_HARDENED) # sanitizers would have to be in Python, too
  target_link_libraries(tpa_arrow PRIVATE tpa_options)
endif()
if(NOT SKBUILD)
  return()
endif()

set(parts tpa tpa_arrow)
if(TPA_HAVE_CAPTURE)
  list(APPEND parts tpa_capture)
  install(TARGETS tpa_capture LIBRARY DESTINATION tpa/lib COMPONENT python)
  install(FILES capture/tpa_capture.h DESTINATION tpa/include COMPONENT python)
endif()
install(TARGETS tpa RUNTIME DESTINATION tpa/bin COMPONENT python)
install(TARGETS tpa_arrow LIBRARY DESTINATION tpa/lib COMPONENT python)

# The stubs come from the program itself; one for another sort of processor cannot be asked.
if(NOT CMAKE_CROSSCOMPILING)
  find_package(Python REQUIRED COMPONENTS Interpreter)
  set(stubs ${CMAKE_BINARY_DIR}/__init__.pyi)
  add_custom_command(OUTPUT ${stubs}
    COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/python/make_stubs.py $<TARGET_FILE:tpa> ${stubs}
    DEPENDS tpa python/make_stubs.py python/tpa/_commands.py COMMENT "Writing type stubs" VERBATIM)
  list(APPEND parts ${stubs})
  install(FILES ${stubs} DESTINATION tpa COMPONENT python)
endif()
add_custom_target(python_package DEPENDS ${parts})
