/* SPDX-License-Identifier: MIT */
/**
 * file_name.h - names of output files, with what is known only at run time
 *
 * %p is the process's number, %h the host's name, %q{NAME} an environment
 * variable, %% a percent sign. %q{RANK} is the rank, whoever launched it.
 */
#ifndef UPMU_TOOLS_FILE_NAME_H
#define UPMU_TOOLS_FILE_NAME_H

/** Returns a string that the caller frees; NULL once the user was told.
 *  @who: "upmu stat: --output" */
char *file_name_expand(const char *pattern, const char *who);

#endif
