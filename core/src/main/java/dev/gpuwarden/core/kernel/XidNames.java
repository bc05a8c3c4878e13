package dev.gpuwarden.core.kernel;

import java.util.Optional;

/** The names of XIDs in NVIDIA's catalogue. */
public final class XidNames {

    private XidNames() {}

    /** Returns the mnemonic; empty for a code that is not in the catalogue. */
    public static Optional<String> of(int code) {
        return XidCatalog.entry(code).map(XidCatalog.Entry::mnemonic);
    }
}
