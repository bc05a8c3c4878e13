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

/** Which events are wanted; conditions hold all at once. */
public final class EventsConditions {

    private static final Pattern CHECK_ID = Pattern.compile("[a-z0-9]+(-[a-z0-9]+)*");

    @Option(
            names = "--check",
            split = ",",
            paramLabel = "NAME",
            description = "Of these checks, as events or 'gpuwarden check --list' name them.")
    List<String> checks = List.of();

    @Option(
            names = "--code",
            split = ",",
            paramLabel = "CODE",
            description = "With one of these codes, for example 79.")
    List<String> codes = List.of();

    @Option(names = "--gpu", paramLabel = "GPU", description = "About this GPU: its index, UUID or PCI address.")
    @Nullable String gpu;

    @Option(names = "--agent", split = ",", paramLabel = "NAME", description = "Told by one of these.")
    List<String> agents = List.of();

    @Option(names = "--fatal", description = "Fatal faults only.")
    boolean fatal;

    @Option(names = "--healthy", description = "Only those that say that all is well (again).")
    boolean healthy;

    @Option(names = "--unhealthy", description = "Only faults.")
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

    /** Names in events: of a check's id its event name too. */
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

    /** All conditions but the GPU, of which a request takes one name only. */
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

    /** The same without asking. @param gpuNames of the GPU that is asked for */
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
