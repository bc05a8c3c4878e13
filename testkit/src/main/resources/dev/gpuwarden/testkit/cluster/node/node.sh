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
cd /run/node
# Until the other side has made and configured eth0.
until [ -e connected ]; do sleep 0.05; done

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
