# shellcheck shell=bash disable=SC2154,SC2034
# Cases of tests/capture/run: what is for programs in production (--sample, --window, --budget, --ring, --slow), kernel times by
# hardware, both ways to subscribe, jobs of several ranks, containers, MIG and MPS.

# The names of kernels, or other texts of a field, of a log's records: field LOG KIND FIELD
field() { "$dump" "$1" "$2" | sed -n "s/.* $3=\"\{0,1\}\([^\" ]*\).*/\1/p"; }
notes() { "$dump" run.tpa NOTE; }
has_v2() { grep -q 'CUPTI_API_VERSION *1[3-9]0' "$cupti"/cupti_version.h; }

# Below 13.3 cuptiSubscribe_v2 is taken, from there on cuptiSubscribe; the other when activity calls are refused after it.
case_subscription()
{
    has_v2 || skip "headers of a CUPTI without cuptiSubscribe_v2"
    local version refuses wanted
    while read -r version refuses wanted; do
        FAKE_CUPTI_VERSION=$version FAKE_CUPTI_REFUSES=$refuses capture -- cuda environment kernel k lose 5 flushed
        is "status, $version" $status 0
        is "way of $version refusing $refuses" "$(field run.tpa PROCESS SUBSCRIBED_BY | sort -u)" "$wanted"
        is "kernels, $version" "$(kernels)" "k:1"
        is "dropped, $version" "$(field run.tpa DROPPED COUNT)" 5
    done << END
130001 0 cuptiSubscribe_v2
130200 2 cuptiSubscribe
130300 0 cuptiSubscribe
130300 2 cuptiSubscribe
130400 1 cuptiSubscribe_v2
END
    has "tpa info" "$("$tpa" info --all run.tpa)" 'cuptiSubscribe_v2'
    FAKE_CUPTI_REFUSES=3 polite 'cuptiSubscribe gave CUPTI_ERROR_NOT_COMPATIBLE'
    FAKE_CUPTI_VERSION=130300 FAKE_CUPTI_SUBSCRIBE=39 FAKE_CUPTI_OTHER='CUPTI for torch' polite 'another profiler holds CUPTI: ?CUPTI for torch'
}

case_hardware_times()
{
    has_v2 || skip "headers of a CUPTI without hardware times"
    export FAKE_CUPTI_VERSION=130400 FAKE_CUDA_CAPABILITY=100
    capture --hardware-times -- clock cuda kernel a steady 2000 hardware kernel b exit 0
    is status $status 0
    is "on, and no flush while it works" "$(cat out)" 'hardware 1 flushes 0'
    is kernels "$(kernels)" "a:1 b:1 steady:2000"
    is "in the log" "$(field run.tpa PROCESS HARDWARE_TIMES | sort -u)" 1
    has "tpa info" "$("$tpa" info --all run.tpa)" 'hardware'
    is "lines on stderr" "$(wc -l < err)" 2
    # What was asked for is recorded, and the program goes on: nothing is flushed before its end.
    capture --hardware-times --duration 400ms -- clock cuda kernel a pass 500 await-off round hardware exit 0
    is "no flush after the duration" "$(cat out)" 'hardware 1 flushes 0'
    is kernels "$(kernels)" "a:1"
    # Refused: one line, and kernels as ever.
    local line
    while IFS='|' read -r line pattern; do
        # shellcheck disable=SC2086
        capture_with "$line" --hardware-times -- cuda kernel a flushed hardware
        has "off, $line" "$(cat out)" 'hardware 0 flushes [1-9]'
        is "kernels, $line" "$(kernels)" "a:1"
        is "lines, $line" "$(grep -c 'hardware-times' err)" 1
        has "line, $line" "$(cat err)" "--hardware-times is refused: $pattern; kernels have the times of CUPTI's own code"
        has "note, $line" "$(notes)" 'WORD="no_hardware_times"'
    done << END
FAKE_CUPTI_VERSION=130300|CUPTI has version 130300, but 130400 \\(CUDA 13.4\\) is required
FAKE_CUDA_CAPABILITY=90|device 0 has compute capability 9.0, but 10.0 \\(Blackwell\\) is required
FAKE_CUDA_MPS=1|device 0 is shared by MPS
FAKE_CUPTI_HARDWARE=27|cuptiActivityEnableHWTrace gave CUPTI_ERROR_NOT_SUPPORTED
END
    FAKE_CUDA_SILENT=1 capture --hardware-times -- cuda kernel a hardware
    is kernels "$(kernels)" "a:1"
    has line "$(cat err)" 'CUPTI never reported that the driver was initialised'
}
# capture_with VARIABLE=VALUE ARGUMENTS...
capture_with()
{
    local "${1?}" name=${1%%=*}
    export "${name?}"
    capture "${@:2}"
}

