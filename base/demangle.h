/*
 * demangle.h - C++ names as people write them: "_Z3foov" -> "foo()".
 *
 * The C++ runtime of the machine does it (the one that torch uses too); where there is none, names stay as
 * they are. Like torch, which tries every name, it also turns the encoding of a type into the type: "Pi"
 * is "int*".
 */
#ifndef TPA_BASE_DEMANGLE_H
#define TPA_BASE_DEMANGLE_H

/* New, free with free(): what NAME says; NULL when NAME is not mangled. */
char *demangle(const char *name);

#endif
