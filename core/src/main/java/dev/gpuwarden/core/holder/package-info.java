/** Which pods were given which GPUs, as their kubelet knows it. */
package dev.gpuwarden.core.holder;
