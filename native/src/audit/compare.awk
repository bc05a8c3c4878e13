# Compares our layout with the measured one; exit 1 and one line per difference.
# Use: awk -f compare.awk nvml-layout-13.3.tsv layout-audit.tsv
BEGIN { FS = "\t" }
/^#/ { next }
{ subject = $1 ($2 == "-" ? "" : "." $2); seen = $1 == "version" ? $3 : "offset " $3 ", size " $4 }
FNR == NR { expected[subject] = seen; facts++; next }
{ ours[subject] = seen }
END {
    for (s in expected) {
        if (!(s in ours)) { print s ": expected " expected[s] ", seen nothing"; bad++ }
        else if (ours[s] != expected[s]) { print s ": expected " expected[s] ", seen " ours[s]; bad++ }
    }
    if (facts < 300) { print "nvml-layout-13.3.tsv: expected at least 300 rows, seen " facts + 0; bad++ }
    if (bad) { print "layout audit: " bad " differences (nvml-layout-13.3.tsv against nvml_mirror.h)"; exit 1 }
}
