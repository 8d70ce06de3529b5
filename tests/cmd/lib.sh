#!/bin/sh
# Shared by the tests of the command line. A test runs from the top folder of the tree and begins with
#
#   . tests/cmd/lib.sh
#
# which sets
#
#   chiliad   the program to test: the first argument of the test, as an absolute path
#   top       the top folder
#   work      an empty folder, removed when the test ends
#   number    how many results were reported
#   failed    1 when one of them failed
#   sanitized 1 when the program was built with ASan+UBSan: it takes ten times as long, and shows mistakes with memory.
#             What the plain program shows of results it need not show again
#
# shellcheck shell=sh
# shellcheck disable=SC2034 # not every test uses all of them

set -u
chiliad=$(realpath "$1") || exit 1
top=$(pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0
failed=0
sanitized=0
case $chiliad in */asan/*) sanitized=1 ;; esac

# less WHAT: says what the sanitized program leaves out
less() {
    echo "# less under asan+ubsan: $1"
}

# report STATUS NAME: one result in TAP; the test passed when STATUS is 0.
report() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        failed=1
    fi
}

# finish: the end of every test.
finish() {
    echo "1..$number"
    exit "$failed"
}
