# Removes a node's cgroups, once what ran in them has ended. Arguments: its name, where the hierarchies are mounted.
name=$1 root=$2
tries=0
while [ "$tries" -lt 100 ]; do
    left=$(find "$root" -mindepth 1 -maxdepth 2 -type d -name "$name")
    [ -n "$left" ] || exit 0
    for cgroup in $left; do
        find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
    done
    tries=$((tries + 1))
    sleep 0.1
done
echo "cgroups $left: expected them to be empty" >&2
exit 1
