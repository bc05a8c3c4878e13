package dev.gpuwarden.cli.web;

/** System properties that Netty reads once, when its classes are first used in the process. */
public final class NettySettings {

    private NettySettings() {}

    /** Sets the properties that the user has not set. */
    public static void apply() {
        property("io.netty.leakDetection.level", "disabled");
        // Otherwise each start reads all network cards for an address.
        property("io.netty.machineId", "00:00:00:00:00:00:00:00");
    }

    /** Sets a property that the user has not set. */
    public static void property(String name, String value) {
        if (System.getProperty(name) == null) {
            System.setProperty(name, value);
        }
    }
}
