package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.checks.verify.Verification.Repair;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.Proof;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.XidEvent;
import dev.gpuwarden.core.util.Text;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * One occurrence of a fault, or a recovery.
 *
 * @param details the details of this occurrence, severity included; empty for a recovery
 * @param event makes the event, without details. Most occurrences of a storm are only counted, and need none
 */
record Occurrence(Key key, boolean healthy, Map<String, String> details, Supplier<HealthEvent.Builder> event) {

    static Occurrence of(HealthEvent recovery) {
        Key key = new Key(
                !Proof.isMissing(recovery),
                recovery.componentClass(),
                recovery.checkName(),
                recovery.errorCodes(),
                recovery.entities(),
                recovery.action());
        return new Occurrence(key, true, Map.of(), recovery::toBuilder);
    }

    /**
     * The properties in which repetitions agree.
     *
     * @param proven whether the source guarantees the writer of the line
     */
    record Key(
            boolean proven,
            String componentClass,
            String check,
            List<String> codes,
            List<Entity> entities,
            RecommendedAction action) {

        /** Every line of a storm needs it, and the compiler's own is slower. */
        @Override
        public int hashCode() {
            return 31 * codes.hashCode() + entities.hashCode();
        }
    }

    /** The occurrences of one fault that become one event. Not thread-safe: the lock of {@link EventBatcher} guards it. */
    static final class Repetitions {

        /** The bound of different values of one detail in an event. */
        private static final int MOST_VALUES = 8;

        private static final int LONGEST_VALUE = 256;
        private static final long MOST_OCCURRENCES = 999_999_999;

        private final Key key;
        private final Map<String, Set<String>> details = new HashMap<>();
        private Optional<Occurrence> last = Optional.empty();
        private String bootId = "";
        private LogSource.Cursor behind = () -> "";
        private long count;
        private long quietUntil;

        /** @param now the time from which the first event is due */
        Repetitions(Key key, long now) {
            this.key = key;
            quietUntil = now;
        }

        boolean isEmpty() {
            return count == 0;
        }

        long count() {
            return count;
        }

        /** Returns the time from which the next event is due, in nanoseconds of the batcher's clock. */
        long quietUntil() {
            return quietUntil;
        }

        void quietUntil(long nanos) {
            quietUntil = nanos;
        }

        /** @param cursor the position behind the record */
        void add(Occurrence occurrence, String boot, LogSource.Cursor cursor) {
            count++;
            last = Optional.of(occurrence);
            bootId = boot;
            behind = cursor;
            occurrence.details().forEach((name, value) -> {
                Set<String> values = details.computeIfAbsent(name, n -> new LinkedHashSet<>());
                if (values.size() < MOST_VALUES) {
                    values.add(Text.head(value, LONGEST_VALUE));
                }
            });
        }

        void clear() {
            count = 0;
            last = Optional.empty();
            details.clear();
        }

        /** Returns the last occurrence's event with the details and the number of all; the severity is the first one's. */
        HealthEvent event() {
            Map<String, String> metadata = new HashMap<>();
            details.forEach((name, values) -> metadata.put(
                    name,
                    name.equals(KernelMessageClassifier.SEVERITY)
                            ? values.iterator().next()
                            : String.join(",", values)));
            if (count > 1) {
                metadata.put(StoredEvent.OCCURRENCES, Long.toString(Math.min(count, MOST_OCCURRENCES)));
            }
            HealthEvent event =
                    last.orElseThrow().event().get().metadata(metadata).build();
            return event.withId(id(event.generated()));
        }

