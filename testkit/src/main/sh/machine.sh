# shellcheck shell=bash
# A Debian with systemd in a machine of systemd-nspawn, in which the daemon is installed by its own unit and sees simulated GPUs. The
# script that sources it sets: name, for messages; root, the repository. Exit code 2: something that the machine needs is missing.
image=$root/packaging/target/image
missing() {
    echo "$name: $*" >&2
    exit 2
}
[[ $EUID -eq 0 ]] || missing "expected root, found user $EUID"
for need in debootstrap systemd-nspawn nsenter; do
    command -v $need >/dev/null || missing "expected the program $need, found none (apt-get install debootstrap systemd-container)"
done
[[ -x $image/bin/gpuwarden ]] || missing "expected the image of ./gpuwarden build in $image, found none"
grep -q cgroup2 /proc/mounts || missing "expected cgroup v2 mounted, found none in /proc/mounts"

machine=$(mktemp -d -t gpuwarden-machine.XXXXXX)
units=$machine/root/etc/systemd/system
leader=
in_machine() { nsenter -t "$leader" -m -p -u -i -n -- "$@"; }
after_machine() { :; } # a story may have more to clean up
end() {
    if [[ -n $leader ]]; then in_machine systemctl poweroff || true; fi
    wait || true
    after_machine
    rm -rf --one-file-system "$machine"
}
trap end EXIT
await() { # DESCRIPTION COMMAND...: at most a minute
    local what=$1
    shift
    for _ in $(seq 120); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.5
    done
    echo "$name: expected within a minute: $what" >&2
    tail -n 20 "$machine"/root/srv/*.log >&2 || true
    if [[ -n $leader ]]; then in_machine journalctl --no-pager -o cat -n 60 >&2 || true; fi
    exit 1
}

# Makes the machine with these packages, and a node of this scenario. The daemon gets the variables of the node that the pattern names.
make_machine() { # PACKAGES SCENARIO PATTERN
    echo "making a Debian with systemd and $1 in $machine"
    debootstrap --variant=minbase --include="systemd,systemd-sysv,dbus,$1" bookworm "$machine/root" >"$machine/log" 2>&1 ||
        missing "debootstrap failed: $(grep -E '^(E|W):' "$machine/log" | tail -n 2 | tr '\n' ' ')"
    cp -a "$image" "$machine/root/opt/gpuwarden"
    cp "$root/systemd/gpuwarden.service" "$units"
    mkdir -p "$machine/root/etc/gpuwarden" "$units/gpuwarden.service.d"
    echo gpu-node >"$machine/root/etc/hostname"
    cat >"$units/simulated-gpus.service" <<UNIT
[Service]
ExecStartPre=rm -f /srv/environment
ExecStart=/opt/gpuwarden/bin/gpuwarden sim exec $2 -- sh -c 'env | grep -E "$3" >/srv/environment; exec sleep infinity'
ExecStartPost=sh -c 'until test -s /srv/environment; do sleep 0.1; done'
UNIT
    # Simulated GPUs are files, which a driver's devices are not.
    cat >"$units/gpuwarden.service.d/simulated.conf" <<'UNIT'
[Unit]
Requires=simulated-gpus.service
After=simulated-gpus.service
[Service]
EnvironmentFile=/srv/environment
ReadWritePaths=/tmp
PrivateTmp=false
UNIT
}

find_leader() {
    local nspawn
    nspawn=$(pgrep -P "$boots" systemd-nspawn) && leader=$(pgrep -P "$nspawn" -f systemd | head -1) && [[ -n $leader ]] &&
        in_machine systemctl is-system-running --wait | grep -Eq 'running|degraded'
}
# Engines load filters for devices, and containers get keys of their own. Exit code 133 requests another boot (systemd-nspawn.c).
boots() {
    local code=133
    while [[ $code == 133 ]]; do
        code=0
        SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn -q -D "$machine/root" --boot --register=no --keep-unit --private-network \
            --system-call-filter='@keyring bpf' >"$machine/log" 2>&1 || code=$?
    done
}
boot_machine() {
    boots &
    boots=$!
    await "a machine that has booted" find_leader
    in_machine systemctl start simulated-gpus
}
