package dev.gpuwarden.testkit.cluster;

/** The result of a node's restart, however it is requested. */
public enum Restart {
    /** A new boot, with another boot id; its GPUs have lost what a restart heals. */
    COMES_BACK,
    /** It stays off. */
    NEVER_COMES_BACK,
    /** Its processes end and start, but the machine itself was not restarted: boot id and GPUs are as before. */
    SAME_BOOT_ID,
    /** `systemctl reboot` reports success and nothing ends. */
    IGNORED
}
