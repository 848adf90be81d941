# The program completes itself, as for bash.
function __complete_stoa
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    /usr/bin/stoa
end
complete -f -c stoa -a "(__complete_stoa)"
