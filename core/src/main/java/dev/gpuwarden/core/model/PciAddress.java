package dev.gpuwarden.core.model;

import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a device on the PCI bus. NVML writes the domain with eight digits, the kernel with four, and some logs
 * leave out the function. All three parse to the same address, so compare addresses and never their texts.
 */
public record PciAddress(int domain, int bus, int device, int function) implements Comparable<PciAddress> {

    private static final HexFormat HEX = HexFormat.of();
    private static final Pattern FORM =
            Pattern.compile("(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})(?:\\.([0-7]))?");

    /** Returns the address; empty where the text is none. */
    public static Optional<PciAddress> parse(String text) {
        Matcher m = FORM.matcher(text.trim());
        if (!m.matches()) {
            return Optional.empty();
        }
        int domain = m.group(1) == null ? 0 : Integer.parseUnsignedInt(m.group(1), 16);
        int device = Integer.parseInt(m.group(3), 16);
        if (device > 0x1f) {
            return Optional.empty();
        }
        int function = m.group(4) == null ? 0 : Integer.parseInt(m.group(4));
        return Optional.of(new PciAddress(domain, Integer.parseInt(m.group(2), 16), device, function));
    }

    @Override
    public int compareTo(PciAddress other) {
        int byDomain = Integer.compareUnsigned(domain, other.domain);
        if (byDomain != 0) {
            return byDomain;
        }
        int mine = bus << 8 | device << 3 | function;
        return Integer.compare(mine, other.bus << 8 | other.device << 3 | other.function);
    }

    /** Returns the kernel's form, as in `/sys/bus/pci/devices`: `0000:3b:00.0`. */
    @Override
    public String toString() {
        // Not String.format, which allocates a kilobyte: every finding names its GPU by this text.
        int digits = (Integer.SIZE - Integer.numberOfLeadingZeros(domain) + 3) / 4;
        return HEX.toHexDigits(domain, Math.max(4, digits)) + ":" + HEX.toHexDigits((byte) bus) + ":"
                + HEX.toHexDigits((byte) device) + "." + function;
    }
}
