package dev.gpuwarden.core.kernel;

import java.util.Optional;

/** What NVIDIA's catalogue calls an Xid. */
public final class XidNames {

    private XidNames() {}

    /** The mnemonic; empty for a code that the catalogue does not have. */
    public static Optional<String> of(int code) {
        return XidCatalog.entry(code).map(XidCatalog.Entry::mnemonic);
    }
}
