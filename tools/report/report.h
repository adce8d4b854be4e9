/* SPDX-License-Identifier: MIT */
/**
 * report.h - what the files of "upmu report" share
 *
 * Files of JSON are read into sections: one for each report, and one for all
 * intervals of a run. The page gets them as one JSON object; drawing is the
 * page's own (page/).
 */
#ifndef UPMU_TOOLS_REPORT_H
#define UPMU_TOOLS_REPORT_H

#include <jansson.h>
#include <stdio.h>

/** Sections that were read, and what could not be. */
struct report_input {
	json_t *files;	  /* array of sections */
	json_t *problems; /* array of strings; said to the user already */
	size_t failed;	  /* files */
};

/** Read one file ("-": standard input); what is wrong gets one line. */
void report_read(struct report_input *input, const char *path);

/** Once all are read: a name for each section, to tell them apart. */
void report_name(struct report_input *input);

/** The page; 0, or -1 with errno set. */
int report_write_page(FILE *out, const struct report_input *input);

#endif
