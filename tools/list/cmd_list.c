// SPDX-License-Identifier: MIT
/* upmu list: the events of this machine, or of a core by name. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command.h"
#include "list.h"

#define SIMILAR_MOST 4
#define WORDS_MOST   64

struct list_options {
	const char *core, *fit, *explain;
	char **words; /* ended by NULL; NULL: none */
	char *search[WORDS_MOST + 1];
	bool all, json, metrics;
};

static const char usage[] =
	"usage: upmu list [OPTION...] [WORD...]\n"
	"Show the events that can be counted, with their codes, what they "
	"count,\n"
	"what to beware of (!), and which of them can be counted now; with "
	"WORDs, those\n"
	"that have every one of them in name, description or caveat, as "
	"their code\n"
	"(0x1d), or as what perf, PAPI or LIKWID calls them.\n\n"
	"  --core NAME    of this core instead of this machine's (cortex-a53,\n"
	"                 0x410fd034: its MIDR)\n"
	"  --all          of every core that upmu knows\n"
	"  --search WORD  the same as WORD, as often as wanted\n"
	"  --explain EVENT  all that is known of one event, by any name\n"
	"  --metrics      the ratios of upmu stat -M, what they are made of\n"
	"  --fit EVENTS   how many sets the list needs, and who shares one\n"
	"  -j, --json     as JSON: {\"core\", \"counters\", \"events\": "
	"[...]}, an array\n"
	"                 of these for several cores\n"
	"  -h, --help     this text\n";

enum {
	OPTION_CORE = 256,
	OPTION_ALL,
	OPTION_SEARCH,
	OPTION_FIT,
	OPTION_EXPLAIN,
	OPTION_METRICS
};

static const struct option long_options[] = {
	{ "core", required_argument, NULL, OPTION_CORE },
	{ "all", no_argument, NULL, OPTION_ALL },
	{ "search", required_argument, NULL, OPTION_SEARCH },
	{ "fit", required_argument, NULL, OPTION_FIT },
	{ "explain", required_argument, NULL, OPTION_EXPLAIN },
	{ "metrics", no_argument, NULL, OPTION_METRICS },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int refuse_both(const char *one, const char *other)
{
	fprintf(stderr, "upmu list: %s and %s do not go together\n", one,
		other);
	return -1;
}

static int refuse_words(void)
{
	fprintf(stderr, "upmu list: more than %d words\n", WORDS_MOST);
	return -1;
}

/* 'cache miss', quoted, is two words. */
static int split_words(struct list_options *options)
{
	static char *words[WORDS_MOST + 1];
	size_t n = 0;

	for (size_t i = 0; options->words[i]; i++) {
		char *rest, *word = strtok_r(options->words[i], " \t\n", &rest);

		for (; word; word = strtok_r(NULL, " \t\n", &rest)) {
			if (n == WORDS_MOST)
				return refuse_words();
			words[n++] = word;
		}
	}
	options->words = n ? words : NULL;
	return 0;
}

/* One more word that every event shown is to have. */
static int add_search(struct list_options *options, char *word)
{
	size_t n = 0;

	while (options->search[n])
		n++;
	if (n == WORDS_MOST)
		return refuse_words();
	options->search[n] = word;
	options->words = options->search;
	return 0;
}

/* 0, or -1: said what is wrong; @rest: what is no option. */
static int check_options(struct list_options *options, char **rest)
{
	const char *alone = options->fit       ? "--fit"
			    : options->explain ? "--explain"
			    : options->metrics ? "--metrics"
					       : NULL;

	if (*rest && options->words)
		return refuse_both("--search", "a WORD");
	if (*rest)
		options->words = rest;
	if (options->words && split_words(options))
		return -1;
	if (options->all && options->core)
		return refuse_both("--all", "--core");
	if (!!options->fit + !!options->explain + options->metrics > 1)
		return refuse_both(alone, options->metrics ? "--metrics"
							   : "--explain");
	if (alone && (options->all || options->words))
		return refuse_both(alone, options->all ? "--all" : "words");
	if (options->fit && options->json)
		return refuse_both(alone, "--json");
	return 0;
}

/* 0; -1: said what is wrong; 1: help was printed. */
static int read_options(struct list_options *options, int argc, char **argv)
{
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "jh", long_options, NULL)) !=
	       -1) {
		switch (option) {
		case OPTION_CORE:
			options->core = optarg;
			break;
		case OPTION_ALL:
			options->all = true;
			break;
		case OPTION_SEARCH:
			if (add_search(options, optarg))
				return -1;
			break;
		case OPTION_FIT:
			options->fit = optarg;
			break;
		case OPTION_EXPLAIN:
			options->explain = optarg;
			break;
		case OPTION_METRICS:
			options->metrics = true;
			break;
		case 'j':
			options->json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 1;
		default:
			fputs("hint: upmu list --help\n", stderr);
			return -1;
		}
	}
	return check_options(options, argv + optind);
}

