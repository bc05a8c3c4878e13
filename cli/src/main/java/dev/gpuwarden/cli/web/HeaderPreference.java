package dev.gpuwarden.cli.web;

/** Weights of the Accept headers (RFC 9110, section 12.4.2). */
public final class HeaderPreference {

    private HeaderPreference() {}

    /** Returns the weight that a header gives a value; 0 where the header refuses the value or does not name it. */
    public static double of(String header, String value) {
        for (String item : header.split(",")) {
            String[] parts = item.trim().split(";", -1);
            if (parts[0].trim().equalsIgnoreCase(value)) {
                return weight(parts);
            }
        }
        return 0;
    }

    private static double weight(String[] parts) {
        for (int i = 1; i < parts.length; i++) {
            String parameter = parts[i].trim();
            if (parameter.startsWith("q=")) {
                try {
                    return Double.parseDouble(parameter.substring(2));
                } catch (NumberFormatException e) {
                    return 0;
                }
            }
        }
        return 1;
    }
}
