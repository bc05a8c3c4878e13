package dev.gpuwarden.testkit.command;

import picocli.CommandLine.Option;

/**
 * A hidden option of the source tree's start script, which checks with it whether a command line needs real nodes before it builds
 * their programs. Help and usage errors stay as they are; a command that would start a cluster ends with a code of its own instead.
 */
final class BeforeNodes {

    /** The exit code of a command line that would start a cluster; the start script expects it. */
    static final int NEEDS_NODES = 10;

    @Option(names = "--before-nodes", hidden = true)
    boolean asked;
}
