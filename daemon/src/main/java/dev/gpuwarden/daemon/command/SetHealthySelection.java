package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.HealthEventCodec;
import dev.gpuwarden.api.v1.SetHealthyRequest;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The selection of current faults; an empty condition matches all. Pure.
 *
 * @param checks names in events
 * @param gpu the names of a GPU; a fault is about it if its event names it, whatever part of it the fault itself names
 * @param event the ID of the event that raised it
 */
record SetHealthySelection(List<String> checks, List<String> codes, List<Entity> gpu, Optional<String> event) {

    List<Fault> of(List<Fault> faults) {
        return faults.stream()
                .filter(fault -> checks.isEmpty() || checks.contains(fault.key().checkName()))
                .filter(fault -> codes.isEmpty() || codes.contains(fault.key().errorCode()))
                .filter(fault ->
                        gpu.isEmpty() || fault.cause().entities().stream().anyMatch(gpu::contains))
                .filter(fault -> event.isEmpty() || fault.cause().id().equals(event.get()))
                .toList();
    }

    /** Faults of one check with one code, which a single request can name exactly. */
    private record Group(String agent, String componentClass, String checkName, String errorCode) {
        static Group of(FaultKey key) {
            return new Group(key.agent(), key.componentClass(), key.checkName(), key.errorCode());
        }
    }

    /** Returns requests that name these faults, and none that is raised after they were listed. */
    static List<SetHealthyRequest> requests(List<Fault> faults, String reason) {
        Map<Group, Set<Entity>> groups = new LinkedHashMap<>();
        for (Fault fault : faults) {
            groups.computeIfAbsent(Group.of(fault.key()), group -> new LinkedHashSet<>())
                    .add(fault.key().entity());
        }
        List<SetHealthyRequest> requests = new ArrayList<>();
        groups.forEach((group, entities) -> {
            SetHealthyRequest.Builder request = SetHealthyRequest.newBuilder()
                    .setReason(reason)
                    .setAgent(group.agent())
                    .setComponentClass(group.componentClass())
                    .setCheckName(group.checkName())
                    .addErrorCodes(group.errorCode());
            entities.forEach(entity -> request.addEntities(HealthEventCodec.toWire(entity)));
            requests.add(request.build());
        });
        return requests;
    }
}
