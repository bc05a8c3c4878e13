package dev.gpuwarden.aggregator.cache;

/** @param effect NoSchedule, PreferNoSchedule or NoExecute */
public record Taint(String key, String value, String effect) {

    /** Whether it keeps or drives pods away, and so takes the node out of service. */
    public boolean takesCapacity() {
        return !effect.equals("PreferNoSchedule");
    }

    @Override
    public String toString() {
        return key + (value.isEmpty() ? "" : "=" + value) + ":" + effect;
    }
}
