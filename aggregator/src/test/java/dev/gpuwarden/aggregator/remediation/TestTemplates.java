package dev.gpuwarden.aggregator.remediation;

/** Templates for tests, in the form of the file. */
public final class TestTemplates {

    private TestTemplates() {}

    /** @param more further fields, each in a line of its own */
    public static RepairTemplates ticket(String name, String actions, String... more) {
        return TemplateFile.parse("test", "templates:\n" + one(name, actions, more));
    }

    static String one(String name, String actions, String... more) {
        StringBuilder text = new StringBuilder("  - name: " + name + "\n    actions: [" + actions + "]\n");
        for (String line : more) {
            text.append("    ").append(line).append('\n');
        }
        return text + """
                    resource: tickets
                    complete: Resolved
                    failed: Rejected
                    object:
                      apiVersion: example.com/v1
                      kind: Ticket
                      metadata: {labels: {team: hardware}}
                      spec: {node: "${node}", gpus: "${gpus}", fault: "${fault}", action: "${action}", key: "${resource}"}
                """;
    }
}
