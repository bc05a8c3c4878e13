package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.nat.nvml.NvmlSymbol;
import java.util.ArrayList;
import java.util.List;

/** The readings of each NVLink. Field values come first, in one call for all links; the rest needs a call for each link. */
final class LinkPlan {

    // nvml.h 13.3, NVML_FI_DEV_NVLINK_*, with the link number as scope (driver 530 and later).
    private static final int REPLAY = 161;
    private static final int RECOVERY = 162;
    private static final int SPEED = 164;
    private static final int STATE = 165;
    private static final int VERSION = 166;

    /** Recoveries as Blackwell counts them; it has no replays and no CRC errors of the older kinds. */
    private static final int RECOVERY_EVENTS = 215;

    // The same for older drivers, and for CRC errors of all drivers: one field for each of the first twelve links, in
    // blocks of six.
    private static final int[] CRC_FLIT_NUMBERED = {32, 96};
    private static final int[] CRC_DATA_NUMBERED = {39, 102};
    private static final int[] REPLAY_NUMBERED = {46, 108};
    private static final int[] RECOVERY_NUMBERED = {53, 114};
    private static final int[] SPEED_NUMBERED = {84, 132};
    private static final int NUMBERED_LINKS = 12;

    /** nvml.h 13.3, nvmlNvLinkErrorCounter_t. */
    private static final int DL_REPLAY = 0;

    private static final int DL_RECOVERY = 1;
    private static final int DL_CRC_FLIT = 2;
    private static final int DL_CRC_DATA = 3;

    private LinkPlan() {}

    static List<Step> steps() {
        List<List<Field>> byLink = new ArrayList<>();
        for (int link = 0; link < LinkMetric.MAX_LINKS; link++) {
            byLink.add(fields(link));
        }
        return List.of(
                new Step.LinkCount(),
                new Step.LinkFields(NvmlSymbol.FIELD_VALUES, List.copyOf(byLink)),
                new Step.LinkCall(NvmlSymbol.NVLINK_STATE, Shape.ARG_OUT, 0, Take.Width.U32, LinkMetric.STATE),
                new Step.LinkCall(NvmlSymbol.NVLINK_VERSION, Shape.ARG_OUT, 0, Take.Width.U32, LinkMetric.VERSION),
                errors(DL_REPLAY, LinkMetric.REPLAYS),
                errors(DL_RECOVERY, LinkMetric.RECOVERIES),
                errors(DL_CRC_FLIT, LinkMetric.CRC_FLIT_ERRORS),
                errors(DL_CRC_DATA, LinkMetric.CRC_DATA_ERRORS));
    }

    private static List<Field> fields(int link) {
        List<Field> fields = new ArrayList<>();
        fields.add(new Field(SPEED, link, GpuFrame.slot(LinkMetric.SPEED, link)));
        fields.add(new Field(STATE, link, GpuFrame.slot(LinkMetric.STATE, link)));
        fields.add(new Field(VERSION, link, GpuFrame.slot(LinkMetric.VERSION, link)));
        fields.add(new Field(REPLAY, link, GpuFrame.slot(LinkMetric.REPLAYS, link)));
        fields.add(new Field(RECOVERY, link, GpuFrame.slot(LinkMetric.RECOVERIES, link)));
        fields.add(new Field(RECOVERY_EVENTS, link, GpuFrame.slot(LinkMetric.RECOVERIES, link)));
        if (link < NUMBERED_LINKS) {
            fields.add(numbered(CRC_FLIT_NUMBERED, LinkMetric.CRC_FLIT_ERRORS, link));
            fields.add(numbered(CRC_DATA_NUMBERED, LinkMetric.CRC_DATA_ERRORS, link));
            fields.add(numbered(REPLAY_NUMBERED, LinkMetric.REPLAYS, link));
            fields.add(numbered(RECOVERY_NUMBERED, LinkMetric.RECOVERIES, link));
            fields.add(numbered(SPEED_NUMBERED, LinkMetric.SPEED, link));
        }
        return List.copyOf(fields);
    }

    private static Field numbered(int[] firstIds, LinkMetric metric, int link) {
        int half = NUMBERED_LINKS / 2;
        int id = link < half ? firstIds[0] + link : firstIds[1] + link - half;
        return new Field(id, 0, GpuFrame.slot(metric, link));
    }

    private static Step errors(int counter, LinkMetric metric) {
        return new Step.LinkCall(NvmlSymbol.NVLINK_ERRORS, Shape.ARG2_OUT, counter, Take.Width.U64, metric);
    }
}
