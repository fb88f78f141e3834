# `cmake --install` puts the program, its manual pages, completions and documents in place;
# `cpack` makes a Debian package of the same files.
include(GNUInstallDirs)

set(pages ${CMAKE_BINARY_DIR}/pages)
add_custom_command(OUTPUT ${pages}/commands
  COMMAND ${CMAKE_SOURCE_DIR}/cmake/write-pages ${pages} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:tpa>
  DEPENDS tpa ${CMAKE_SOURCE_DIR}/cmake/write-pages
  COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(pages ALL DEPENDS ${pages}/commands)

install(TARGETS tpa RUNTIME)
if(TPA_HAVE_CAPTURE)
  install(TARGETS tpa_capture LIBRARY)
  install(FILES capture/tpa_capture.h TYPE INCLUDE)
endif()
install(DIRECTORY ${pages}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages}/bash/tpa DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/fish/tpa.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Debian's zsh looks in vendor-completions under /usr, and in site-functions elsewhere.
install(CODE "
  set(zsh_directory site-functions)
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\")
    set(zsh_directory vendor-completions)
  endif()
  file(INSTALL ${pages}/zsh/_tpa DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${zsh_directory})")
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
# As in the archive, so that the links of README.md lead there.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png"
        PATTERN terminal EXCLUDE PATTERN draw EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tpa)
set(CPACK_PACKAGE_VENDOR "the tpa authors")
set(CPACK_PACKAGE_CONTACT "the tpa authors <tpa@tpa.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "tpa reads what profilers write and answers in a terminal which operator
or kernel takes the time, why a GPU idles, where memory peaks and what
changed. It needs no Python, no GPU and no display.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/cpack_check.cmake)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot, libmicrohttpd12 | libmicrohttpd12t64") # tpa chart draws, tpa view serves

# What Debian's rules want besides: a changelog of its form, word to the loader of a new library, and reasons for what differs.
string(TIMESTAMP debian_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${CMAKE_BINARY_DIR}/debian/changelog "tpa (${PROJECT_VERSION}) unstable; urgency=medium

  * Build of version ${PROJECT_VERSION}; /usr/share/doc/tpa/CHANGELOG.md has what changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${debian_date}
")
find_program(TPA_GZIP gzip)
if(TPA_GZIP)
  execute_process(COMMAND ${TPA_GZIP} -9nkf ${CMAKE_BINARY_DIR}/debian/changelog)
  install(FILES ${CMAKE_BINARY_DIR}/debian/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TPA_HAVE_CAPTURE)
  file(WRITE ${CMAKE_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
  file(WRITE ${CMAKE_BINARY_DIR}/debian/overrides "# Programs load it by name or link it as it is; nothing depends on a version of it.
tpa: shared-library-lacks-version
tpa: package-name-doesnt-match-sonames
# cpack writes these scripts.
tpa: maintscript-calls-ldconfig
")
  set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/debian/triggers)
  install(FILES ${CMAKE_BINARY_DIR}/debian/overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME tpa)
endif()
include(CPack)
