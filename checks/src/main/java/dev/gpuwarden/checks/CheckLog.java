package dev.gpuwarden.checks;

/** The log of this package. */
final class CheckLog {

    /** A line of the log has the package of its logger as its part. Programs match on "check", which this package was called. */
    static final System.Logger LOG = System.getLogger("dev.gpuwarden.check.CheckRunner");

    private CheckLog() {}
}
