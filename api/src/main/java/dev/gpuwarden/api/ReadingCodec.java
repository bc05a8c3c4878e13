package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.AbsenceCause;
import dev.gpuwarden.api.v1.FlagReading;
import dev.gpuwarden.api.v1.IntegerReading;
import dev.gpuwarden.api.v1.NumberReading;
import dev.gpuwarden.api.v1.TextReading;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.EnumSet;

/** The codec of readings between core and the wire: the value, or the cause of its absence. */
public final class ReadingCodec {

    /** A value that is present has no cause of absence. */
    private static final EnumCodec<Absence, AbsenceCause> CAUSES = EnumCodec.of(
            EnumSet.complementOf(EnumSet.of(Absence.PRESENT)), Absence.class, AbsenceCause.class, "ABSENCE_CAUSE_");

    private ReadingCodec() {}

    public static TextReading text(Reading<String> reading) {
        return reading instanceof Reading.Present<String> present
                ? TextReading.newBuilder().setValue(present.value()).build()
                : TextReading.newBuilder().setAbsent(absent(reading)).build();
    }

    public static Reading<String> text(TextReading wire) {
        return wire.hasValue() ? Reading.of(wire.getValue()) : absent(wire.getAbsent());
    }

    public static IntegerReading integer(Reading<? extends Number> reading) {
        return reading instanceof Reading.Present<? extends Number> present
                ? IntegerReading.newBuilder()
                        .setValue(present.value().longValue())
                        .build()
                : IntegerReading.newBuilder().setAbsent(absent(reading)).build();
    }

    public static Reading<Long> integer(IntegerReading wire) {
        return wire.hasValue() ? Reading.of(wire.getValue()) : absent(wire.getAbsent());
    }

    public static FlagReading flag(Reading<Boolean> reading) {
        return reading instanceof Reading.Present<Boolean> present
                ? FlagReading.newBuilder().setValue(present.value()).build()
                : FlagReading.newBuilder().setAbsent(absent(reading)).build();
    }

    public static Reading<Boolean> flag(FlagReading wire) {
        return wire.hasValue() ? Reading.of(wire.getValue()) : absent(wire.getAbsent());
    }

    public static NumberReading number(Reading<Double> reading) {
        return reading instanceof Reading.Present<Double> present
                ? NumberReading.newBuilder().setValue(present.value()).build()
                : NumberReading.newBuilder().setAbsent(absent(reading)).build();
    }

    public static Reading<Double> number(NumberReading wire) {
        return wire.hasValue() ? Reading.of(wire.getValue()) : absent(wire.getAbsent());
    }

    /** Returns the cause of a missing reading. */
    public static dev.gpuwarden.api.v1.Absence absent(Reading<?> reading) {
        Reading.Absent<?> absent = (Reading.Absent<?>) reading;
        return absent(absent.cause(), absent.code(), absent.detail());
    }

    static dev.gpuwarden.api.v1.Absence absent(Absence cause, int code, String detail) {
        return dev.gpuwarden.api.v1.Absence.newBuilder()
                .setCause(toWire(cause))
                .setCode(code)
                .setDetail(detail)
                .build();
    }

    /** Returns the missing reading with this cause. */
    public static <T> Reading<T> absent(dev.gpuwarden.api.v1.Absence wire) {
        return Reading.absent(fromWire(wire.getCause()), wire.getCode(), wire.getDetail());
    }

    static AbsenceCause toWire(Absence cause) {
        return CAUSES.toWire(cause);
    }

    /** Returns the cause; FAILED for one that this version does not support. */
    static Absence fromWire(AbsenceCause cause) {
        return CAUSES.fromWire(cause).orElse(Absence.FAILED);
    }
}
