#include "derive/device_peaks.h"

#include <ctype.h>
#include <math.h>

#define NVIDIA_HOPPER "NVIDIA H100 Tensor Core GPU data sheet"
#define NVIDIA_H200 "NVIDIA H200 Tensor Core GPU data sheet"
#define NVIDIA_BLACKWELL "NVIDIA HGX B200 data sheet"
#define NVIDIA_GB200 "NVIDIA GB200 NVL72 data sheet, per GPU"
#define NVIDIA_GH200 "NVIDIA GH200 Grace Hopper Superchip data sheet"
#define NVIDIA_A100 "NVIDIA A100 Tensor Core GPU data sheet"
#define NVIDIA_V100 "NVIDIA V100 Tensor Core GPU data sheet"
#define AMD_CDNA3 "AMD Instinct MI300X data sheet"

/* clang-format off */
/* In TFLOP/s (TOP/s of int8) and GB/s. A name matches as a substring of the device's, ignoring case; the first match
 * counts. An MI250X and an MI250 are two devices each, of which this is one. The MI200s and older have no TF32; the
 * MI300s call theirs XF32. The pages on TPUs are https://cloud.google.com/tpu/docs/ and v4, v5e, v5p or v6e: figures of
 * a chip, which is one device from v4 on. */
static const struct {
    const char *name;
    double fp4, fp8, int8, fp16, bf16, tf32, fp64_matrix, fp32, fp64, bandwidth;
    int pcie;
    const char *source;
} devices[] = {
    /*                     fp4      fp8      int8     fp16    bf16    tf32   fp64m  fp32   fp64   GB/s   PCIe */
    { "GB200",             10000,   5000,    5000,    2500,   2500,   1250,  40,    80,    40,    8000, 0, NVIDIA_GB200 },
    { "B200",              9000,    4500,    4500,    2250,   2250,   1125,  37,    75,    37,    7700, 5, NVIDIA_BLACKWELL },
    { "GH200 144G",        0,       1979,    1979,    989.4,  989.4,  494.7, 66.9,  66.9,  33.5,  4900, 0, NVIDIA_GH200 },
    { "GH200",             0,       1979,    1979,    989.4,  989.4,  494.7, 66.9,  66.9,  33.5,  4000, 0, NVIDIA_GH200 },
    { "H200 NVL",          0,       1671,    1671,    835.5,  835.5,  417.5, 60,    60,    30,    4800, 5, NVIDIA_H200 },
    { "H200",              0,       1979,    1979,    989.4,  989.4,  494.7, 66.9,  66.9,  33.5,  4800, 5, NVIDIA_H200 },
    { "H100 NVL",          0,       1671,    1671,    835.5,  835.5,  417.5, 60,    60,    30,    3900, 5, NVIDIA_HOPPER },
    { "H100 PCIe",         0,       1513,    1513,    756,    756,    378,   51.2,  51.2,  25.6,  2000, 5, NVIDIA_HOPPER },
    { "H100",              0,       1979,    1979,    989.4,  989.4,  494.7, 66.9,  66.9,  33.5,  3350, 5, NVIDIA_HOPPER },
    { "A100-SXM4-80GB",    0,       0,       624,     312,    312,    156,   19.5,  19.5,  9.7,   2039, 4, NVIDIA_A100 },
    { "A100 80GB PCIe",    0,       0,       624,     312,    312,    156,   19.5,  19.5,  9.7,   1935, 4, NVIDIA_A100 },
    { "A100",              0,       0,       624,     312,    312,    156,   19.5,  19.5,  9.7,   1555, 4, NVIDIA_A100 },
    { "V100-PCIE",         0,       0,       0,       112,    0,      0,     0,     14,    7,     900,   3, NVIDIA_V100 },
    { "V100",              0,       0,       0,       125,    0,      0,     0,     15.7,  7.8,   900,   3, NVIDIA_V100 },
    { "Tesla T4",          0,       0,       130,     65,     0,      0,     0,     8.1,   0,     320,   3, "NVIDIA T4 data sheet" },
    { "NVIDIA L40S",       0,       733,     733,     362.05, 362.05, 183,   0,     91.6,  0,     864,   4, "NVIDIA L40S data sheet" },
    { "NVIDIA L4",         0,       242.5,   242.5,   121,    121,    60,    0,     30.3,  0,     300,   4, "NVIDIA L4 data sheet" },
    { "TPU v6 Lite",       0,       0,       1836,    0,      918,    0,     0,     0,     0,     1638, 0, "Google Cloud TPU v6e documentation" },
    { "TPU v6e",           0,       0,       1836,    0,      918,    0,     0,     0,     0,     1638, 0, "Google Cloud TPU v6e documentation" },
    { "TPU v5 Lite",       0,       0,       393,     0,      197,    0,     0,     0,     0,     819,  0, "Google Cloud TPU v5e documentation" },
    { "TPU v5e",           0,       0,       393,     0,      197,    0,     0,     0,     0,     819,  0, "Google Cloud TPU v5e documentation" },
    { "TPU v5",            0,       0,       918,     0,      459,    0,     0,     0,     0,     2765, 0, "Google Cloud TPU v5p documentation" },
    { "TPU v4",            0,       0,       275,     0,      275,    0,     0,     0,     0,     1200, 0, "Google Cloud TPU v4 documentation" },
    { "MI355X",            10066.3, 5033.2,  5033.2,  2516.6, 2516.6, 0,     78.6,  157.3, 78.6,  8000, 5, "AMD Instinct MI355X data sheet" },
    { "MI325X",            0,       2614.9,  2614.9,  1307.4, 1307.4, 653.7, 163.4, 163.4, 81.7,  6000, 5, "AMD Instinct MI325X data sheet" },
    { "MI300X",            0,       2614.9,  2614.9,  1307.4, 1307.4, 653.7, 163.4, 163.4, 81.7,  5300, 5, AMD_CDNA3 },
    { "MI300A",            0,       1961.2,  1961.2,  980.6,  980.6,  490.3, 122.6, 122.6, 61.3,  5300, 5, "AMD Instinct MI300A data sheet" },
    { "MI250X",            0,       0,       191.5,   191.5,  191.5,  0,     47.85, 23.95, 23.95, 1638.4, 4, "AMD Instinct MI250X data sheet, half of it" },
    { "MI250",             0,       0,       181.05,  181.05, 181.05, 0,     45.25, 22.65, 22.65, 1638.4, 4, "AMD Instinct MI250 data sheet, half of it" },
    { "MI210",             0,       0,       181,     181,    181,    0,     45.3,  22.6,  22.6,  1638.4, 4, "AMD Instinct MI210 data sheet" },
};
/* clang-format on */

