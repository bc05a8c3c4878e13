package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import dev.gpuwarden.core.model.Reading;
import java.io.PrintWriter;

/** The pods that have each GPU as a table with a row for each container, then the devices that match no GPU. */
final class HoldersTable {

    private HoldersTable() {}

    static void print(HoldersReport report, PrintWriter out) {
        if (report.answer() instanceof Reading.Absent<?> absent) {
            out.println("unknown: " + absent.text());
            return;
        }
        Table table = new Table("GPU", "UUID", "POD", "CONTAINER", "KIND", "DEVICE");
        report.byGpu().forEach((uuid, holders) -> {
            if (holders.isEmpty()) {
                table.row(report.index(uuid), uuid, Table.styled(Style.FAINT, "none"), "", "", "");
            }
            for (GpuHolder holder : holders) {
                table.row(
                        report.index(uuid),
                        uuid,
                        holder.namespace() + "/" + holder.pod(),
                        holder.container(),
                        HoldersReport.kind(holder),
                        holder.deviceId().equals(uuid) ? "" : holder.deviceId());
            }
        });
        table.print(out);
        if (!report.unresolved().isEmpty()) {
            out.println();
            Table unknown = new Table("POD", "CONTAINER", "RESOURCE", "DEVICE", "WHY ITS GPU IS UNKNOWN");
            for (UnresolvedDevice device : report.unresolved()) {
                unknown.row(
                        device.namespace() + "/" + device.pod(),
                        device.container(),
                        device.resource(),
                        device.deviceId(),
                        device.why());
            }
            unknown.print(out);
        }
    }
}
