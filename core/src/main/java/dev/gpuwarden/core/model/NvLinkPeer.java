package dev.gpuwarden.core.model;

/**
 * The device at the other end of an NVLink.
 *
 * @param address its PCI address
 */
public record NvLinkPeer(Type type, PciAddress address) {

    /** The kind of device. */
    public enum Type {
        GPU,
        SWITCH,
        /** A device that no reset of a GPU concerns, such as a processor. */
        OTHER,
        /** The driver does not report it. */
        UNKNOWN
    }
}
