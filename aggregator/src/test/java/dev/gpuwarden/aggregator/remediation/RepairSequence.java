package dev.gpuwarden.aggregator.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.remediation.ModelAction.State;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** One random sequence: after each change of the node and the model, both decide. */
final class RepairSequence {

    /** The waits for a person because of a template that is no longer in the file. */
    static final String ASKS = "a person for a hidden resource";
    /** The attempts that follow one which was refused before anything was tried. */
    static final String AGAIN = "an attempt after a refusal";
    /** The locks that were released out of quarantine. */
    static final String UNLOCKS = "a lock out of quarantine";

    private static final int STEPS = 40;

    private final RandomChanges changes;
    private final Random random;
    private final RepairModel model;
    private final RepairNode node;
    private final RepairVendor vendor;

    RepairSequence(long seed) {
        this.changes = new RandomChanges(seed);
        this.random = changes.random;
        this.model = changes.model;
        this.node = changes.node;
        this.vendor = changes.vendor;
    }

    /** @param made number of resources of each group */
    void run(Map<String, Integer> made) {
        try {
            changes.begin();
            for (int step = 0; step < STEPS; step++) {
                changes.next();
                if (changes.rests) {
                    rest(made);
                } else {
                    settle(made);
                }
                changes.scene.later(1 + random.nextInt(3));
            }
        } catch (IOException | RuntimeException e) {
            throw new AssertionError(changes.story(), e);
        }
    }

    private void lockIsLikeTheModels() {
        assertThat(vendor.lease.isEmpty() || vendor.lease.equals(RepairVendor.JANITOR))
                .as(changes::story)
                .isEqualTo(model.locker.isEmpty());
    }

    private void rest(Map<String, Integer> made) {
        boolean locked = model.locker.isPresent();
        model.rest();
        vendor.releaseUnlessFor(node.lockingAtRest());
        lockIsLikeTheModels();
        if (locked && model.locker.isEmpty()) {
            made.merge(UNLOCKS, 1, Integer::sum);
        }
    }

    private void settle(Map<String, Integer> made) throws IOException {
        if (random.nextInt(20) == 0) {
            // The decision is lost, as if the leader was killed before its write. Locks are released before.
            var unused = node.decide(true);
            if (random.nextBoolean()) {
                vendor.releaseUnlessFor(node.locking);
            }
        }
        List<ModelAction> due = model.decide(changes.now());
        RepairDecision decision = node.decide(false);
        vendor.releaseUnlessFor(node.locking);
        lockIsLikeTheModels();
        List<Repair> create = decision.create();
        assertThat(create.stream()
                        .map(each -> RandomChanges.named(each.group()))
                        .sorted())
                .as(changes::story)
                .isEqualTo(due.stream().map(each -> each.group).sorted().toList());
        if (!model.blocked) {
            assertThat(decision.record().next().map(next -> RandomChanges.named(next.group())))
                    .as(changes::story)
                    .isEqualTo(model.awaitedGroup);
            boolean asks = decision.record().person().stream()
                    .anyMatch(person -> person.task().contains("is no longer configured"));
            assertThat(asks).as(changes::story).isEqualTo(model.asksAboutHidden());
            if (asks) {
                made.merge(ASKS, 1, Integer::sum);
            }
        }
        if (random.nextInt(10) == 0) {
            changes.story.add("killed before it makes "
                    + due.stream().map(each -> each.group).toList());
            return;
        }
        List<Repair> locked = new ArrayList<>();
        for (Repair repair : create) {
            String group = RandomChanges.named(repair.group());
            ModelAction action = due.stream()
                    .filter(each -> each.group.equals(group))
                    .findFirst()
                    .orElseThrow();
            boolean template = model.templates.isTemplate(group);
            assertThat(repair.group().template().isPresent()).as(changes::story).isEqualTo(template);
            boolean free = !template || model.lock(action);
            assertThat(!template || vendor.take(repair)).as(changes::story).isEqualTo(free);
            if (!free) {
                locked.add(repair);
                continue;
            }
            if (template && random.nextInt(10) == 0) {
                changes.story.add("killed with the lock for " + group);
                return;
            }
            action.state = State.RUNNING;
            assertThat(changes.actions.put(repair.resource(), action))
                    .as(changes::story)
                    .isNull();
            if (template) {
                changes.scene.resources.add(
                        vendor.make(node.read(), repair, node.facts().demands()));
            } else {
                changes.scene.make(repair);
            }
            changes.story.add("  makes " + group);
            if (model.wasPostponed(action)) {
                made.merge(AGAIN, 1, Integer::sum);
            }
            made.merge(
                    template
                            ? group.replace("@cases", "")
                                    .replaceAll("-.$", " of one")
                                    .replaceAll("-.*", " of two")
                            : group,
                    1,
                    Integer::sum);
        }
        if (!create.isEmpty()) {
            // The watch has delivered the resources.
            assertThat(node.decide(false).create()).as(changes::story).isEqualTo(locked);
        }
    }
}
