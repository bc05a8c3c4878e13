# shellcheck shell=bash disable=SC2154 # a part of vram-outside-kubernetes
packages() { echo procps; }
prepare() {
    local unit
    for unit in immich-ml llama-swap; do
        printf '[Service]\nEnvironmentFile=/srv/environment\nExecStart=/srv/%s\n' $unit >"$units/$unit.service"
    done
}
start() { in_machine systemctl start immich-ml llama-swap; }
budgets() {
    cat <<'YAML'
tenants:
  - unit: immich-ml.service
    budget: 3000Mi
  - unit: llama-swap.service
    budget: 5000Mi
YAML
}
ended() { holds immich-ml 2000; }
