/* polyrace help: commands, options, refusal kinds. Complete enough to need no other text. */
#include <string.h>
#include "cli.h"

static const char overview[] =
    "polyrace decides statically whether Triton kernels have data races.\n"
    "\n"
    "usage: polyrace COMMAND [options] INPUT...\n"
    "\n"
    "  check    decide each input and print the verdicts\n"
    "  dump     show one stage of the analysis\n"
    "  explain  the verdict with its polyhedral explanation: which programs race, for which shapes not\n"
    "  replay   execute every program of a small launch and report real overlaps\n"
    "  version  versions of the program and its engines\n"
    "  help     this text; help COMMAND; help REFUSAL-KIND\n"
    "  scan     decide every launch below some folders (needs the Python package)\n"
    "  recheck  verify certificates of check --certify with other solvers (needs the Python package)\n"
    "  consan   shared memory, tensor memory and barriers of a TTGIR text; --emulate: what ConSan would report\n"
    "\n"
    "INPUT is a kernel text (.ttir), a launch file (.json), several launches one a line (.jsonl), "
    "or\n"
    "- for standard input. Of a .ttir alone only what holds for any launch is decided.\n"
    "\n"
    "exit status, worst first over all inputs:\n"
    "  3  bad input or usage; the message names file, line and column\n"
    "  1  a race\n"
    "  4  an internal error, contained; never hides a race\n"
    "  2  something was not decided, or its premises admit no execution\n"
    "  0  everything was proved race free\n"
    "  130, 143  ended by SIGINT, SIGTERM; finished verdicts are written first\n";

static const char check[] =
    "usage: polyrace check [options] INPUT...\n"
    "\n"
    "Decides each input. A verdict is one of\n"
    "  race free     proved, with the scope of the proof (T0: any parameters and any grid; T1: "
    "these\n"
    "                parameters, any grid; T1-launch: this launch) and the assumptions it makes\n"
    "  data race     two accesses to one byte, at least one a write, that nothing orders, with the "
    "two\n"
    "                programs, lanes and source lines\n"
    "  not decided   neither; says which operation and why, and what can be done\n"
    "  no claim      the premises admit no execution\n"
    "\n"
    "options:\n";

static const char dump[] =
    "usage: polyrace dump --stage=STAGE [options] INPUT\n"
    "\n"
    "Shows one stage of the analysis:\n"
    "  parse    the text as read, in generic form; reading it back gives the same\n"
    "  access   the accesses as found, one record each\n"
    "  records  the same with what the proof derives from them\n"
    "  query    the question asked for each pair of accesses\n"
    "  isl      iteration domains, access maps and conflict sets in isl's notation, with isl's "
    "answers\n"
    "  smt2     the questions as SMT-LIB 2.6\n"
    "  verdict  the verdict document without times\n"
    "  consan   TTGIR: the tables of the emulated ConSan after each step of one schedule\n"
    "\n"
    "options:\n";

static const char explain[] =
    "usage: polyrace explain [options] INPUT\n"
    "\n"
    "Decides the input and explains the answer:\n"
    "  - each race's whole relation between programs, as a sentence, in isl's notation, and counted\n"
    "  - the condition on parameters and grid under which nothing races; it was confirmed by asking\n"
    "    every query again under it, and is \"exact\" when outside it some query has an overlap\n"
    "  - which programs would overlap at other grids\n"
    "  - what settled each pair of accesses\n"
    "--format=json writes {\"version\", \"verdict\", \"explanations\"}, --format=html a page with pictures\n"
    "(docs/report.md). Exit status as for check.\n"
    "\n"
    "options:\n";

static const char replay[] =
    "usage: polyrace replay [options] INPUT\n"
    "\n"
    "Executes every program of a launch on the parsed text with machine integers and reports the "
    "accesses\n"
    "that really overlap and that nothing orders. Uses no record, isl or Z3. For small grids.\n"
    "With --footprints, compares the bytes of every operation and program with what its record "
    "claims.\n"
    "\n"
    "exit status: 1 an overlap, 4 a footprint that the record does not have, 2 something could not "
    "be\n"
    "executed, 3 bad input, 0 otherwise\n"
    "\n"
    "options:\n";

