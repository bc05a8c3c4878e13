package dev.gpuwarden.testkit.cluster;

/** Manifests of pods of busybox. */
final class TestPod {

    private TestPod() {}

    /** One that runs a shell script; on this node, or anywhere when its name is empty. */
    static String running(String name, String node, String resources, String script) {
        String where = node.isEmpty() ? "" : "nodeName: " + node;
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s, labels: {app: %s}}
                spec:
                  %s
                  terminationGracePeriodSeconds: 0
                  containers:
                  - name: main
                    image: localhost/busybox:1
                    imagePullPolicy: Never
                    command: [sh, -c, %s]
                    resources: {%s}
                """.formatted(name, name, where, quoted(script), resources);
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
