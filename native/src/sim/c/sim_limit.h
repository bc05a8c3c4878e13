/*
 * Limits of memory for control groups (cgroup v2). A limit counts for the group and those below it. Groups are compared by the inode
 * of their folder, since a process in a container sees its own group as the root.
 */
#ifndef GPUWARDEN_SIM_LIMIT_H
#define GPUWARDEN_SIM_LIMIT_H

#include "sim_state.h"

/* This process's group, then those above it, as far as it sees them; 0 after the last. All 0 without cgroup v2. */
void sim_own_cgroups(int64_t groups[SIM_CGROUP_DEPTH]);

/* Bytes that live clients in this group hold on this GPU. */
int64_t sim_limit_used(const sim_table_t *table, int slot, int64_t group);

/* True if a client in these groups can have these bytes too. Call it with the account locked. */
bool sim_limit_permits(const sim_table_t *table, int slot, const int64_t groups[SIM_CGROUP_DEPTH], int64_t bytes);

#endif
