# shellcheck shell=bash disable=SC2154 # a part of vram-outside-kubernetes and repair-outside-kubernetes
packages() { echo slurm-wlm,munge,procps,iproute2; }
prepare() {
    printf '127.0.0.1 localhost\n10.88.9.1 gpu-node\n' >"$machine/root/etc/hosts"
    mkdir -p "$machine/root/srv/cgroup"
    cat >"$machine/root/etc/slurm/slurm.conf" <<'CONF'
ClusterName=gpuwarden
SlurmctldHost=gpu-node(10.88.9.1)
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
ProctrackType=proctrack/cgroup
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=gpu-node NodeAddr=10.88.9.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=gpu-node Default=YES OverSubscribe=FORCE:4
CONF
    # The last task of an array has the array's number as its own, and scancel with that number would end both.
    cat >"$machine/root/srv/task" <<'SH'
#!/bin/sh
[ "$SLURM_ARRAY_TASK_ID" = 2 ] && exec /srv/immich-ml
exec /srv/llama-swap
SH
    chmod +x "$machine/root/srv/task"
    if [[ $plugin == cgroup/v2 ]]; then
        printf 'CgroupPlugin=cgroup/v2\n' >"$machine/root/etc/slurm/cgroup.conf"
        grep -qv '^0::' /proc/self/cgroup || return 0
        "${CC:-gcc}" -shared -fPIC -O2 -o "$machine/root/srv/unified_cgroup.so" "$sources/vram/unified_cgroup.c" -ldl ||
            missing "expected a C compiler, because this kernel has cgroup v1 beside v2, and Slurm's plugin for v2 refuses that"
        mkdir -p "$units/slurmd.service.d"
        printf '[Service]\nEnvironment=LD_PRELOAD=/srv/unified_cgroup.so\n' >"$units/slurmd.service.d/unified.conf"
    else
        # A mount of the freezer for Slurm alone.
        printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=yes\nCgroupMountpoint=/srv/cgroup\n' >"$machine/root/etc/slurm/cgroup.conf"
    fi
}
start_slurm() {
    # Names resolve only where an interface has another address than 127.0.0.1.
    in_machine ip address add 10.88.9.1/32 dev lo
    in_machine systemctl restart munge slurmctld slurmd
    await "an idle node in Slurm" eval 'in_machine sinfo --noheader --format %T | grep -q idle'
    echo "Slurm with $plugin"
}
start() {
    start_slurm
    in_machine sh -c 'set -a; . /srv/environment; cd /srv; exec sbatch --array=1-2 --output=/srv/task-%a.log /srv/task'
}
job() { in_machine squeue --noheader --format '%A %K' | sed -n "s/ $1\$//p"; }
budgets() {
    cat <<YAML
tenants:
  - slurm: "$(job 2)"
    budget: 3000Mi
  - slurm: "$(job 1)"
    budget: 5000Mi
YAML
}
ended() {
    in_machine scontrol show job -o | grep -q 'ArrayTaskId=2 .*JobState=CANCELLED'
}
after_machine() { # the freezer is the kernel's, so Slurm's folders outlive the machine
    local left=/sys/fs/cgroup/freezer/slurm_gpu-node
    for _ in 1 2 3 4 5; do
        [[ -d $left ]] || return 0
        find $left -depth -type d -exec rmdir {} + 2>/dev/null || sleep 1
    done
    echo "$name: $left is left over: remove it with rmdir" >&2
}
