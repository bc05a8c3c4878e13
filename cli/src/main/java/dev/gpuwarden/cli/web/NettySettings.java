package dev.gpuwarden.cli.web;

/** What Netty reads once, when its classes are first used, for every part of the program that uses it. */
public final class NettySettings {

    private NettySettings() {}

    /** Sets what the user has not set. */
    public static void apply() {
        property("io.netty.leakDetection.level", "disabled");
        // Otherwise each start looks at all network cards for an address.
        property("io.netty.machineId", "00:00:00:00:00:00:00:00");
    }

    /** Where the user has not set it. */
    public static void property(String name, String value) {
        if (System.getProperty(name) == null) {
            System.setProperty(name, value);
        }
    }
}
