package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Conditions on events; an event must match all of them. */
public final class EventsConditions {

    private static final Pattern CHECK_ID = Pattern.compile("[a-z0-9]+(-[a-z0-9]+)*");

    @Option(
            names = "--check",
            split = ",",
            paramLabel = "NAME",
            description = "Events of these checks, as named in events or by 'gpuwarden check --list'.")
    List<String> checks = List.of();

    @Option(
            names = "--code",
            split = ",",
            paramLabel = "CODE",
            description = "Events with one of these codes, for example 79.")
    List<String> codes = List.of();

    @Option(names = "--gpu", paramLabel = "GPU", description = "Events about this GPU: its index, UUID or PCI address.")
    @Nullable String gpu;

    @Option(names = "--agent", split = ",", paramLabel = "NAME", description = "Events from one of these agents.")
    List<String> agents = List.of();

    @Option(names = "--fatal", description = "Fatal faults only.")
    boolean fatal;

    @Option(names = "--healthy", description = "Recovery events only.")
    boolean healthy;

    @Option(names = "--unhealthy", description = "Faults only.")
    boolean unhealthy;

    boolean none() {
        return checks.isEmpty()
                && codes.isEmpty()
                && gpu == null
                && agents.isEmpty()
                && !fatal
                && !healthy
                && !unhealthy;
    }

    void validate() {
        if (healthy && (unhealthy || fatal)) {
            throw new UserError("--healthy and " + (unhealthy ? "--unhealthy" : "--fatal") + " exclude each other");
        }
    }

    /** Returns check names as in events: for a check's ID its event name too. */
    List<String> checkNames() {
        return checks.stream().flatMap(EventsConditions::names).distinct().toList();
    }

    static Stream<String> names(String check) {
        return CHECK_ID.matcher(check).matches()
                ? Stream.of(check, CheckInfo.of(check, "", "").eventName())
                : Stream.of(check);
    }

    Optional<String> gpu() {
        return Optional.ofNullable(gpu);
    }

    /** Returns all conditions but the GPU; a request holds one name only. */
    ListEventsRequest.Builder request() {
        ListEventsRequest.Builder request = ListEventsRequest.newBuilder()
                .addAllAgents(agents)
                .addAllCheckNames(checkNames())
                .addAllErrorCodes(codes);
        if (fatal) {
            request.setIsFatal(true);
        }
        if (healthy || unhealthy || fatal) {
            request.setIsHealthy(healthy);
        }
        return request;
    }

    /**
     * Evaluates the same conditions without a request.
     *
     * @param gpuNames names of the selected GPU
     */
    boolean hold(HealthEvent event, List<Entity> gpuNames) {
        return (checks.isEmpty() || checkNames().contains(event.checkName()))
                && (codes.isEmpty() || event.errorCodes().stream().anyMatch(codes::contains))
                && (agents.isEmpty() || agents.contains(event.agent()))
                && (gpu == null || event.entities().stream().anyMatch(gpuNames::contains))
                && (!fatal || event.fatal() && !event.healthy())
                && (!healthy || event.healthy())
                && (!unhealthy || !event.healthy());
    }
}
