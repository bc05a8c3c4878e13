package dev.gpuwarden.cli;

/** The mode of a part that acts on workloads, nodes or servers. */
public enum Mode {
    /** It decides nothing. */
    off,
    /** It decides and reports, and changes nothing. */
    dry_run,
    armed;

    @Override
    public String toString() {
        return name().replace('_', '-');
    }
}