bool device_peaks_find(const char *name, struct device_peaks *peaks)
{
    *peaks = (struct device_peaks){ .source = NULL };
    for (size_t i = 0; name && i < sizeof devices / sizeof *devices; i++) {
        if (!strcasestr(name, devices[i].name))
            continue;
        const double rates[PEAK_RATES] = {
            [PEAK_FP4] = devices[i].fp4,   [PEAK_FP8] = devices[i].fp8,
            [PEAK_INT8] = devices[i].int8, [PEAK_FP16] = devices[i].fp16,
            [PEAK_BF16] = devices[i].bf16, [PEAK_TF32] = devices[i].tf32,
            [PEAK_FP32] = devices[i].fp32, [PEAK_FP64_MATRIX] = devices[i].fp64_matrix,
            [PEAK_FP64] = devices[i].fp64,
        };
        for (size_t r = 0; r < PEAK_RATES; r++)
            peaks->flops[r] = rates[r] * 1e12;
        peaks->bandwidth = devices[i].bandwidth * 1e9;
        peaks->pcie = devices[i].pcie;
        peaks->source = devices[i].source;
        return true;
    }
    return false;
}

static const char *const rate_names[PEAK_RATES] = {
    [PEAK_FP4] = "fp4",   [PEAK_FP8] = "fp8",   [PEAK_INT8] = "int8",
    [PEAK_FP16] = "fp16", [PEAK_BF16] = "bf16", [PEAK_TF32] = "tf32",
    [PEAK_FP32] = "fp32", [PEAK_FP64] = "fp64", [PEAK_FP64_MATRIX] = "fp64_matrix",
};

const char *peak_rate_name(enum peak_rate rate)
{
    return rate < PEAK_RATES ? rate_names[rate] : NULL;
}

/* The field for the word of LEN bytes at NAME; NULL if unknown. */
static double *device_peaks_place_of(struct device_peaks *peaks, const char *name, size_t len)
{
    for (size_t r = 0; r < PEAK_RATES; r++)
        if (strlen(rate_names[r]) == len && memcmp(rate_names[r], name, len) == 0)
            return &peaks->flops[r];
    return len == 3 && memcmp(name, "hbm", 3) == 0 ? &peaks->bandwidth : NULL;
}

/* "989T", all of LEN bytes at TEXT; 0 if it is not such a positive number. */
static double rate_of(const char *text, size_t len)
{
    static const char units[] = "KMGTP";
    char copy[40], *end;
    if (len == 0 || len >= sizeof copy || (text[0] != '.' && !isdigit((unsigned char)text[0])))
        return 0;
    memcpy(copy, text, len);
    copy[len] = '\0';
    double value = strtod(copy, &end);
    const char *unit = *end ? strchr(units, *end == 'k' ? 'K' : *end) : NULL;
    if (unit) {
        value *= pow(1000, (double)(unit - units + 1));
        end++;
    }
    return *end == '\0' && isfinite(value) && value > 0 ? value : 0;
}

bool device_peaks_override(struct device_peaks *peaks, const char *text, struct tpa_error *err)
{
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t len = strcspn(at, ","), name_len = strcspn(at, "=,");
        double *place = device_peaks_place_of(peaks, at, name_len);
        double value = name_len < len ? rate_of(at + name_len + 1, len - name_len - 1) : 0;
        if (!place || value == 0) {
            tpa_fail(err, TPA_NOWHERE, "'%.*s' is not a peak", (int)len, at);
            return tpa_hint(
                err, "write TYPE=RATE, such as bf16=989T,hbm=3.35T; the types are fp4, fp8, int8, fp16, "
                     "bf16, tf32, fp64_matrix, fp32, fp64 and hbm, the bandwidth of the memory");
        }
        *place = value;
        peaks->source = "--peak";
    }
    return true;
}
