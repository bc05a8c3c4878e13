package dev.gpuwarden.testkit.scenario;

import java.util.List;

/**
 * An error that PCIe devices count.
 *
 * @param severity `correctable`, `nonfatal`, `fatal`, as sysfs names its files
 * @param bit of the status register
 */
public record AerError(String severity, String name, int bit, String layer, String agent) {

    /** All errors in the order of sysfs. */
    public static final List<AerError> ALL = Rows.of("aer.tsv", 5).stream()
            .map(c -> new AerError(c[0], c[1], Integer.parseInt(c[2]), c[3], c[4]))
            .toList();

    /** `aer.correctable.BadTLP` */
    public String key() {
        return "aer." + severity + "." + name;
    }
}
