# Joins a node to the cluster's bridge, and adds the routes to pods to it, to the API server and to this machine.
# Arguments: a process in the bridge's network namespace, one in the node's, number of the cluster, of the node, most nodes.
set -eu
bridge=$1 node=$2 number=$3 k=$4 most=$5
# The device of an earlier boot goes with its namespace, a moment after the last process there.
nsenter --target "$bridge" --net ip link delete "node$k" 2>/dev/null || true
# The same address in each boot: neighbours remember it.
nsenter --target "$bridge" --net ip link add "node$k" type veth \
    peer name eth0 address "02:88:$(printf '%02x:%02x' "$number" "$k"):00:01" netns "$node"
nsenter --target "$bridge" --net ip link set "node$k" master nodes up
nsenter --target "$node" --net sh -euc '
    number=$1 k=$2 most=$3
    ip link set lo up
    ip address add "10.88.$number.$k/24" dev eth0
    ip link set eth0 up
    ip route add default via "10.88.$number.254"
    echo 1 >/proc/sys/net/ipv4/ip_forward
    other=1
    while [ "$other" -le "$most" ]; do
        [ "$other" = "$k" ] || echo "route add 10.$((100 + other)).$number.0/24 via 10.88.$number.$other"
        other=$((other + 1))
    done | ip -batch -' connect "$number" "$k" "$most"
nsenter --target "$bridge" --net ip route replace "10.$((100 + k)).$number.0/24" via "10.88.$number.$k"
ip route replace "10.$((100 + k)).$number.0/24" via "10.88.$number.$k"