case_sample()
{
    capture --sample 1/5 -- clock cuda kernel before steps 23 10 0 exit 0
    is status $status 0
    is "every fifth" "$(field run.tpa STEP NUMBER | tr '\n' ' ')" "0 5 10 15 20 "
    is kernels "$(kernels)" "step:5"
    has "what was left out" "$(ours)" '^tpa capture: 5 of 23 steps were recorded, and 18 left out$'
    has "in the log" "$(notes)" 'WORD="sampled".*one step in 5 is recorded'
    has "in the log" "$(notes)" 'WORD="left_out".*5 of 23'
    is "each takes its own time" "$("$tpa" steps --columns name,time --format csv run.tpa 2> found | sed -n '2,5s/.*,//p' | sort -u)" 10000000
    has "told by tpa" "$(cat found)" '5 of 23 steps were recorded'
    capture --sample '1/5 steps' --steps 7..19 -- clock cuda steps 30 10 0 exit 0
    is "of those asked for" "$(field run.tpa STEP NUMBER | tr '\n' ' ')" "7 12 17 "
    # Occurrences of a range.
    if [ "$nvtx" = 1 ]; then
        local words=() i
        for i in 0 1 2 3 4 5 6 7; do words+=(push it kernel "i$i" pop); done
        capture --range it --sample 1/3 -- cuda kernel out "${words[@]}"
        is "occurrences" "$(kernels)" "i0:1 i3:1 i6:1"
    fi
    # No step ever comes: that is told.
    capture --sample 1/5 -- cuda kernel a
    has "no step" "$(cat err)" 'no step was seen: call tpa_capture_step, or give the NVTX range'
    # Killed: which steps there are is in the log, and that they are a sample.
    ulimit -c 0
    capture --sample 1/2 -- clock cuda steps 9 10 0 pass 600 round pass 600 round kill 9
    is "status, killed" $status 137
    is "kernels, killed" "$(kernels)" "step:5"
    has "note, killed" "$(notes)" 'one step in 2 is recorded'
    # A disk that is full: the program runs on, with its exit status.
    export FULL_AFTER=3000
    capture --sample 1/3 -- cuda flushed step records 50000 2 step step step await-full step exit 5
    unset FULL_AFTER
    is "status, full disk" $status 5
    has "full disk" "$(ours)" 'cannot write .*run.tpa: No space left on device; the log ends there'
    "$dump" run.tpa > /dev/null || fail "what was written cannot be read"
}

case_window()
{
    # On from 0 to 200 ms, 1000 to 1200, 2000 to 2200: kernels every ms.
    local words=(clock cuda) i
    for i in 1 2 3; do words+=(kernel "in$i" pass 199 round kernel "in$i" pass 1 round kernel out pass 799 round kernel out pass 1 round); done
    capture --window 200ms/1s -- "${words[@]}" exit 0
    is kernels "$(kernels)" "in1:2 in2:2 in3:2"
    is "lengths" "$("$dump" run.tpa WINDOW | sed 's/.*DURATION=\([0-9]*\).*/\1/' | head -n 3 | sort -u)" 200000000
    has "what was left out" "$(ours)" 'windows? of 0.200 s (was|were) recorded, and the time (between them|outside it) left out'
    # Under load by the real clock, on 8 threads, with as little memory as can be: what is held was fed.
    capture --window 1ms/7ms --memory 16M -- expect expect cuda records 200000 8 counts
    is status $status 0
    cat expect.* | LC_ALL=C sort > wanted
    "$dump" run.tpa KERNEL MEMCPY MEMSET API SYNC MEMORY GRAPH EXTERNAL OVERHEAD | LC_ALL=C sort > found
    is "records that were never fed" "$(LC_ALL=C comm -13 wanted found | wc -l)" 0
    read -r _ lost _ dirty < out
    is "dirty buffers" "$dirty" 0
    is "told of those lost" "$("$dump" run.tpa DROPPED | sed 's/.*COUNT=\([0-9]*\).*/\1/' | paste -sd+ | bc)" "$([ "$lost" = 0 ] || echo "$lost")"
}

