package dev.gpuwarden.daemon.vram.rules;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import dev.gpuwarden.watchdog.pressure.Trigger;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** All rules of the watchdog. Each can be changed by its name and a text: {@code floor=2GiB}, {@code triggers=floor,demand}. */
public record WatchdogRules(PressureRules pressure, RecycleRules recycle) {

    public static final WatchdogRules DEFAULT = new WatchdogRules(PressureRules.DEFAULT, RecycleRules.DEFAULT);

    /**
     * Returns these rules with changes that count together, so that their order does not matter.
     *
     * @throws UserError for a key that is no rule, a text that is no value of it, and values that contradict each other
     */
    public WatchdogRules with(Map<String, String> changes) {
        Values values = new Values(new EnumMap<>(Rule.class));
        Arrays.stream(Rule.values()).forEach(rule -> values.byRule().put(rule, rule.value(this)));
        changes.forEach((key, text) -> {
            Rule rule = rule(key);
            values.byRule()
                    .put(
                            rule,
                            rule.kind()
                                    .parse(text)
                                    .orElseThrow(() -> new UserError("rule " + key + ": expected "
                                            + rule.kind().expected() + ", seen '" + text + "'")));
        });
        try {
            return values.rules();
        } catch (IllegalArgumentException e) {
            throw new UserError("rules " + String.join(", ", changes.keySet()) + ": " + e.getMessage());
        }
    }

    private static Rule rule(String key) {
        return Arrays.stream(Rule.values())
                .filter(rule -> rule.key().equals(key))
                .findFirst()
                .orElseThrow(() -> new UserError("rule " + key + ": expected one of "
                        + Arrays.stream(Rule.values()).map(Rule::key).collect(Collectors.joining(", "))));
    }

    /** Returns every rule by its key, as texts that {@link #with(Map)} reads back. */
    public Map<String, String> texts() {
        Map<String, String> texts = new LinkedHashMap<>();
        Arrays.stream(Rule.values()).forEach(rule -> texts.put(rule.key(), rule.text(this)));
        return texts;
    }

    /** Values of the type that their kind parses. */
    private record Values(Map<Rule, Object> byRule) {

        WatchdogRules rules() {
            return new WatchdogRules(
                    new PressureRules(
                            triggers(),
                            bytes(Rule.FLOOR),
                            share(Rule.FLOOR_SHARE),
                            bytes(Rule.MARGIN),
                            count(Rule.SAMPLES),
                            count(Rule.LEAST),
                            time(Rule.LEAVE_AFTER),
                            count(Rule.ATTEMPTS),
                            time(Rule.ATTEMPTS_WITHIN),
                            time(Rule.ATTEMPT_LASTS),
                            share(Rule.STARVED_SHARE),
                            time(Rule.RESERVATION_WAITS)),
                    new RecycleRules(
                            bytes(Rule.TOLERANCE),
                            share(Rule.TOLERANCE_SHARE),
                            time(Rule.DEFICIT_GRACE),
                            time(Rule.NEWEST_WITHIN),
                            time(Rule.LONGEST_GAP),
                            time(Rule.RELEASE_WITHIN),
                            time(Rule.COOLDOWN),
                            time(Rule.QUICK_RETURN),
                            count(Rule.MOST_QUICK_RETURNS),
                            time(Rule.WRONG_FOR),
                            count(Rule.MOST_PER_HOUR)));
        }

        @SuppressWarnings("unchecked") // the type that its kind parses
        private Set<Trigger> triggers() {
            return (Set<Trigger>) value(Rule.TRIGGERS);
        }

        private Object value(Rule rule) {
            return Objects.requireNonNull(byRule.get(rule));
        }

        private long bytes(Rule rule) {
            return (Long) value(rule);
        }

        private double share(Rule rule) {
            return (Double) value(rule);
        }

        private int count(Rule rule) {
            return (Integer) value(rule);
        }

        private Duration time(Rule rule) {
            return (Duration) value(rule);
        }
    }
}
