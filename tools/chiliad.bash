# shellcheck shell=bash
# Completes the words of a chiliad command line in bash; needs nothing but bash (3.2 or later) and the program itself.
# Machine and event names come from the program, so they are those of the user's own data files.
# To add a command: a word in `commands`, and a case in _chiliad_words with its words and options.

# Names from `chiliad list ARGS -j`, with the program that is being completed.
_chiliad_names() {
    "${COMP_WORDS[0]}" list "$@" -j 2>/dev/null | grep -o '"name": *"[^"]*"' | sed 's/.*"\(.*\)"/\1/'
}

# The machine given so far with -M, as words for _chiliad_names.
_chiliad_machine() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i - 1]} == -M ]] && echo "-M ${COMP_WORDS[i]}"
    done | tail -n 1
}

# Prints what may stand here; prints nothing where any file may.
_chiliad_words() {
    local command=$1 position=$2 before=$3 kind=${COMP_WORDS[2]-}
    case $before in
    --start)
        echo on off
        return
        ;;
    --kind)
        echo instruction memory transaction
        return
        ;;
    --format)
        echo text binary json
        return
        ;;
    --tag)
        echo heap-sites
        return
        ;;
    --category)
        echo hpm
        return
        ;;
    -M)
        _chiliad_names machines
        return
        ;;
    -L)
        _chiliad_names sets
        return
        ;;
    -e)
        if [[ $command == hist ]]; then
            echo misses l1d load store l1i l2 ddr invalidation all
            return
        fi
        # shellcheck disable=SC2046 # two words, or none
        _chiliad_names events $(_chiliad_machine)
        _chiliad_names counters
        return
        ;;
    esac
    case $command in
    cc | fc | cxx) # the compiler's words: any file
        [[ $position -gt 2 || ${COMP_WORDS[COMP_CWORD]} != -* ]] || echo --print --help
        [[ ${COMP_WORDS[COMP_CWORD]} != -* ]] || echo -dynamic
        ;;
    list)
        [[ $position -gt 2 ]] || echo machines events counters metrics sets
        echo -M -j --help
        [[ $position -ne 3 || ($kind != metrics && $kind != sets) ]] || _chiliad_names "$kind"
        # shellcheck disable=SC2046
        [[ $position -eq 2 || $kind != events ]] || _chiliad_names events $(_chiliad_machine)
        ;;
    stat | hist | sweep | record | trace | check | validate | dump) # after the options comes a program: any file
        [[ ${COMP_WORDS[COMP_CWORD]} == -* ]] || return
        case $command in
        stat)
            echo -M -e -r -j -x -o -v --all --per-core --hpm --metrics --repeat --set --miss-kinds --sysroot --root --writable \
                --engine --verbose --help
            ;;
        hist)
            echo -M -e -j -x -o --where --tag --category --read --top --given --rank --svg --relief --set --miss-kinds --sysroot --root \
                --writable --engine --help
            ;;
        sweep) echo --set --miss-kinds -M -e -j -x --plot --jobs --sysroot --root --writable --engine --help ;;
        record)
            echo -M -o --depth --flat --call-sites --only --exclude --limit --sets --rotate --compare --perturb --set \
                --miss-kinds --sysroot --root --writable --engine --help
            ;;
        trace)
            echo -M -o --kind --format --read --limit --start --trigger --at --before --after --once --tag --category --set \
                --miss-kinds --sysroot --root --writable --engine --help
            ;;
        check) echo -M -o --junit --around --stop --tag --category --set --miss-kinds --sysroot --root --writable --engine --help ;;
        validate) echo -M --program --draws -j --help ;;
        dump) echo --stage=decode --stage=experiment --help ;;
        esac
        ;;
    merge | mean | diff | report | cut) # experiments: any file
        [[ ${COMP_WORDS[COMP_CWORD]} == -* ]] || return
        case $command in
        diff) echo -m -o --all --by-name --fail-if -j -x --top --help ;;
        report)
            echo -m -c -t -x -j --own --order --percent --reference --metric-depth --depth --threshold --top --show --flat --by --apart --table \
                --describe --annotate --csv --folded --callgrind --metrics --partial --approximate --seconds --time --help
            ;;
        cut) echo -o --root --prune --thread --help ;;
        merge) echo -o --by-name --metrics --help ;;
        *) echo -o --by-name --help ;;
        esac
        ;;
    plan) echo CYCLES INSTRUCTION DATA_ACCESS INST_ACCESS TLB_ACCESS --limit -L --metrics --only -j --help ;;
    upc)
        if [[ $position -eq 2 ]]; then
            echo info run --help
        elif [[ $kind == info || ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
            echo -M --help
            [[ $kind == info ]] || echo --reference
        fi
        ;;
    esac
}

_chiliad() {
    local current=${COMP_WORDS[COMP_CWORD]} commands="cc fc cxx list stat hist sweep record trace check validate dump plan merge mean diff report cut upc --help --version" words word
    if [[ $COMP_CWORD -eq 1 ]]; then
        words=$commands
    else
        words=$(_chiliad_words "${COMP_WORDS[1]}" "$COMP_CWORD" "${COMP_WORDS[COMP_CWORD - 1]}")
    fi
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(compgen -W "$words" -- "$current")
}

# -o default: where nothing is offered, bash completes file names (a stimulus, a machine file).
complete -o default -F _chiliad chiliad
