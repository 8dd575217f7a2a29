/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions from the table of options; see completion.h. Used by options.c. */
#include "config.h"
#include "launcher/cli/completion.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "launcher/cli/options.h"

/* ---- what the table tells -------------------------------------------------------------------- */

/* The fixed words of a value, with blanks between: of "N|all[X]" it is "all". */
static void list_choices(const struct ct_option_row *row, char *out, size_t cap)
{
    size_t len = 0;
    out[0] = '\0';
    for (const char *at = row->value; at != NULL && strchr(row->value, '|') != NULL;) {
        size_t word = strcspn(at, "|[");
        if (islower((unsigned char)at[0])) {
            len +=
                (size_t)snprintf(out + len, cap - len, "%s%.*s", len > 0 ? " " : "", (int)word, at);
        }
        at = at[word] == '|' ? at + word + 1 : NULL;
    }
}

static bool is_directory(const struct ct_option_row *row)
{
    return row->value != NULL && strncmp(row->value, "DIR", 3) == 0;
}

static bool may_miss(const struct ct_option_row *row)
{
    return row->value != NULL && row->value[0] == '[';
}

static size_t completion_count_names(const struct ct_option_row *row)
{
    size_t n = 0;
    while (n < sizeof row->names / sizeof *row->names && row->names[n] != NULL) {
        n++;
    }
    return n;
}

static void print_names(const struct ct_option_row *row, const char *between)
{
    for (size_t k = 0; k < completion_count_names(row); k++) {
        printf("%s%s", k > 0 ? between : "", row->names[k]);
    }
}

/* Text with a backslash before each of these characters. */
static void print_escaped(const char *text, const char *special)
{
    for (const char *c = text; *c != '\0'; c++) {
        printf("%s%c", strchr(special, *c) != NULL ? "\\" : "", *c);
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

static const char BASH_HEAD[] =
    "# bash completion for ctranrun; made by: ctranrun --completion bash\n"
    "_ctranrun()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} at=1 begin opt=\n"
    "    COMPREPLY=()\n"
    "    # Over options and their values, and over programs up to a ':'.\n"
    "    while [ \"$at\" -lt \"$COMP_CWORD\" ]; do\n"
    "        opt=\n"
    "        case ${COMP_WORDS[at]} in\n";

static const char BASH_SCAN[] =
    ")\n"
    "            opt=${COMP_WORDS[at]}\n"
    "            at=$((at + 1))\n"
    "            [ \"${COMP_WORDS[at]}\" != = ] || at=$((at + 1))\n"
    "            [ \"$at\" -lt \"$COMP_CWORD\" ] || break\n"
    "            opt=\n"
    "            at=$((at + 1)) ;;\n"
    "        -*)\n"
    "            at=$((at + 1)) ;;\n"
    "        *)\n"
    "            begin=$at\n"
    "            while [ \"$at\" -lt \"$COMP_CWORD\" ] && [ \"${COMP_WORDS[at]}\" != : ]; do\n"
    "                at=$((at + 1))\n"
    "            done\n"
    "            if [ \"$at\" -ge \"$COMP_CWORD\" ]; then\n"
    "                declare -F _command_offset >/dev/null && _command_offset \"$begin\"\n"
    "                return\n"
    "            fi\n"
    "            at=$((at + 1)) ;;\n"
    "        esac\n"
    "    done\n"
    "    [ \"$cur\" != = ] || cur=\n"
    "    case $opt in\n";

static const char BASH_TAIL[] = "    *)\n"
                                "        COMPREPLY=($(compgen -c -- \"$cur\")) ;;\n"
                                "    esac\n"
                                "}\n"
                                "complete -o default -F _ctranrun ctranrun\n";

/* What completes the value of an option. */
static void print_bash_value(const struct ct_option_row *row)
{
    char choices[256];
    list_choices(row, choices, sizeof choices);
    printf("    ");
    print_names(row, "|");
    if (choices[0] != '\0') {
        printf(")\n        COMPREPLY=($(compgen -W '%s' -- \"$cur\")) ;;\n", choices);
    } else if (is_directory(row)) {
        printf(")\n        COMPREPLY=($(compgen -d -- \"$cur\")) ;;\n");
    } else {
        printf(")\n        ;;\n");
    }
}

static void print_bash(const struct ct_option_row *rows, size_t n)
{
    bool first = true;
    printf("%s        ", BASH_HEAD);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].value != NULL && !may_miss(&rows[i])) {
            printf("%s", first ? "" : "|");
            print_names(&rows[i], "|");
            first = false;
        }
    }
    printf("%s", BASH_SCAN);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].value != NULL && !may_miss(&rows[i])) {
            print_bash_value(&rows[i]);
        }
    }
    printf("    '')\n        if [[ $cur != -* ]]; then\n            COMPREPLY=($(compgen -c -- "
           "\"$cur\"))\n            return\n        fi\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < n; i++) {
        printf("%s", i > 0 ? " " : "");
        print_names(&rows[i], " ");
    }
    printf("' -- \"$cur\")) ;;\n%s", BASH_TAIL);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void print_zsh_row(const struct ct_option_row *row)
{
    char choices[256];
    list_choices(row, choices, sizeof choices);
    printf("    ");
    if (completion_count_names(row) > 1) {
        printf("'(");
        print_names(row, " ");
        printf(")'{");
        print_names(row, ",");
        printf("}'[");
    } else {
        printf("'*%s[", row->names[0]);
    }
    print_escaped(row->help, "[]:\\");
    printf("]");
    if (row->value != NULL) {
        printf("%s", may_miss(row) ? "::" : ":");
        print_escaped(row->value, "[]:\\");
        if (choices[0] != '\0') {
            printf(":(%s)", choices);
        } else {
            printf(":%s", is_directory(row) ? "_files -/" : " ");
        }
    }
    printf("' \\\n");
}

