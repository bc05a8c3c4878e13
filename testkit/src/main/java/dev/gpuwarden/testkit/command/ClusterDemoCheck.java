package dev.gpuwarden.testkit.command;

/**
 * A command and a line of its output by which a demo checks a cluster.
 *
 * @param command a line of shell with kubectl and gpuwarden; or {@link #PAGE} and a node's name for the page of a node, or
 *     {@link #PAGE} alone for the access check of the page
 */
record ClusterDemoCheck(String command, ExpectedLine expected) {

    /** The aggregator's page. */
    static final String PAGE = "page ";

    static ClusterDemoCheck of(String command, String line) {
        return new ClusterDemoCheck(command, ExpectedLine.of(line));
    }

    /** Returns the title of the output. */
    String title() {
        if (!command.startsWith(PAGE)) {
            return "$ " + command;
        }
        return command.equals(PAGE)
                ? "the page, by a port-forward, answers"
                : "the page, by a port-forward and with a token, shows of " + command.substring(PAGE.length());
    }
}
