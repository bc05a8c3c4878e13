# Runs a program that ends with its owner. Arguments: folder to delete with it, command to run before that, program, its arguments.
# Standard input is a pipe that only the owner holds open: its end means that the owner has ended, in any way.
folder=$1 after=$2
shift 2
exec 3<&0
(
    trap '' HUP INT TERM
    # The program is this one's parent while it lives; its number alone could be another's by then.
    alive() { read -r _ _ _ parent _ </proc/self/stat && [ "$parent" = $$ ]; }
    # A moment after its end of the pipe it may still be seen.
    owner_lives() {
        sleep 0.1
        read -r _ _ state _ 2>/dev/null <"/proc/$PPID/stat" && [ "$state" != Z ]
    }
    read -r _ <&3
    if alive; then
        kill -KILL $$
    elif owner_lives && owner_lives && owner_lives; then
        # The program has ended, nothing else: what it left is for its owner to see.
        exit
    fi
    while alive; do sleep 0.05; done
    eval "$after"
    # Children of the program may be a moment behind it.
    for _ in 1 2 3 4 5 6 7 8 9; do
        ! rm -rf "$folder" 2>/dev/null || break
        sleep 0.2
    done
) &
exec "$@" </dev/null 3<&-
