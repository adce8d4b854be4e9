// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "file_name.h"
#include "rank.h"

#define NAME_LONGEST 256

static int refuse_pattern(const char *who, const char *pattern,
			  const char *what)
{
	fprintf(stderr, "%s: '%s': %s\n", who, pattern, what);
	return -1;
}

/* A job that starts without it would have all ranks write one file. */
static int put_variable(FILE *out, const char **at, const char *pattern,
			const char *who)
{
	const char *name = *at + 2, *value;
	const char *end = (*at)[1] == '{' ? strchr(name, '}') : NULL;
	char variable[NAME_LONGEST], why[NAME_LONGEST + 64];

	if (!end || end == name || (size_t)(end - name) >= sizeof(variable))
		return refuse_pattern(who, pattern,
				      "%q wants a name, as in %q{RANK}");
	memcpy(variable, name, (size_t)(end - name));
	variable[end - name] = 0;
	value = getenv(variable);
	if (!value && !strcmp(variable, "RANK"))
		value = rank_text();
	*at = end;
	if (value && value[0]) {
		fputs(value, out);
		return 0;
	}
	if (!strcmp(variable, "RANK"))
		return refuse_pattern(
			who, pattern,
			"no rank in the environment\n"
			"hint: mpirun and srun set one of " RANK_NAMES);
	snprintf(why, sizeof(why), "%s is not set in the environment",
		 variable);
	return refuse_pattern(who, pattern, why);
}

static int put_special(FILE *out, const char **at, const char *pattern,
		       const char *who)
{
	struct utsname host;

	switch (**at) {
	case '%':
		putc('%', out);
		return 0;
	case 'p':
		fprintf(out, "%d", (int)getpid());
		return 0;
	case 'h':
		fputs(uname(&host) ? "unknown" : host.nodename, out);
		return 0;
	case 'q':
		return put_variable(out, at, pattern, who);
	default:
		return refuse_pattern(
			who, pattern,
			"after % come p, h, q{NAME} or another %");
	}
}

char *file_name_expand(const char *pattern, const char *who)
{
	char *name = NULL;
	size_t size;
	FILE *out = open_memstream(&name, &size);
	int error = 0;

	if (!out)
		error = refuse_pattern(who, pattern, "out of memory");
	for (const char *c = pattern; !error && *c; c++) {
		if (*c != '%')
			putc(*c, out);
		else {
			c++;
			error = put_special(out, &c, pattern, who);
		}
	}
	/* where its last step finds no memory there is no text, and no error */
	if (out && (fclose(out) || !name) && !error)
		error = refuse_pattern(who, pattern, "out of memory");
	if (!error)
		return name;
	free(name);
	return NULL;
}
