/** A check of the words in comments, messages and documents against a list of banned words. */
package dev.gpuwarden.packaging.words;
