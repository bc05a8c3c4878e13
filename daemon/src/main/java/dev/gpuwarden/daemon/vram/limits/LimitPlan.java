package dev.gpuwarden.daemon.vram.limits;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CgroupLimits.Limit;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

    LimitPlan {
        limits = Map.copyOf(limits);
        without = Map.copyOf(without);
    }

    /**
     * Plans a limit for each tenant with a budget whose processes are all in one control group that no other tenant is in.
     * There is no limit if the budgets exceed the GPU's memory. Returns empty if memory or tenants are unknown: the limits stay.
     *
     * @param capped whether a tenant must not have more than its budget
     * @param folderOf the folder of a process's control group
     */
    static Optional<LimitPlan> of(GpuObservation seen, boolean capped, Function<ProcessKey, Reading<String>> folderOf) {
        if (!(seen.memory() instanceof Reading.Present<GpuBytes> memory)
                || !(seen.tenants() instanceof Reading.Present<List<Tenant>> tenants)) {
            return Optional.empty();
        }
        List<Placed> all = tenants.value().stream()
                .map(tenant -> new Placed(
                        tenant, tenant.processes().stream().map(folderOf).collect(Collectors.toSet())))
                .toList();
        List<Placed> held = all.stream().filter(Placed::isHeld).toList();
        long room = memory.value().total() - memory.value().reserved();
        long promised = held.stream().mapToLong(Placed::budget).sum();
        Map<String, Limit> limits = new LinkedHashMap<>();
        Map<String, String> without = new LinkedHashMap<>();
        for (Placed placed : held) {
            Reading<String> folder = promised > room
                    ? none("the budgets of this GPU are " + Mib.text(promised) + " of its " + Mib.text(room))
                    : placed.folder(all);
            if (folder instanceof Reading.Absent<String> cause) {
                without.put(placed.tenant.name(), cause.detail());
            }
            folder.asOptional().ifPresent(path -> limits.put(path, placed.limit(capped)));
        }
        return Optional.of(new LimitPlan(limits, without));
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
}
