// SPDX-License-Identifier: MIT
#include "plain.h"

#include <ctype.h>

/* Bytes of a control character; 0: it is none. */
static size_t control_length(const char *text)
{
	unsigned char first = (unsigned char)text[0];
	unsigned char next = (unsigned char)text[1];

	/* U+0080 to U+009F in UTF-8: U+009B begins what ESC [ does. */
	if (first == 0xc2 && next >= 0x80 && next < 0xa0)
		return 2;
	return iscntrl(first) ? 1 : 0;
}

size_t plain_letter(FILE *out, const char *text)
{
	size_t length = control_length(text);

	fputc(length ? '?' : *text, out);
	return length ? length : 1;
}

void plain_write(FILE *out, const char *text)
{
	while (*text)
		text += plain_letter(out, text);
}

char *plain(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		size_t length = control_length(from);

		*to = (char)(length ? '?' : *from);
		from += length ? length : 1;
	}
	*to = '\0';
	return text;
}
