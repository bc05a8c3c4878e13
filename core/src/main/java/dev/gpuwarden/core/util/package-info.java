/** Small helpers that every module needs: threads, texts, digests. */
package dev.gpuwarden.core.util;
