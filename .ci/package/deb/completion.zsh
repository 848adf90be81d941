#compdef stoa
# The program completes itself, as for bash.
local -a lines
lines=("${(@f)$(COMP_LINE="${words[1,CURRENT]}" /usr/bin/stoa)}")
compadd -a lines
