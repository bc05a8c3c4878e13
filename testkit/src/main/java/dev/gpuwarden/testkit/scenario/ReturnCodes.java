package dev.gpuwarden.testkit.scenario;

import java.util.LinkedHashMap;
import java.util.Map;

/** Names of driver return codes as scenarios write them (nvml.h 13.3, nvmlReturn_t). */
public final class ReturnCodes {

    public static final Map<String, Long> BY_NAME = new LinkedHashMap<>();

    static {
        String[] names = {
            "success",
            "uninitialized",
            "invalid-argument",
            "not-supported",
            "no-permission",
            "already-initialized",
            "not-found",
            "insufficient-size",
            "insufficient-power",
            "driver-not-loaded",
            "timeout",
            "irq-issue",
            "library-not-found",
            "function-not-found",
            "corrupted-inforom",
            "gpu-lost",
            "reset-required",
            "operating-system",
            "version-mismatch",
            "in-use",
            "memory",
            "no-data",
            "vgpu-ecc-not-supported",
            "insufficient-resources",
            "frequency-not-supported",
            "argument-version-mismatch",
            "deprecated",
            "not-ready",
            "gpu-not-found",
            "invalid-state"
        };
        for (int code = 0; code < names.length; code++) {
            BY_NAME.put(names[code], (long) code);
        }
        BY_NAME.put("unknown", 999L);
    }

    private ReturnCodes() {}

    public static String name(long code) {
        return BY_NAME.entrySet().stream()
                .filter(e -> e.getValue() == code)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(Long.toString(code));
    }
}
