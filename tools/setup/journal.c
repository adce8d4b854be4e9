// SPDX-License-Identifier: MIT
/*
 * The journal, as text: "group", a sysctl with its former value, for each file
 * its path, then what was put into it, a line each behind a "+", and "end".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys.h"
#include "setup.h"

#define HEAD "# What `upmu setup --undo` takes back; it removes this file.\n"
#define END  "end"

static int file_of(const char *path)
{
	for (int i = 0; i < SETUP_FILES; i++)
		if (!strcmp(setup_paths[i], path))
			return i;
	return -1;
}

static void add_line(char *lines, const char *line)
{
	size_t used = strlen(lines);

	snprintf(lines + used,
		 sizeof(((struct setup_journal *)0)->lines[0]) - used, "%s\n",
		 line);
}

static void take_line(struct setup_journal *journal, const char *line,
		      int *file)
{
	if (!strcmp(line, "group"))
		journal->created_group = true;
	else if (!strncmp(line, SETUP_PARANOID " ", strlen(SETUP_PARANOID) + 1))
		journal->paranoid = atol(line + strlen(SETUP_PARANOID));
	else if (!strncmp(line, SETUP_USER_ACCESS " ",
			  strlen(SETUP_USER_ACCESS) + 1))
		journal->user_access = atol(line + strlen(SETUP_USER_ACCESS));
	else if (!strncmp(line, "file ", 5))
		*file = file_of(line + 5);
	else if (*line == '+' && *file >= 0)
		add_line(journal->lines[*file], line + 1);
	else if (!strcmp(line, END))
		journal->is_damaged = false;
}

/* What is certain in it is used: of a line that may be cut off, nothing. */
static void take_text(struct setup_journal *journal, char *text)
{
	char *line, *next;
	int file = -1;

	journal->is_damaged = true;
	for (line = text; (next = strchr(line, '\n')); line = next + 1) {
		*next = '\0';
		take_line(journal, line, &file);
	}
	if (!strcmp(line, END)) /* the last newline is not read */
		journal->is_damaged = false;
}

int setup_journal_read(struct setup_journal *journal)
{
	char text[SETUP_TEXT_SIZE];
	int error;

	memset(journal, 0, sizeof(*journal));
	journal->paranoid = journal->user_access = SETUP_UNTOUCHED;
	error = setup_file_read(SETUP_JOURNAL, text, sizeof(text));
	if (error == -EFBIG) /* nothing that setup ever wrote */
		*text = error = 0;
	if (error)
		return error == -ENOENT || error == -ENOTDIR ? 0 : error;
	journal->is_there = true;
	take_text(journal, text);
	return 0;
}

static void put_sysctl(FILE *out, const char *name, long value)
{
	if (value != SETUP_UNTOUCHED)
		fprintf(out, "%s %ld\n", name, value);
}

int setup_journal_write(const struct setup_journal *journal)
{
	char text[SETUP_TEXT_SIZE];
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (!out)
		return -errno;
	fputs(HEAD, out);
	if (journal->created_group)
		fputs("group\n", out);
	put_sysctl(out, SETUP_PARANOID, journal->paranoid);
	put_sysctl(out, SETUP_USER_ACCESS, journal->user_access);
	for (int i = 0; i < SETUP_FILES; i++) {
		const char *line = journal->lines[i];

		if (*line)
			fprintf(out, "file %s\n", setup_paths[i]);
		while (*line) {
			size_t length = strcspn(line, "\n");

			fprintf(out, "+%.*s\n", (int)length, line);
			/* the last one may have been cut off */
			line += length + (line[length] == '\n');
		}
	}
	fputs(END "\n", out);
	if (fclose(out))
		return -EFBIG;
	return setup_file_write(SETUP_JOURNAL, text);
}
