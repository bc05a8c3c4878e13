#!/bin/sh
# Builds the C side if make and a C compiler are there; otherwise prints what is missing without it.
for tool in make "${CC:-gcc}"; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "native: no $tool, so no C is built. Telemetry goes through JNA instead of JNI; tests that need the simulated" \
             "drivers fail and say so. Debian: apt-get install gcc make" >&2
        exit 0
    fi
done
exec make -s all
