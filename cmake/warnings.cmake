# What every C file is compiled with. Gives the target `tpa_options`; gcc 12 and clang 14 know all of these.
add_library(tpa_options INTERFACE)
target_include_directories(tpa_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(tpa_options INTERFACE _GNU_SOURCE= _FILE_OFFSET_BITS=64 TPA_VERSION="${PROJECT_VERSION}")
target_compile_options(tpa_options INTERFACE
  -Wall -Wextra
  -Wshadow -Wundef -Wvla
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -Wpointer-arith -Wcast-qual -Wwrite-strings
  -Wformat=2 -Wno-format-nonliteral
  $<$<C_COMPILER_ID:GNU>:-Wimplicit-fallthrough> # clang does not see the comment that says it is meant
  -Wno-missing-field-initializers   # { 0 } and rows of tables leave the rest zero on purpose
)
# A product and a sum are not one operation, which rounds once: 64-bit ARM has it and gcc would use it, x86 mostly has not.
target_compile_options(tpa_options INTERFACE -ffp-contract=off)
# On 32-bit x86 doubles are kept wider than they are and rounded now or then; with SSE they are what they are elsewhere.
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS "-msse2 -mfpmath=sse")
  check_c_source_compiles("int main(void) { return 0; }" TPA_SSE2)
  unset(CMAKE_REQUIRED_FLAGS)
  target_compile_options(tpa_options INTERFACE $<$<BOOL:${TPA_SSE2}>:-msse2;-mfpmath=sse>)
endif()
# What only assert() uses is unused where NDEBUG takes the asserts out.
target_compile_options(tpa_options INTERFACE
  $<$<NOT:$<CONFIG:Debug>>:-Wno-unused-function;-Wno-unused-variable;-Wno-unused-but-set-variable>)
if(TPA_WERROR)
  # Whether gcc believes in an uninitialized variable depends on how far it inlines: no error.
  target_compile_options(tpa_options INTERFACE -Werror $<$<C_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)
endif()
