#!/bin/sh
# Runs a real nvidia-smi against a simulated driver and compares what it prints with the table.
# Use: check_smi.sh TARGET_DIRECTORY GENERATION NVIDIA_SMI      (from a driver package; not shipped)
set -u
out=$1 generation=$2 smi=$3
here=$(dirname "$0")
table=$(mktemp -u)
trap 'rm -f "$table"' EXIT
fill() { python3 "$here/fill_table.py" "$out/sim-layout.tsv" "$table" "$@"; }
ask() { GPUWARDEN_SIM=$table LD_LIBRARY_PATH=$out/sim/$generation "$smi" "$@" 2>&1; }
failed=0
expect() { # subject, expected, seen
    case $3 in
    *"$2"*) ;;
    *) echo "nvidia-smi on $generation: $1: expected '$2', seen '$(echo "$3" | head -c 200)'" >&2
       failed=1 ;;
    esac
}

used=1024 # a driver with memory v2 leaves out the reserved part
[ "$generation" = 470 ] && used=1602
fill gpus=2 gpu[1].temp_gpu=88
expect "list" "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-6f1a0000" "$(ask -L)"
expect "screen" "88C" "$(ask)"
expect "processes on screen" "/usr/bin/python3" "$(ask)"
expect "query" "1, 88, $used MiB, 37 %" \
    "$(ask --query-gpu=index,temperature.gpu,memory.used,utilization.gpu --format=csv,noheader)"

expect "compute apps" "4242, /usr/bin/python3, 1024 MiB" \
    "$(ask --query-compute-apps=pid,name,used_memory --format=csv,noheader)"
expect "xml" "<serial>1653021000001<" "$(ask -q -x)"
fill gpu[0].inforom_valid=0
expect "infoROM" "infoROM is corrupted" "$(ask)"
fill gpu[1].state=STATE_LOST
expect "lost GPU" "GPU is lost" "$(ask)"
fill header.init_result=18
expect "driver mismatch" "version mismatch" "$(ask)"
[ $failed = 0 ] && echo "nvidia-smi on $generation prints the table's values"
exit $failed