case_budget()
{
    # A recorded step takes 12 ms, the others 10: 2 / (10 x 1 %) is one step in 20. Every other one until 5 of each are
    # measured: steps 0, 2 ... 10; from step 10 on every 20th: 10, 30 ... 990.
    capture --sample 1/1 --budget 1% -- clock cuda steps 1000 10 2 exit 0
    is status $status 0
    is "steps" "$(field run.tpa STEP NUMBER | tr '\n' ' ')" "0 2 4 6 8 $(seq -s ' ' 10 20 990) "
    has "says so" "$(ours)" '55 of 1000 steps were recorded, and 945 left out; a recorded step took 2.000 ms more than the 10.000 ms of the others, so one in 20 keeps to the budget of 1 %'
    has "in the log" "$(notes)" 'WORD="left_out".*945 left out'
    # It costs nothing: no rarer than was asked for.
    capture --sample 1/4 --budget 1% -- clock cuda steps 100 10 0 exit 0
    is "steps" "$(field run.tpa STEP NUMBER | wc -l)" 25
    capture --sample 1/4 --budget 0.5% -- clock cuda steps 3 10 0 exit 0
    has "too few" "$(ours)" '1 of 3 steps were recorded, and 2 left out; too few to measure'
    # Windows: the writer's own time is what is measured. The simulated clock hardly moves, so it is far above the budget.
    capture --window 10ms/20ms --budget 0.1% -- clock cuda records 20000 1 pass 10 round pass 10 round records 20000 1 pass 10 round pass 10 round exit 0
    has "windows" "$(ours)" '[0-9]+ windows? of 0.010 s (was|were) recorded.* the last cost [0-9.]+ ms of our time, so one each [0-9.]+ s keeps'
    # Killed: what it chose until then is in the log, and that it is a choice. On a full disk the program runs on.
    ulimit -c 0
    capture --sample 1/1 --budget 1% -- clock cuda steps 100 10 2 pass 600 round pass 600 round kill 9
    is "status, killed" $status 137
    is "steps, killed" "$(field run.tpa STEP NUMBER | tr '\n' ' ')" "0 2 4 6 8 10 30 50 70 90 "
    has "note, killed" "$(notes)" 'one step in 1 or fewer, to keep to the budget is recorded'
    export FULL_AFTER=3000
    capture --sample 1/1 --budget 1% -- cuda flushed step records 50000 2 step step step await-full step exit 5
    unset FULL_AFTER
    is "status, full disk" $status 5
    has "full disk" "$(ours)" 'cannot write .*run.tpa: No space left on device; the log ends there, the program runs on'
    "$dump" run.tpa > /dev/null || fail "what was written cannot be read"
    # A wrong option is told before the program runs.
    local option pattern
    while IFS='|' read -r option pattern; do
        # shellcheck disable=SC2086
        "$tpa" capture $option -- touch ran 2> err
        is "status of $option" $? 2
        has "line of $option" "$(cat err)" "$pattern"
    done << END
--sample 5|--sample 5 is not a share of the steps
--sample 1/0|--sample 1/0 is not a share
--window 2s|--window 2s is not a length with a longer period
--window 60s/2s|--window 60s/2s is not a length
--sample 1/2 --budget 0|--budget 0 is not a share of the time
--budget 1%|--budget needs --sample 1/N or --window
--sample 1/2 --window 1s/2s|--sample and --window do not go together
--slow 1.5x|--slow needs --ring SIZE
--ring 16M --slow 1|--slow 1 is not a number above 1
--ring 16M --slow 2x --sample 1/2|--slow does not go with --sample or --window
--ring 4k|--ring is too small
END
    [ ! -e ran ] || fail "the program ran"
}

