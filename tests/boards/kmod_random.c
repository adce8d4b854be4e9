// SPDX-License-Identifier: MIT
/*
 * kmod_random ACTS [SEED [beside]] - processes at random: leases, forks, ends
 *
 * Processes take and close leases, fork, share memory, execute programs and
 * end, while CPUs go off and on and `open` changes; after each act a model says
 * what each of them may do, and what /proc/upmu is to tell. "beside": while
 * perf counts on each CPU.
 */
#include "tests/boards/kmod_agents.h"

#define LEASES	   4096
#define COMPLAINTS 10
#define FIRST_TWO  2 /* are not ended: the others' parents */
#define TRIES	   100

/* The model */

static struct lease {
	bool live;
	int holder;
	int fd;
	uint32_t mode, flags;
	bool covers[AGENTS]; /* those that were forked under it */
} leases[LEASES];
static int lease_count;

static struct process {
	bool alive;
	pid_t pid;
	int mm;
	int waits; /* for its vfork() of this one; -1 */
} processes[AGENTS];
static int mm_count;
static int opened; /* enum upmu_open */
static uint32_t light;
static bool one_cpu, read_only;

static int acts, granted, refused, complaints;
static uint64_t state;

static uint32_t draw(uint32_t limit)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % limit;
}

static void expect(const char *what, int number, int got, int expected)
{
	if (got == expected)
		return;
	complaints++;
	printf("# act %d, %s: process %d (pid %d): %d instead of %d\n", acts,
	       what, number, processes[number].pid, got, expected);
}

static bool is_covered(const struct lease *lease, int number)
{
	return lease->live &&
	       (lease->holder == number || lease->covers[number]);
}

/* Permission is the memory's: all that share it have it. */
static bool is_permitted_by_lease(int mm, bool writes)
{
	for (int number = 0; number < AGENTS; number++) {
		if (!processes[number].alive || processes[number].mm != mm)
			continue;
		for (int n = 0; n < lease_count; n++)
			if (is_covered(&leases[n], number) &&
			    (!writes || !read_only ||
			     leases[n].mode == UPMU_MODE_RAW))
				return true;
	}
	return false;
}

static bool is_permitted(int number, bool writes)
{
	if (opened && (!writes || !read_only || opened == UPMU_OPEN_ALL))
		return true;
	return is_permitted_by_lease(processes[number].mm, writes);
}

/* Of @mode; 0: any. */
static int live_leases(uint32_t mode)
{
	int count = 0;

	for (int n = 0; n < lease_count; n++)
		count += leases[n].live && (!mode || leases[n].mode == mode);
	return count;
}

static void leases_end(int holder)
{
	for (int n = 0; n < lease_count; n++)
		if (leases[n].holder == holder)
			leases[n].live = false;
}

/* One that waits for a vfork()'s child says what that was. */
static void wakes(int child)
{
	for (int number = 0; number < AGENTS; number++) {
		if (!processes[number].alive ||
		    processes[number].waits != child)
			continue;
		processes[number].waits = -1;
		agent_heard(number);
	}
}

static void is_gone(int number)
{
	for (int n = 0; !kill(processes[number].pid, 0) && n < 10000; n++)
		usleep(1000);
	processes[number].alive = false;
	processes[number].waits = -1;
	leases_end(number);
	for (int n = 0; n < lease_count; n++)
		leases[n].covers[number] = false;
	wakes(number);
}

static void is_forked(int parent, int number, bool shares)
{
	struct process *process = &processes[number];

	process->alive = true;
	process->waits = -1;
	process->mm = shares ? processes[parent].mm : ++mm_count;
	for (int n = 0; n < lease_count; n++)
		leases[n].covers[number] =
			leases[n].flags & UPMU_LEASE_CHILDREN &&
			is_covered(&leases[n], parent);
}

static void is_executed(int number)
{
	leases_end(number);
	for (int n = 0; n < lease_count; n++)
		if (!(leases[n].flags & UPMU_LEASE_EXEC))
			leases[n].covers[number] = false;
	processes[number].mm = ++mm_count;
}

/* Acts */

static void forget_ended(void)
{
	int kept = 0;

	for (int n = 0; n < lease_count; n++)
		if (leases[n].live)
			leases[kept++] = leases[n];
	lease_count = kept;
}

static bool is_busy(uint32_t mode)
{
	return live_leases(UPMU_MODE_RAW) || opened == UPMU_OPEN_ALL ||
	       (mode == UPMU_MODE_RAW && (opened || live_leases(0)));
}

