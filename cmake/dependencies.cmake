# Libraries, all of them packages of Debian 12 and Ubuntu 24.04. Gives the target `tpa_dependencies`.
find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

add_library(tpa_dependencies INTERFACE)
target_link_libraries(tpa_dependencies INTERFACE PkgConfig::ZSTD PkgConfig::PCRE2 PkgConfig::XXHASH PkgConfig::SQLITE Threads::Threads m)

# gzip: ISA-L inflates 5 to 14 times faster than zlib, which stands in where ISA-L is not packaged.
option(TPA_ISAL "Read gzip with ISA-L, where it is found" ON)
if(TPA_ISAL)
  pkg_check_modules(ISAL IMPORTED_TARGET libisal)
endif()
if(TPA_ISAL AND ISAL_FOUND)
  target_link_libraries(tpa_dependencies INTERFACE PkgConfig::ISAL)
  target_compile_definitions(tpa_dependencies INTERFACE TPA_HAVE_ISAL=1)
else()
  pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
  target_link_libraries(tpa_dependencies INTERFACE PkgConfig::ZLIB)
  target_compile_definitions(tpa_dependencies INTERFACE TPA_HAVE_ISAL=0)
endif()

# Kernel names are C++; the C++ run-time library can demangle them. We need no C++ compiler for it.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES stdc++)
check_c_source_compiles("char *__cxa_demangle(const char *, char *, __SIZE_TYPE__ *, int *);
                         int main(void) { return !__cxa_demangle(\"_Z1fv\", 0, 0, 0); }" TPA_LINKS_CXA_DEMANGLE)
unset(CMAKE_REQUIRED_LIBRARIES)
if(TPA_LINKS_CXA_DEMANGLE)
  target_link_libraries(tpa_dependencies INTERFACE stdc++)
  target_compile_definitions(tpa_dependencies INTERFACE TPA_HAVE_DEMANGLE=1)
else()
  target_compile_definitions(tpa_dependencies INTERFACE TPA_HAVE_DEMANGLE=0)
endif()

# binutils' demangler, of the same origin: newer than many a C++ library, with no limit on length, and it can be stopped.
find_path(TPA_LIBIBERTY_INCLUDE libiberty/demangle.h)
find_library(TPA_LIBIBERTY_LIBRARY iberty)
mark_as_advanced(TPA_LIBIBERTY_INCLUDE TPA_LIBIBERTY_LIBRARY)
if(TPA_LIBIBERTY_INCLUDE AND TPA_LIBIBERTY_LIBRARY)
  set(CMAKE_REQUIRED_LIBRARIES ${TPA_LIBIBERTY_LIBRARY})
  set(CMAKE_REQUIRED_INCLUDES ${TPA_LIBIBERTY_INCLUDE})
  check_c_source_compiles("#include <stddef.h>
                           #include <libiberty/demangle.h>
                           int main(void) { return cplus_demangle_v3_callback(\"_Z1fv\", 0, NULL, NULL); }"
                          TPA_LINKS_LIBIBERTY)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_INCLUDES)
endif()
if(TPA_LINKS_LIBIBERTY)
  target_include_directories(tpa_dependencies SYSTEM INTERFACE ${TPA_LIBIBERTY_INCLUDE})
  target_link_libraries(tpa_dependencies INTERFACE ${TPA_LIBIBERTY_LIBRARY})
  target_compile_definitions(tpa_dependencies INTERFACE TPA_HAVE_LIBIBERTY=1)
else()
  target_compile_definitions(tpa_dependencies INTERFACE TPA_HAVE_LIBIBERTY=0)
endif()

if(TPA_TESTS)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
  if(NOT CMOCKA_FOUND)
    message(STATUS "cmocka is not installed: unit tests are left out")
  endif()
endif()
