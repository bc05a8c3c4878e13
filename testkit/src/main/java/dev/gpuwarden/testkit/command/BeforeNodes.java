package dev.gpuwarden.testkit.command;

import picocli.CommandLine.Option;

/**
 * What the source tree's start script asks before it installs and builds what real nodes need: whether this command line needs
 * them. Help and wrong usage are answered as ever; what would start a cluster ends with a code of its own instead.
 */
final class BeforeNodes {

    /** The exit code of a command line that would start a cluster; the start script knows it too. */
    static final int NEEDS_NODES = 10;

    @Option(names = "--before-nodes", hidden = true)
    boolean asked;
}
