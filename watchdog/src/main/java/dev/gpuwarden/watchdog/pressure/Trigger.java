package dev.gpuwarden.watchdog.pressure;

/** A reason for pressure. */
public enum Trigger {
    /** Less memory is free than the floor: soon every allocation fails. */
    FLOOR("less is free than the floor"),
    /** Less memory is free than the tenants' budgets still promise. */
    DEFICIT("less is free than budgets promise"),
    /** A tenant within its budget failed to allocate, repeatedly. */
    DEMAND("a tenant within its budget fails to allocate");

    private final String text;

    Trigger(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }
}
