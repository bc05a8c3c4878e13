package dev.gpuwarden.aggregator.controller;

import dev.gpuwarden.aggregator.client.ApiException;

/**
 * Brings one object to its desired state. Level-triggered and idempotent: each call starts from what the caches hold now. Called by
 * several threads, for different names.
 */
public interface Reconciler {

    /** @throws ApiException where the API server fails or refuses: the name is reconciled again, later each time */
    void reconcile(String name) throws ApiException, InterruptedException;
}
