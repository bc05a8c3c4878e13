/** The client of the Kubernetes API: requests, informers, leader election and JSON trees. */
package dev.gpuwarden.aggregator.client;
