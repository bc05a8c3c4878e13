package dev.gpuwarden.aggregator.remediation;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The file of the operator with own ways of repair, as the model has it, and the groups that faults request by it. */
record ModelTemplates(List<Template> all) {

    static final ModelTemplates NONE = new ModelTemplates(List.of());

    /**
     * A user's way of repair.
     *
     * @param name name, with the kind of its resources if that is another one
     * @param drain all, gpu or none
     * @param operator true if its success is checked by an operator
     */
    record Template(String name, Set<String> actions, String drain, boolean operator) {

        private boolean makes(String group) {
            return group.equals(name) || group.startsWith(name + "-");
        }
    }

    /** Returns true for the group of a template of the file. */
    boolean isTemplate(String group) {
        return of(group).isPresent();
    }

    Optional<Template> of(String group) {
        return all.stream().filter(each -> each.makes(group)).findFirst();
    }

    /** Returns the group that restarts the node. */
    String restart() {
        return all.stream()
                .filter(each -> each.actions().contains("restart"))
                .map(Template::name)
                .findFirst()
                .orElse("restart");
    }

    /**
     * Returns the group of a fault; empty if it requests nothing, or waits for an operator.
     *
     * @param linked GPUs that can only be reset together, sorted
     * @param there GPUs that the node reports
     */
    Optional<String> requested(ModelFault fault, List<String> linked, Set<String> there) {
        Optional<Template> template = all.stream()
                .filter(each -> each.actions().contains(fault.action()))
                .findFirst();
        if (fault.skip() && template.filter(each -> each.drain().equals("none")).isEmpty()) {
            return Optional.empty();
        }
        String gpus = String.join("+", new TreeSet<>(fault.gpus()));
        boolean ofGpus = template.isEmpty() || template.get().drain().equals("gpu");
        if (fault.action().equals("reset") && ofGpus && !there.containsAll(fault.gpus())) {
            return Optional.empty();
        }
        if (template.isPresent()) {
            String name = template.get().name();
            if (!template.get().drain().equals("gpu")) {
                return Optional.of(name);
            }
            return gpus.isEmpty() ? Optional.empty() : Optional.of(name + "-" + gpus);
        }
        if (fault.action().equals("reset")) {
            boolean unit = !gpus.isEmpty() && linked.containsAll(fault.gpus());
            return unit || fault.gpus().size() == 1
                    ? Optional.of("reset-" + (unit ? String.join("+", linked) : gpus))
                    : Optional.empty();
        }
        return Optional.of(fault.action()).filter("restart"::equals);
    }
}
