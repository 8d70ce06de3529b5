#!/bin/sh
# Shared by bench/engines and bench/untuned: one program natively, under qemu-ppc, cachegrind and Chiliad.
#
#   bench_start "$@"           reads CHILIAD [-r ROUNDS]; goes to the top folder; sets $work and $bench_used, the number of
#                              arguments that it read
#   bench_measure NAME TIMES   measures $work/native and $work/guest; prints a line of raw figures
#   bench_table NAME           makes the table from these lines
#
# Columns: user seconds of the native program; user time of the others as multiples of that; guest instructions a second
# of the translator, in millions; qemu-ppc's and cachegrind's time over the translator's; qemu-ppc's time over that with
# --memory=none; peak memory and the time that translation took, of the last round. The last row has geometric means.
#
# Each figure is the smallest of ROUNDS alternating runs (default 3). The native program runs TIMES times inside one clock
# reading, whose grain is a hundredth of a second. Time of Chiliad includes its second thread. A failure is a dash.
#
# shellcheck shell=sh
# shellcheck disable=SC2034 # the scripts use bench_used
set -eu

bench_start() {
    [ $# -ge 1 ] || {
        echo "usage: $0 CHILIAD [-r ROUNDS] [...]" >&2
        exit 2
    }
    chiliad=$(command -v "$1") && chiliad=$(realpath "$chiliad")
    cd "$(dirname "$0")/.."
    rounds=3
    bench_used=1
    if [ "${2:-}" = -r ]; then
        rounds=$3
        bench_used=3
    fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cat >"$work/repeat.c" <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    for (int i = (int)strtol(argv[1], NULL, 10); argc > 2 && i > 0; i--) {
        int status;
        pid_t pid = fork();
        if (!pid) execv(argv[2], argv + 2);
        if (waitpid(pid, &status, 0) < 0 || status) return 1;
    }
    return 0;
}
C
    cc -O2 "$work/repeat.c" -o "$work/repeat"
}

# bench_run NAME COMMAND...: keeps the smallest user time in $work/t.NAME, "-" after a failure; the last output in
# $work/out.NAME and $work/err.NAME, the last peak memory in KB in $memory
bench_run() {
    name=$1
    shift
    if /usr/bin/time -o "$work/time" -f '%U %M' "$@" >"$work/out.$name" 2>"$work/err.$name" </dev/null; then
        read -r seconds memory <"$work/time"
    else
        seconds=- memory=-
    fi
    if [ ! -f "$work/t.$name" ] || [ "$seconds" = - ] || [ "$(cat "$work/t.$name")" = - ] ||
        awk -v a="$seconds" -v b="$(cat "$work/t.$name")" 'BEGIN { exit !(a < b) }'; then
        echo "$seconds" >"$work/t.$name"
    fi
}

# Debian's qemu-ppc 7.2 stops at a form of mffs in libm, so it runs a copy without that form (tools/plain-mffs).
bench_measure() {
    tools/plain-mffs "$work/guest" "$work/guest.qemu"
    rm -f "$work"/t.*
    round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        bench_run native "$work/repeat" "$2" "$work/native"
        bench_run qemu qemu-ppc "$work/guest.qemu"
        bench_run cachegrind valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null "$work/native"
        bench_run interp "$chiliad" stat --engine=interp -x, -e BGL_INST -o "$work/counts" "$work/guest"
        bench_run none "$chiliad" stat --engine=jit --memory=none -x, -e BGL_INST -o "$work/counts.none" "$work/guest"
        bench_run jit "$chiliad" stat -v --engine=jit -x, -e BGL_INST -o "$work/counts" "$work/guest"
    done
    echo "$1 $2 $(cat "$work/t.native" "$work/t.qemu" "$work/t.cachegrind" "$work/t.interp" "$work/t.jit" "$work/t.none" | tr '\n' ' ')" \
        "$(cut -d, -f1 "$work/counts") $memory" "$(sed -n 's/.*translated in \([0-9.]*\) ms.*/\1/p' "$work/err.jit")"
}

bench_table() {
    awk -v title="$1" '
        function ratio(a, b) { return a == "-" || b == "-" || b == 0 ? "-" : sprintf("%.1f", a / b) }
        function mean(column, value) { if (value != "-") { sum[column] += log(value); count[column]++ } }
        function shown(column) { return count[column] ? sprintf("%.1f", exp(sum[column] / count[column])) : "-" }
        BEGIN {
            head = "| %-10s | %8s | %8s | %10s | %11s | %10s | %8s | %9s | %15s | %11s | %5s | %8s |\n"
            printf head, title, "native s", "qemu-ppc", "cachegrind", "interpreter", "translator", "M inst/s", "qemu / tr", \
                "cachegrind / tr", "qemu / none", "MB", "transl."
            print "|---|---|---|---|---|---|---|---|---|---|---|---|"
        }
        {
            native = $3 / $2
            q = ratio($4, native); c = ratio($5, native); i = ratio($6, native); j = ratio($7, native)
            qj = ratio($4, $7); cj = ratio($5, $7); qn = ratio($4, $8)
            printf head, $1, sprintf("%.3f", native), q "x", c "x", i "x", j "x", $7 == "-" || $7 == 0 ? "-" : \
                sprintf("%.0f", $9 / $7 / 1e6), qj, cj, qn, sprintf("%.0f", $10 / 1024), sprintf("%.0f ms", $11)
            mean("q", q); mean("c", c); mean("i", i); mean("j", j); mean("qj", qj); mean("cj", cj); mean("qn", qn)
            fflush()
        }
        END {
            printf head, "geo. mean", "", shown("q") "x", shown("c") "x", shown("i") "x", shown("j") "x", "", shown("qj"), \
                shown("cj"), shown("qn"), "", ""
        }'
}
