/*
 * device_peaks.h - peak rates of devices, from their makers' data sheets.
 *
 *     struct device_peaks peaks;
 *     if (device_peaks_find("NVIDIA H100 80GB HBM3", &peaks))
 *         seconds = flops / peaks.flops[PEAK_BF16];
 *
 * Dense figures: those for sparse matrices are twice as high, but ordinary models do not reach them. Nothing is
 * guessed: figures missing from a data sheet are 0.
 */
#ifndef TPA_DERIVE_DEVICE_PEAKS_H
#define TPA_DERIVE_DEVICE_PEAKS_H

#include "base/options.h"
#include "derive/tensor_types.h"

struct device_peaks {
    double flops[PEAK_RATES]; /* per second; 0: unknown, or not supported by the device */
    double bandwidth;         /* of its memory, bytes per second; 0: unknown */
    int pcie;                 /* generation of the link to its host; 0: unknown, or another kind of link */
    const char *source;       /* the data sheet */
};

/* The peaks of the device NAME; false, and all 0, if it is unknown. */
bool device_peaks_find(const char *name, struct device_peaks *peaks);

/* "bf16", "tf32"; as --peak takes it. */
const char *peak_rate_name(enum peak_rate rate);

/* Set the rates in TEXT, "bf16=989T,hbm=3.35T", in PEAKS: per second, with K, M, G, T or P for powers of 1000. "hbm" is
 * the memory's bandwidth. False and ERR if TEXT is invalid. */
bool device_peaks_override(struct device_peaks *peaks, const char *text, struct tpa_error *err);

#endif
