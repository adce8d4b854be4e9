// SPDX-License-Identifier: MIT
#include "lib/explain.h"

#include <stdio.h>
#include <string.h>

#include "upmu.h"

static _Thread_local char explanation[UPMU_EXPLAIN_SIZE];

static void append(const char *format, va_list args)
{
	size_t used = strlen(explanation);

	vsnprintf(explanation + used, sizeof(explanation) - used, format, args);
}

int upmu_explain_set(int error, const char *format, ...)
{
	va_list args;

	explanation[0] = '\0';
	va_start(args, format);
	append(format, args);
	va_end(args);
	if (!explanation[0])
		snprintf(explanation, sizeof(explanation), "%s",
			 strerror(-error));
	return error;
}

void upmu_explain_hint(const char *format, ...)
{
	static const char label[] = "\nhint: ";
	size_t used = strlen(explanation);
	va_list args;

	snprintf(explanation + used, sizeof(explanation) - used, "%s", label);
	va_start(args, format);
	append(format, args);
	va_end(args);
}

void upmu_explain_prefix(const char *format, ...)
{
	char rest[UPMU_EXPLAIN_SIZE];
	size_t used;
	va_list args;

	memcpy(rest, explanation, sizeof(rest));
	explanation[0] = '\0';
	va_start(args, format);
	append(format, args);
	va_end(args);
	used = strlen(explanation);
	snprintf(explanation + used, sizeof(explanation) - used, ": %s", rest);
}

void upmu_explain_clear(void)
{
	explanation[0] = '\0';
}

const char *upmu_explain(void)
{
	return explanation;
}

const char *upmu_version(void)
{
	return UPMU_VERSION;
}
