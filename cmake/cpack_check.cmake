# Run by cpack: a Debian package gets its dependencies from dpkg-shlibdeps, and without that would have none.
if(CPACK_GENERATOR STREQUAL "DEB")
  find_program(CPACK_CHECK_SHLIBDEPS dpkg-shlibdeps)
  find_program(CPACK_CHECK_FILE file)
  if(NOT CPACK_CHECK_SHLIBDEPS OR NOT CPACK_CHECK_FILE)
    message(FATAL_ERROR "The package would not say what it depends on. To make it, run: apt-get install dpkg-dev file")
  endif()
endif()
