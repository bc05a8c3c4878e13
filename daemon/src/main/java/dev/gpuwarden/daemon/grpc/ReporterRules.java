package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The processes that may report on the socket for events, beside administrators: `uid:0`, `unit:NAME.service`,
 * `pod:NAMESPACE` and `pod:*`. Pure.
 */
record ReporterRules(List<String> rules) {

    /** Pods that mount the socket's folder, and root in any container. */
    static final String DEFAULT = "uid:0,pod:*";

    static final String OPTION = "--events.reporters";

    private static final int MOST = 64;
    private static final String NONE = "none";
    private static final String EACH_POD = "pod:*";
    private static final Pattern FORM = Pattern.compile(
            "uid:(0|[1-9][0-9]{0,9})|unit:[A-Za-z0-9:_.@\\\\-]{1,247}\\.service|pod:(\\*|[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)");

    ReporterRules {
        rules = List.copyOf(rules);
    }

    /** @throws UserError if an entry has another form */
    static ReporterRules parse(List<String> entries) {
        if (entries.equals(List.of(NONE))) {
            return new ReporterRules(List.of());
        }
        if (entries.size() > MOST) {
            throw new UserError(OPTION + ": expected at most " + MOST + " entries, seen " + entries.size());
        }
        for (String entry : entries) {
            if (!FORM.matcher(entry).matches()) {
                throw new UserError(
                        OPTION + ": expected uid:NUMBER, unit:NAME.service, pod:NAMESPACE, pod:* or 'none', seen '"
                                + entry + "'");
            }
        }
        return new ReporterRules(entries);
    }

    boolean permit(CallingProcess caller) {
        return rules.contains("uid:" + Integer.toUnsignedString(caller.uid())) || permits(caller.owner());
    }

    private boolean permits(Owner owner) {
        if (owner instanceof Owner.Pod pod) {
            return rules.contains(EACH_POD)
                    || pod.namespace() instanceof Reading.Present<String> namespace
                            && rules.contains("pod:" + namespace.value());
        }
        return owner instanceof Owner.Unit unit && Reporters.ofSystem(unit) && rules.contains("unit:" + unit.name());
    }

    @Override
    public String toString() {
        return rules.isEmpty() ? NONE : String.join(",", rules);
    }
}
