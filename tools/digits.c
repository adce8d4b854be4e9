// SPDX-License-Identifier: MIT
#include "digits.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Up to here a double holds each integer, and what is behind the point. */
#define EXACT 1e9

/* So near to the middle of two numbers @value times a power may fall wrong. */
#define DOUBTFUL 1e-5

/* The digits of @number before @end, @least of them; where they begin. */
static char *write_before(char *end, uint64_t number, unsigned int least)
{
	char *begin = end - least;
	uint32_t low;

	/* A 32-bit core divides 32 bits with ease. */
	for (; number > UINT32_MAX; number /= 1000000000) {
		low = (uint32_t)(number % 1000000000);
		for (int i = 0; i < 9; i++, low /= 10)
			*--end = (char)('0' + low % 10);
	}
	for (low = (uint32_t)number; low || end > begin; low /= 10)
		*--end = (char)('0' + low % 10);
	return end;
}

/* The nearest integer; of two the even one, as printf(). */
static uint64_t nearest(double value, double *rest)
{
	uint64_t whole = (uint64_t)value;

	*rest = value - (double)whole;
	return whole + (*rest > 0.5 || (*rest == 0.5 && whole & 1));
}

char *digits_fixed(char *out, double value, unsigned int decimals)
{
	static const double power[] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6 };
	char text[24], *end = text + sizeof(text), *begin;
	size_t length, whole;
	double scaled, rest;
	uint64_t number;

	if (decimals >= sizeof(power) / sizeof(power[0]) || signbit(value) ||
	    !(value * power[decimals] < EXACT))
		goto by_printf;
	scaled = value * power[decimals];
	number = nearest(scaled, &rest);
	if (decimals && fabs(rest - 0.5) < DOUBTFUL)
		goto by_printf;
	begin = write_before(end, number, decimals + 1);
	length = (size_t)(end - begin);
	whole = length - decimals;
	memcpy(out, begin, whole);
	if (decimals) {
		out[whole] = '.';
		memcpy(out + whole + 1, begin + whole, decimals);
	}
	out[length + !!decimals] = '\0';
	return out;

by_printf:
	snprintf(out, DIGITS_SIZE, "%.*f", (int)decimals, value);
	return out;
}

/* Whole numbers are exact much further. */
static int write_whole(char *out, size_t size, double value)
{
	char text[24], *end = text + sizeof(text), *begin;
	double rest;

	if (signbit(value) || !(value < 1e18))
		return snprintf(out, size, "%.0f", value);
	begin = write_before(end, nearest(value, &rest), 1);
	memcpy(out, begin, (size_t)(end - begin));
	out[end - begin] = '\0';
	return (int)(end - begin);
}

char *digits_grouped(char *out, double value)
{
	char digits[32];
	int n = write_whole(digits, sizeof(digits), value);
	char *p = out;

	if (n > 30) { /* nobody counted that: a file of somebody's */
		sprintf(out, "%g", value);
		return out;
	}
	for (int i = 0; i < n; i++) {
		if (i > (digits[0] == '-') && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = 0;
	return out;
}
