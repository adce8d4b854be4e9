// SPDX-License-Identifier: MIT
#include "documents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print.h"

static bool has_more(FILE *in)
{
	int c;

	do
		c = getc(in);
	while (c == ' ' || c == '\n' || c == '\r' || c == '\t');
	return c != EOF && ungetc(c, in) != EOF;
}

static void tell_fault(const struct documents_reader *reader, const char *name,
		       size_t number, const json_error_t *error)
{
	char *why;

	if (asprintf(&why, "report %zu: %s", number, error->text) < 0)
		why = NULL;
	reader->complain(reader->argument, name,
			 why ? plain(why) : "no JSON, and no memory");
	free(why);
}

static void read_all(const struct documents_reader *reader, const char *name,
		     FILE *in)
{
	bool more = true;
	size_t n = 0;

	while (more && has_more(in)) {
		json_error_t error;
		json_t *document =
			json_loadf(in, JSON_DISABLE_EOF_CHECK, &error);

		n++;
		if (!document) {
			tell_fault(reader, name, n, &error);
			return;
		}
		more = reader->take(reader->argument, name, document);
		json_decref(document);
	}
	if (ferror(in))
		reader->complain(reader->argument, name, strerror(errno));
	else if (!n)
		reader->complain(reader->argument, name, "empty");
}

void documents_read(const char *path, const struct documents_reader *reader)
{
	bool standard = !strcmp(path, "-");
	FILE *in = standard ? stdin : fopen(path, "re");

	if (!in) {
		reader->complain(reader->argument, path, strerror(errno));
		return;
	}
	read_all(reader, standard ? "standard input" : path, in);
	if (!standard)
		fclose(in);
}
