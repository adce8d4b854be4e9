// SPDX-License-Identifier: MIT
/* What a rule of udev's says of /dev/upmu: udev(7). */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "setup.h"

void setup_drop_rules_comments(char *text)
{
	char *to = text;

	while (*text) {
		size_t length = strcspn(text, "\n");

		length += text[length] == '\n';
		if (text[strspn(text, " \t")] != '#') {
			memmove(to, text, length);
			to += length;
		}
		text += length;
	}
	*to = '\0';
}

/* What is behind the quote of a @key @sign "..." of udev's, or NULL. */
static const char *value_of(const char *line, const char *key, const char *sign)
{
	const char *value, *at = line;

	for (; (at = strstr(at, key)); at += strlen(key)) {
		value = at + strlen(key);
		value += strspn(value, " \t");
		if (strncmp(value, sign, strlen(sign)) != 0)
			continue;
		value += strlen(sign);
		value += strspn(value, " \t");
		if (*value == '"')
			return value + 1;
	}
	return NULL;
}

static bool matches(const char *value, const char *name)
{
	char patterns[256], *rest = patterns, *pattern;

	snprintf(patterns, sizeof(patterns), "%.*s", (int)strcspn(value, "\""),
		 value);
	while ((pattern = strsep(&rest, "|")))
		if (!fnmatch(pattern, name, 0))
			return true;
	return false;
}

static const char *assigned(const char *line, const char *key, bool finally)
{
	const char *value = value_of(line, key, ":=");

	if (!value && !finally)
		value = value_of(line, key, "=") ?: value_of(line, key, "+=");
	return value;
}

/* What a rule asks for, and the device has: also by a key for its parents. */
static const struct {
	const char *key, *its;
} asked[] = {
	{ "KERNEL", "upmu" },
	{ "KERNELS", "upmu" },
	{ "SUBSYSTEM", "misc" },
	{ "SUBSYSTEMS", "misc" },
	{ "ENV{DEVNAME}", "/dev/upmu" },
};

bool setup_rule_may_give_device(const char *line, bool finally)
{
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		const char *value = value_of(line, asked[i].key, "==");

		if (value && !matches(value, asked[i].its))
			return false;
	}
	return assigned(line, "MODE", finally) ||
	       assigned(line, "GROUP", finally) ||
	       assigned(line, "OWNER", finally);
}

bool setup_rule_gives_device(const char *line, bool finally)
{
	return value_of(line, "KERNEL", "==") &&
	       setup_rule_may_give_device(line, finally);
}

const char *setup_rule_group(const char *line)
{
	return setup_rule_may_give_device(line, false)
		       ? assigned(line, "GROUP", false)
		       : NULL;
}