# Records of 8 threads run through a ring that holds a part of them: what is written at the end is a part of what was fed, the
# last of it, and the device, the range that was open, and the name of a thread are there though they came first.
case_ring()
{
    local count=300000
    capture --ring 16M -- expect expect cuda environment kernel first api-push outer flushed records $count 8 kernel last api-pop counts
    is status $status 0
    is "kernels of play itself" "$("$dump" run.tpa KERNEL | grep -oE 'NAME="(first|last)"')" 'NAME="last"'
    cat expect.* expect | LC_ALL=C sort > wanted
    "$dump" run.tpa KERNEL MEMCPY MEMSET API SYNC MEMORY GRAPH EXTERNAL OVERHEAD | sed '/NAME="last"/d' | LC_ALL=C sort > found
    is "records that were never fed" "$(LC_ALL=C comm -13 wanted found | wc -l)" 0
    local held
    held=$(wc -l < found)
    { [ "$held" -gt 1000 ] && [ "$held" -lt $((count / 2)) ]; } || fail "held $held of $count"
    has device "$("$dump" run.tpa DEVICE)" 'H100'
    is stream "$(field run.tpa STREAM STREAM)" 13
    has "range" "$("$dump" --timeless run.tpa RANGE)" 'NAME="outer"'
    is "drops told" "$("$dump" run.tpa DROPPED)" ""
    has said "$(ours)" 'the last [0-9.]+ s are written: the end'
    is windows "$("$dump" run.tpa WINDOW | grep -c 'WHY="the end"')" 1
    # Each step that is recorded is a window of its own: all that the ring may hold, and what is too many is told.
    capture --ring 16M --sample 1/2 -- clock cuda steps 800 1 0 exit 0
    is "windows of steps" "$("$dump" run.tpa WINDOW | wc -l)" 400
    if [ -z "$sanitizer" ]; then # with which it takes long
        capture --ring 16M --sample 1/2 -- clock cuda steps 32800 1 0 exit 0
        is "the last windows" "$("$dump" run.tpa WINDOW | wc -l)" 16384
        has "more of them" "$(ours)" 'recording was switched on more than 16384 times between two writes of the log; the log lacks the first'
    fi
    # At the signal, twice; then it is killed. Nothing else is lost than what came after the second.
    ulimit -c 0
    capture --ring 16M --signal USR2 -- clock cuda api-push run kernel a kill 12 round pass 600 round kernel b kill 12 round pass 600 round kernel c kill 9
    is "status, killed" $status 137
    has "what is missing" "$(ours)" 'the process did not end by itself: what the ring held is missing'
    is "kernels, killed" "$(kernels)" "a:1 b:1"
    is "windows, killed" "$("$dump" run.tpa WINDOW | grep -c 'WHY="signal"')" 2
    is "the open range, once" "$("$dump" --timeless run.tpa RANGE | grep -c 'NAME="run"')" 1
}

# The ring is written onto a disk that is full; and while it only turns, the disk is not waited for.
case_ring_disk()
{
    export FULL_AFTER=20000
    capture --ring 16M --signal USR2 -- cuda kernel first flushed records 100000 4 kill 12 await-full records 1000 1 exit 5
    unset FULL_AFTER
    is status $status 5
    has line "$(ours)" 'cannot write .*run.tpa: No space left on device; the log ends there, the program runs on'
    "$dump" run.tpa > /dev/null || fail "what was written cannot be read"
    capture --ring 16M -- expect expect cuda flushed hold records 200000 8 counts release
    is "lost to a held disk" "$(cut -d' ' -f2 out)" 0
}

# The file `written` is made when tpa capture says that the ring was written; or after ten seconds, when the test fails.
watch_writing()
{
    rm -f err written
    { for _ in {1..1000}; do grep -q 'are written' err 2> /dev/null && break; sleep 0.01; done; touch written; } &
}

