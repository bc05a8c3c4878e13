package dev.gpuwarden.aggregator.controller;

import java.util.Locale;
import java.util.Optional;

/**
 * The modes of what follows a quarantine. They decide whether a node waits for a program or for a person.
 *
 * @param drain the mode of drains; empty if they are off, as while the quarantine makes a dry run
 * @param repair the mode of repairs; empty if they are off
 */
public record StepModes(Optional<ActionMode> drain, Optional<ActionMode> repair) {

    public static final StepModes OFF = new StepModes(Optional.empty(), Optional.empty());

    private static final String NONE = "off";

    /** Returns the mode as the options spell it: `off`, `dry-run` or `armed`. */
    public static String label(Optional<ActionMode> mode) {
        return mode.map(ActionMode::label).orElse(NONE);
    }

    /** @throws IllegalArgumentException for another text */
    public static Optional<ActionMode> parse(String text) {
        Optional<ActionMode> mode = ActionMode.find(text);
        if (mode.isEmpty() && !text.equals(NONE)) {
            throw new IllegalArgumentException("expected off, dry-run or armed, found \"" + text + "\"");
        }
        return mode;
    }

    public boolean drains() {
        return drain.equals(Optional.of(ActionMode.ARMED));
    }

    public boolean repairs() {
        return repair.equals(Optional.of(ActionMode.ARMED));
    }

    /** Returns why no program repairs a node, with the options; empty if one does. */
    public String unrepaired() {
        String repairs = "--remediation.mode=" + label(repair);
        if (repairs()) {
            return "";
        }
        return drains()
                ? "automatic repair is off: " + repairs
                : "automatic drain and repair are off: --drain.mode=" + label(drain) + ", " + repairs;
    }

    /** Returns the modes in one line: `quarantine armed · drain armed · repair DRY RUN`. */
    public String text(ActionMode quarantine) {
        if (quarantine == ActionMode.DRY_RUN) {
            return "quarantine DRY RUN: no node is taken out of service, drained or repaired";
        }
        return "quarantine armed · drain " + loud(drain) + " · repair " + loud(repair);
    }

    private static String loud(Optional<ActionMode> mode) {
        String label = label(mode);
        return mode.equals(Optional.of(ActionMode.ARMED))
                ? label
                : label.replace('-', ' ').toUpperCase(Locale.ROOT);
    }
}
