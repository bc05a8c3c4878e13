package dev.gpuwarden.aggregator.controller;

import dev.gpuwarden.aggregator.client.ApiException;

/**
 * The step that brings one object to its desired state. Level-triggered and idempotent: each call starts from the present
 * content of the caches. Called by several threads, for different names.
 */
public interface Reconciler {

    /** @throws ApiException if the API server fails or refuses: the name is reconciled again, later each time */
    void reconcile(String name) throws ApiException, InterruptedException;
}
