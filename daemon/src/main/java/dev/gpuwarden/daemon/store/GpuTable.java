package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.KnownGpus;
import java.sql.SQLException;
import java.util.Optional;

/** The table of the node's GPUs as they last reported themselves. It is written when a GPU changes. */
final class GpuTable {

    private GpuTable() {}

    static KnownGpus read(Sql sql) throws SQLException {
        return new KnownGpus(sql
                .list(
                        "SELECT pci, gpu_index, uuid, name, serial FROM gpus LIMIT " + KnownGpus.MOST,
                        row -> PciAddress.parse(row.getString(1)).map(pci -> {
                            try {
                                return new KnownGpus.Known(
                                        row.getInt(2),
                                        pci,
                                        row.getString(3),
                                        Optional.ofNullable(row.getString(4)),
                                        Optional.ofNullable(row.getString(5)));
                            } catch (SQLException e) {
                                throw new IllegalStateException(e);
                            }
                        }))
                .stream()
                .flatMap(Optional::stream)
                .toList());
    }

    static void write(Sql sql, KnownGpus known) throws SQLException {
        sql.update("DELETE FROM gpus");
        for (KnownGpus.Known gpu : known.gpus()) {
            sql.update(
                    "INSERT INTO gpus (pci, gpu_index, uuid, name, serial) VALUES (?, ?, ?, ?, ?)",
                    gpu.pci().toString(),
                    gpu.index(),
                    gpu.uuid(),
                    gpu.name().orElse(null),
                    gpu.serial().orElse(null));
        }
    }
}
