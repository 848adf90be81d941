# The program completes itself.
complete -o default -o bashdefault -C /usr/bin/stoa stoa
