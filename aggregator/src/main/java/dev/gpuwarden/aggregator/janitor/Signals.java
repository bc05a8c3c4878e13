package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.provider.NodeProvider.Answer;
import java.time.Instant;

/**
 * The conditions of a request to a provider. The intention is stored before the request, because a request has no
 * precondition: a leader that finds an intention without an answer never repeats the request. Pure.
 */
final class Signals {

    static final String SENT = "SignalSent";

    /** The reason before a request. */
    static final String SENDING = "SendingSignal";

    /** The reason of a request whose answer has not been stored. */
    static final String REQUESTING = "Requesting";

    /** The reason of a request that the provider has refused. */
    static final String REFUSED = "ProviderRefused";

    private Signals() {}

    /** Returns true if a request may have been made whose answer is not stored. */
    static boolean isOpen(Progress progress) {
        return progress.condition(SENT)
                .filter(each -> each.reason().equals(REQUESTING))
                .isPresent();
    }

    /** Returns the step that makes the request once, or ends a resource whose provider was never reached. */
    static Step request(Scene scene, Instant end) {
        return scene.now().isBefore(end)
                ? new Step.Request(scene.change()
                        .condition(SENT, false, REQUESTING, "the provider is asked; it has not answered yet"))
                : new Step.SetStatus(Steps.cancelled(scene.change(), scene)
                        .complete(
                                scene.resource().kind().doneCondition(),
                                false,
                                NotTried.PROVIDER_UNREACHABLE,
                                "expected a connection to the provider by " + end
                                        + ", seen none: nothing was requested"));
    }

    /** Returns the status after the answer. */
    static Progress.Change answered(Progress.Change change, Answer answer) {
        if (answer instanceof Answer.Accepted accepted) {
            return change.condition(
                    SENT,
                    true,
                    "Requested",
                    "the provider accepted the request"
                            + (accepted.requestId().isEmpty() ? "" : " " + accepted.requestId()));
        }
        if (answer instanceof Answer.Refused refused) {
            return change.condition(SENT, false, REFUSED, "expected the provider to accept, seen " + refused.why());
        }
        return change.condition(
                SENT,
                false,
                REQUESTING,
                "no answer of the provider: " + ((Answer.Unknown) answer).why()
                        + "; the request may have arrived, so it is not repeated");
    }
}
