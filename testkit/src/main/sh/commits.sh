# The command `./gpuwarden check-commits`. The script `gpuwarden` reads this file.
# shellcheck shell=bash disable=SC2154 # the script's variables

commits_usage() {
    cat <<'END'
Usage: ./gpuwarden check-commits [RANGE]
Check messages of commits: the subject has at most 72 characters and begins with a
verb in the imperative ("Add", "Fix", "Report"); the second line is blank.
  RANGE   what git log takes, as main..HEAD (default: commits that origin/HEAD
          lacks, or the last one). Merges are left out.

Exit codes:
  0   no message has a fault
  1   some have; each is printed with the reason
  2   wrong usage, or no such range
END
}

longest_subject=72

# Prints the faults of a message, a line each; nothing for a good one.
message_faults() {
    local LC_ALL=C.UTF-8 message=$1 subject second='' word # counts characters, not bytes
    subject=${message%%$'\n'*}
    case $message in *$'\n'*) second=${message#*$'\n'} && second=${second%%$'\n'*} ;; esac
    word=${subject%%[!A-Za-z-]*}
    if [ -z "$subject" ]; then
        echo 'the subject is empty'
    fi
    if [ ${#subject} -gt $longest_subject ]; then
        echo "the subject has ${#subject} characters, expected at most $longest_subject"
    fi
    if [ -n "$subject" ] && ! imperative "$word"; then
        echo "the subject begins with \"${subject%% *}\", expected a capitalised verb in the imperative, such as Add or Fix"
    fi
    if [ -n "$second" ]; then
        echo 'the second line is not blank'
    fi
}

# Returns 0 if a word looks like a verb in the imperative. English has no rule: this refuses other words, and other forms of verbs.
imperative() {
    [[ $1 =~ ^[A-Z][a-z]+(-[a-z]+)?$ ]] || return 1
    case ${1,,} in
        # Verbs with the ending of another form.
        pass | process | address | access | bypass | compress | suppress | press | assess | discuss | focus | cross | miss | express | \
            embed | feed | need | seed | shed | exceed | proceed | speed | \
            bring | ping | ring | string | cling | fling | sling | swing | wring) return 0 ;;
        *s | *ed | *ing) return 1 ;;
        a | an | the | one | two | three | no | not | now | new | what | who | whoever | where | when | why | how | that | this | \
            there | it | of | in | on | at | as | by | for | from | to | with | without | and | or | if | so | all | each | every | some | \
            any | nobody | somebody | none | nothing | only | more | less | wip | misc | minor | merge | fixup | squash) return 1 ;;
    esac
}

# Reads records "ID, line break, message", each ended by NUL, from standard input. Returns 1 if one has a fault.
check_messages() {
    local record id message faults fault count=0 bad=0
    while IFS= read -r -d '' record; do
        id=${record%%$'\n'*}
        message=${record#*$'\n'}
        count=$((count + 1))
        mapfile -t faults < <(message_faults "$message")
        if [ ${#faults[@]} != 0 ]; then bad=$((bad + 1)); fi
        for fault in "${faults[@]}"; do printf '%s %s\n    %s\n' "$id" "${message%%$'\n'*}" "$fault"; done
    done
    printf '%d commits, %d with a fault\n' "$count" "$bad"
    [ "$bad" = 0 ]
}

check_commits() {
    local range=${1:-}
    case $range in
        --help | -h) commits_usage && return 0 ;;
        -*) say "gpuwarden check-commits: unknown option $range; see ./gpuwarden check-commits --help" && return 2 ;;
    esac
    if [ $# -gt 1 ]; then
        say "gpuwarden check-commits: expected one range, seen $# words"
        return 2
    fi
    if [ -z "$range" ]; then
        range=HEAD~1..HEAD
        if git -C "$PWD" rev-parse --quiet --verify origin/HEAD >/dev/null; then range=origin/HEAD..HEAD; fi
    fi
    if ! git -C "$PWD" rev-list --max-count=1 "$range" -- >/dev/null 2>&1; then
        say "gpuwarden check-commits: $range: git has no such range"
        return 2
    fi
    git -C "$PWD" log -z --no-merges --reverse --format='%h%n%B' "$range" -- | check_messages
}
