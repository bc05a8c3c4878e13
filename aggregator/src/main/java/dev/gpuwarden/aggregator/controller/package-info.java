/** The runtime of the controllers: work queue, informers and the mode of actions. */
package dev.gpuwarden.aggregator.controller;
