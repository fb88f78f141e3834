#!/usr/bin/env bash
# Install what the tests need, then build and run every test twice: with ASan and UBSan and warnings
# as errors (preset dev), and as users get it (preset release). The last line counts both.
set -u
cd "$(dirname "$0")" || exit 2

cmake/install-packages --tests || exit 2
tests/python/make-environment
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}

log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
broken=
for preset in ${TPA_PRESETS:-dev release}; do
    cmake --preset "$preset" &&
        cmake --build --preset "$preset" &&
        ctest --preset "$preset" 2>&1 | tee -a "$log"
    # The status of ctest: 8 when tests failed, which are counted below; any other is a broken build.
    status=${PIPESTATUS[0]}
    [ "$status" -eq 0 ] || [ "$status" -eq 8 ] || broken="$broken $preset"
done

# What failed once more, at most 60 lines each: a log is often seen from its end alone.
awk '
    / Test +#[0-9]+: .*\*\*\*/ { failed = !/\*\*\*Skipped/; lines = 0 }
    /^ *Start +[0-9]+: / || / Test +#[0-9]+: .* Passed / || /% tests passed, / { failed = 0 }
    failed && lines++ < 60' "$log"

# ctest closes with "97% tests passed, 3 tests failed out of 100".
awk -v broken="$broken" '
    / tests failed out of / { failed += $4; total += $NF }
    END {
        count = split(broken, presets, " ")
        if (count || !total)
            print "not built, see above:" broken
        printf "%d passed, %d failed\n", total - failed, failed + count
        exit failed + count > 0 || !total
    }' "$log"
