/** The output of a run: the text of nccl-tests, its JSON, and a picture. All of it is pure. */
package dev.gpuwarden.nccl.report;
