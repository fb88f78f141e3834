# shellcheck shell=bash disable=SC2034
# harness.sh - what the runners of tests/golden, tests/docs and tests/broken share. Sourced, by bash.
#
# Every runner takes [--tpa PROGRAM] [--accept] [NAME...]: without NAME it runs all its cases. The
# program is also found in $TPA, in the build folders of the presets, or on PATH. Cases see it as
# `tpa`, in an environment that is the same everywhere; stdout is no terminal.

set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
accept=false
tpa=${TPA:-}
passed=0
failed=0

# Read the options; what is left are the names, in the array `names`.
harness_begin()
{
    names=()
    while [ $# -gt 0 ]; do
        case $1 in
        --accept) accept=true ;;
        --tpa) shift; tpa=${1:?--tpa needs a program} ;;
        --tpa=*) tpa=${1#--tpa=} ;;
        -h | --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
        -*) echo "$0: unknown option $1" >&2; exit 2 ;;
        *) names+=("${1%/}") ;;
        esac
        shift
    done
    if [ -z "$tpa" ]; then
        for tpa in "$root"/build/tpa "$root"/build/*/tpa "$(command -v tpa)"; do
            [ -x "$tpa" ] && break
        done
    fi
    [ -x "$tpa" ] || { echo "$0: no tpa to test; build it first or give --tpa PROGRAM" >&2; exit 2; }

    scratch=$(mktemp -d "${TMPDIR:-/tmp}/tpa-test.XXXXXX") || exit 2
    trap 'rm -rf "$scratch"' EXIT
    mkdir "$scratch/bin" "$scratch/home"
    ln -s "$(realpath "$tpa")" "$scratch/bin/tpa"
    export PATH="$scratch/bin:$PATH" HOME="$scratch/home"
    export LC_ALL=C.UTF-8 LANGUAGE='' TZ=UTC COLUMNS=100 TERM=xterm-256color
    unset NO_COLOR TPA_GNUPLOT CLICOLOR_FORCE FORCE_COLOR PAGER LESS TPA CDPATH ENV BASH_ENV
}

# Say that the case $1 passed, or that it failed because of $2.
pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1${2:+: $2}"; }

# Show how the file $3 (found) differs from $2 (wanted), both called $1. True when they are equal.
same()
{
    cmp -s "$2" "$3" && return
    diff -u --label "$1 (expected)" --label "$1 (found)" "$2" "$3" | head -n 60
    return 1
}

# The last line, and the exit status: 0 when all passed. No case at all is a failure too.
harness_end()
{
    echo "$1: $passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
