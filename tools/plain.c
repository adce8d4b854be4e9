// SPDX-License-Identifier: MIT
#include "plain.h"

#include <ctype.h>

static char letter(char c)
{
	return (char)(iscntrl((unsigned char)c) ? '?' : c);
}

void plain_letter(FILE *out, char c)
{
	fputc(letter(c), out);
}

void plain_write(FILE *out, const char *text)
{
	for (; *text; text++)
		plain_letter(out, *text);
}

char *plain(char *text)
{
	for (char *c = text; *c; c++)
		*c = letter(*c);
	return text;
}
