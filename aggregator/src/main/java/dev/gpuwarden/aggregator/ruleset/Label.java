package dev.gpuwarden.aggregator.ruleset;

public record Label(String key, String value) {

    @Override
    public String toString() {
        return key + "=" + value;
    }
}
