// SPDX-License-Identifier: MIT
#include "line.h"

#include <string.h>

static void flush(struct line *line)
{
	fwrite(line->text, 1, line->n, line->out);
	line->n = 0;
}

void line_put_n(struct line *line, const char *text, size_t length)
{
	if (length > sizeof(line->text) - line->n)
		flush(line);
	if (length > sizeof(line->text)) {
		fwrite(text, 1, length, line->out);
		return;
	}
	memcpy(line->text + line->n, text, length);
	line->n += length;
}

static void put_blanks(struct line *line, size_t n)
{
	if (n > sizeof(line->text) - line->n)
		flush(line);
	memset(line->text + line->n, ' ', n);
	line->n += n;
}

void line_begin(struct line *line, FILE *out)
{
	line->out = out;
	line->n = 0;
}

void line_right(struct line *line, size_t width, const char *text)
{
	size_t length = strlen(text);

	if (length < width)
		put_blanks(line, width - length);
	line_put_n(line, text, length);
}

void line_left(struct line *line, size_t width, const char *text)
{
	size_t length = strlen(text);

	line_put_n(line, text, length);
	if (length < width)
		put_blanks(line, width - length);
}

void line_end(struct line *line)
{
	line_put_n(line, "\n", 1);
	flush(line);
}