/* A name, or a MIDR as /proc and sysfs show it: 0x410fd034. */
static const struct upmu_core *find_core(const char *name)
{
	char *end;
	unsigned long long midr = strtoull(name, &end, 16);

	if (!strncmp(name, "0x", 2) && !*end && midr >> 24 && !(midr >> 32))
		return upmu_core_by_midr(midr);
	return upmu_core_by_name(name, strlen(name));
}

/* Letters and digits alone, in lower case: "Cortex A72" is cortexa72. */
static void squeeze(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++)
		if (isalnum((unsigned char)*name))
			out[n++] = (char)tolower((unsigned char)*name);
	out[n] = '\0';
}

/* Does @name end with @wanted, or (not @is_end) hold it anywhere? */
static bool is_similar(const char *name, const char *wanted, bool is_end)
{
	char squeezed[64];
	size_t n = strlen(wanted), length;

	squeeze(squeezed, sizeof(squeezed), name);
	length = strlen(squeezed);
	if (!is_end)
		return strstr(squeezed, wanted);
	return length >= n && !strcmp(squeezed + length - n, wanted);
}

/* A core is found by its title too: "Apple M1 Firestorm". */
static bool is_similar_core(const struct upmu_core *core, const char *name,
			    const char *wanted, bool is_end)
{
	return is_similar(name, wanted, is_end) ||
	       (!strcmp(name, upmu_core_name(core)) &&
		is_similar(upmu_core_title(core), wanted, is_end));
}

/* The first names, of cores and their variants, that are similar. */
static size_t similar_cores(const char *wanted, bool is_end, char *out,
			    size_t size)
{
	const struct upmu_core *core;
	size_t found = 0, used = 0;

	for (size_t i = 0; (core = upmu_core_at(i)); i++) {
		const char *next = upmu_core_also(core);
		char name[64];

		snprintf(name, sizeof(name), "%s", upmu_core_name(core));
		while (name[0] && found < SIMILAR_MOST) {
			size_t n = strcspn(next, " ");

			if (is_similar_core(core, name, wanted, is_end) &&
			    used < size)
				used += (size_t)snprintf(
					out + used, size - used, "%s%s",
					found++ ? ", " : "", name);
			snprintf(name, sizeof(name), "%.*s", (int)n, next);
			next += n + (next[n] == ' ');
		}
	}
	return found;
}

static int refuse_core(const char *name)
{
	const struct upmu_core *core;
	char wanted[64], similar[256];

	fprintf(stderr, "upmu list: no table for the core '%.64s'\n", name);
	squeeze(wanted, sizeof(wanted), name);
	if (wanted[0] &&
	    (similar_cores(wanted, true, similar, sizeof(similar)) ||
	     similar_cores(wanted, false, similar, sizeof(similar)))) {
		fprintf(stderr, "hint: did you mean %s?\n", similar);
		return 1;
	}
	fputs("hint: known:", stderr);
	for (size_t i = 0; (core = upmu_core_at(i)); i++)
		fprintf(stderr, " %s", upmu_core_name(core));
	fputc('\n', stderr);
	return 1;
}

/* The lists to print: one for each core, software last. */
struct lists {
	struct list_core *list;
	size_t n;
};

static struct list_core *add_list(struct lists *lists)
{
	struct list_core *more =
		realloc(lists->list, (lists->n + 1) * sizeof(*more));

	if (!more)
		return NULL;
	lists->list = more;
	return &lists->list[lists->n++];
}

static int add_core(struct lists *lists, const struct upmu_core *core,
		    const struct upmu_core_kind *kind,
		    const struct list_options *options,
		    const struct upmu_machine *machine)
{
	struct list_core *list = add_list(lists);

	if (!list)
		return -ENOMEM;
	list_gather(list, core, kind, options->words);
	list_ask_now(list, machine);
	/* Of many cores only those are of interest that have the word. */
	if (!list->n && options->words)
		lists->n--;
	return 0;
}

static int add_all(struct lists *lists, const struct list_options *options)
{
	const struct upmu_core *core;
	int ret = 0;

	for (size_t i = 0; !ret && (core = upmu_core_at(i)); i++)
		ret = add_core(lists, core, NULL, options, NULL);
	return ret;
}

