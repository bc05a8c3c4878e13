package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.Fault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Faults by name. The simulator has numbered entries only, so a file beside the table maps names to entries. Call within
 * {@link SimTable#change}.
 */
record FaultTable(SimTable table, Path names) {

    /** Adds a fault; replaces one of the same name. */
    void put(Fault fault) {
        Map<Integer, String> owners = owners();
        end(owners, fault.name());
        List<String> functions = fault.functions().isEmpty() ? List.of("") : fault.functions();
        for (String function : functions) {
            int slot = free(owners);
            owners.put(slot, fault.name());
            write(slot, fault, function);
        }
        save(owners);
    }

    /** Ends a fault; calls that hang in it continue. */
    void clear(String name) {
        Map<Integer, String> owners = owners();
        if (!end(owners, name)) {
            throw new UserError(
                    "fault \"" + name + "\": expected one of " + owners.values() + ", but no fault has this name");
        }
        save(owners);
    }

    void clearAll() {
        for (int slot : owners().keySet()) {
            table.set(path(slot, "mode"), table.layout().constant("FAULT_OFF"));
        }
        save(Map.of());
    }

    /** Returns the sum of a counter of the library over the fault's entries. */
    long sum(String name, String counter) {
        return owners().entrySet().stream()
                .filter(e -> e.getValue().equals(name))
                .mapToLong(e -> table.number(path(e.getKey(), counter)))
                .sum();
    }

    private boolean end(Map<Integer, String> owners, String name) {
        for (Map.Entry<Integer, String> entry : owners.entrySet()) {
            if (entry.getValue().equals(name)) {
                table.set(path(entry.getKey(), "mode"), table.layout().constant("FAULT_OFF"));
            }
        }
        return owners.values().removeIf(name::equals);
    }

    private int free(Map<Integer, String> owners) {
        int max = (int) table.layout().constant("FAULT_MAX");
        for (int slot = 0; slot < max; slot++) {
            // A call that is leaving an ended hang must not enter a new one.
            if (!owners.containsKey(slot) && table.number(path(slot, "waiting")) == 0) {
                return slot;
            }
        }
        throw new UserError("faults: expected at most " + max + " at a time");
    }

    private void write(int slot, Fault fault, String function) {
        SimLayout layout = table.layout();
        long everything = layout.constant("ALL");
        table.set(path(slot, "function"), function.isEmpty() ? everything : layout.function(function));
        table.set(path(slot, "gpu"), fault.gpu() == Fault.EVERY_GPU ? everything : fault.gpu());
        table.set(path(slot, "code"), fault.code());
        table.set(path(slot, "delay_us"), fault.delay().toNanos() / 1000);
        table.set(path(slot, "lie"), fault.lie().isEmpty() ? 0 : layout.lie(fault.lie()));
        table.set(path(slot, "hits"), 0);
        // Written last: calls read faults without waiting for the end of the change.
        table.set(path(slot, "mode"), layout.constant("FAULT_" + fault.mode().name()));
    }

    private static String path(int slot, String field) {
        return "fault[" + slot + "]." + field;
    }

    private Map<Integer, String> owners() {
        Map<Integer, String> owners = new TreeMap<>();
        if (Files.exists(names)) {
            for (String line : Tree.read(names).lines().toList()) {
                String[] cells = line.split("\t", 2);
                owners.put(Integer.parseInt(cells[0]), cells[1]);
            }
        }
        return owners;
    }

    private void save(Map<Integer, String> owners) {
        Tree.write(
                names,
                owners.entrySet().stream()
                        .map(e -> e.getKey() + "\t" + e.getValue() + "\n")
                        .collect(Collectors.joining()));
    }
}
