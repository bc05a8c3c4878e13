package dev.gpuwarden.cli;

/** A setting that is on or off, spelled as in YAML. */
public enum Switch {
    off,
    on;

    public boolean isOn() {
        return this == on;
    }
}