static const char scan[] =
    "usage: polyrace scan [options] PATH...\n"
    "\n"
    "Decides every launch below the paths: kernel texts (.ttir), launch files (.json, .jsonl) and the\n"
    "cache and dump folders of Triton. Shows progress, prints the races and a summary. With\n"
    "--results FILE every result is kept there, and the same command goes on after an interruption.\n"
    "Runs the Python package; \"polyrace scan --help\" lists the options.\n";

static const char recheck[] =
    "usage: polyrace recheck [options] DIR...\n"
    "\n"
    "Verifies certificates (polyrace check --certify DIR) with cvc5, Z3 and isl, in a process that has no\n"
    "code of the analyser: the ledger holds every pair, every pair has a confirmed claim or a reason\n"
    "that the certificate shows, no file was changed. Runs the Python package; \"polyrace recheck --help\"\n"
    "lists the options. Exit status: 0 confirmed, 1 rejected, 2 some claim not confirmed, 3 bad usage.\n";

static const char consan[] =
    "usage: polyrace consan [options] INPUT\n"
    "\n"
    "Decides shared memory, tensor memory and barriers of a TTGIR text, as check does (and takes its\n"
    "options). With --emulate it does not decide anything: it runs the table machine of Triton's ConSan\n"
    "on the host, over random schedules of one launch, and counts how they end: with which of ConSan's\n"
    "messages, without one, or in a hang that ConSan does not see. --launch gives the arguments.\n"
    "\n"
    "exit status of --emulate: 1 some schedule ends with a report or hangs, 2 nothing was run, 0 all end\n"
    "without a report (which proves nothing)\n"
    "\n"
    "options of --emulate:\n";

bool pr_help_command(const char *command, FILE *out)
{
    static const struct {
        const char *name, *text;
        unsigned where;
    } texts[] = {
        { "", overview, 0 },
        { "check", check, PR_OPT_CHECK },
        { "consan", consan, PR_OPT_CONSAN },
        { "dump", dump, PR_OPT_DUMP },
        { "explain", explain, PR_OPT_EXPLAIN },
        { "replay", replay, PR_OPT_REPLAY },
        { "recheck", recheck, 0 },
        { "scan", scan, 0 },
        { "version",
          "usage: polyrace version\n\nPrints the versions of the program and of its engines.\n",
          0 },
        { "help", "usage: polyrace help [COMMAND | REFUSAL-KIND]\n", 0 },
    };
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        if (strcmp(texts[k].name, command) != 0) continue;
        fputs(texts[k].text, out);
        if (texts[k].where) pr_opt_help(out, texts[k].where);
        if (texts[k].where == PR_OPT_CHECK) fprintf(out, "  %-24s%s\n", "-v", "the same as --stats");
        return true;
    }
    return false;
}

static void refusal_list(void)
{
    printf("\nrefusal kinds (polyrace help KIND):\n");
    size_t column = 0;
    for (size_t k = 0; polyrace_refusal_slug(k); k++) {
        const char *slug = polyrace_refusal_slug(k);
        if (column == 0 || column + strlen(slug) > 92) {
            printf("%s ", column ? "\n" : "");
            column = 1;
        }
        printf(" %s", slug);
        column += strlen(slug) + 1;
    }
    printf("\n");
}

int pr_cmd_help(int argc, char **argv)
{
    if (argc > 1) {
        pr_cli_usage("help", "unexpected argument %s", argv[1]);
        return PR_EXIT_BAD;
    }
    const char *topic = argc ? argv[0] : "";
    if (pr_help_command(topic, stdout)) {
        if (!*topic || strcmp(topic, "help") == 0) refusal_list();
    } else if (polyrace_refusal_meaning(topic)) {
        const char *advice = polyrace_refusal_advice(topic);
        printf("%s: %s\n", topic, polyrace_refusal_meaning(topic));
        if (advice && *advice) printf("what to do: %s\n", advice);
    } else {
        fprintf(stderr,
                "polyrace help: no command or refusal kind \"%s\" (\"polyrace help\" lists them)\n",
                topic);
        return PR_EXIT_BAD;
    }
    return pr_cli_close(stdout) ? PR_EXIT_OK : PR_EXIT_BAD;
}
