/** Small helpers that every module needs: threads, texts, digests, fields of trees. */
package dev.gpuwarden.core.util;
