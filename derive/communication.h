/*
 * communication.h - does something communicate between devices or ranks, by its name?
 *
 * Call once per name, never per event. Kernels are known by words anywhere in their names, upper and lower case alike:
 * libraries put them into the middle of mangled and demangled names. Operators are known by their namespaces.
 */
#ifndef TPA_DERIVE_COMMUNICATION_H
#define TPA_DERIVE_COMMUNICATION_H

#include <stdbool.h>

/* Is it of NCCL or RCCL: does its name contain one of these words? This is the usual definition of communication. */
bool kernel_is_nccl(const char *name);

/* Is the backend of a job, or one of several ("cpu:gloo,cuda:nccl"), a library that devices communicate with, of any maker? */
bool backend_is_of_devices(const char *name);

/* Is it known to communicate: NCCL, symmetric memory, custom all-reduce, NVSHMEM and the like? */
bool kernel_is_communication(const char *name);

/* Is the operator (or annotation) one that communicates, so that what it launches itself does? */
bool operator_is_communication(const char *name);

/* Is it an operator of HLO that communicates, whose name is its opcode, optionally with a number: "all-reduce.3",
 * "all-gather-start"? */
bool operator_is_collective_of_xla(const char *name);

#endif
