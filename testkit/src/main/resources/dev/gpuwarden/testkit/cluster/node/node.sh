# The first process of a node, in namespaces of its own: everything ends when it does, because the kernel ends a
# process namespace with its first process, and mounts and network devices with the last process that sees them.
# Arguments: folders of the node, of its simulated GPUs, of Kubernetes; name of containerd's folder there; its name, its address.
set -eu
folder=$1 gpus=$2 kubernetes=$3 containerd=/run/kubernetes/$4 name=$5 address=$6
hostname "$name"
# Shared like under an init system: pods may ask to see mounts that come later.
mount --make-rshared /
# Its own places, by the same paths on every node.
own() {
    mkdir -p "$folder/run/$2"
    mount --bind "$1" "$folder/run/$2"
}
mkdir -p "$folder/var/lib/kubelet" "$folder/var/log"
own "$folder" node
own "$gpus" simulated-gpus
own "$kubernetes" kubernetes
mount --bind "$folder/var/log" /var/log
mount --bind "$folder/var/lib" /var/lib
mount --rbind "$folder/run" /run
# Kubelets and daemons report the boot id of the simulated node, which changes with each boot.
mount --bind "$gpus/proc/sys/kernel/random/boot_id" /proc/sys/kernel/random/boot_id
# The node's own systemctl, before this machine's, which may have none.
mount -t overlay node -o "lowerdir=$folder/programs:/usr/bin" /usr/bin ||
    echo "expected an overlay over /usr/bin; systemctl cannot restart this node"
# The namespace of the processes that use the simulated GPUs.
ln -sfn "$(readlink /proc/self/ns/pid)" "$gpus/proc/1/ns/pid"
cd /run/node
# Until the other side has made and configured eth0.
until [ -e connected ]; do sleep 0.05; done

# Ends with 75 for a restart, and with 76 to stay off. A file lets the node ignore it.
[ -p power ] || mkfifo -m 600 power
trap 'exit 75' USR1
trap 'exit 76' USR2
(
    while :; do
        read -r what <power || continue
        echo "systemctl: $what"
        [ ! -e ignores-power ] || continue
        case $what in
        reboot) kill -USR1 1 ;;
        poweroff) kill -USR2 1 ;;
        esac
    done
) &

# Like a service that is restarted always. Arguments: its log, the program, its arguments.
keep() {
    log=$1
    shift
    while :; do
        "$@" >>"$log" 2>&1 || true
        echo "ended; started again" >>"$log"
        sleep 1
    done
}
PATH=$containerd:$PATH keep containerd.log "$containerd/containerd" --config conf/containerd.toml &
until "$containerd/ctr" --address /run/containerd/containerd.sock version >/dev/null 2>&1; do sleep 0.1; done
for archive in images/*; do
    "$containerd/ctr" --address /run/containerd/containerd.sock --namespace k8s.io images import "$archive"
done
keep kubelet.log /run/kubernetes/kubelet --config=conf/kubelet.yaml --kubeconfig=conf/kubeconfig \
    --hostname-override="$name" --node-ip="$address" &
keep kube-proxy.log /run/kubernetes/kube-proxy --config=conf/kube-proxy.yaml &
while :; do wait || true; sleep 1; done
