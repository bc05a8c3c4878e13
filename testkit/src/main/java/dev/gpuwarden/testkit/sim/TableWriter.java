package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.Setting;
import dev.gpuwarden.testkit.scenario.Value;
import java.util.List;
import java.util.stream.IntStream;

/** Writes settings to the table, with the values that depend on them on a real board. Call within {@link SimTable#change}. */
record TableWriter(SimTable table) {

    void node(Setting setting) {
        put("header", setting);
    }

    void gpu(int index, Setting setting) {
        String gpu = gpu(index);
        long temperature = table.number(gpu + ".temp_gpu");
        put(gpu, setting);
        switch (setting.key().name()) {
            case "temperature" -> moveMargin(gpu, temperature);
            case "energy" -> table.set(gpu + ".energy_epoch_ns", nowNanos());
            case "gsp.version" -> followDriver(gpu);
            default -> {}
        }
    }

    static String gpu(int index) {
        return "gpu[" + index + "]";
    }

    /** Lowers the margin to the temperature limit by the rise of the temperature. */
    private void moveMargin(String gpu, long before) {
        long now = table.number(gpu + ".temp_gpu");
        long margin = table.number(gpu + ".temp_margin");
        if (before != SimLayout.ABSENT && now != SimLayout.ABSENT && margin != SimLayout.ABSENT) {
            table.set(gpu + ".temp_margin", margin - (now - before));
        }
    }

    /** The firmware of the GPU's own processor comes with the driver. */
    private void followDriver(String gpu) {
        if (table.text(gpu + ".gsp_version").equals("driver")) {
            table.set(gpu + ".gsp_version", table.text("header.driver_version"));
        }
    }

    private static long nowNanos() {
        return System.currentTimeMillis() * 1_000_000;
    }

    private void put(String owner, Setting setting) {
        for (int element : elements(owner, setting)) {
            List<String> fields = setting.key().fields();
            for (int i = 0; i < fields.size(); i++) {
                put(owner + "." + fields.get(i).replace("[*]", "[" + element + "]"), i, setting.value());
            }
        }
    }

    /** Returns the indices of the setting's links, partitions or other GPUs; one, without meaning, for keys without elements. */
    private Iterable<Integer> elements(String owner, Setting setting) {
        if (setting.key().list().isEmpty() || setting.element() != Setting.EVERY) {
            return List.of(Math.max(0, setting.element()));
        }
        if (setting.key().list().equals("link")) {
            return IntStream.range(0, (int) table.number(owner + ".nvlink_count"))
                    .boxed()
                    .toList();
        }
        if (setting.key().list().equals("peer")) {
            return IntStream.range(0, (int) table.layout().constant("GPU_MAX"))
                    .boxed()
                    .toList();
        }
        return IntStream.range(0, (int) table.layout().constant("MIG_MAX"))
                .filter(i -> table.number(owner + ".mig[" + i + "].present") == 1)
                .boxed()
                .toList();
    }

    private void put(String path, int part, Value value) {
        if (value instanceof Value.Text text) {
            table.set(path, text.text());
        } else if (value instanceof Value.Numbers numbers) {
            List<Long> all = numbers.numbers();
            table.set(path, all.get(all.size() == 1 ? 0 : part));
        } else if (value instanceof Value.Added added) {
            long before = table.number(path);
            table.set(path, (before == SimLayout.ABSENT ? 0 : before) + added.number());
        } else if (table.isText(path)) {
            table.set(path, "");
        } else {
            table.set(path, SimLayout.ABSENT);
        }
    }
}
