/* SPDX-License-Identifier: MIT */
#ifndef UPMU_TOOLS_SETUP_H
#define UPMU_TOOLS_SETUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define SETUP_MARK \
	"# Written by `upmu setup`; `upmu setup --undo` removes it.\n"
/* Version 0.1.0 kept there, and nowhere else, whose the group is. */
#define SETUP_GROUP_MARK "# The group upmu was created by it too.\n"

#define SETUP_JOURNAL "/etc/upmu-setup.journal"
#define SETUP_SYSCTL  "/etc/sysctl.d/60-upmu.conf"

#define SETUP_PARANOID	  "kernel.perf_event_paranoid"
#define SETUP_USER_ACCESS "kernel.perf_user_access"

#define SETUP_TEXT_SIZE 32768 /* of a file of setup's, the user's lines too */
#define SETUP_UNTOUCHED LONG_MIN

enum setup_file {
	SETUP_UDEV,
	SETUP_LOAD,
	SETUP_MODPROBE,
	SETUP_SYSCTLS,
	SETUP_FILES
};

/*
 * What was done, or is about to be: written before anything else is touched,
 * removed when all is undone. Whoever is interrupted leaves it behind.
 */
struct setup_journal {
	bool is_there;
	bool is_damaged; /* not as setup wrote it: lines may be missing */
	bool created_group;
	long paranoid, user_access; /* before us, or SETUP_UNTOUCHED */
	char lines[SETUP_FILES][256];
};

struct setup {
	bool undo, yes, dry_run;
	bool is_arm;
	bool user_access; /* the kernel can open the registers itself */
	bool has_pmu;	  /* perf has one without the module's help */
	bool has_group;
	bool was_set_up; /* by this version or one before, perhaps in part */
	long paranoid, paranoid_wanted, user_access_now;
	struct setup_journal journal;
};

extern const char *const setup_paths[SETUP_FILES];

/* ---- file.c: files are there whole or not at all ---- */

/** 0 or -errno; interrupted, what was at @path is there as it was. */
int setup_file_write(const char *path, const char *text);
/** Also what an interrupted write left; 0 where there is nothing. */
int setup_file_remove(const char *path);
int setup_file_remove_unfinished(const char *path);
/** There, or half there after an interruption. */
bool setup_file_was_begun(const char *path);
/** A FIFO, a device: to read it may never begin, or never end. */
bool setup_file_is_special(const char *path);
/** Like upmu_sys_read_text(); -EINVAL: it is special. */
int setup_file_read(const char *path, char *text, size_t size);
bool setup_file_has(const char *path, const char *text);
/** There, if only as a link that leads nowhere, and without setup's mark. */
bool setup_file_is_foreign(const char *path);
/**
 * What is at @path with those of @lines whose setting it lacks, or has from a
 * line of @stale.
 */
int setup_file_merge(char *text, const char *path, const char *lines,
		     const char *stale);
/** Add to @ours those of @lines that a merge will put at @path. */
void setup_file_record(char *ours, size_t size, const char *path,
		       const char *lines, const char *stale);
/** What is at @path without @lines and marks: the user's own. */
int setup_file_without(char *text, const char *path, const char *lines);

/**
 * Have this machine's set-up for this process and what it starts, until all
 * of them have ended. -EBUSY: another one has it.
 */
int setup_lock(void);

/* ---- journal.c ---- */

int setup_journal_read(struct setup_journal *journal);
int setup_journal_write(const struct setup_journal *journal);

/* ---- content.c: what the files say ---- */

/** Lines of a file on this machine; false where it is not needed. */
bool setup_content(const struct setup *setup, enum setup_file file, char *lines,
		   size_t size);
bool setup_needs_module(const struct setup *setup);
/** All lines of a file that setup puts there on any machine. */
extern const char *const setup_any_content[SETUP_FILES];

/* ---- overrides.c: what other files say ---- */

/** Name on stdout the files that will win over what setup writes. */
void setup_tell_overrides(const struct setup *setup);
/** A file of modprobe.d(5) other than setup's chooses the PMU to adopt. */
bool setup_user_adopts(void);
/** A rule of the user's in setup's own file says who may open the device. */
bool setup_user_gives_device(void);
/** Setup's own file, whoever wrote its rules, gives the device to our group. */
bool setup_file_gives_to_group(void);

/* ---- rules.c: what a rule of udev's says ---- */

/** As udev does before it joins lines. */
void setup_drop_rules_comments(char *text);
/** Says who may open /dev/upmu; @finally: so that no later rule changes it. */
bool setup_rule_gives_device(const char *line, bool finally);
/** The same, or it asks for the device in a way that is not known here. */
bool setup_rule_may_give_device(const char *line, bool finally);
/** The group that such a rule gives it to, with what follows; or NULL. */
const char *setup_rule_group(const char *line);

/* ---- commands.c ---- */

struct command_step {
	const char *const argv[6];
	bool (*wanted)(const struct setup *setup);
	const char *why;
	const char *hint; /* what to type where it fails, or NULL */
	bool may_lack;	  /* a machine without this program does not need it */
};

void setup_show_command(const struct command_step *step);
/** 0, or -errno with a message on stderr. */
int setup_run_command(const struct command_step *step);
/** The value of now is one that setup gave it. */
bool setup_has_our_paranoid(const struct setup *setup);
/** With @show how many there are; else 0 or -errno. */
int setup_set_sysctls(const struct setup *setup, bool show);
int setup_restore_sysctls(const struct setup *setup, bool show);

/* ---- look.c ---- */

int setup_look(struct setup *setup);
void setup_look_at_sysctls(struct setup *setup);
bool setup_group_exists(void);

#endif
