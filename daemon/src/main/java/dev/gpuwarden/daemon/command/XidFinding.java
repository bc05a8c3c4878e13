package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.model.PciAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The decoded message of a log line.
 *
 * @param line number of the message's first line, from 1
 * @param signal decoded message, with the UUID of its GPU, if an earlier line had it
 */
record XidFinding(long line, Signal signal) {

    static String address(PciAddress pci) {
        return Entity.pci(pci).value();
    }

    /** Returns the tree for JSON, without absent values. */
    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("line", line);
        tree.put("signal", signal.kind().label());
        if (signal.kind() != Kind.FALLEN_OFF_BUS) {
            tree.put("code", signal.family());
        }
        if (!signal.family().equals(signal.code())) {
            tree.put("sub_code", signal.code());
        }
        signal.pci().ifPresent(pci -> tree.put("pci", address(pci)));
        signal.gpuUuid().ifPresent(uuid -> tree.put("gpu_uuid", uuid));
        signal.pid().ifPresent(pid -> tree.put("pid", pid));
        signal.process().ifPresent(process -> tree.put("process", process));
        if (!signal.name().isEmpty()) {
            tree.put("name", signal.name());
        }
        tree.put("severity", signal.severity().label());
        tree.put("action", signal.action().label());
        tree.put("why", signal.why());
        if (!signal.details().isEmpty()) {
            tree.put("details", new TreeMap<>(signal.details()));
        }
        return tree;
    }
}
