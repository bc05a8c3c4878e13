package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The actions on a node that have begun and not ended: its resources, of any creator, and the attempts of its record, whose
 * resources may not exist yet.
 */
record RepairsInProgress(List<MaintenanceResource> resources, RepairRecord record) {

    /** Returns the reboot, termination or template, before whose end no other action begins. */
    Optional<String> alone() {
        return resource(each -> each.kind() != MaintenanceKind.GPU_RESET)
                .or(() -> attempt(each -> each.group().equals(RepairGroup.RESTART)))
                .or(() -> attempt(each -> each.group().template().isPresent()));
    }

    /** Returns the reset of one of the group's GPUs. */
    Optional<String> reset(RepairGroup group) {
        return resource(each -> each.resets(group.gpus()))
                .or(() -> attempt(each -> each.group().kind() == MaintenanceKind.GPU_RESET
                        && !Collections.disjoint(each.group().gpus(), group.gpus())));
    }

    Optional<String> any() {
        return resource(each -> true).or(() -> attempt(each -> true));
    }

    /** Returns the task of an operator for a resource of a template that is no longer configured, before whose end nothing begins. */
    Optional<String> unwatched(RepairTemplates templates) {
        return resources.stream()
                .filter(MaintenanceResource::inProgress)
                .flatMap(each -> each.kind() instanceof TemplateKind kind
                                && templates.of(kind).isEmpty()
                        ? Stream.of(task(each, kind))
                        : Stream.empty())
                .findFirst();
    }

    private static String task(MaintenanceResource resource, TemplateKind kind) {
        return "check " + kind.resources().kind() + " " + resource.name() + ": its template " + kind.template()
                + " for "
                + kind.resources().plural() + " of " + kind.resources().apiVersion()
                + " is no longer configured, so its end is unknown"
                + (resource.why().isEmpty() ? "" : ", and " + resource.why())
                + ": configure the template again, or delete the resource";
    }

    private Optional<String> resource(Predicate<MaintenanceResource> which) {
        return resources.stream()
                .filter(each -> each.inProgress() && which.test(each))
                .map(each -> text(each.kind().resources().kind(), each.name()))
                .findFirst();
    }

    private Optional<String> attempt(Predicate<Repair> which) {
        return record.inSession()
                .filter(each -> each.inProgress() && which.test(each))
                .map(each -> text(each.group().kind().resources().kind(), each.resource()))
                .findFirst();
    }

    private static String text(String kind, String name) {
        return kind + " " + name + " is in progress";
    }
}
