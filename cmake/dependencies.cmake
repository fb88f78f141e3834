# Libraries, all of them packages of Debian 12 and Ubuntu 24.04. Gives the target `tpa_dependencies`.
find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

# For what is carried to other machines: the libraries become part of the program, as far as their archives are found.
option(TPA_STATIC "Link libraries other than the C library statically, where they can be" OFF)
add_library(tpa_dependencies INTERFACE)

# Link the library NAME, which pkg-config found as TARGET.
function(link_dependency target name)
  if(TPA_STATIC)
    find_library(TPA_STATIC_${name} lib${name}.a)
    mark_as_advanced(TPA_STATIC_${name})
  endif()
  if(TPA_STATIC AND TPA_STATIC_${name})
    get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(folders)
      target_include_directories(tpa_dependencies SYSTEM INTERFACE ${folders})
    endif()
    target_link_libraries(tpa_dependencies INTERFACE ${TPA_STATIC_${name}})
  else()
    if(TPA_STATIC)
      message(STATUS "lib${name}.a is not found: the program needs the shared library")
    endif()
    target_link_libraries(tpa_dependencies INTERFACE ${target})
  endif()
endfunction()
link_dependency(PkgConfig::ZSTD zstd)
link_dependency(PkgConfig::PCRE2 pcre2-8)
link_dependency(PkgConfig::XXHASH xxhash)
link_dependency(PkgConfig::SQLITE sqlite3)

# gzip: ISA-L inflates 5 to 14 times faster than zlib, which stands in where ISA-L is not packaged.
option(TPA_ISAL "Read gzip with ISA-L, where it is found" ON)
if(TPA_ISAL)
  pkg_check_modules(ISAL IMPORTED_TARGET libisal)
endif()
if(TPA_ISAL AND ISAL_FOUND)
  link_dependency(PkgConfig::ISAL isal)
  target_compile_definitions(tpa_dependencies INTERFACE TPA_HAVE_ISAL=1)
else()
  pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
  link_dependency(PkgConfig::ZLIB z)
  target_compile_definitions(tpa_dependencies INTERFACE TPA_HAVE_ISAL=0)
endif()

# tpa view speaks HTTP with libmicrohttpd; without it the command says so. Its archive needs a TLS library, so that it is no part of
# what is carried to other machines.
option(TPA_VIEW "Build tpa view with libmicrohttpd, where it is found" ON)
if(TPA_VIEW AND NOT TPA_STATIC)
  pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd>=0.9.73)
endif()
if(MICROHTTPD_FOUND)
  link_dependency(PkgConfig::MICROHTTPD microhttpd)
else()
  message(STATUS "libmicrohttpd is not used: tpa view is left out")
endif()

# Kernel names are C++; the C++ run-time library can demangle them. We need no C++ compiler for it.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES stdc++)
check_c_source_compiles("char *__cxa_demangle(const char *, char *, __SIZE_TYPE__ *, int *);
                         int main(void) { return !__cxa_demangle(\"_Z1fv\", 0, 0, 0); }" TPA_LINKS_CXA_DEMANGLE)
unset(CMAKE_REQUIRED_LIBRARIES)
if(TPA_LINKS_CXA_DEMANGLE)
  if(TPA_STATIC)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libstdc++.a OUTPUT_VARIABLE cxx_runtime
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    target_link_libraries(tpa_dependencies INTERFACE ${cxx_runtime} -static-libgcc)
  else()
    target_link_libraries(tpa_dependencies INTERFACE stdc++)
  endif()
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

# Behind what needs them.
target_link_libraries(tpa_dependencies INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)

if(TPA_TESTS)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
  if(NOT CMOCKA_FOUND)
    message(STATUS "cmocka is not installed: unit tests are left out")
  endif()
endif()
