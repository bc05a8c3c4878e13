package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.nat.lib.Signature;

/** The forms of driver calls. The ordinal is the number in sampler.c; {@code out} is scratch memory. */
public enum Shape {
    /** f(device, out) */
    OUT("pp"),
    /** f(device, a, out) */
    ARG_OUT("pup"),
    /** f(device, a, b, out) */
    ARG2_OUT("puup"),
    /** f(device, a, b, c, out) */
    ARG3_OUT("puuup"),
    /** f(device, out, out + 8) */
    PAIR("ppp"),
    /** f(device, out, out + 8, out + 16, out + 24) */
    QUAD("ppppp"),
    /** f(device, a, out, NULL): writes a count; INSUFFICIENT_SIZE (7) means that the count is valid. */
    COUNT("pupp"),
    /** f(device, count, values): nvmlDeviceGetFieldValues. */
    FIELDS("pup");

    private final String arguments;

    Shape(String arguments) {
        this.arguments = arguments;
    }

    public Signature signature() {
        return Signature.of(arguments);
    }
}
