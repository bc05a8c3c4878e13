package dev.gpuwarden.daemon.vram.limits;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CgroupLimits.Limit;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The limits of one GPU that its tenants' budgets give. Pure.
 *
 * @param limits by the folder of the control group
 * @param without reasons of tenants with a budget and no limit, by their names
 */
record LimitPlan(Map<String, Limit> limits, Map<String, String> without) {

    private static final LimitPlan NOTHING = new LimitPlan(Map.of(), Map.of());

    LimitPlan {
        limits = Map.copyOf(limits);
        without = Map.copyOf(without);
    }

    /**
     * Plans a limit for each tenant with a budget whose processes are all in one control group that no other tenant is in.
     * There is no new limit on a GPU whose memory or tenants are unknown, and none if the budgets exceed its memory.
     *
     * @param capped whether a tenant must not have more than its budget
     * @param folderOf the folder of a process's control group
     */
    static LimitPlan of(GpuObservation seen, boolean capped, Function<ProcessKey, Reading<String>> folderOf) {
        if (!isKnown(seen)) {
            return NOTHING;
        }
        GpuBytes memory = seen.memory().asOptional().orElseThrow();
        List<Placed> all = seen.tenants().asOptional().get().stream()
                .map(tenant -> new Placed(
                        tenant, tenant.processes().stream().map(folderOf).collect(Collectors.toSet())))
                .toList();
        List<Placed> held = all.stream().filter(Placed::isHeld).toList();
        long room = memory.total() - memory.reserved();
        long promised = held.stream().mapToLong(Placed::budget).sum();
        Map<String, Limit> limits = new LinkedHashMap<>();
        Map<String, String> without = new LinkedHashMap<>();
        for (Placed placed : held) {
            Reading<String> folder = promised > room
                    ? none("the budgets of this GPU are " + mib(promised) + " of its " + mib(room))
                    : placed.folder(all);
            if (folder instanceof Reading.Absent<String> cause) {
                without.put(placed.tenant.name(), cause.detail());
            }
            folder.asOptional().ifPresent(path -> limits.put(path, placed.limit(capped)));
        }
        return new LimitPlan(limits, without);
    }

    /** Returns whether memory and tenants of the GPU are known. Without them its plan is empty, which is no reason to remove a limit. */
    static boolean isKnown(GpuObservation seen) {
        return seen.memory().asOptional().isPresent()
                && seen.tenants().asOptional().isPresent();
    }

    /** A tenant and the folders of its processes' control groups. */
    private record Placed(Tenant tenant, Set<Reading<String>> folders) {

        boolean isHeld() {
            return tenant.budget().asOptional().isPresent()
                    && !tenant.leaving()
                    && !tenant.processes().isEmpty();
        }

        /** Returns the budget of a tenant that is held to one. */
        long budget() {
            return tenant.budget().asOptional().orElseThrow();
        }

        Limit limit(boolean capped) {
            return new Limit(budget(), capped ? OptionalLong.of(budget()) : OptionalLong.empty());
        }

        /** Returns its one folder, in which no other tenant is; absent with the reason. */
        Reading<String> folder(List<Placed> all) {
            if (folders.size() != 1) {
                return none("its processes are in " + folders.size() + " control groups");
            }
            Reading<String> only = folders.iterator().next();
            if (only instanceof Reading.Absent<String> unknown) {
                return none("its control group is unknown: " + unknown.detail());
            }
            return all.stream()
                    .filter(other -> other != this && other.folders.contains(only))
                    .findFirst()
                    .map(other -> none("its control group also has processes of " + other.tenant.name()))
                    .orElse(only);
        }
    }

    private static Reading<String> none(String why) {
        return Reading.absent(Absence.NO_DATA, 0, why);
    }

    private static String mib(long bytes) {
        return (bytes >> 20) + " MiB";
    }
}
