# Optimized builds read hostile files: let the compiler and the linker guard what they can.
# Sanitizers do the same and more, and _FORTIFY_SOURCE would hide calls from them.
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

if(NOT TPA_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  check_c_compiler_flag("-Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -O2" TPA_FORTIFY_3)
  check_c_compiler_flag("-fcf-protection=full" TPA_CF_PROTECTION) # x86
  set(TPA_HARDENED ON)
  set(fortify $<IF:$<BOOL:${TPA_FORTIFY_3}>,3,2>)
  target_compile_options(tpa_options INTERFACE
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify} -fstack-protector-strong -fstack-clash-protection
    $<$<BOOL:${TPA_CF_PROTECTION}>:-fcf-protection=full>)
  target_link_options(tpa_options INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
# A library that nothing calls is no dependency.
target_link_options(tpa_options INTERFACE -Wl,--as-needed)
