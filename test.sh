#!/usr/bin/env bash
# Install what the tests need, then build and run them as users get the program (preset release). The last line counts them.
#
#     ./test.sh          in a few minutes; without what takes long or needs a framework of its own
#     ./test.sh --all    every test, with ASan and UBSan and warnings as errors (preset dev), too, and with real frameworks
set -u
cd "$(dirname "$0")" || exit 2
case ${1-} in
"") presets=release only=(--label-exclude '^long$') ;;
--all) presets=${TPA_PRESETS:-dev release} only=() ;;
*)
    echo "usage: ./test.sh [--all]" >&2
    exit 2
    ;;
esac

cmake/install-packages --tests || exit 2
if [ "${1-}" = --all ]; then
    cmake/install-packages --browser || echo "reports are not opened in a browser" >&2
    cmake/install-packages --bits32 || echo "not built for 32 bits" >&2
    cmake/install-packages --fleet || echo "not run on Slurm and Spark" >&2
    tests/python/make-environment & # while the first preset is built
fi
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}

log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
broken=
for preset in $presets; do
    begun=$SECONDS
    cmake --preset "$preset" &&
        cmake --build --preset "$preset" &&
        echo "$preset: built in $((SECONDS - begun)) s" &&
        wait &&
        ctest --preset "$preset" "${only[@]}" 2>&1 | tee -a "$log"
    # The status of ctest: 8 when tests failed, which are counted below; any other is a broken build.
    status=${PIPESTATUS[0]}
    [ "$status" -eq 0 ] || [ "$status" -eq 8 ] || broken="$broken $preset"
done

# What failed once more, at most 60 lines each: a log is often seen from its end alone.
awk '
    / Test +#[0-9]+: .*\*\*\*/ { failed = !/\*\*\*Skipped/; lines = 0 }
    /^ *Start +[0-9]+: / || / Test +#[0-9]+: .* Passed / || /% tests passed, / { failed = 0 }
    failed && lines++ < 60' "$log"

# What was skipped, with the reason that the test printed first.
for preset in $presets; do
    awk '
        FNR == NR { if (/ Test +#[0-9]+: .*\*\*\*Skipped/) { sub(/\.*\*\*\*.*/, ""); skipped[$NF] = 1 }; next }
        /^[0-9]+\/[0-9]+ Testing: / { name = $3; waits = name in skipped }
        waits && after { sub(/^(SKIP|skipped): /, ""); print "skipped: " name ": " $0; waits = 0 }
        { after = /^-+$/ }' "$log" "build/$preset/Testing/Temporary/LastTest.log" 2> /dev/null
done | sort -u

# ctest closes with "97% tests passed, 3 tests failed out of 100", where skipped ones count as passed.
awk -v broken="$broken" '
    / Test +#[0-9]+: .*\*\*\*Skipped/ { skipped++ }
    / tests failed out of / { failed += $4; total += $NF }
    END {
        count = split(broken, presets, " ")
        if (count || !total)
            print "not built, see above:" broken
        printf "%d passed, %d failed, %d skipped\n", total - failed - skipped, failed + count, skipped
        exit failed + count > 0 || !total
    }' "$log"
