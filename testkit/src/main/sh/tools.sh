# Requirements of tests and `cluster up` besides a build. The script `gpuwarden` reads this file; steps, messages and the installing of
# packages are there.
# shellcheck shell=bash disable=SC2154 # its variables

# Prints the packages that some tests need and that are missing.
missing_test_packages() {
    command -v curl >/dev/null || echo curl
    command -v python3 >/dev/null || echo python3
    command -v openssl >/dev/null || echo openssl
    command -v go >/dev/null || echo golang-go
    command -v chromium >/dev/null || printf '%s\n' chromium fonts-dejavu-core
    python3 -m pip --version >/dev/null 2>&1 || echo python3-pip
    command -v mpirun >/dev/null || echo openmpi-bin
}

# Prints those without which no real node can run.
missing_node_packages() {
    command -v go >/dev/null || echo golang-go
    command -v openssl >/dev/null || echo openssl
    command -v ip >/dev/null || echo iproute2
    command -v nft >/dev/null || echo nftables
    command -v runc >/dev/null || echo runc
    [ -x /usr/lib/cni/ptp ] || echo containernetworking-plugins
    dpkg-query -W busybox-static >/dev/null 2>&1 || echo busybox-static
}

absent=()

# Unpacks Debian packages without installing them. Arguments: target folder, apt options as one word list, packages.
unpack() {
    local target=$1 options=$2 work
    shift 2
    work=$(mktemp -d)
    mkdir -p "$target"
    # shellcheck disable=SC2086 # options are a list
    (cd "$work" && apt-get -q $options download "$@") >>"$tools_log" 2>&1 || { rm -rf "$work"; return 1; }
    local package
    for package in "$work"/*.deb; do
        dpkg -x "$package" "$target" || { rm -rf "$work"; return 1; }
    done
    rm -rf "$work"
}

# This machine's own sources of its Debian release, with the component non-free, in private files.
non_free_sources() {
    local file codename
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -r "$file" ] || awk -v suite=" $codename(-updates|-security)? (.* )?main( |\$)" \
            '$1 == "deb" && $0 ~ suite { print $0, "non-free" }' "$file"
    done >"$1/non-free.list"
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -r "$file" ] || awk -v RS= -v suite="(^|\n)Suites:( [^\n]*)? $codename(-updates|-security)?( |\n)" \
            '$0 ~ suite { sub(/\nComponents:[^\n]*/, "\nComponents: non-free"); print $0 "\n" }' "$file"
    done >"$1/non-free.sources"
}

# Arguments: what, why it matters, file that is there when it is had, command that gets it.
tool() {
    local what=$1 why=$2 file=$3
    shift 3
    [ ! -e "$tools/$file" ] || return 0
    step "get $what"
    if "$@" && [ -e "$tools/$file" ]; then
        step_done
    else
        rm -f "$tools/$file"
        not_had "$what" "$why"
    fi
}

# Arguments: what, why it matters.
not_had() {
    say "  $1 could not be had: $2 (see $tools_log)"
    absent+=("$1: $2")
}

get_promtool() {
    local at=$tools/unpacked/prometheus
    unpack "$at" '' prometheus || { apt-get -q update >>"$tools_log" 2>&1 && unpack "$at" '' prometheus; } || return 1
    mkdir -p "$tools/bin" && ln -sf "$at/usr/bin/promtool" "$tools/bin/promtool"
    "$tools/bin/promtool" --version >/dev/null 2>>"$tools_log"
}

# Unpacks packages of the component non-free. Arguments: target folder, packages.
unpack_non_free() {
    local apt=$tools/apt target=$1
    shift
    mkdir -p "$apt/lists/partial" "$apt/sources.d"
    non_free_sources "$apt/sources.d"
    local options="-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$apt/sources.d -o Dir::State::lists=$apt/lists -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache="
    # shellcheck disable=SC2086 # options are a list
    apt-get -q $options update >>"$tools_log" 2>&1 || return 1
    unpack "$target" "$options" "$@"
}

