/* play_nvtx.c - an application that uses NVTX, by NVIDIA's own headers where they are found. */
#include "tests/capture/play.h"

#if TPA_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

static void *end_range(void *argument)
{
    nvtxRangeEnd(*(nvtxRangeId_t *)argument);
    return NULL;
}

static nvtxEventAttributes_t attributes(const char *message)
{
    return (nvtxEventAttributes_t){ .version = NVTX_VERSION,
                                    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                    .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                    .message = { .ascii = message } };
}

void play_nvtx(FILE *expect)
{
    /* Nested, by name. */
    nvtxRangePushA("epoch");
    nvtxRangePushA("aten::mm, seq = 12");
    int depth = nvtxRangePushW(L"gr\u00f6\u00dfe \u2192 \U0001f600");
    fprintf(expect, "RETURNED depth=%d", depth);
    for (int i = 0; i < 4; i++)
        fprintf(expect, " pop=%d", nvtxRangePop());
    fputc('\n', expect);
    fputs("RANGE TYPE=1 NAME=\"gr\u00f6\u00dfe \u2192 \U0001f600\"\n", expect);
    fputs("RANGE TYPE=1 NAME=\"aten::mm, seq = \\01\" NUMBER=12\n", expect);
    fputs("RANGE TYPE=1 NAME=\"epoch\"\n", expect);

    /* With everything, in a domain, its name registered. */
    nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    nvtxEventAttributes_t full = attributes(NULL);
    full.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    full.message.registered = nvtxDomainRegisterStringA(domain, "ncclAllReduce");
    full.category = 7;
    nvtxDomainNameCategoryW(domain, 7, L"Collectives");
    nvtxNameCategoryA(7, "of the default domain");
    full.colorType = NVTX_COLOR_ARGB;
    full.color = 0xff76b900;
    full.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    full.payload.ullValue = 1u << 20;
    nvtxDomainRangePushEx(domain, &full);
    nvtxRangePushA("of the default domain, ends later");
    nvtxDomainRangePop(domain);
    nvtxRangePop();
    fputs("RANGE TYPE=1 DOMAIN=\"NCCL\" NAME=\"ncclAllReduce\" CATEGORY=7 COLOR=4285970688 PAYLOAD_TYPE=1 "
          "PAYLOAD=1048576 CATEGORY_NAME=\"Collectives\"\n",
          expect);
    fputs("RANGE TYPE=1 NAME=\"of the default domain, ends later\"\n", expect);

    /* Begun here, ended there. */
    nvtxEventAttributes_t batch = attributes("batch");
    batch.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    batch.payload.iValue = -3;
    batch.category = 3;
    nvtxNameCategoryA(3, "no more");
    nvtxNameCategoryA(3, "loader");
    nvtxRangeId_t first = nvtxRangeStartEx(&batch), second = nvtxRangeStartA("second");
    pthread_t thread;
    pthread_create(&thread, NULL, end_range, &first);
    pthread_join(thread, NULL);
    nvtxRangeEnd(second);
    fputs("RANGE TYPE=3 NAME=\"batch\" CATEGORY=3 PAYLOAD_TYPE=2 PAYLOAD=-3 CATEGORY_NAME=\"loader\"\n",
          expect);
    fputs("RANGE TYPE=3 NAME=\"second\"\n", expect);

    nvtxMarkA("here");
    nvtxEventAttributes_t loss = attributes("loss");
    loss.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    loss.payload.dValue = 0.5;
    nvtxDomainMarkEx(domain, &loss);
    fputs("MARKER TYPE=0 NAME=\"here\"\n", expect);
    fputs("MARKER TYPE=0 DOMAIN=\"NCCL\" NAME=\"loss\" PAYLOAD_TYPE=3 PAYLOAD=4602678819172646912\n", expect);
    nvtxRangePop(); /* one too many */
}

void play_push(const char *name)
{
    nvtxRangePushA(name);
}

void play_pop(void)
{
    nvtxRangePop();
}

#else

void play_nvtx(FILE *expect)
{
    (void)expect;
    fputs("play: NVTX's headers were not found\n", stderr);
}

void play_push(const char *name)
{
    (void)name;
    play_nvtx(NULL);
}

void play_pop(void) {}
#endif