        /**
         * Returns the same id for the same record, in any process. Files have coarse times, so the position distinguishes equal lines
         * of one second.
         */
        private String id(Instant generated) {
            String text =
                    String.join("|", bootId, behind.text(), generated.toString(), key.toString(), Long.toString(count));
            return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).toString();
        }
    }

    /** The checks of kernel-log events, by the names of NVSentinel's syslog-health-monitor (spec/gpu-reset.md 1.1, 1.2). */
    static final class Checks {

        static final String AGENT = XidEvent.AGENT;
        static final String XID = XidEvent.CHECK;
        static final String SXID = "SysLogsSXIDError";
        static final String FALLEN_OFF = "SysLogsGPUFallenOff";
        static final String NIC = "SysLogsNICDriverError";
        static final String DRIVER = "SysLogsDriverError";
        static final String RESET_FAILURE = "GPU_RESET_FAILURE";
        /** Metadata key of a reset's events: when the reset ended, if that is known. Faults since then are not ended. */
        static final String RESET_END = "gpuwarden.dev/reset-end";

        private static final String BOOTED = "the node was booted";

        /** A check of one class of component. */
        record Check(String name, String componentClass) {}

        private static final List<Check> OWN = List.of(
                new Check(XID, XidEvent.COMPONENT),
                new Check(SXID, "NVSWITCH"),
                new Check(FALLEN_OFF, "GPU"),
                new Check(NIC, "NIC"),
                new Check(DRIVER, "GPU"),
                new Check(DRIVER, "NODE"));

        private Checks() {}

        /**
         * Returns the check of a signal.
         *
         * @param gpu whether a message of the driver concerns a GPU, and not the node
         */
        static Check of(Signal signal, boolean gpu) {
            return switch (signal.kind()) {
                case XID, GUEST_XID, GPU_NAMED, GPU_RESET -> OWN.get(0);
                case SXID -> OWN.get(1);
                case FALLEN_OFF_BUS -> OWN.get(2);
                case MESSAGE -> signal.code().startsWith("nic-") ? OWN.get(3) : OWN.get(gpu ? 4 : 5);
            };
        }

        static HealthEvent.Builder event(Check check, String nodeName) {
            return HealthEvent.of(AGENT, check.componentClass(), check.name()).nodeName(nodeName);
        }

        /** Returns the events that clear all faults of the log after a reboot. */
        static List<Occurrence> rebooted(Rules rules, RecordRules others, String nodeName, Instant now) {
            Set<Check> all = new LinkedHashSet<>(OWN);
            rules.patterns().forEach(rule -> all.add(new Check(rule.check(), rule.componentClass())));
            others.checks().forEach(name -> all.add(new Check(name, "NODE")));
            return all.stream()
                    .map(check -> event(check, nodeName)
                            .healthy(true)
                            .generated(now)
                            .message(BOOTED)
                            .build())
                    .map(Occurrence::of)
                    .toList();
        }

        /** Returns the repair that an event reports; empty for another event. */
        static Optional<Repair> repair(HealthEvent event) {
            if (!event.healthy() || !event.agent().equals(AGENT)) {
                return Optional.empty();
            }
            if (event.message().equals(BOOTED)) {
                return Optional.of(Repair.BOOT);
            }
            if (Proof.isMissing(event)) {
                return Optional.empty();
            }
            // The specification has no other healthy event that is fatal.
            return event.fatal() ? Optional.of(Repair.RESET) : Optional.empty();
        }

        /** Returns when the reset ended that the event reports; empty where only the order of the log shows it. */
        static Optional<Instant> resetEnd(HealthEvent event) {
            return Optional.ofNullable(event.metadata().get(RESET_END)).map(Instant::parse);
        }

        /**
         * Returns the events that clear the faults of a GPU after its reset. The specification sets them fatal.
         *
         * @param proven whether the source guarantees that the kernel or root wrote the line
         * @param end when the reset ended; empty where the line does not state it
         */
        static List<Occurrence> reset(
                List<Entity> gpu, String nodeName, Instant when, boolean proven, Optional<Instant> end) {
            Map<String, String> metadata = new HashMap<>(proven ? Map.of() : Proof.missing());
            end.ifPresent(instant -> metadata.put(RESET_END, instant.toString()));
            return List.of(OWN.get(0), OWN.get(2), OWN.get(4)).stream()
                    .map(check -> event(check, nodeName)
                            .healthy(true)
                            .fatal(true)
                            .entities(gpu)
                            .metadata(metadata)
                            .strategy(strategy(proven))
                            .generated(when)
                            .build())
                    .map(Occurrence::of)
                    .toList();
        }

        /** Returns the strategy of an event: what any user may have written is stored, and no program acts on it. */
        static ProcessingStrategy strategy(boolean proven) {
            return proven ? ProcessingStrategy.EXECUTE_REMEDIATION : ProcessingStrategy.STORE_ONLY;
        }
    }
}
