package dev.gpuwarden.daemon.view;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The JSON form of a driver's state. */
public final class DriverView {

    private DriverView() {}

    public static Map<String, Object> tree(DriverInfo info) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", info.name());
        tree.put("libraryPath", Values.tree(info.libraryPath()));
        tree.put("libraryVersion", Values.tree(info.libraryVersion()));
        tree.put("driverVersion", Values.tree(info.driverVersion()));
        tree.put("cudaVersion", Values.tree(info.cudaVersion()));
        tree.put("samplerPath", info.samplerPath());
        return tree;
    }

    public static Map<String, Object> tree(DriverState state) {
        Map<String, Object> tree = new LinkedHashMap<>();
        if (state instanceof DriverState.Running running) {
            tree.put("state", "running");
            tree.putAll(tree(running.info()));
        } else if (state instanceof DriverState.Silent silent) {
            tree.put("state", "silent");
            tree.put("detail", silent.detail());
            tree.putAll(tree(silent.info()));
        } else if (state instanceof DriverState.Unavailable none) {
            tree.put("state", "unavailable");
            tree.put("reason", none.reason().name().toLowerCase(Locale.ROOT));
            tree.put("code", none.code());
            tree.put("detail", none.detail());
        } else {
            tree.put("state", "opening");
        }
        return tree;
    }
}
