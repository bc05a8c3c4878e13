/** The client of a provider: a program of the cluster's operator that reboots and terminates machines. */
package dev.gpuwarden.aggregator.provider;
