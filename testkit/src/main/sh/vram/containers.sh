# shellcheck shell=bash disable=SC2154 # a part of vram-outside-kubernetes
packages() {
    case $engine in
        podman) echo podman,crun,netavark ;;
        docker) echo docker.io ;;
    esac
}
prepare() {
    mkdir -p "$machine/root/etc/docker"
    # The machine has no network that containers could share.
    echo '{"iptables": false, "ip6tables": false, "bridge": "none"}' >"$machine/root/etc/docker/daemon.json"
}
start() {
    # Without CAP_SYS_RESOURCE, Podman's crun cannot filter devices, and Docker's runc refuses --privileged.
    local devices=()
    [[ $engine == docker ]] || devices=(--privileged)
    in_machine sh -c "tar -C / -c bin sbin lib lib64 | $engine import - gpu-base" >/dev/null
    local container
    for container in immich-ml llama-swap; do
        # The simulated driver lists the process numbers that processes see, and a driver those of the host: hence --pid. Without
        # cgroup controllers there are no limits. systemd-run gives the engine the rights that it has at a restart, and must not end
        # what the engine leaves in the unit's cgroup.
        in_machine systemd-run --quiet --wait --collect --property KillMode=process "$engine" run --detach --name $container --network none \
            --pid host --pids-limit 0 "${devices[@]}" --env-file /srv/environment --volume /usr:/usr:ro --volume /opt:/opt:ro \
            --volume /tmp:/tmp --volume /srv:/srv gpu-base /srv/$container >/dev/null
    done
}
budgets() {
    cat <<'YAML'
tenants:
  - container: immich-ml
    budget: 3000Mi
  - container: llama-swap
    budget: 5000Mi
YAML
}
ended() { holds immich-ml 2000; }
