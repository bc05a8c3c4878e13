package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.v1.Check;
import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.check.RunningCheck;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The checks of a daemon as messages. */
final class CheckMessages {

    private CheckMessages() {}

    /** Returns each check with its last result, the findings that wait, and the run in progress. */
    static List<Check> of(CheckRegistry checks) {
        var results = checks.results().stream()
                .collect(Collectors.toMap(
                        result -> result.check().id(), Function.identity(), (first, second) -> second));
        List<Damping> damping = checks.damping();
        List<RunningCheck> running = checks.running();
        return checks.checks().stream()
                .map(check -> {
                    Check.Builder wire = CheckCodec.toWire(check).toBuilder();
                    damping.stream()
                            .filter(each -> each.check().id().equals(check.id()))
                            .forEach(each -> wire.addDamping(CheckCodec.toWire(each)));
                    running.stream()
                            .filter(each -> each.check().id().equals(check.id()))
                            .forEach(each -> wire.setRunning(CheckCodec.toWire(each)));
                    var last = results.get(check.id());
                    return last == null
                            ? wire.build()
                            : wire.setLast(CheckCodec.toWire(last)).build();
                })
                .toList();
    }
}