case_slow()
{
    # Steps of 10 ms, one of 30 and one of 12: the first of these is slow, and is written with what was before.
    watch_writing
    capture --ring 16M --slow 1.5x -- clock cuda steps 20 10 0 steps 1 30 0 steps 1 12 0 steps 60 10 0 round round await written steps 5 10 0 kernel after exit 0
    is status $status 0
    has said "$(ours)" 'the last [0-9.]+ s are written: step 20 took 30.000 ms, 3.00 times the usual 10.000 ms'
    is "times written" "$(grep -c 'are written' err)" 1
    has steps "$(field run.tpa STEP NUMBER | tr '\n' ' ')" '^0 1 2 .* 19 20 21 22 '
    ! kernels | grep -q after || fail "what came after is in the log"
    capture --ring 16M --slow 4x -- clock cuda steps 20 10 0 steps 1 30 0 steps 60 10 0 round exit 0
    has "none slow" "$(ours)" 'no step was slow, so nothing was written'
    is kernels "$(kernels)" ""
    # An occurrence of a range, however long it is between two.
    local words=() i
    for i in 0 1 2 3 4 5 6 7 8 9 10 11; do words+=(api-push it kernel in pass 10 api-pop pass "$((i * 9))"); done
    capture --ring 16M --slow 2x --range it -- clock cuda "${words[@]}" api-push it kernel in pass 25 api-pop kernel out exit 0
    has "range" "$(ours)" 'step 12 took 25.000 ms, 2.50 times the usual 10.000 ms'
    is "times written" "$(grep -c 'are written' err)" 1
    is kernels "$(kernels)" "in:13"
    # Killed after a slow step: what was written then is there. The disk is full when it is to be written: the program runs on.
    ulimit -c 0
    watch_writing
    capture --ring 16M --slow 1.5x -- clock cuda steps 20 10 0 steps 1 30 0 steps 60 10 0 await written round round steps 5 10 0 kill 9
    is "status, killed" $status 137
    has "missing, killed" "$(ours)" 'what the ring held is missing'
    has "note, killed" "$(notes)" 'WORD="ring_written".*step 20 took 30.000 ms'
    has "steps, killed" "$(field run.tpa STEP NUMBER | tr '\n' ' ')" '^0 1 2 .* 19 20 21 22 '
    export FULL_AFTER=3000
    capture --ring 16M --slow 1.5x -- clock cuda steps 20 10 0 records 20000 2 steps 1 30 0 steps 60 10 0 await-full steps 5 10 0 exit 5
    unset FULL_AFTER
    is "status, full disk" $status 5
    has "full disk" "$(ours)" 'cannot write .*run.tpa: No space left on device; the log ends there, the program runs on'
    "$dump" run.tpa > /dev/null || fail "what was written cannot be read"
    # It is slow, and ends before the device is done with it: still written.
    capture --ring 16M --slow 1.5x -- clock cuda steps 20 10 0 steps 1 90 0 steps 1 10 0 exit 0
    has "at the end" "$(ours)" 'step 20 took 90.000 ms, 9.00 times'
    is kernels "$(kernels)" "step:22"
}

