// SPDX-License-Identifier: MIT
/* Runs the commands in turns and fills the table of values. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/engine/clock.h"
#include "compare.h"
#include "tools/stat/stat.h"

#define SLICE_MS	  4.0 /* as upmu stat */
#define PROGRESS_AFTER_NS 2e9
/* Linux adds pages up in batches of each CPU: 2,704 of 2,664 were seen. */
#define PEAK_DIFFERS_KB 64

/* Rows that need no counter come first, in this order. */
enum { ROW_ELAPSED, ROW_USER, ROW_SYS, ROW_RSS, ROWS_OF_USAGE };

struct measuring {
	struct compare *c;
	struct stat_options options;
	struct engine_events events;
	struct stat_report report;
	struct engine_targets none;
	size_t *row; /* of each event in the table; hidden ones: SIZE_MAX */
	double start_ns;
	uint64_t random;
};

/* Ctrl-C between two runs; during one the counting takes it. */
static volatile sig_atomic_t signalled;

static void note_signal(int number)
{
	signalled = number;
}

static const int noted[] = { SIGINT, SIGTERM, SIGHUP };

#define NOTED (sizeof(noted) / sizeof(noted[0]))

static void take_signals(struct sigaction *old)
{
	struct sigaction action = { .sa_handler = note_signal };

	for (size_t i = 0; i < NOTED; i++) {
		sigaction(noted[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(noted[i], &action, NULL);
	}
}

static void give_signals(const struct sigaction *old)
{
	for (size_t i = 0; i < NOTED; i++)
		sigaction(noted[i], &old[i], NULL);
}

/* ---- the commands -------------------------------------------------------- */

static char *join_words(char **argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (char **word = argv; *word; word++)
		fprintf(out, "%s%s", word == argv ? "" : " ", *word);
	fclose(out);
	return text;
}

static int no_memory(void)
{
	fputs("upmu compare: out of memory\n", stderr);
	return EXIT_FAILED;
}

static int add_command(struct compare *c, char **words, size_t n)
{
	const struct compare_options *o = c->options;
	struct compare_command *command = &c->command[c->commands];

	if (c->commands == COMPARE_COMMANDS_MAX || !n) {
		fprintf(stderr, "upmu compare: %s\n",
			n ? "more than 16 commands" : "an empty command");
		return EXIT_USAGE;
	}
	command->argv = calloc(n + 1, sizeof(*command->argv));
	command->status = calloc(o->repeat, sizeof(*command->status));
	if (!command->argv || !command->status)
		return no_memory();
	for (size_t i = 0; i < n; i++) {
		command->argv[i] = strdup(words[i]);
		if (!command->argv[i])
			return no_memory();
	}
	command->name = c->commands < o->names
				? strdup(o->name[c->commands])
				: join_words(o->shell ? command->argv + 2
						      : command->argv);
	c->commands++;
	return command->name ? 0 : no_memory();
}

static int refuse_dashes(void)
{
	fputs("upmu compare: with --shell '--' is a command, too, and no shell "
	      "has it\n"
	      "hint: upmu compare --shell 'A' 'B'\n",
	      stderr);
	return EXIT_USAGE;
}

/* To /bin/sh -c it would be an option, too. */
static int refuse_late_option(const char *word)
{
	fprintf(stderr,
		"upmu compare: '%s' stands where a command of the shell is "
		"wanted\n"
		"hint: options come before the commands: upmu compare --shell "
		"-r 5 'A' 'B'\n",
		word);
	return EXIT_USAGE;
}

static int split_commands(struct compare *c)
{
	static char sh[] = "/bin/sh", dash_c[] = "-c";
	char **word = c->options->argv;
	int status = 0;

	while (*word && !status && c->options->shell) {
		char *words[] = { sh, dash_c, *word++ };

		if (!strcmp(words[2], "--"))
			status = refuse_dashes();
		else if (words[2][0] == '-')
			status = refuse_late_option(words[2]);
		else
			status = add_command(c, words, 3);
	}
	while (*word && !status) {
		size_t n = 0;

		while (word[n] && strcmp(word[n], "--"))
			n++;
		status = add_command(c, word, n);
		word += n;
		if (*word && !*++word && !status)
			status = add_command(c, word, 0);
	}
	return status ? status : compare_check_names(c);
}

/* ---- the table ------------------------------------------------------------
 */

static int add_row(struct compare *c, const char *name, const char *unit)
{
	struct compare_event *event = compare_add_event(c, name, unit);

	for (size_t k = 0; event && k < c->commands; k++) {
		event->cell[k].value = malloc(c->options->repeat *
					      sizeof(*event->cell[k].value));
		if (!event->cell[k].value)
			return -ENOMEM;
	}
	return event ? 0 : -ENOMEM;
}

static int add_rows(struct measuring *m)
{
	static const char *const usage[][2] = {
		[ROW_ELAPSED] = { "elapsed", "s" },
		[ROW_USER] = { "user", "s" },
		[ROW_SYS] = { "sys", "s" },
		[ROW_RSS] = { "max_rss", "kB" }
	};
	int error = 0;

	for (size_t i = 0; !error && i < ROWS_OF_USAGE; i++)
		error = add_row(m->c, usage[i][0], usage[i][1]);
	m->row = calloc(m->events.n + 1, sizeof(*m->row));
	if (!m->row)
		return -ENOMEM;
	for (size_t i = 0; !error && i < m->events.n; i++) {
		const struct engine_event *event = &m->events.event[i];

		m->row[i] = SIZE_MAX;
		if (event->hidden)
			continue;
		m->row[i] = m->c->events;
		error = add_row(m->c, event->name, event->unit);
	}
	return error;
}

/* "VmHWM:      2544 kB" */
static uint64_t own_peak_kb(void)
{
	unsigned long peak = 0;
	char line[128];
	FILE *in = fopen("/proc/self/status", "re");

	while (in && !peak && fgets(line, sizeof(line), in))
		if (sscanf(line, "VmHWM: %lu", &peak) != 1)
			peak = 0;
	if (in)
		fclose(in);
	return peak;
}

/*
 * Linux counts what a process had before its exec as its own, and before that
 * it runs on upmu's memory.
 */
static bool is_own_peak(uint64_t kb)
{
	return kb <= own_peak_kb() + PEAK_DIFFERS_KB;
}

static void store(struct measuring *m, size_t k)
{
	const struct stat_report *report = &m->report;
	struct compare_event *event = m->c->event;
	size_t run = m->c->command[k].runs;

	event[ROW_ELAPSED].cell[k].value[run] = report->elapsed_s;
	event[ROW_USER].cell[k].value[run] = report->user_s;
	event[ROW_SYS].cell[k].value[run] = report->sys_s;
	event[ROW_RSS].cell[k].value[run] = (double)report->max_rss_kb;
	m->c->command[k].own_rss |= is_own_peak(report->max_rss_kb);
	for (size_t i = 0; i < m->events.n; i++) {
		const struct engine_count *count = &report->count[i];

		if (m->row[i] == SIZE_MAX)
			continue;
		event[m->row[i]].cell[k].value[run] =
			count->state == ENGINE_COUNTED
				? stat_value(report, count)
				: NAN;
		if (count->state != ENGINE_COUNTED)
			event[m->row[i]].state = stat_state_text(count->state);
	}
	m->c->shares_turns = m->c->shares_turns || report->pace.turns;
	m->c->by_registers = m->c->by_registers || report->source[0];
	m->c->lost = fmax(m->c->lost, report->others.lost);
	m->c->command[k].uncounted_s =
		fmax(m->c->command[k].uncounted_s, report->uncounted_s);
}

/* ---- one run --------------------------------------------------------------
 */

static int redirect(int fd, const char *path, int flags)
{
	int saved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int file = saved < 0 ? -1 : open(path, flags | O_CLOEXEC, 0666);

	if (file < 0) {
		fprintf(stderr, "upmu compare: cannot open '%s': %s\n", path,
			strerror(errno));
		if (saved >= 0)
			close(saved);
		return -1;
	}
	dup2(file, fd);
	close(file);
	return saved;
}

static void put_back(int fd, int saved)
{
	if (saved < 0)
		return;
	dup2(saved, fd);
	close(saved);
}

/* As system(3), which signals would not reach. -1: it could not run. */
static int run_shell(const char *command)
{
	char *words[] = { "/bin/sh", "-c", strdup(command), NULL };
	pid_t pid;
	int status = -1;

	if (!words[2] ||
	    posix_spawn(&pid, words[0], NULL, NULL, words, environ)) {
		free(words[2]);
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	free(words[2]);
	return status;
}

static int prepare(const struct compare_options *options)
{
	int status;

	if (!options->prepare)
		return 0;
	fflush(NULL);
	status = run_shell(options->prepare);
	if (!status || signalled)
		return 0;
	fprintf(stderr, "upmu compare: --prepare '%s' failed\n",
		options->prepare);
	return COMPARE_COMMAND_FAILED;
}

static int run_failed(const struct measuring *m,
		      const struct compare_command *command, int error)
{
	if (!m->report.not_executed || error == -ENOMEM) {
		fprintf(stderr, "upmu compare: cannot count '%s': %s\n",
			command->argv[0], strerror(-error));
		return EXIT_FAILED;
	}
	fprintf(stderr, "upmu compare: cannot execute '%s': %s\n",
		command->argv[0], strerror(-error));
	for (char **word = command->argv; *word; word++) {
		if (!compare_is_report(*word))
			continue;
		fputs("hint: of earlier runs all names end in .json: upmu "
		      "compare a.json b.json\n",
		      stderr);
		break;
	}
	return child_exec_status(error);
}

/* 0, or upmu's exit status; *said: what a shell would say of the run. */
static int run_command(struct measuring *m, size_t k, int *said)
{
	const struct compare_options *o = m->c->options;
	const char *to = o->standard_out ? o->standard_out : "/dev/null";
	bool inherit = !strcmp(to, "inherit");
	int in = -1, out = -1, error = 0;

	m->options.command = m->c->command[k].argv;
	m->report.signal = 0;
	m->report.uncounted_s = 0;
	fflush(NULL);
	in = redirect(STDIN_FILENO,
		      o->standard_in ? o->standard_in : "/dev/null", O_RDONLY);
	if (in < 0)
		return EXIT_FAILED;
	if (!inherit)
		out = redirect(STDOUT_FILENO, to, O_WRONLY | O_CREAT | O_TRUNC);
	if (inherit || out >= 0)
		error = stat_run_once(&m->report, &m->events, &m->none, -1,
				      NULL, said);
	put_back(STDIN_FILENO, in);
	put_back(STDOUT_FILENO, out);
	if (!inherit && out < 0)
		return EXIT_FAILED;
	return error ? run_failed(m, &m->c->command[k], error) : 0;
}

static int tell_failure(const struct measuring *m, size_t k, int said)
{
	const struct compare *c = m->c;
	int signal = m->report.signal;

	if (signal)
		fprintf(stderr,
			"upmu compare: '%s' was ended by signal %d "
			"(%s)\n",
			c->command[k].name, signal, strsignal(signal));
	else
		fprintf(stderr, "upmu compare: '%s' ended with status %d\n",
			c->command[k].name, said);
	fprintf(stderr, "hint: -i goes on all the same%s\n",
		c->options->standard_out
			? ""
			: "; --stdout inherit shows what it prints");
	return COMPARE_COMMAND_FAILED;
}

static bool was_interrupted(struct measuring *m)
{
	if (m->report.interrupted)
		signalled = m->report.interrupted;
	m->c->signal = signalled;
	m->c->interrupted = signalled;
	return signalled;
}

static int run_and_store(struct measuring *m, size_t k, bool counts)
{
	struct compare_command *command = &m->c->command[k];
	int said = 0, status = prepare(m->c->options);

	if (!status && !was_interrupted(m))
		status = run_command(m, k, &said);
	if (status || was_interrupted(m))
		return status;
	if (said && !m->c->options->ignore_failure)
		return tell_failure(m, k, said);
	if (!counts)
		return 0;
	store(m, k);
	command->failed += said != 0;
	command->status[command->runs++] = said;
	return 0;
}

static void show_progress(const struct measuring *m, unsigned int round)
{
	bool end = round == m->c->options->repeat;

	if (!isatty(STDERR_FILENO))
		return;
	if (end)
		fputs("\r\033[K", stderr);
	else if (engine_now_ns() - m->start_ns > PROGRESS_AFTER_NS)
		fprintf(stderr, "\rupmu compare: round %u of %u", round + 1,
			m->c->options->repeat);
}

/*
 * Anew for each round: a machine that is slower at each fourth run would be so
 * at the same command's if they only took turns. So the verdict's exchanges
 * within rounds are what was drawn, whatever the machine does.
 */
static void draw_order(struct measuring *m, size_t *order)
{
	for (size_t i = 0; i < m->c->commands; i++) {
		size_t at = stats_random(&m->random) % (i + 1);

		order[i] = order[at];
		order[at] = i;
	}
}

static int run_rounds(struct measuring *m)
{
	const struct compare_options *o = m->c->options;
	size_t n = m->c->commands, order[COMPARE_COMMANDS_MAX];
	int status = 0;

	for (unsigned int w = 0; !status && !signalled && w < o->warmup; w++)
		for (size_t k = 0; !status && !signalled && k < n; k++)
			status = run_and_store(m, k, false);
	for (unsigned int r = 0; !status && !signalled && r < o->repeat; r++) {
		show_progress(m, r);
		draw_order(m, order);
		for (size_t i = 0; !status && !signalled && i < n; i++)
			status = run_and_store(m, order[i], true);
	}
	show_progress(m, o->repeat);
	was_interrupted(m); /* one that came between two runs */
	return status;
}

/* What stands after the last round that all commands ended is cut off. */
static void keep_whole_rounds(struct compare *c)
{
	size_t rounds = compare_rounds(c);

	for (size_t k = 0; k < c->commands; k++) {
		struct compare_command *command = &c->command[k];

		while (command->runs > rounds)
			command->failed -=
				command->status[--command->runs] != 0;
	}
}

static char *cores_of(const struct upmu_machine *machine)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < machine->n_kinds; i++)
		if (machine->kinds[i].core)
			fprintf(out, "%s%s", ftell(out) ? " " : "",
				upmu_core_name(machine->kinds[i].core));
	fclose(out);
	if (size)
		return text;
	free(text);
	return NULL;
}

/* For whoever compares the file with one of elsewhere. */
static void tell_side(struct measuring *m)
{
	for (size_t k = 0; k < m->c->commands; k++) {
		m->c->command[k].cores = cores_of(&m->events.machine);
		m->c->command[k].user_only = m->events.user_only;
	}
}

static int count_commands(struct measuring *m)
{
	struct compare *c = m->c;
	struct sigaction old[NOTED];
	int status;

	m->report.count = calloc(m->events.n + 1, sizeof(*m->report.count));
	if (!m->report.count || add_rows(m))
		return no_memory();
	status = compare_check_conditions(c);
	if (status)
		return status;
	m->start_ns = engine_now_ns();
	m->random = (uint64_t)m->start_ns ^ (uint64_t)getpid() << 40;
	signalled = 0;
	take_signals(old);
	status = run_rounds(m);
	give_signals(old);
	keep_whole_rounds(c);
	c->emulated = m->events.emulated;
	tell_side(m);
	if (m->events.reason[0])
		c->reason = strdup(m->events.reason);
	return status;
}

static int cannot_resolve(const struct engine_events *events,
			  const struct upmu_events_error *why)
{
	fprintf(stderr, "upmu compare: %s\n", why->text);
	if (why->hint[0])
		fprintf(stderr, "hint: %s\n", why->hint);
	return events->failed ? EXIT_FAILED : EXIT_USAGE;
}

int compare_measure(struct compare *c)
{
	static struct measuring m; /* large */
	struct upmu_events_error why;
	int status = split_commands(c);

	if (status)
		return status;
	c->paired = true;
	m.c = c;
	m.options = (struct stat_options){ .repeat = 1, .slice_ms = SLICE_MS };
	m.report = (struct stat_report){ .options = &m.options,
					 .events = &m.events };
	if (engine_events_resolve(&m.events, c->options->events, &why))
		return cannot_resolve(&m.events, &why);
	status = count_commands(&m);
	free(m.report.count);
	free(m.row);
	engine_events_free(&m.events);
	return status;
}
