package dev.gpuwarden.nccl.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.nccl.plan.Collective;
import dev.gpuwarden.nccl.plan.Layout;
import dev.gpuwarden.nccl.plan.Operator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TestDataTest {

    private static final int COUNT = 1000;

    private static double[] values(Segment segment) {
        ByteBuffer bytes = segment.pattern().slice(segment.position(), (int) segment.count());
        double[] values = new double[(int) segment.count()];
        for (int i = 0; i < values.length; i++) {
            values[i] = switch (segment.pattern().type()) {
                case INT8 -> bytes.get(i);
                case UINT8 -> bytes.get(i) & 0xff;
                case INT32, UINT32 -> bytes.getInt(4 * i);
                case INT64, UINT64 -> bytes.getLong(8 * i);
                case FLOAT -> bytes.getFloat(4 * i);
                case DOUBLE -> bytes.getDouble(8 * i);
                case HALF -> decode(SmallFloat.HALF, bytes.getShort(2 * i));
                case BFLOAT16 -> decode(SmallFloat.BFLOAT16, bytes.getShort(2 * i));
                case F8E4M3 -> decode(SmallFloat.E4M3, bytes.get(i));
                case F8E5M2 -> decode(SmallFloat.E5M2, bytes.get(i));
            };
        }
        return values;
    }

    private static double decode(SmallFloat format, int bits) {
        int exponent = bits >> format.fractionBits() & (1 << format.exponentBits()) - 1;
        int fraction = bits & (1 << format.fractionBits()) - 1;
        int bias = (1 << format.exponentBits() - 1) - 1;
        return exponent == 0
                ? Math.scalb((double) fraction, 1 - bias - format.fractionBits())
                : Math.scalb(fraction + (double) (1 << format.fractionBits()), exponent - bias - format.fractionBits());
    }

    /** The sum of the inputs is the result, and no partial sum is rounded. */
    @ParameterizedTest
    @EnumSource(ElementType.class)
    void sumsAreExactInEveryType(ElementType type) {
        for (int ranks : List.of(1, 2, 8, 72)) {
            Layout layout = Collective.ALL_REDUCE.layout((long) COUNT * type.bytes(), type, ranks);
            TestData data = TestData.of(Collective.ALL_REDUCE, Operator.SUM, type, ranks);
            double[] sum = new double[COUNT];
            for (int rank = 0; rank < ranks; rank++) {
                double[] input = values(data.input(layout, rank, 3));
                for (int i = 0; i < COUNT; i++) {
                    sum[i] += input[i];
                    assertThat(sum[i]).isLessThanOrEqualTo(Elements.exactLimit(type));
                }
            }
            Segment result = data.expected(layout, 0, -1, 3, false).get(0);
            assertThat(values(result)).as(type + " in " + ranks).isEqualTo(sum);
            assertThat(Arrays.stream(sum).anyMatch(value -> value != 0))
                    .as("inputs that are not all zero")
                    .isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Operator.class,
            names = {"PROD", "MAX", "MIN", "AVG", "MULSUM"})
    void everyOperatorHasItsResult(Operator operator) {
        int ranks = 8;
        Layout layout = Collective.ALL_REDUCE.layout(COUNT * 8L, ElementType.DOUBLE, ranks);
        TestData data = TestData.of(Collective.ALL_REDUCE, operator, ElementType.DOUBLE, ranks);
        double[] reduced = values(data.input(layout, 0, 1));
        for (int rank = 1; rank < ranks; rank++) {
            double[] input = values(data.input(layout, rank, 1));
            for (int i = 0; i < COUNT; i++) {
                reduced[i] = switch (operator) {
                    case PROD -> reduced[i] * input[i];
                    case MAX -> Math.max(reduced[i], input[i]);
                    case MIN -> Math.min(reduced[i], input[i]);
                    default -> reduced[i] + input[i] * (operator == Operator.MULSUM ? 1 + rank % 2 : 1);
                };
            }
        }
        double[] expected = values(data.expected(layout, 0, -1, 1, false).get(0));
        for (int i = 0; i < COUNT; i++) {
            assertThat(expected[i]).isEqualTo(operator == Operator.AVG ? reduced[i] / ranks : reduced[i]);
        }
    }

    @Test
    void anElementFromAnotherPlaceIsWrong() {
        TestData data = TestData.of(Collective.ALL_GATHER, Operator.NONE, ElementType.FLOAT, 4);
        Layout layout = Collective.ALL_GATHER.layout(64_000, ElementType.FLOAT, 4);
        List<Segment> parts = data.expected(layout, 0, -1, 1, false);
        Segment own = data.input(layout, 2, 1);
        ByteBuffer seen = ByteBuffer.allocate((int) own.count() * 4).order(ByteOrder.nativeOrder());
        seen.put(own.pattern().slice(own.position(), (int) own.count())).flip();
        assertThat(parts.get(2).pattern().wrong(seen, parts.get(2).position(), 0))
                .isZero();
        assertThat(parts.get(1).pattern().wrong(seen, parts.get(1).position(), 0))
                .as("data of another rank")
                .isGreaterThan(3900);
        assertThat(parts.get(2).pattern().wrong(seen, parts.get(2).position() + 1024, 0))
                .as("data that is 1024 elements away")
                .isGreaterThan(3900);
        seen.put(7, (byte) (seen.get(7) ^ 1));
        assertThat(parts.get(2).pattern().wrong(seen, parts.get(2).position(), 0))
                .as("one wrong bit")
                .isEqualTo(1);
    }

    /** A rank that receives nothing keeps what it had. */
    @Test
    void onlyTheRootOfAReductionReceives() {
        TestData data = TestData.of(Collective.REDUCE, Operator.SUM, ElementType.INT32, 4);
        Layout layout = Collective.REDUCE.layout(400, ElementType.INT32, 4);
        assertThat(values(data.expected(layout, 1, 0, 1, false).get(0))).containsOnly(0);
        Segment kept = data.expected(layout, 1, 0, 1, true).get(1);
        assertThat(values(kept)).isEqualTo(values(data.input(layout, 1, 1)));
        assertThat(values(data.expected(layout, 0, 0, 1, true).get(0))).isNotEqualTo(values(kept));
    }

    /** Bits of the formats as IEEE 754 and the OCP's FP8 define them. */
    @ParameterizedTest
    @CsvSource({
        "HALF, 1, 0x3c00",
        "HALF, 2048, 0x6800",
        "HALF, 0.000000059604644775390625, 0x0001",
        "HALF, -2, 0xc000",
        "BFLOAT16, 1, 0x3f80",
        "BFLOAT16, 256, 0x4380",
        "F8E4M3, 1, 0x38",
        "F8E4M3, 15, 0x57",
        "F8E4M3, 448, 0x7e",
        "F8E5M2, 1, 0x3c",
        "F8E5M2, 7, 0x47",
        "F8E5M2, 9, 0x48"
    })
    void smallFloatsHaveTheBitsOfTheirStandard(ElementType type, double value, String bits) {
        ByteBuffer element = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
        Elements.put(type, element, 0, value);
        assertThat(Elements.bits(type, element, 0)).isEqualTo(Long.decode(bits));
    }
}
