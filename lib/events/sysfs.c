// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/events/events.h"
#include "lib/events/sysfs.h"
#include "lib/events/text.h"
#include "lib/perf/pmus.h"
#include "lib/sys.h"

#define DEVICES	    "/sys/bus/event_source/devices"
#define NAME_LENGTH 64 /* of an event or a term; longer is none */

bool upmu_pmu_is_pmuv3(const char *pmu)
{
	return !strncmp(pmu, "armv8", 5) || !strncmp(pmu, "armv9", 5);
}

int upmu_sysfs_type(const char *pmu, uint32_t *type)
{
	char path[UPMU_PATH_SIZE];
	long value;
	int ret;

	snprintf(path, sizeof(path), DEVICES "/%.100s/type", pmu);
	ret = upmu_sys_read_long(path, &value);
	if (!ret)
		*type = (uint32_t)value;
	return ret;
}

/*
 * A name becomes part of a path: nothing but what kernels use in one, which
 * leaves no way up ("..") and no other folder. (NAME.scale and NAME.unit
 * stand beside NAME and are no events.)
 */
static int file_name(char *out, const char *name, size_t length)
{
	if (!length || length >= NAME_LENGTH)
		return -EINVAL;
	for (size_t i = 0; i < length; i++) {
		char c = upmu_lower(name[i]);

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
		    c != '_' && c != '-')
			return -EINVAL;
		out[i] = name[i];
	}
	out[length] = '\0';
	return 0;
}

static uint64_t *config_word(struct upmu_terms *terms, const char *name,
			     size_t length)
{
	if (upmu_name_is(name, length, "config"))
		return &terms->config;
	if (upmu_name_is(name, length, "config1"))
		return &terms->config1;
	if (upmu_name_is(name, length, "config2"))
		return &terms->config2;
	return NULL;
}

/* "config:0-7,32-35": the value's bits go there, lowest first. */
static int place(struct upmu_terms *terms, const char *format, uint64_t value)
{
	size_t word = upmu_span(format, ':');
	uint64_t *config = config_word(terms, format, word);

	if (!config || !format[word])
		return -EINVAL;
	format += word + 1;
	while (*format) {
		char *end;
		unsigned long low = strtoul(format, &end, 10), high = low;

		if (end == format)
			return -EINVAL;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (high > 63 || low > high || (*end && *end != ','))
			return -EINVAL;
		for (unsigned long bit = low; bit <= high; bit++) {
			*config &= ~(UINT64_C(1) << bit);
			*config |= (value & 1) << bit;
			value >>= 1;
		}
		format = *end ? end + 1 : end;
	}
	return value ? -EINVAL : 0; /* it did not fit */
}

static int parse_value(const char *text, size_t length, uint64_t *out)
{
	char digits[24];
	char *end;

	if (!length || length >= sizeof(digits) || text[0] == '-')
		return -EINVAL;
	memcpy(digits, text, length);
	digits[length] = '\0';
	errno = 0;
	*out = strtoull(digits, &end, 0);
	return errno || *end ? -EINVAL : 0;
}

static int add_term(struct upmu_terms *terms, const char *pmu, const char *text,
		    size_t length)
{
	const char *equals = memchr(text, '=', length);
	size_t name_length = equals ? (size_t)(equals - text) : length;
	char name[NAME_LENGTH], path[UPMU_PATH_SIZE], format[96];
	uint64_t value = 1; /* a bare term is a flag */
	uint64_t *config;
	int ret;

	if (equals) {
		ret = parse_value(equals + 1, length - name_length - 1, &value);
		if (ret)
			return ret;
	}
	config = config_word(terms, text, name_length);
	if (config) {
		*config = value;
		return 0;
	}
	if (file_name(name, text, name_length))
		return -EINVAL;
	snprintf(path, sizeof(path), DEVICES "/%.100s/format/%s", pmu, name);
	ret = upmu_sys_read_text(path, format, sizeof(format));
	if (ret)
		return upmu_pmus_is_want(ret) ? ret : -EINVAL;
	return place(terms, format, value);
}

int upmu_sysfs_terms(const char *pmu, const char *text, size_t length,
		     struct upmu_terms *out)
{
	struct upmu_terms terms = { 0 };

	while (length) {
		const char *comma = memchr(text, ',', length);
		size_t n = comma ? (size_t)(comma - text) : length;
		int ret = add_term(&terms, pmu, text, n);

		if (ret)
			return ret;
		n += comma ? 1 : 0;
		text += n;
		length -= n;
	}
	*out = terms;
	return 0;
}

int upmu_sysfs_event(const char *pmu, const char *name, size_t length,
		     struct upmu_terms *out)
{
	char file[NAME_LENGTH], path[UPMU_PATH_SIZE], terms[160];
	int ret;

	if (file_name(file, name, length))
		return -ENOENT;
	snprintf(path, sizeof(path), DEVICES "/%.100s/events/%s", pmu, file);
	ret = upmu_sys_read_text(path, terms, sizeof(terms));
	if (ret == -ENOENT) {
		for (char *c = file; *c; c++)
			*c = upmu_lower(*c);
		snprintf(path, sizeof(path), DEVICES "/%.100s/events/%s", pmu,
			 file);
		ret = upmu_sys_read_text(path, terms, sizeof(terms));
	}
	if (ret)
		return ret == -ENOENT || upmu_pmus_is_want(ret) ? ret : -EINVAL;
	return upmu_sysfs_terms(pmu, terms, upmu_span(terms, '\0'), out);
}

static bool publishes(const char *pmu, const char *event)
{
	char path[UPMU_PATH_SIZE];

	snprintf(path, sizeof(path), DEVICES "/%.100s/events/%s", pmu, event);
	return upmu_sys_exists(path);
}

/*
 * Kernels never publish chain (0x1e), hide sw_incr where user mode may not
 * write it, and called 0x30 l21_tlb for years, without 0x2e.
 */
static bool is_surely_published(unsigned int code)
{
	return code && code <= 0x37 && code != 0x1e && code != 0x2e &&
	       code != 0x30;
}

bool upmu_kind_leaves_out(const struct upmu_core_kind *kind,
			  const struct upmu_event_row *row)
{
	return upmu_pmu_is_pmuv3(kind->pmu_name) &&
	       is_surely_published(upmu_row_code(row)) &&
	       !publishes(kind->pmu_name, upmu_row_name(row)) &&
	       publishes(kind->pmu_name, "cpu_cycles");
}
