// SPDX-License-Identifier: MIT
#include "line.h"

#include <string.h>

static void flush(struct line *line)
{
	fwrite(line->text, 1, line->n, line->out);
	line->n = 0;
}

static void put(struct line *line, const char *text, size_t length)
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

void line_put(struct line *line, const char *text)
{
	put(line, text, strlen(text));
}

void line_right(struct line *line, size_t width, const char *text)
{
	size_t length = strlen(text);

	if (length < width)
		put_blanks(line, width - length);
	put(line, text, length);
}

void line_left(struct line *line, size_t width, const char *text)
{
	size_t length = strlen(text);

	put(line, text, length);
	if (length < width)
		put_blanks(line, width - length);
}

void line_end(struct line *line)
{
	put(line, "\n", 1);
	flush(line);
}
