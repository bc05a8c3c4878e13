package dev.gpuwarden.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.node.ResetUnits;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code -Dgpuwarden.identifiers.forms=100000} tries more forms, {@code -Dgpuwarden.identifiers.seed} others. */
class IdentifiersTest {

    private static final int FORMS = Integer.getInteger("gpuwarden.identifiers.forms", 2_000);
    private static final long SEED = Long.getLong("gpuwarden.identifiers.seed", 1);

    private final Random random = new Random(SEED);

    @ParameterizedTest
    @CsvSource({
        "GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91c, GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91c",
        "gpu-8199171B-FB75-A4C1-93A6-B4BB93AAF91C, GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91c",
        "' Mig-8199171B-FB75-A4C1-93A6-B4BB93AAF91C ', MIG-8199171b-fb75-a4c1-93a6-b4bb93aaf91c",
        "GPU-8199171B-FB75-A4C1-93A6-B4BB93AAF91C::2, GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91c::2",
        "mig-gpu-8199171B-FB75-A4C1-93A6-B4BB93AAF91C/3/0, MIG-GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91c/3/0",
        "gpu.nvidia.com/Node/GPU-8199171B-FB75-A4C1-93A6-B4BB93AAF91C,"
                + " gpu.nvidia.com/Node/GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91c"
    })
    void nameOfAGpuHasOneForm(String written, String canonical) {
        assertThat(Identifiers.gpu(written)).isEqualTo(canonical);
        assertThat(Identifiers.gpu(canonical)).isEqualTo(canonical);
    }

    @ParameterizedTest
    @ValueSource(strings = {"GPU-1", "GPU-A", "", "nvidia0", "GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91"})
    void otherTextStaysAsItIs(String text) {
        assertThat(Identifiers.gpu(text)).isEqualTo(text);
        assertThat(Identifiers.pciSlot(text)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0000:3b:00, 0000:3b:00",
        "00000000:3B:00.0, 0000:3b:00",
        "3B:00, 0000:3b:00",
        "' 3b:0.0', 0000:3b:00",
        "10000:3b:1f.7, 10000:3b:1f.7",
        "0000:3b:ff, 0000:3b:ff"
    })
    void addressInAnEventHasOneForm(String written, String canonical) {
        assertThat(Identifiers.pciSlot(written)).isEqualTo(canonical);
        assertThat(Identifiers.pciSlot(canonical)).isEqualTo(canonical);
    }

    /** Each value type with an identifier is equal, and answers alike, whatever form the writer has chosen. */
    @Test
    void anyFormIsTheSameIdentifier() {
        for (int i = 0; i < FORMS; i++) {
            String uuid = uuid(random.nextBoolean() ? "GPU-" : "MIG-");
            String other = uuid("GPU-");
            assertThat(Identifiers.gpu(form(uuid))).isEqualTo(uuid);
            assertThat(Identifiers.gpu(form(uuid + "::3"))).isEqualTo(uuid + "::3");
            assertThat(Entity.gpu(form(uuid))).isEqualTo(Entity.gpu(uuid));
            PciAddress address = new PciAddress(
                    random.nextInt(4) == 0 ? random.nextInt(0x20000) : 0, random.nextInt(256), random.nextInt(32), 0);
            assertThat(new Entity(Entity.PCI, form(address))).isEqualTo(Entity.pci(address));
            holders(uuid, other);
            units(uuid, other);
        }
    }

    private void holders(String uuid, String other) {
        GpuHolder holder = new GpuHolder("n", "p", "c", form(uuid), GpuHolder.Kind.EXCLUSIVE, form(uuid));
        assertThat(holder).isEqualTo(new GpuHolder("n", "p", "c", uuid, GpuHolder.Kind.EXCLUSIVE, uuid));
        GpuHolders holders = new GpuHolders(Instant.EPOCH, List.of(holder), List.of(), 0)
                .with(List.of(new ProcessHolder("n", "q", "", form(uuid))));
        assertThat(holders.podsOf(form(uuid))).containsExactly(new GpuHolders.Pod("n", "p"));
        assertThat(holders.podsWithProcesses(form(uuid))).containsExactly(new GpuHolders.Pod("n", "q"));
        assertThat(holders.podsOf(form(other))).isEmpty();
    }

    private void units(String uuid, String other) {
        ReportedGpus gpus = new ReportedGpus(List.of(
                new ReportedGpus.Gpu(
                        0, Optional.empty(), Optional.of(form(uuid)), Optional.of(new TreeSet<>(Set.of(form(other))))),
                new ReportedGpus.Gpu(1, Optional.empty(), Optional.of(form(other)), Optional.empty())));
        assertThat(gpus.missing(List.of(form(uuid), form(other)))).isEmpty();
        assertThat(gpus.unknown(List.of(form(uuid)))).isEmpty();
        assertThat(gpus.units().widened(Set.of(form(uuid)))).containsExactlyInAnyOrder(uuid, other);
        assertThat(gpus.units().common(Set.of(form(uuid), form(other)))).isPresent();
        ResetUnits part = new ResetUnits(Map.of(form(uuid), Set.of(form(uuid), form(other))), false);
        assertThat(part.mayMiss(Set.of(form(uuid)))).isFalse();
        assertThat(part.of(form(uuid))).contains(new TreeSet<>(Set.of(uuid, other)));
    }

    private String uuid(String prefix) {
        return prefix + java.util.UUID.nameUUIDFromBytes(new byte[] {(byte) random.nextInt(), (byte) random.nextInt()});
    }

    /** Returns another spelling: each letter in any case, and spaces around. */
    private String form(String text) {
        StringBuilder form = new StringBuilder();
        for (char c : text.toCharArray()) {
            form.append(random.nextBoolean() ? Character.toUpperCase(c) : Character.toLowerCase(c));
        }
        return " ".repeat(random.nextInt(3)) + form + (random.nextInt(4) == 0 ? "\n" : "");
    }

    /** Returns a spelling of the address: with four or eight digits of the domain, or without it if that is 0. */
    private String form(PciAddress address) {
        String slot = String.format("%02x:%02x", address.bus(), address.device());
        String domain = switch (random.nextInt(3)) {
            case 0 -> String.format("%08x:", address.domain());
            case 1 -> String.format("%04x:", address.domain());
            default -> address.domain() == 0 ? "" : String.format("%x:", address.domain());
        };
        return form(domain + slot + (random.nextBoolean() ? ".0" : ""));
    }
}
