/*
 * peaks.cu - what cuBLAS and a copy reach on this device: a line `RATE NUMBER` each, in operations or bytes a second.
 *
 * RATE is a word of `tpa roofline --peak`. tests/gpu/peaks holds the peaks that tpa knows against these lines.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const int n = 8192;
static const size_t copied = size_t(1) << 30;

/* Numbers between -1 and 1 that differ: a device computes faster with zeros. */
template <typename T> __global__ void fill(T *x, size_t count)
{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < count)
        x[i] = T(float((i * 2654435761u) % 2048) / 1024 - 1);
}

/* Seconds that WORK takes: the median of five times, each of ten in a row; 0 when the device refuses it. */
static double seconds_of(const std::function<bool()> &work)
{
    cudaEvent_t begin, end;
    std::vector<float> times;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int round = 0; round < 6; round++) { /* the first is to warm up */
        CHECK(cudaEventRecord(begin));
        for (int i = 0; i < 10; i++)
            if (!work())
                return 0;
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        if (round > 0)
            times.push_back(milliseconds / 10);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] / 1e3;
}

static void tell(const char *rate, double amount, double seconds)
{
    if (seconds > 0)
        printf("%s %.6g\n", rate, amount / seconds);
    else
        fprintf(stderr, "%s: not on this device\n", rate);
}

template <typename T, typename SCALAR>
static void multiply(cublasHandle_t handle, const char *rate, cudaDataType type, cublasComputeType_t compute)
{
    T *x[3];
    const size_t count = size_t(n) * n;
    for (T *&matrix : x) {
        CHECK(cudaMalloc(&matrix, count * sizeof(T)));
        fill<T><<<unsigned((count + 255) / 256), 256>>>(matrix, count);
    }
    CHECK(cudaDeviceSynchronize());
    const SCALAR one = 1, zero = 0;
    double seconds = seconds_of([&] {
        return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, x[0], type, n, x[1], type, n, &zero, x[2],
                            type, n, compute, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
    });
    tell(rate, 2.0 * n * n * n, seconds);
    for (T *matrix : x)
        CHECK(cudaFree(matrix));
}

int main()
{
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
        fputs("cuBLAS does not start\n", stderr);
        return 1;
    }
    multiply<__nv_bfloat16, float>(handle, "bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F);
    multiply<__half, float>(handle, "fp16", CUDA_R_16F, CUBLAS_COMPUTE_32F);
    multiply<float, float>(handle, "tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
    multiply<float, float>(handle, "fp32", CUDA_R_32F, CUBLAS_COMPUTE_32F);
    multiply<double, double>(handle, "fp64_matrix", CUDA_R_64F, CUBLAS_COMPUTE_64F);
    char *from, *to;
    CHECK(cudaMalloc(&from, copied));
    CHECK(cudaMalloc(&to, copied));
    double seconds = seconds_of([&] {
        return cudaMemcpyAsync(to, from, copied, cudaMemcpyDeviceToDevice) == cudaSuccess;
    });
    tell("hbm", 2.0 * copied, seconds); /* read and written */
    return 0;
}
