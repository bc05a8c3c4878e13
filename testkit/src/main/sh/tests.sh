# The steps of `./gpuwarden test`. The script `gpuwarden` reads this file; steps, messages and the build are there. Which tests run,
# and beside which others, is the runner's: testkit/runner, its jobs.tsv.
# shellcheck shell=bash disable=SC2154 # the script's variables

runner_class_path=$root/testkit/runner/target/classpath

# Runs the runner with what the user typed; its exit code is the script's.
run_runner() {
    export GPUWARDEN_TOOLS=$tools
    "$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
        -cp "$root/testkit/runner/target/classes:$(cat "$runner_class_path")" dev.gpuwarden.runner.Main "$root" "$tools" "$@"
}

# Succeeds if Maven must build before an edit of Java can be tried: class paths, generated sources and resources are its.
base_is_stale() {
    [ -e "$test_stamp" ] || return 0
    [ -n "$(cd "$root" && find pom.xml ./*/pom.xml testkit/runner/pom.xml ./*/src/main/proto -newer "$test_stamp" -print -quit 2>/dev/null)" ]
}

# One module, class or test: from an edit to its result in seconds.
test_some() {
    need_build_tools
    if base_is_stale; then
        touch "$test_stamp.new"
        maven "build what tests need (once)" -T 2 -DskipTests -Dunchecked package || { show_errors "the build failed"; exit 1; }
        mv "$test_stamp.new" "$test_stamp"
    elif [ -n "$(find "$root/testkit/runner/src" -newer "$runner_class_path" -print -quit)" ]; then
        maven "build the runner" -o -pl testkit/runner -DskipTests package || { show_errors "the build failed"; exit 1; }
        touch "$runner_class_path"
    fi
    make -C "$root/native" all >"$log" 2>&1 || { show_errors "the C parts do not build"; exit 1; }
    run_runner "$@"
}

# All of it, as continuous integration runs it, or some tiers of it.
test_all() {
    need_build_tools
    case "$*" in '--tier unit') ;; *) need_test_tools ;; esac
    touch "$stamp.new" "$test_stamp.new"
    build_c || no_tests
    # It waits more than it computes.
    make -C "$root/native" check >"$check_log" 2>&1 &
    local check=$!
    # Classes that an edit's test or `./gpuwarden build` has compiled were not checked: compile them again.
    rm -rf "$root"/*/target/maven-status "$root"/testkit/runner/target/maven-status
    maven "build and check" -T 2 -DskipTests verify || { show_errors "mvn verify failed"; no_tests; }
    wait "$check" || { log=$check_log show_errors "the C parts fail"; no_tests; }
    mv "$stamp.new" "$stamp" && mv "$test_stamp.new" "$test_stamp"
    await_kubernetes || not_had Kubernetes "something of it is not tried for real"
    local one
    for one in "${absent[@]}"; do say "missing: $one"; done
    if [ ${#absent[@]} != 0 ]; then say "incomplete: the parts named above are not tested"; fi
    run_runner "$@"
}

# A build that breaks before its tests run has no failed test to count.
no_tests() {
    printf '0 passed, 1 failed, 0 skipped\n'
    exit 1
}

# Ends with exit code 2 at what is no option of a whole run, before minutes are spent on a build. Arguments: the user's.
check_options() {
    while [ $# != 0 ]; do
        case $1 in
            --soak) ;;
            --tier)
                if [[ ! ,${2:-} =~ ^(,(unit|programs|api|nodes|image|soak))+$ ]]; then
                    say "gpuwarden test: --tier: expected unit, programs, api, nodes, image or soak, seen ${2:-nothing}"
                    exit 2
                fi
                shift
                ;;
            *) say "gpuwarden test: unknown option $1; see ./gpuwarden test --help" && exit 2 ;;
        esac
        shift
    done
}

run_tests() {
    case ${1:-} in
        --help | -h)
            cat "$root/testkit/src/main/sh/test-usage.txt" ;;
        '' | -*) check_options "$@" && test_all "$@" ;;
        *) test_some "$@" ;;
    esac
}
