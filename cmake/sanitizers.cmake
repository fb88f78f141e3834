# Builds that watch the program run: sanitizers, fuzzing, coverage.
if(TPA_SANITIZE)
  target_compile_options(tpa_options INTERFACE
    -fsanitize=${TPA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tpa_options INTERFACE -fsanitize=${TPA_SANITIZE})
endif()
if(TPA_FUZZ)
  target_compile_options(tpa_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TPA_COVERAGE)
  target_compile_options(tpa_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(tpa_options INTERFACE --coverage)
endif()
