/** Takes the pods off nodes in quarantine: which, how, when, and what keeps them there. */
package dev.gpuwarden.aggregator.drain;