# A folder of its own: tests load this library by its path alone.
get_libcuda() {
    local at=$tools/unpacked/libcuda
    unpack_non_free "$at" libcuda1 || return 1
    mkdir -p "$tools/cuda/driver"
    ln -sf "$(find "$at" -type f -name 'libcuda.so.*' | head -n 1)" "$tools/cuda/driver/libcuda.so.1"
}

get_nvidia_smi() {
    local at=$tools/unpacked/nvidia
    unpack_non_free "$at" nvidia-smi libnvidia-ml1 || return 1
    mkdir -p "$tools/bin" "$tools/lib"
    ln -sf "$(find "$at" -type f -name nvidia-smi -perm -u+x | head -n 1)" "$tools/bin/nvidia-smi"
    ln -sf "$(find "$at" -type f -name 'libnvidia-ml.so.*' | head -n 1)" "$tools/lib/libnvidia-ml.so.1"
    LD_LIBRARY_PATH=$tools/lib "$tools/bin/nvidia-smi" --help >/dev/null 2>>"$tools_log"
}

get_nvidia_ml_py() {
    python3 -m pip install -q --target "$tools/python" nvidia-ml-py >>"$tools_log" 2>&1
}

# Files out of a wheel of NVIDIA's. Arguments: package, the wheel's SHA-256, target folder, names of files.
get_from_wheel() {
    local package=$1 hash=$2 target=$3 work file
    shift 3
    work=$(mktemp -d)
    echo "$package --hash=sha256:$hash" >"$work/wanted"
    (
        cd "$work" || exit 1
        # For any machine the wheel of x86-64: a header is the same in all.
        python3 -m pip download -q --no-deps --require-hashes --only-binary :all: --platform manylinux2014_x86_64 \
            --platform manylinux_2_17_x86_64 -r wanted && python3 -m zipfile -e ./*.whl unpacked || exit 1
        mkdir -p "$target"
        for file in "$@"; do
            find unpacked -name "$file" -exec install -m 755 {} "$target" \;
        done
    ) >>"$tools_log" 2>&1
    local got=$?
    rm -rf "$work"
    return $got
}

# NVIDIA's programs and libraries for x86-64 alone. Arguments like get_from_wheel's.
get_for_x86() {
    [ "$(uname -m)" = x86_64 ] || { echo "$1 is for x86_64, and this is $(uname -m)" >>"$tools_log" && return 1; }
    get_from_wheel "$@"
}

get_grpcurl() {
    command -v go >/dev/null || { echo "grpcurl is built by Go 1.21 or newer, and there is no go" >>"$tools_log" && return 1; }
    local work
    work=$(mktemp -d)
    GOBIN=$tools/bin GOPATH=$work GOFLAGS=-modcacherw \
        go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3 >>"$tools_log" 2>&1 || { rm -rf "$work"; return 1; }
    rm -rf "$work"
    "$tools/bin/grpcurl" -version >/dev/null 2>>"$tools_log"
}

get_python_grpc() {
    python3 -m pip install -q --target "$tools/python-grpc" grpcio grpcio-tools >>"$tools_log" 2>&1
}

# ---- Kubernetes: in a folder of its own, keyed by version, since it takes minutes to build --------

# Whether this machine lets real nodes be, packages and binaries apart.
nodes_can_run() {
    [ "$(id -u)" = 0 ] && { [ -w /sys/fs/cgroup/cgroup.procs ] || [ -w /sys/fs/cgroup/memory/cgroup.procs ]; }
}

kubernetes_build=''

# Starts to build Kubernetes where it is missing; returns immediately. Arguments: --nodes, or nothing for a control plane alone.
start_kubernetes() {
    local get=$root/testkit/src/main/resources/dev/gpuwarden/testkit/cluster/get-kubernetes
    ! "$get" --check "$@" >>"$tools_log" || return 0
    setsid "$get" "$@" >"$kubernetes_log" 2>>"$tools_log" &
    kubernetes_build=$!
    # Built parts are kept, and the next build uses them.
    trap 'kill -- "-$kubernetes_build" 2>/dev/null || true' EXIT
}

# Waits for it. Returns 1 when it could not be built.
await_kubernetes() {
    [ -n "$kubernetes_build" ] || return 0
    step "build Kubernetes (minutes, once)"
    while kill -0 "$kubernetes_build" 2>/dev/null; do
        progress "$(tail -n 1 "$kubernetes_log")"
        sleep 0.5
    done
    wait "$kubernetes_build" || return 1
    kubernetes_build=''
    trap - EXIT
    step_done
}

# Requirements of `cluster up`.
need_nodes() {
    local missing
    mkdir -p "$root/target"
    mapfile -t missing < <(missing_node_packages)
    install_packages "${missing[@]}" || exit 2
    start_kubernetes --nodes
    await_kubernetes || fail "Kubernetes does not build; see $tools_log"
}

# ---- all that tests use --------------------------------------------------------------------------

need_test_tools() {
    mkdir -p "$tools"
    local missing with_nodes=()
    if nodes_can_run; then
        with_nodes=(--nodes)
    else
        absent+=("real nodes: they need root, and cgroups that can be written; nothing is tried on them")
    fi
    mapfile -t missing < <({
        missing_test_packages
        [ ${#with_nodes[@]} = 0 ] || missing_node_packages
    } | sort -u)
    install_packages "${missing[@]}" || absent+=("${missing[*]}: some tests use them")
    # Beside all that follows, up to the tests: it leaves a fifth of two processors idle.
    start_kubernetes "${with_nodes[@]}"
    tool promtool "metrics are not checked by Prometheus's own tool" bin/promtool get_promtool
    tool nvidia-smi "the simulated driver is not read by NVIDIA's own tool" bin/nvidia-smi get_nvidia_smi
    tool grpcurl "the daemon is not asked by the tool that people use" bin/grpcurl get_grpcurl
    tool grpcio "the daemon is not asked from Python" python-grpc/grpc_tools/protoc.py get_python_grpc
    tool nvidia-ml-py "the simulated driver is not read by NVIDIA's Python binding" python/pynvml.py get_nvidia_ml_py
    local package hash file
    while read -r -u 3 package hash; do
        file=nvml/${package#*==}/nvml.h
        tool "nvml.h of $package" "the mirror of NVML is not held to it" "$file" \
            get_from_wheel "$package" "$hash" "$tools/${file%/*}" nvml.h
    done 3< <(grep -v '^#' "$root/native/src/audit/nvml-headers.txt")
    while read -r -u 3 package hash; do
        file=cuda/${package/==//}/cuda.h
        tool "cuda.h of $package" "the mirror of CUDA is not compared with it" "$file" \
            get_from_wheel "$package" "$hash" "$tools/${file%/*}" cuda.h
    done 3< <(grep -v '^#' "$root/native/src/audit/cuda-headers.txt")
    tool libcuda.so.1 "the binding of CUDA is not tried on NVIDIA's library" cuda/driver/libcuda.so.1 get_libcuda
    local files folder
    while read -r -u 3 package hash files; do
        folder=cuda/${package/==//}
        # shellcheck disable=SC2086 # files are a list
        tool "$package" "the PTX of the kernels is not compared with its source" "$folder/${files%% *}" \
            get_for_x86 "$package" "$hash" "$tools/$folder" $files
    done 3< <(grep -v '^#' "$root/native/src/build/cuda-wheels.txt")
    while read -r -u 3 package hash files; do
        folder=nccl/${package/==//}
        # shellcheck disable=SC2086 # files are a list
        tool "$package" "the binding of NCCL is not tried on NVIDIA's library" "$folder/${files%% *}" \
            get_for_x86 "$package" "$hash" "$tools/$folder" $files
    done 3< <(grep -v '^#' "$root/native/src/build/nccl-wheels.txt")
}
