// SPDX-License-Identifier: MIT
#include "csv.h"

#include <string.h>

void csv_text(FILE *out, const char *word, const char *separator)
{
	if (!strpbrk(word, "\"\r\n") && !strstr(word, separator)) {
		fputs(word, out);
		return;
	}
	fputc('"', out);
	for (; *word; word++) {
		if (*word == '"')
			fputc('"', out);
		fputc(*word, out);
	}
	fputc('"', out);
}
