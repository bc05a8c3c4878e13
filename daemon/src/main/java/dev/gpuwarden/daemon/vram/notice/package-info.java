/** Notices to tenants that are over their budgets while memory is short: the step before a recycle. */
package dev.gpuwarden.daemon.vram.notice;
