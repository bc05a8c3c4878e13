/** The processes and threads of a run: how they find each other, and how they exchange results. */
package dev.gpuwarden.nccl.group;
