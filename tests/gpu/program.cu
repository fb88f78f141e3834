/*
 * program.cu - something of everything that tpa capture records, in known numbers.
 *
 * Prints what it did, a line each: `KIND WHAT COUNT`. tests/gpu/check holds the log against these lines.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <thread>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

__global__ void axpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

/* Runs for about MICROSECONDS. */
__global__ void spin(long long microseconds)
{
    long long start = clock64();
    while (clock64() - start < microseconds * 1000)
        ;
}

__global__ void touch(float *x, int n)
{
    extern __shared__ float shared[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        x[i] = shared[threadIdx.x] + 1;
}

static const int n = 1 << 20;
static const size_t bytes = n * sizeof(float);

static void streams(float *x, float *y)
{
    nvtxRangePushA("streams");
    cudaStream_t stream[4];
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int i = 0; i < 4; i++)
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
    for (int round = 0; round < 25; round++)
        for (int i = 0; i < 4; i++)
            axpy<<<n / 256, 256, 0, stream[i]>>>(y, x, 0.5f, n);
    spin<<<1, 1, 0, stream[0]>>>(1000);
    CHECK(cudaEventRecord(event, stream[0]));
    CHECK(cudaStreamWaitEvent(stream[1], event, 0));
    spin<<<1, 1, 0, stream[1]>>>(100);
    for (int i = 0; i < 4; i++)
        CHECK(cudaStreamSynchronize(stream[i]));
    nvtxRangePop();
    puts("kernel axpy 100\nkernel spin 2");
}

static void copies(float *x)
{
    nvtxRangePushA("copies");
    std::vector<float> pageable(n);
    float *pinned;
    CHECK(cudaMallocHost(&pinned, bytes));
    for (int i = 0; i < 10; i++) {
        CHECK(cudaMemcpy(x, pageable.data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpyAsync(pinned, x, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpyAsync(x + n / 2, x, bytes / 2, cudaMemcpyDeviceToDevice));
        CHECK(cudaMemsetAsync(x, 0, bytes));
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeHost(pinned));
    nvtxRangePop();
    puts("memcpy HtoD/pageable 10\nmemcpy HtoD/pinned 10\nmemcpy DtoH/pinned 10\nmemcpy DtoD 10\nmemset all 10");
}

static void graph(float *x)
{
    nvtxRangePushA("graph");
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++)
        touch<<<n / 128, 128, 128 * sizeof(float), stream>>>(x, n);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
    for (int i = 0; i < 5; i++)
        CHECK(cudaGraphLaunch(instance, stream));
    CHECK(cudaStreamSynchronize(stream));
    nvtxRangePop();
    puts("graph launches 5\ngraph_kernel touch 15");
}

static void managed(void)
{
    nvtxRangePushA("managed");
    float *x;
    CHECK(cudaMallocManaged(&x, bytes));
    for (int i = 0; i < n; i++)
        x[i] = 1;
    touch<<<n / 128, 128, 128 * sizeof(float)>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    nvtxRangePop();
    puts("kernel touch 1\nallocation managed 1");
}

static void errors(float *x)
{
    nvtxRangePushA("errors");
    for (int i = 0; i < 3; i++)
        touch<<<1, 4096>>>(x, n); /* too many threads in a block */
    while (cudaGetLastError() != cudaSuccess)
        ;
    void *none = nullptr;
    if (cudaMalloc(&none, ~size_t(0) / 2) == cudaSuccess)
        exit(1);
    cudaGetLastError();
    nvtxRangePop();
    puts("error launches 3\nerror allocations 1");
}

int main()
{
    float *x, *y;
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMalloc(&y, bytes));
    CHECK(cudaMemset(x, 0, bytes));
    puts("memset all 1");
    streams(x, y);
    copies(x);
    graph(x);
    managed();
    errors(x);
    std::thread other([=] {
        nvtxRangePushA("thread");
        spin<<<1, 1>>>(10);
        CHECK(cudaDeviceSynchronize());
        nvtxRangePop();
    });
    other.join();
    puts("kernel spin 1");
    float *pooled;
    CHECK(cudaMallocAsync(&pooled, bytes, 0));
    CHECK(cudaFreeAsync(pooled, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    puts("range all 6");
    return 0;
}