static void takes(int number)
{
	static const uint32_t flags[] = {
		0, UPMU_LEASE_CHILDREN, UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC
	};
	struct lease lease = { .live = true, .holder = number };
	bool busy;

	lease.mode = draw(2) ? light : UPMU_MODE_CYCLES;
	if (!draw(6))
		lease.mode = UPMU_MODE_RAW;
	lease.flags = flags[draw(3)];
	busy = is_busy(lease.mode);
	lease.fd = agent_asked(number, AGENT_TAKES, (int)lease.mode,
			       (int)lease.flags);
	expect("takes", number, lease.fd < 0 ? lease.fd : 0, busy ? -EBUSY : 0);
	granted += lease.fd >= 0;
	refused += lease.fd < 0;
	if (lease.fd < 0)
		return;
	if (lease_count == LEASES)
		forget_ended();
	leases[lease_count++] = lease;
}

static struct lease *any_lease(void)
{
	int from = lease_count ? (int)draw((uint32_t)lease_count) : 0;

	for (int n = 0; n < lease_count; n++)
		if (leases[(from + n) % lease_count].live)
			return &leases[(from + n) % lease_count];
	return NULL;
}

static bool holds_any(int number)
{
	for (int n = 0; n < lease_count; n++)
		if (leases[n].live && leases[n].holder == number)
			return true;
	return false;
}

/* Its own; or, where it has none, the inherited descriptor of another's. */
static void closes(int number)
{
	struct lease *lease = any_lease();
	enum agent_act act = draw(3) ? AGENT_CLOSES : AGENT_CLOSES_A_COPY;

	if (!lease || (lease->holder != number && holds_any(number)))
		return;
	agent_asked(number, act, lease->fd, 0);
	if (lease->holder != number)
		return;
	lease->live = false;
	if (act == AGENT_CLOSES_A_COPY)
		agent_asked(number, AGENT_CLOSES, lease->fd, 0);
}

static void forks_with(int number, int flags)
{
	int child = 0;

	while (child < AGENTS && processes[child].alive)
		child++;
	if (child == AGENTS)
		return;
	is_forked(number, child, flags & CLONE_VM);
	agent_order(number, AGENT_FORKS, child, flags);
	processes[child].pid = agent_heard(child);
	if (flags & CLONE_VFORK)
		processes[number].waits = child;
	else
		expect("forks", number, agent_heard(number),
		       processes[child].pid);
}

static void forks(int number)
{
	forks_with(number, 0);
}

static void shares(int number)
{
	forks_with(number, CLONE_VM);
}

static void vforks(int number)
{
	forks_with(number, CLONE_VM | CLONE_VFORK);
}

static void executes(int number)
{
	expect("executes", number,
	       agent_asked(number,
			   draw(2) ? AGENT_EXECUTES
				   : AGENT_EXECUTES_IN_A_THREAD,
			   0, 0),
	       processes[number].pid);
	is_executed(number);
	wakes(number);
}

/* Who waited for vfork() waited for the first thread. */
static void goes_on_in_a_thread(int number)
{
	agent_asked(number, AGENT_GOES_ON_IN_A_THREAD, 0, 0);
	wakes(number);
}

static void ends(int number)
{
	if (number < FIRST_TWO)
		return;
	if (draw(2))
		agent_order(number, AGENT_ENDS, 0, 0);
	else
		kill(processes[number].pid, SIGKILL);
	is_gone(number);
}

static void changes_open(int number)
{
	static const char *const words[] = { "none", "cycles", "all" };
	int choice = (int)draw(3), expected = 0;

	if (choice == opened)
		return;
	if ((choice == UPMU_OPEN_ALL && live_leases(0)) ||
	    (choice == UPMU_OPEN_CYCLES && live_leases(UPMU_MODE_RAW)))
		expected = -EBUSY;
	expect("open", number,
	       poke("/sys/module/upmu/parameters/open", words[choice]),
	       expected);
	opened = expected ? UPMU_OPEN_NONE : choice;
}

static void switches_a_cpu(int number)
{
	static bool off;

	(void)number;
	off = !off;
	if (!one_cpu)
		expect("CPU 1", number, set_online(1, !off), 0);
}

static const struct {
	void (*act)(int number);
	uint32_t often;
} choices[] = {
	{ takes, 10 },	       { closes, 4 },	    { forks, 6 },
	{ shares, 3 },	       { vforks, 2 },	    { executes, 5 },
	{ ends, 7 },	       { changes_open, 1 }, { goes_on_in_a_thread, 2 },
	{ switches_a_cpu, 2 },
};

