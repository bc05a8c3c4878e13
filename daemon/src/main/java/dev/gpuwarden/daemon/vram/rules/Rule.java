package dev.gpuwarden.daemon.vram.rules;

import java.util.Locale;
import java.util.function.Function;

/** One rule of the watchdog by its name, such as {@code floor-share}. */
public enum Rule {
    TRIGGERS(RuleKind.TRIGGERS, rules -> rules.pressure().triggers(), "reasons for pressure that count"),
    FLOOR(RuleKind.BYTES, rules -> rules.pressure().floorBytes(), "free memory below which there is pressure"),
    FLOOR_SHARE(
            RuleKind.SHARE,
            rules -> rules.pressure().floorShare(),
            "the floor as a share of the card, where that is less"),
    MARGIN(RuleKind.BYTES, rules -> rules.pressure().marginBytes(), "free memory above a limit that ends its pressure"),
    SAMPLES(RuleKind.COUNT, rules -> rules.pressure().samples(), "memory readings that are regarded, at most 64"),
    LEAST(RuleKind.COUNT, rules -> rules.pressure().least(), "readings among them below a limit that begin pressure"),
    LEAVE_AFTER(
            RuleKind.TIME, rules -> rules.pressure().leaveAfter(), "time above limit and margin that ends pressure"),
    ATTEMPTS(
            RuleKind.COUNT,
            rules -> rules.pressure().attempts(),
            "failed attempts to allocate that make a failed demand"),
    ATTEMPTS_WITHIN(RuleKind.TIME, rules -> rules.pressure().attemptsWithin(), "time in which they must occur"),
    ATTEMPT_LASTS(
            RuleKind.TIME,
            rules -> rules.pressure().attemptLasts(),
            "longest life of a process that counts as an attempt"),
    STARVED_SHARE(
            RuleKind.SHARE,
            rules -> rules.pressure().starvedShare(),
            "share of its budget that a tenant lacks if it is starved"),
    RESERVATION_WAITS(
            RuleKind.TIME,
            rules -> rules.pressure().reservationWaits(),
            "wait of a reservation within a budget that is a failed demand"),
    TOLERANCE(RuleKind.BYTES, rules -> rules.recycle().toleranceBytes(), "use beyond a budget that is no offence"),
    TOLERANCE_SHARE(
            RuleKind.SHARE, rules -> rules.recycle().toleranceShare(), "the same as a share of the budget, where more"),
    DEFICIT_GRACE(RuleKind.TIME, rules -> rules.recycle().deficitGrace(), "time for which a deficit alone only alerts"),
    NEWEST_WITHIN(
            RuleKind.TIME,
            rules -> rules.recycle().newestWithin(),
            "age at which a process list is too old for a recycle"),
    LONGEST_GAP(
            RuleKind.TIME,
            rules -> rules.recycle().longestGap(),
            "time without a reading after which earlier ones do not count"),
    RELEASE_WITHIN(
            RuleKind.TIME,
            rules -> rules.recycle().releaseWithin(),
            "time in which an ending tenant must free its memory"),
    COOLDOWN(
            RuleKind.TIME,
            rules -> rules.recycle().cooldown(),
            "time after a recycle in which its workload is left alone"),
    QUICK_RETURN(
            RuleKind.TIME,
            rules -> rules.recycle().quickReturn(),
            "time between two recycles if the first did not help"),
    MOST_QUICK_RETURNS(
            RuleKind.COUNT,
            rules -> rules.recycle().mostQuickReturns(),
            "recycles without help after which the budget is wrong"),
    WRONG_FOR(
            RuleKind.TIME,
            rules -> rules.recycle().wrongFor(),
            "time for which a workload with a wrong budget is left alone"),
    MOST_PER_HOUR(
            RuleKind.COUNT, rules -> rules.recycle().mostPerHour(), "recycles of all workloads of a node in an hour");

    private final RuleKind kind;
    private final Function<WatchdogRules, Object> value;
    private final String meaning;

    Rule(RuleKind kind, Function<WatchdogRules, Object> value, String meaning) {
        this.kind = kind;
        this.value = value;
        this.meaning = meaning;
    }

    /** Returns its name in settings. */
    public String key() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns its meaning in words, for a help text. */
    public String meaning() {
        return meaning;
    }

    /** Returns its value under these rules, as a text that {@link WatchdogRules#with} reads back. */
    public String text(WatchdogRules rules) {
        return kind.text(value(rules));
    }

    RuleKind kind() {
        return kind;
    }

    Object value(WatchdogRules rules) {
        return value.apply(rules);
    }
}
