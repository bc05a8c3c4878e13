/** JSON as plain trees: what the API server has travels without loss through whoever reads a part of it. */
package dev.gpuwarden.aggregator.json;
