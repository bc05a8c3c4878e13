/** The fleet page, and the authorization of its readers. */
package dev.gpuwarden.aggregator.web;
