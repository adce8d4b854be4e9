/* SPDX-License-Identifier: MIT */
/*
 * text.h - names compared without regard to case
 *
 * strcasecmp() follows the locale (in Turkish I is not i); names of events
 * are ASCII everywhere.
 */
#ifndef UPMU_EVENTS_TEXT_H
#define UPMU_EVENTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline char upmu_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Characters before @stop or the end. */
static inline size_t upmu_span(const char *text, char stop)
{
	size_t n = 0;

	while (text[n] && text[n] != stop)
		n++;
	return n;
}

static inline bool upmu_text_is(const char *a, size_t a_length, const char *b,
				size_t b_length)
{
	if (a_length != b_length)
		return false;
	for (size_t i = 0; i < a_length; i++)
		if (upmu_lower(a[i]) != upmu_lower(b[i]))
			return false;
	return true;
}

/* Below, equal to, above 0 as strcmp(): a piece of text and a name. */
static inline int upmu_name_order(const char *text, size_t length,
				  const char *name)
{
	for (size_t i = 0; i < length; i++) {
		int order = (unsigned char)upmu_lower(text[i]) -
			    (unsigned char)upmu_lower(name[i]);

		if (order || !name[i])
			return order;
	}
	return name[length] ? -1 : 0;
}

static inline bool upmu_name_is(const char *text, size_t length,
				const char *name)
{
	return !upmu_name_order(text, length, name);
}

/** 1 to 16 digits, or false. */
static inline bool upmu_parse_hex(const char *text, size_t length,
				  uint64_t *value)
{
	uint64_t result = 0;

	if (!length || length > 16)
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = upmu_lower(text[i]);
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0)
			return false;
		result = result << 4 | (uint64_t)digit;
	}
	*value = result;
	return true;
}

#endif
