package dev.gpuwarden.aggregator.part;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.cli.run.Closer;

/**
 * The objects that the parts of a running aggregator share.
 *
 * @param manager the runtime of the controllers, which work while this replica leads
 * @param cache the Nodes and NodeHealths; empty until a part watches them
 * @param closer closes what parts give it, in reverse order, before the manager
 */
public record Replica(KubeClient api, Manager manager, NodeCache cache, AuditLog audits, Closer closer) {}
