# Becomes a program that does not outlive its owner. Arguments: folder that goes with it, program, its arguments.
# Standard input is a pipe that only the owner holds open: its end tells that the owner is gone, however it went.
folder=$1
shift
exec 3<&0
(
    trap '' HUP INT TERM
    # The program is this one's parent while it lives; its number alone could be another's by then.
    alive() { read -r _ _ _ parent _ </proc/self/stat && [ "$parent" = $$ ]; }
    read -r _ <&3
    alive || exit
    kill -KILL $$
    while alive; do sleep 0.05; done
    rm -rf "$folder"
) &
exec "$@" </dev/null 3<&-