#define CHOICES (sizeof(choices) / sizeof(choices[0]))

static void acts_at_random(int number)
{
	uint32_t all = 0, drawn;
	size_t n = 0;

	for (size_t i = 0; i < CHOICES; i++)
		all += choices[i].often;
	for (drawn = draw(all); drawn >= choices[n].often; n++)
		drawn -= choices[n].often;
	choices[n].act(number);
	acts++;
}

/* It can do nothing but be killed. */
static void is_killed_as_it_waits(int number)
{
	if (number < FIRST_TWO || draw(40))
		return;
	kill(processes[number].pid, SIGKILL);
	is_gone(number);
}

/* What it may do, and what is told */

static int reads_permitted, reads_refused;

static void check_process(int number)
{
	bool may = is_permitted(number, false);

	reads_permitted += may;
	reads_refused += !may;
	expect("reads", number, agent_asked(number, AGENT_READS, 0, 0), may);
	expect("writes", number, agent_asked(number, AGENT_WRITES, 0, 0),
	       is_permitted(number, true));
}

static int covered_by(const struct lease *lease)
{
	int count = 0;

	for (int number = 0; number < AGENTS; number++)
		count += processes[number].alive && is_covered(lease, number);
	return count;
}

/* Each lease has a line, in the order in which they were taken. */
static void check_state(void)
{
	FILE *file = fopen("/proc/upmu", "r");
	int pid, covered, n = 0, lines = 0;
	char line[256], word[20];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "lease pid %d mode %*s %19s processes %d",
			   &pid, word, &covered) != 3)
			continue;
		lines++;
		while (n < lease_count && !leases[n].live)
			n++;
		if (n == lease_count)
			break;
		expect("state: holder", leases[n].holder, pid,
		       processes[leases[n].holder].pid);
		expect("state: ok", leases[n].holder, strcmp(word, "ok"), 0);
		expect("state: covers", leases[n].holder, covered,
		       covered_by(&leases[n]));
		n++;
	}
	if (file)
		fclose(file);
	expect("state: leases", 0, lines, live_leases(0));
}

static void act_and_check(void)
{
	int number = (int)draw(AGENTS);

	if (!processes[number].alive)
		return;
	if (processes[number].waits >= 0)
		is_killed_as_it_waits(number);
	else
		acts_at_random(number);
	for (number = 0; number < AGENTS; number++)
		if (processes[number].alive && processes[number].waits < 0)
			check_process(number);
	check_state();
}

/* The whole */

static void count_beside(void)
{
	for (int cpu = 0; cpu < cpus_online(); cpu++) {
		event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, -1,
			   cpu, 0);
		event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, -1, cpu, 0);
	}
}

static void begin(void)
{
	light = light_mode();
	one_cpu = cpus_online() == 1;
	read_only = info_of(-1).flags & UPMU_INFO_READ_ONLY;
	signal(SIGCHLD, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	agent_pipes();
	for (int number = 0; number < AGENTS; number++)
		processes[number].waits = -1;
	for (int number = 0; number < FIRST_TWO; number++) {
		is_forked(number, number, false);
		processes[number].pid = agent_forks(number, 0);
		agent_heard(number);
	}
}

static void end(void)
{
	int n = 0;

	for (int number = 0; number < AGENTS; number++)
		if (processes[number].alive)
			kill(processes[number].pid, SIGKILL);
	poke("/sys/module/upmu/parameters/open", "none");
	if (!one_cpu)
		set_online(1, true);
	tap(no_leases_soon() && !try_cycles(NULL),
	    "nobody_is_permitted_anything_afterwards", NULL);
	signal(SIGCHLD, SIG_DFL);
	while (n < TRIES && system("rmmod upmu 2>/dev/null")) {
		usleep(50000);
		n++;
	}
	tap(n < TRIES, "and_the_module_unloads", NULL);
}

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 2 && !strcmp(argv[1], "agent"))
		return agent(atoi(argv[2]));
	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	if (argc > 3)
		count_beside();
	begin();
	while (acts < wanted && complaints < COMPLAINTS)
		act_and_check();
	tap(!complaints && granted && refused && reads_permitted &&
		    reads_refused,
	    "processes_at_random_are_permitted_what_their_leases_say",
	    "%d acts, %d leases granted, %d refused, %d reads permitted, %d not",
	    acts, granted, refused, reads_permitted, reads_refused);
	end();
	return tap_done();
}
