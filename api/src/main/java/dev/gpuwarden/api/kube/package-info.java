/** What a Node and its Events say of faults, whoever writes them: the words and conditions of NVSentinel. Pure. */
package dev.gpuwarden.api.kube;
