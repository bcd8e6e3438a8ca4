"""What shells are told to do on TAB: click's scripts, but in bash for words that hold ``:``, ``=`` or ``@``, in fish for commas.

Bash cuts such words in parts, of which it completes the last one alone; fish's script of click takes a comma for its own.
"""

from __future__ import annotations

import os

from click.shell_completion import BashComplete, FishComplete, add_completion_class, split_arg_string

BREAKS = "\"'@><=;|&(: \t\n"
"""Where bash cuts words, unless its user chose others."""


class Bash(BashComplete):
    """Completes the whole word before the cursor, and gives bash that part of it which bash will replace."""

    source_template = """\
%(complete_func)s() {
    local response type value
    response=$(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1" 2>/dev/null)
    COMPREPLY=()
    while IFS=',' read -r type value; do
        if [[ $type == 'dir' ]]; then
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            COMPREPLY+=("$value")
        fi
    done <<< "$response"
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:/] ]]; then
        compopt -o nospace
    fi
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Words before the one that is completed, without the program, and that one."""
        if (line := os.environ.get("COMP_LINE")) is None:
            return super().get_completion_args()
        words = split_arg_string(line)
        begun = words.pop() if words and not line[-1:].isspace() else ""
        return words[1:], begun

    def complete(self) -> str:
        args, begun = self.get_completion_args()
        found = self.get_completions(args, begun)
        line = os.environ.get("COMP_LINE")
        if line is not None:
            name = begun.partition("=")[0] + "=" if begun.startswith("--") and "=" in begun else ""
            start = _replaced_from(line, begun)
            for item in found:
                if item.type == "plain":
                    item.value = (name + item.value)[start:]
        return "\n".join(self.format_completion(item) for item in found)


class Fish(FishComplete):
    """With commas in what is offered."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split -m 1 ","')


def _replaced_from(line: str, begun: str) -> int:
    """How many characters of the last word of a line stay when bash completes it; within quotes it is cut nowhere."""
    last = (line.split() or [""])[-1]
    if "'" in last or '"' in last:
        return 0
    breaks = os.environ.get("COMP_WORDBREAKS", BREAKS)
    return max((begun.rfind(b) + 1 for b in breaks), default=0)


def register() -> None:
    """Have click use them."""
    for shell in (Bash, Fish):
        add_completion_class(shell)
