package dev.gpuwarden.aggregator.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.aggregator.remediation.ModelAction.State;
import dev.gpuwarden.aggregator.remediation.RepairFacts.Policy;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A node and the model of its repair, and random changes that both get alike. */
final class RandomChanges {

    private final long seed;
    final Random random;
    final RepairModel model = new RepairModel();
    final RepairNode node = new RepairNode();
    final RepairScene scene = node.scene;
    final RepairVendor vendor;
    final List<String> story = new ArrayList<>();
    /** The model's action of each resource. */
    final Map<String, ModelAction> actions = new HashMap<>();

    private boolean foreign;
    /** The node is out of quarantine. */
    boolean rests;

    private int hands;

    RandomChanges(long seed) {
        this.seed = seed;
        // Neighbouring seeds alone give related sequences.
        this.random = new Random(seed * 0x9E3779B97F4A7C15L);
        this.vendor = new RepairVendor(random);
    }

    /** Sets what a sequence begins with. */
    void begin() {
        model.manual = random.nextInt(3) == 0;
        configure();
        link();
        drain();
    }

    /** Makes one change. */
    void next() {
        if (rests) {
            changeAtRest();
        } else {
            change();
        }
    }

    /** The program starts with a file of templates. */
    private void configure() {
        model.templates = vendor.chosen();
        scene.policy = new Policy(
                true,
                model.manual,
                RepairModel.ATTEMPTS,
                Duration.ofSeconds(RepairModel.MEMORY),
                Duration.ofSeconds(RepairModel.SETTLE),
                vendor.templates());
        story.add("templates " + model.templates.all());
    }

    /** Links the first two GPUs of some nodes. Some nodes do not report all GPUs that events name, or none. */
    private void link() {
        List<String> there = RandomEvent.GPUS.subList(0, random.nextInt(6) == 0 ? 2 : 3);
        if (random.nextInt(3) == 0) {
            model.linked = RandomEvent.GPUS.subList(0, 2);
            scene.gpus = there.size() > 2
                    ? TestGpus.units(RandomEvent.uuids(model.linked), RandomEvent.uuids(there.subList(2, 3)))
                    : TestGpus.units(RandomEvent.uuids(model.linked));
        } else {
            there = random.nextInt(20) == 0 ? List.of() : there;
            scene.gpus = TestGpus.ofUnknownUnits(RandomEvent.uuids(there).toArray(String[]::new));
        }
        model.there = Set.copyOf(there);
    }

    /** The check of a fault passes, and the fault is held; or it fails again. */
    private void hold() {
        if (scene.faults.isEmpty()) {
            return;
        }
        HealthEvent before = any(scene.faults).cause();
        // Most faults fail again.
        boolean held = !before.isHeld() && random.nextInt(2) == 0;
        HealthEvent now = before.toBuilder()
                .metadata(held ? Map.of(HealthEvent.OUTCOME, "pass") : Map.of())
                .build();
        story.add((held ? "held " : "fails again ") + before.checkName() + " " + before.entities());
        scene.cause(before, now);
        Set<String> gpus =
                before.entities().stream().map(each -> named(each.value())).collect(Collectors.toSet());
        model.faults.replaceAll(each -> each.check().equals(before.checkName())
                        && gpus.containsAll(each.gpus())
                        && each.gpus().isEmpty() == gpus.isEmpty()
                ? each.held(held)
                : each);
    }

    /** Returns the changes so far, for the message of a failure. */
    String story() {
        return "seed " + seed + (model.manual ? ", with approvals" : "")
                + (model.linked.isEmpty() ? "" : ", linked " + model.linked)
                + "\n" + String.join("\n", story);
    }

    long now() {
        return scene.now.getEpochSecond();
    }

    /** Returns a text with the model's names of the GPUs. */
    static String named(String text) {
        for (String gpu : RandomEvent.GPUS) {
            text = text.replace(RandomEvent.uuid(gpu), gpu);
        }
        return text;
    }

    static String named(RepairGroup group) {
        return named(RepairVendor.name(group));
    }

    private <T> T any(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }

    private void change() {
        switch (random.nextInt(model.manual ? 23 : 19)) {
            case 0, 1, 2, 3 -> fault();
            case 4 -> recover();
            case 5, 6, 7 -> end();
            case 8 -> pass();
            case 9 -> delete();
            case 10 -> byHand();
            case 11 -> release();
            case 12 -> block();
            case 13 -> drain();
            case 14 -> takeOver();
            case 15 -> lock();
            case 16 -> restart();
            case 17 -> {
                story.add("uncordoned");
                rests = true;
            }
            case 18 -> hold();
            case 19 -> {
                story.add("approved another attempt");
                node.approve("maintenance-of-another");
                model.approveNothing();
            }
            default -> approve();
        }
    }

    /** The changes while the node is out of quarantine. */
    private void changeAtRest() {
        switch (random.nextInt(8)) {
            case 0, 1 -> end();
            case 2 -> delete();
            case 3 -> restart();
            case 4 -> lock();
            case 5 -> {
                if (model.faults.isEmpty()) {
                    story.add("the record of repairs is removed");
                    node.forgetAttempts();
                    model.forgetAttempts();
                }
            }
            default -> {
                story.add("in quarantine");
                rests = false;
            }
        }
    }

    /** The program starts again, with another file of templates, and with other rights. */
    private void restart() {
        vendor.change();
        node.unreadable = random.nextInt(4) == 0;
        model.unreadable = node.unreadable;
        configure();
        story.add(node.unreadable ? "others are unreadable" : "others are readable");
    }

