# Makes a node's cgroup in every hierarchy. Arguments: its name, where the hierarchies are mounted.
set -eu
name=$1 root=$2
if [ -e "$root/cgroup.controllers" ]; then
    mkdir -p "$root/$name"
    for controller in $(cat "$root/cgroup.controllers"); do
        echo "+$controller" >"$root/cgroup.subtree_control" 2>/dev/null || true
    done
    exit
fi
for hierarchy in "$root"/*; do
    [ -e "$hierarchy/cgroup.procs" ] || continue
    mkdir -p "$hierarchy/$name"
    # A new cpuset is empty, and nothing can run in it.
    for file in cpuset.cpus cpuset.mems; do
        [ ! -e "$hierarchy/$file" ] || cat "$hierarchy/$file" >"$hierarchy/$name/$file"
    done
done
