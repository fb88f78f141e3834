# libtpa_capture.so, the library that `tpa capture` brings into a program, where CUPTI's headers are found: in a CUDA
# toolkit, in the packages of a distribution, or in NVIDIA's Python packages. CUPTI itself is loaded at run time.
option(TPA_CAPTURE "Build the capture library, where CUPTI's headers are found" ON)
set(TPA_CUPTI_INCLUDE "" CACHE PATH "Folder of cupti.h, when it is not found")
set(TPA_CUDA_INCLUDE "" CACHE PATH "Folder of cuda.h, when it is not found")

set(TPA_HAVE_CAPTURE OFF)
if(TPA_CAPTURE)
  find_program(TPA_PYTHON3 python3)
  set(python_places "")
  if(TPA_PYTHON3)
    execute_process(
      COMMAND ${TPA_PYTHON3} -c "import site, sys
print(';'.join(f'{p}/nvidia/{n}/include' for p in site.getsitepackages() + [site.getusersitepackages()]
               for n in ('cu13', 'cuda_cupti', 'cuda_runtime')))"
      OUTPUT_VARIABLE python_places OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(toolkits $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda)
  file(GLOB versioned /usr/local/cuda-1[1-9]*)
  list(SORT versioned COMPARE NATURAL ORDER DESCENDING)
  list(APPEND toolkits ${versioned})
  set(places "")
  foreach(toolkit ${toolkits})
    list(APPEND places ${toolkit}/extras/CUPTI/include ${toolkit}/include ${toolkit}/targets/x86_64-linux/include
         ${toolkit}/targets/sbsa-linux/include)
  endforeach()
  find_path(TPA_CUPTI_DIR cupti.h HINTS ${TPA_CUPTI_INCLUDE} ${places} ${python_places})
  find_path(TPA_CUDA_DIR cuda.h HINTS ${TPA_CUDA_INCLUDE} ${TPA_CUPTI_DIR} ${places} ${python_places})
  if(NOT TPA_CUPTI_DIR OR NOT TPA_CUDA_DIR)
    message(STATUS "CUPTI's headers (cupti.h, cuda.h of CUDA 11.8 to 13) are not found: libtpa_capture.so is left out; "
                   "-DTPA_CUPTI_INCLUDE=DIR says where they are")
  else()
    include(CheckCSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${TPA_CUPTI_DIR} ${TPA_CUDA_DIR})
    string(MD5 TPA_CUPTI_KEY "${TPA_CUPTI_DIR} ${TPA_CUDA_DIR}") # asked again when the folders change
    check_c_source_compiles("#include <cupti.h>
      #if CUPTI_API_VERSION < 18
      #error older than CUDA 11.8
      #endif
      int main(void) { return (int)sizeof(CUpti_ActivityKernel8) == 0; }" TPA_CUPTI_COMPILES_${TPA_CUPTI_KEY})
    unset(CMAKE_REQUIRED_INCLUDES)
    set(TPA_HAVE_CAPTURE ${TPA_CUPTI_COMPILES_${TPA_CUPTI_KEY}})
    if(NOT TPA_HAVE_CAPTURE)
      message(STATUS "CUPTI's headers in ${TPA_CUPTI_DIR} are older than CUDA 11.8 or do not compile: "
                     "libtpa_capture.so is left out")
    endif()
  endif()
endif()
if(NOT TPA_HAVE_CAPTURE)
  return()
endif()

# CUPTI's headers, as headers of the system: their warnings are not ours.
add_library(tpa_cupti INTERFACE)
target_include_directories(tpa_cupti SYSTEM INTERFACE ${TPA_CUPTI_DIR} ${TPA_CUDA_DIR})

# The program it is loaded into may have a zstd of its own; with the static library the two never meet.
include(CheckCSourceCompiles)
find_library(TPA_ZSTD_STATIC libzstd.a)
set(TPA_ZSTD_LINKS OFF)
if(TPA_ZSTD_STATIC AND NOT TPA_SANITIZE)
  set(CMAKE_REQUIRED_FLAGS "-shared -fPIC")
  set(CMAKE_REQUIRED_LIBRARIES ${TPA_ZSTD_STATIC})
  check_c_source_compiles("unsigned ZSTD_versionNumber(void); void *ZSTD_createCCtx(void);
    unsigned long ZSTD_compress2(void *, void *, unsigned long, const void *, unsigned long);
    unsigned long f(void) { return ZSTD_versionNumber() + ZSTD_compress2(ZSTD_createCCtx(), 0, 0, 0, 0); }
    int main(void) { return 0; }" TPA_ZSTD_LINKS_STATIC)
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_LIBRARIES)
  set(TPA_ZSTD_LINKS ${TPA_ZSTD_LINKS_STATIC})
endif()

file(GLOB capture_sources CONFIGURE_DEPENDS capture/*.c)
add_library(tpa_capture SHARED ${capture_sources} trace/tpafile_records.c trace/tpafile_encode.c trace/tpafile_write.c)
target_link_libraries(tpa_capture PRIVATE tpa_options tpa_cupti PkgConfig::XXHASH Threads::Threads ${CMAKE_DL_LIBS})
if(TPA_ZSTD_LINKS)
  target_link_libraries(tpa_capture PRIVATE ${TPA_ZSTD_STATIC})
else()
  target_link_libraries(tpa_capture PRIVATE PkgConfig::ZSTD)
endif()
# Never unloaded: its thread, its handlers and the functions that NVTX points at live as long as the process.
target_link_options(tpa_capture PRIVATE -Wl,-z,nodelete -Wl,--exclude-libs,ALL)
if(NOT TPA_SANITIZE) # whose functions are those of the program
  target_link_options(tpa_capture PRIVATE -Wl,-z,defs) # it must load into any program
endif()
