package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.port.DriverInfo;
import java.util.LinkedHashMap;
import java.util.Map;

/** How a driver's facts look. */
final class DriverView {

    private DriverView() {}

    static Map<String, Object> tree(DriverInfo info) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", info.name());
        tree.put("libraryPath", Values.tree(info.libraryPath()));
        tree.put("libraryVersion", Values.tree(info.libraryVersion()));
        tree.put("driverVersion", Values.tree(info.driverVersion()));
        tree.put("cudaVersion", Values.tree(info.cudaVersion()));
        tree.put("samplerPath", info.samplerPath());
        return tree;
    }
}