    private void fault() {
        RandomEvent event = RandomEvent.of(random);
        // A fault has one event at a time, also after a part of the event has recovered.
        if (scene.faults.stream()
                .flatMap(fault -> fault.cause().keys().stream())
                .anyMatch(event.cause().keys()::contains)) {
            return;
        }
        story.add("fault " + event);
        scene.fault(event.cause());
        if (event.holds()) {
            node.hold(event.cause());
            model.faults.add(event.fault(now()));
        }
    }

    private static ModelFault without(ModelFault fault, String gpu) {
        Set<String> rest = new TreeSet<>(fault.gpus());
        return rest.remove(gpu)
                ? new ModelFault(fault.check(), rest, fault.action(), fault.since(), fault.skip(), fault.held())
                : fault;
    }

    private void recover() {
        if (!scene.faults.isEmpty()) {
            var key = any(scene.faults).key();
            String gpu = named(key.entity().value());
            story.add("recovers " + key.checkName() + " " + gpu);
            scene.faults.removeIf(each -> each.key().equals(key));
            Set<String> over = key.entity().equals(Entity.WHOLE) ? Set.of() : Set.of(gpu);
            model.faults.removeIf(
                    each -> each.check().equals(key.checkName()) && each.gpus().equals(over));
            model.faults.replaceAll(each -> each.check().equals(key.checkName()) ? without(each, gpu) : each);
        }
    }

    private void end() {
        List<MaintenanceResource> open =
                scene.resources.stream().filter(MaintenanceResource::inProgress).toList();
        if (!open.isEmpty()) {
            MaintenanceResource resource = any(open);
            boolean good = random.nextInt(3) > 0;
            story.add("ends " + actions.get(resource.name()).group + (good ? " well" : " badly"));
            boolean own = !vendor.knows(resource);
            String reason = own && !good ? any(ModelAction.REASONS) : "";
            MaintenanceResource ended =
                    own ? scene.ended(resource, good, reason) : vendor.end(resource, good, scene.now);
            scene.resources.replaceAll(each -> each.equals(resource) ? ended : each);
            model.end(
                    actions.get(resource.name()),
                    good ? State.GOOD : State.of(reason),
                    ended.ended().orElseThrow().getEpochSecond());
        }
    }

    private void drain() {
        model.drainDone = random.nextInt(5) > 0;
        model.drainAll = random.nextInt(3) > 0;
        model.drainGpus = new TreeSet<>(RandomEvent.GPUS.subList(0, random.nextInt(RandomEvent.GPUS.size() + 1)));
        story.add("drain of " + (model.drainAll ? "all" : model.drainGpus) + (model.drainDone ? " is done" : ""));
        node.drained(
                model.drainDone,
                model.drainAll,
                model.drainGpus.stream().map(RandomEvent::uuid).collect(Collectors.toSet()));
    }

    private void pass() {
        int seconds = any(List.of(60, 299, 301, 3600, 24 * 3600, 8 * 24 * 3600));
        story.add("passes " + seconds);
        scene.later(seconds);
    }

    private void delete() {
        if (!scene.resources.isEmpty()) {
            MaintenanceResource gone = any(scene.resources);
            scene.resources.remove(gone);
            ModelAction action = actions.get(gone.name());
            story.add("deleted " + action.group);
            model.end(action, State.GONE, now());
        }
    }

    private void byHand() {
        String name = "hand-" + hands++;
        String group = any(List.of("reset-" + any(RandomEvent.GPUS), "reset-all", "restart", "restart"));
        story.add("by hand " + group);
        switch (group) {
            case "restart" ->
                scene.byHand(any(List.of(MaintenanceKind.REBOOT_NODE, MaintenanceKind.TERMINATE_NODE)), name);
            case "reset-all" -> scene.byHand(MaintenanceKind.GPU_RESET, name);
            default ->
                scene.byHand(MaintenanceKind.GPU_RESET, name, RandomEvent.uuid(group.substring("reset-".length())));
        }
        actions.put(name, model.byHand(group, now()));
    }

    private void release() {
        story.add("released");
        node.release();
        model.release();
        foreign = false;
        drain();
        blockedOrNot();
        rests = random.nextBoolean();
    }

    private void block() {
        node.breaker = random.nextInt(8) == 0 ? Optional.of("the breaker is open") : Optional.empty();
        node.stale = random.nextInt(8) == 0;
        blockedOrNot();
    }

    private void takeOver() {
        foreign = !foreign && random.nextInt(6) == 0;
        if (foreign) {
            node.takeOver();
        } else if (model.foreign) {
            node.handBack();
        }
        blockedOrNot();
    }

    /** The janitor takes the lock for a resource, or releases it. */
    private void lock() {
        if (vendor.lease.equals(RepairVendor.JANITOR)) {
            vendor.lease = "";
        } else if (vendor.lease.isEmpty() && random.nextInt(3) == 0) {
            vendor.lease = RepairVendor.JANITOR;
        }
        model.lockedByAnother = vendor.lease.equals(RepairVendor.JANITOR);
        story.add("lock of " + vendor.lease);
    }

    private void blockedOrNot() {
        if (foreign && !model.foreign) {
            model.forget();
        }
        model.foreign = foreign;
        model.blocked = foreign || node.stale || node.breaker.isPresent();
        story.add("blocked " + model.blocked + (foreign ? " by another program" : ""));
    }

    private void approve() {
        boolean waits = model.awaitedGroup.isPresent();
        story.add("approved " + model.awaitedGroup.orElse("nothing"));
        assertThat(node.approve()).as(this::story).isEqualTo(waits);
        model.approve();
    }
}
