# Makes the bridge in a network namespace, with an address for the API server, and this machine's way into it; prints the number
# of the cluster.
# Arguments: a process in that namespace, how many numbers there are.
set -eu
pid=$1 numbers=$2
number=1
# Only one device of this name can exist: the process that creates it has the number.
until ip link add "gpuwarden$number" type veth peer name host netns "$pid" 2>/dev/null; do
    number=$((number + 1))
    if [ "$number" -gt "$numbers" ]; then
        ip link add gpuwarden1 type veth peer name host netns "$pid"
        exit 1
    fi
done
# An address of its own: else the bridge takes the lowest of its devices', which changes as nodes come, and they would not notice.
nsenter --target "$pid" --net sh -euc '
    ip link set lo up
    ip link add nodes address 02:88:00:00:00:fd type bridge
    ip link set nodes up
    ip link set host master nodes up
    ip address add "10.88.$1.253/24" dev nodes
    ip route add default via "10.88.$1.254"' network "$number"
ip address add "10.88.$number.254/24" dev "gpuwarden$number"
ip link set "gpuwarden$number" up
echo "$number"