static int add_machine(struct lists *lists, const struct upmu_machine *machine,
		       const struct list_options *options)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < machine->n_kinds; i++)
		if (machine->kinds[i].core)
			ret = add_core(lists, machine->kinds[i].core,
				       &machine->kinds[i], options, machine);
	return ret;
}

static size_t print_software(char *const *words)
{
	static struct list_core software;

	list_gather_software(&software, words);
	list_print_text(&software);
	return software.n;
}

static bool has_table(const struct upmu_machine *machine)
{
	for (size_t i = 0; i < machine->n_kinds; i++)
		if (machine->kinds[i].core)
			return true;
	return false;
}

/* Returns how many lists had something in them. */
static size_t print_text(const struct lists *lists,
			 const struct upmu_machine *machine,
			 const struct list_options *options)
{
	for (size_t i = 0; i < lists->n; i++)
		list_print_text(&lists->list[i]);
	if (options->core || (options->all && !options->words))
		return lists->n;
	if (!has_table(machine) && !options->words)
		puts("This processor has no table of events; perf's generic "
		     "names (cycles,\n"
		     "instructions, branches, ...) and those under "
		     "/sys/bus/event_source/devices\n"
		     "are understood. `upmu list --core cortex-a53` shows a "
		     "core's events.\n");
	return lists->n + !!print_software(options->words);
}

static int gather(struct lists *lists, const struct list_options *options,
		  const struct upmu_core *core,
		  const struct upmu_machine *machine)
{
	if (options->all)
		return add_all(lists, options);
	if (core)
		return add_core(lists, core, NULL, options, NULL);
	return add_machine(lists, machine, options);
}

static void say_nothing_found(const struct list_options *options)
{
	fputs("upmu list: no event has", stderr);
	for (size_t i = 0; options->words[i]; i++)
		fprintf(stderr, "%s '%.64s'", i ? " and" : "",
			options->words[i]);
	fputs(options->all ? "\n" : "\nhint: --all searches every core\n",
	      stderr);
}

/* Cores' events alone are in the JSON; the kernel's have nothing but a name. */
static void say_nothing_in_json(const struct list_options *options)
{
	static struct list_core software;

	list_gather_software(&software, options->words);
	if (options->all || options->core || !software.n) {
		say_nothing_found(options);
		return;
	}
	fprintf(stderr,
		"upmu list: '%s' is the kernel's, and the JSON has the cores' "
		"events\nhint: upmu list without -j\n",
		software.events[0].name);
}

static int print_lists(const struct list_options *options,
		       const struct upmu_core *core,
		       const struct upmu_machine *machine)
{
	struct lists lists = { 0 };
	size_t shown;
	int ret = gather(&lists, options, core, machine);

	shown = lists.n;
	if (!ret && options->json)
		ret = list_print_json(lists.list, lists.n,
				      options->all || machine->n_kinds > 1);
	else if (!ret)
		shown = print_text(&lists, machine, options);
	if (ret)
		fprintf(stderr, "upmu list: %s\n", strerror(-ret));
	else if (options->words && !shown && options->json)
		say_nothing_in_json(options);
	else if (options->words && !shown)
		say_nothing_found(options);
	free(lists.list);
	return ret || (options->words && !shown) ? 1 : 0;
}

/* A machine of one core, for --core NAME --fit. */
static void pretend(struct upmu_machine *machine, const struct upmu_core *core)
{
	memset(machine, 0, sizeof(*machine));
	machine->n_kinds = 1;
	machine->kinds[0].core = core;
	machine->kinds[0].pmu_type = UPMU_PMU_TYPE_NONE;
	machine->kinds[0].cycles_config = 0x11;
}

int cmd_list(int argc, char **argv)
{
	static struct upmu_machine machine;
	struct list_options options = { 0 };
	const struct upmu_core *core = NULL;
	int ret = read_options(&options, argc, argv);

	if (ret)
		return ret < 0 ? 2 : 0;
	if (options.core) {
		core = find_core(options.core);
		if (!core)
			return refuse_core(options.core);
		pretend(&machine, core);
	} else {
		ret = upmu_machine_read(&machine);
		if (ret) {
			fprintf(stderr,
				"upmu list: cannot tell this machine's cores: "
				"%s\n",
				upmu_machine_why(ret));
			return 1;
		}
	}
	if (options.fit)
		return list_print_fit(options.fit, &machine);
	if (options.metrics)
		return list_metrics(&machine, !core, options.json);
	if (options.explain)
		return list_explain(options.explain, &machine, !core,
				    options.json);
	return print_lists(&options, core, &machine);
}
