package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.ErrorNumber;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.XidEvent;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A fault as an operator names it: {@code xid=48}, or {@code check=NAME/ACTION}. Pure. */
sealed interface FaultArgument {

    /** Returns the fault as it was given. */
    String text();

    /** Returns the event that the node's daemon would report; empty if it would report none. */
    Optional<HealthEvent> event(String node, List<Entity> gpu, Instant when);

    /** Returns the rule that the event follows, for operators. */
    String source();

    /** A number of the catalogue. */
    record Xid(ErrorNumber number) implements FaultArgument {
        @Override
        public String text() {
            return "xid=" + number.number();
        }

        @Override
        public Optional<HealthEvent> event(String node, List<Entity> gpu, Instant when) {
            return XidEvent.of(number, node, gpu, when);
        }

        @Override
        public String source() {
            return number.source() + (number.note().isEmpty() ? "" : ". " + number.note());
        }
    }

    /** A check of the daemon, with the action that it requests. */
    record Check(String name, RecommendedAction action) implements FaultArgument {

        private static final String AGENT = "gpuwarden";

        @Override
        public String text() {
            return "check=" + name + "/" + action;
        }

        @Override
        public Optional<HealthEvent> event(String node, List<Entity> gpu, Instant when) {
            return Optional.of(HealthEvent.of(AGENT, XidEvent.COMPONENT, name)
                    .nodeName(node)
                    .fatal(action != RecommendedAction.NONE)
                    .message("rehearsed fault of " + name)
                    .action(action)
                    .entities(gpu)
                    .generated(when)
                    .build());
        }

        @Override
        public String source() {
            return "the action is as given";
        }
    }

    /** @throws IllegalArgumentException with the expected form and the text found */
    static FaultArgument parse(String text) {
        if (text.startsWith("xid=")) {
            return xid(text.substring(4));
        }
        int slash = text.indexOf('/');
        if (text.startsWith("check=") && slash > 0) {
            String name = text.substring(6, slash);
            if (!name.matches("[A-Za-z][A-Za-z0-9_.-]{0,99}")) {
                throw new IllegalArgumentException(
                        "expected a check's name of letters, digits, -, _ and ., found \"" + name + "\"");
            }
            return new Check(name, action(text.substring(slash + 1)));
        }
        throw new IllegalArgumentException("expected xid=CODE or check=NAME/ACTION, found \"" + text + "\"");
    }

    private static FaultArgument xid(String code) {
        Optional<ErrorNumber> number = ErrorNumber.parse(code).stream()
                .mapToObj(ErrorNumber::of)
                .filter(known -> known.known() && known.kind() == Kind.XID)
                .findFirst();
        return new Xid(
                number.orElseThrow(() -> new IllegalArgumentException("expected an XID of NVIDIA's catalogue, found \""
                        + code + "\": gpuwarden xid decode CODE explains a number")));
    }

    private static RecommendedAction action(String text) {
        return Arrays.stream(RecommendedAction.values())
                .filter(action -> action.name().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("expected an action of "
                        + Arrays.stream(RecommendedAction.values())
                                .map(RecommendedAction::name)
                                .collect(Collectors.joining(", "))
                        + ", found \"" + text + "\""));
    }
}
