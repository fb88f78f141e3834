/*
 * demangle.h - C++ names as people read them: _ZN2at6native3addEPf is at::native::add(float*).
 *
 * Works where libiberty or the C++ run-time library was found when tpa was built; elsewhere names stay mangled, see
 * demangle_works(). Slow (a microsecond or more): call it once per name, not per event.
 */
#ifndef TPA_BASE_DEMANGLE_H
#define TPA_BASE_DEMANGLE_H

#include "base/buffer.h"

/* Was a demangler found when tpa was built? */
bool demangle_works(void);

/* Append the C++ name of the mangled NAME. False, with nothing appended, when NAME does not begin with _Z, is not well
 * formed, or would become unreasonably long. The suffix ".kd" of AMD's kernels is dropped. */
bool demangle_name(struct buffer *out, const char *name);

/* Demangle exactly as torch's profiler does, with the C++ run-time library: every name of two bytes or more is tried,
 * and mangled types count too. So a user's region called "Pi" becomes "int*"; "St" stays unchanged, like names of more
 * than a thousand bytes and those of types newer than the library. */
bool demangle_as_torch(struct buffer *out, const char *name);

#endif
