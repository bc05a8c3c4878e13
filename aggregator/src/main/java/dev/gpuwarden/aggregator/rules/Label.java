package dev.gpuwarden.aggregator.rules;

public record Label(String key, String value) {

    @Override
    public String toString() {
        return key + "=" + value;
    }
}