static void print_zsh(const struct ct_option_row *rows, size_t n)
{
    printf("#compdef ctranrun\n"
           "# zsh completion for ctranrun; made by: ctranrun --completion zsh\n"
           "_arguments -S -A '-*' \\\n");
    for (size_t i = 0; i < n; i++) {
        print_zsh_row(&rows[i]);
    }
    printf("    '(-):program:_command_names -e' \\\n"
           "    '*::argument:_normal'\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

/* A name as fish wants it: -s n, -o np or -l name. */
static void print_fish_name(const char *name)
{
    if (strncmp(name, "--", 2) == 0) {
        printf(" -l %s", name + 2);
    } else {
        printf(" -%c %s", strlen(name) == 2 ? 's' : 'o', name + 1);
    }
}

static void print_fish(const struct ct_option_row *rows, size_t n)
{
    char choices[256];
    printf("# fish completion for ctranrun; made by: ctranrun --completion fish\n"
           "complete -c ctranrun -x -a '(__fish_complete_subcommand --");
    for (size_t i = 0; i < n; i++) {
        if (rows[i].value != NULL) {
            printf(" ");
            print_names(&rows[i], " ");
        }
    }
    printf(")'\n");
    for (size_t i = 0; i < n; i++) {
        const struct ct_option_row *row = &rows[i];
        list_choices(row, choices, sizeof choices);
        printf("complete -c ctranrun");
        for (size_t k = 0; k < completion_count_names(row); k++) {
            print_fish_name(row->names[k]);
        }
        if (choices[0] != '\0') {
            printf(" -x -a '%s'", choices);
        } else if (is_directory(row)) {
            printf(" -x -a '(__fish_complete_directories)'");
        } else if (row->value != NULL && !may_miss(row)) {
            printf(" -x");
        }
        printf(" -d '");
        print_escaped(row->help, "'\\");
        printf("'\n");
    }
}

void ct_completion_print(const char *shell)
{
    size_t                      n;
    const struct ct_option_row *rows = ct_options_rows(&n);
    if (strcmp(shell, "bash") == 0) {
        print_bash(rows, n);
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh(rows, n);
    } else {
        print_fish(rows, n);
    }
}