# A job as torchrun starts it: each process knows its rank. And one in which each rank runs tpa capture.
case_ranks()
{
    local job='for r in 0 1 2; do RANK=$((r + 4)) LOCAL_RANK=$r WORLD_SIZE=8 "$@" & done; wait'
    "$tpa" capture --library "$library" -o logs/ -- sh -c "$job" sh "$play" cuda kernel k 2> err
    is "logs of the job" "$(cd logs && echo *)" "rank4.tpa rank5.tpa rank6.tpa"
    has ranks "$("$dump" logs/rank5.tpa PROCESS)" 'RANK=5 LOCAL_RANK=1 WORLD_SIZE=8'
    has next "$(cat err)" '^next: tpa top .*logs/?$'
    "$tpa" top logs/ > found 2>&1 || fail "tpa top logs/: $(cat found)"
    has "all three" "$("$tpa" top --by rank --format csv logs/)" ',6'
    # A second run takes the place of the first: other ranks are not mixed in. One that is being written stays.
    touch -d '1 minute ago' logs/rank4.tpa logs/rank6.tpa
    touch logs/rank5.tpa
    "$tpa" capture --library "$library" -o logs/ -- sh -c 'RANK=4 WORLD_SIZE=8 "$@"' sh "$play" cuda kernel k 2> err
    is "logs of the second job" "$(cd logs && echo *)" "rank4.tpa rank5.tpa"
    # The name of a file; the local rank alone; each rank on its own, which replaces its own log only.
    sh -c "$job" sh "$tpa" capture --library "$library" -o job.tpa -- "$play" cuda kernel k 2> err
    sh -c "$job" sh "$tpa" capture --library "$library" -o job.tpa -- "$play" cuda kernel k 2> err
    is "logs of ranks" "$(echo job.*)" "job.rank4.tpa job.rank5.tpa job.rank6.tpa"
    LOCAL_RANK=2 "$tpa" capture --library "$library" -o local.tpa -- "$play" cuda kernel k 2> err
    [ -f local.rank2.tpa ] || fail "no local.rank2.tpa: $(ls)"
    RANK=9 LOCAL_RANK=1 "$tpa" capture --library "$library" -o 'n%r-%l.tpa' -- "$play" cuda kernel k 2> err
    [ -f n9-1.tpa ] || fail "no n9-1.tpa: $(ls)"
    RANK=0 WORLD_SIZE=1 "$tpa" capture --library "$library" -o alone.tpa -- "$play" cuda kernel k 2> err
    [ -f alone.tpa ] || fail "no alone.tpa: $(ls)"
    # The program changes its environment.
    RANK=3 WORLD_SIZE=8 "$tpa" capture --library "$library" -o 'changed%r.tpa' -- "$play" cuda kernel k setenv RANK 9 2> err
    is "rank of the begin" "$("$dump" changed3.tpa PROCESS | grep -o ' RANK=[0-9]*')" " RANK=3"
    # Two at once with one name: the log that is being written stays, and the second has the process id in its name.
    "$tpa" capture --library "$library" -o twice.tpa -- "$play" cuda kernel k flushed await go 2> err &
    until [ -s twice.tpa ]; do sleep 0.05; done
    "$tpa" capture --library "$library" -o twice.tpa -- "$play" cuda kernel k 2> err2
    touch go
    wait
    is "logs of two at once" "$(ls twice*.tpa | wc -l)" 2
    "$tpa" top twice.tpa > found 2>&1 || fail "the first of two: $(cat found)"
    mkdir folder
    "$tpa" capture --library "$library" -o folder -- "$play" cuda kernel k 2> err
    [ -f folder/capture.tpa ] || fail "no folder/capture.tpa: $(ls folder)"
}

# A container has no CAP_SYS_PTRACE, and its processes may be untraceable: nothing of the log is lost.
case_container()
{
    capture -- no-ptrace expect expect cuda environment records 5000 2 push r pop
    [ $status -ne 77 ] || skip "capabilities cannot be dropped here"
    is status $status 0
    same_records run.tpa expect expect.*
    has process "$("$dump" run.tpa PROCESS)" 'EXECUTABLE=".*play" COMMAND=".*no-ptrace'
    is "named threads" "$(field run.tpa THREAD NAME | sort -u | head -n 1)" play
}

case_sharing()
{
    FAKE_CUDA_MIG=1 capture -- cuda environment kernel k
    has mig "$(ours)" 'device 3 is a slice of a GPU \(MIG instance 2.1\): only its own work is recorded'
    has note "$(notes)" 'WORD="mig"'
    FAKE_CUDA_MPS=1 capture -- cuda environment kernel k
    has mps "$(ours)" 'device 3 is shared by MPS: only this process.s work is recorded'
    has "told by tpa" "$("$tpa" top run.tpa 2>&1)" 'shared by MPS'
    capture -- cuda environment kernel k
    is "lines of neither" "$(wc -l < err)" 2
}
