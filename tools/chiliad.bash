# shellcheck shell=bash
# Completes the words of a chiliad command line in bash; needs nothing but bash (3.2 or later) and the program itself.
# The program lists what may stand in the place of the last word: commands, options, and the values that an option takes
# (`chiliad help --complete WORD...`). A line @KIND stands for the names of `chiliad list KIND`, which are those of the
# user's own data files.

# Names from `chiliad list ARGS -j`, with the program that is being completed.
_chiliad_names() {
    "${COMP_WORDS[0]}" list "$@" -j 2>/dev/null | sed -n 's/^{\("id": [0-9]*, \)\{0,1\}"name": "\([^"]*\)".*/\2/p'
}

# The machine given so far with -M or --machine, as words for _chiliad_names.
_chiliad_machine() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i - 1]} == -M || ${COMP_WORDS[i - 1]} == --machine ]] && echo "-M ${COMP_WORDS[i]}"
    done | tail -n 1
}

# Prints what may stand in the place of the last of the words; prints nothing where any file may.
_chiliad_words() {
    local word
    if [[ $1 == list && $# -eq 3 && $3 != -* && " events metrics sets " == *" $2 "* ]]; then
        echo "@$2" # its second operand
    else
        "${COMP_WORDS[0]}" help --complete "$@" 2>/dev/null
    fi | while IFS= read -r word; do
        # shellcheck disable=SC2046 # two words, or none
        case $word in
        @events) _chiliad_names events $(_chiliad_machine) ;;
        @*) _chiliad_names "${word#@}" ;;
        *) echo "$word" ;;
        esac
    done
}

_chiliad() {
    local current=${COMP_WORDS[COMP_CWORD]} words=() word
    [[ $current != "=" ]] || current= # --option=
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == "=" ]] || words+=("$word")
    done
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(compgen -W "$(_chiliad_words ${words[@]+"${words[@]}"} "$current")" -- "$current")
}

# -o default: where nothing is offered, bash completes file names (a stimulus, a machine file).
complete -o default -F _chiliad chiliad
