package dev.gpuwarden.testkit.command;

import java.time.Duration;
import java.util.List;

/**
 * Something that is done to a cluster, and how kubectl must show it.
 *
 * @param looks with arguments of kubectl; all of them must show it
 * @param limit how long that may take
 */
record ClusterAct(String what, Runnable doing, List<DemoLook> looks, Duration limit) {}
