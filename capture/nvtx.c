#include "capture/parts.h"

#include "capture/tpa_capture.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* ---- NVTX's interface to tools ---- */

/*
 * Layout of nvtxEventAttributes_v2 and its predecessor:
 *
 *    0  2  version           16  4  type of the payload: enum payload_type
 *    2  2  size              20  4  reserved
 *    4  4  category          24  8  payload
 *    8  4  type of colour    32  4  type of the message: enum message_type
 *   12  4  colour, ARGB      40  8  message
 */
struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        const struct registered *registered;
    } message;
};
enum payload_type {
    PAYLOAD_NONE,
    PAYLOAD_U64,
    PAYLOAD_I64,
    PAYLOAD_F64,
    PAYLOAD_U32,
    PAYLOAD_I32,
    PAYLOAD_F32
};
enum message_type { MESSAGE_NONE, MESSAGE_ASCII, MESSAGE_WIDE, MESSAGE_REGISTERED };
enum { COLOR_ARGB = 1, PUSH_POP_DISABLED = -2 };

/* What NVTX passes to a tool: for each module a table of addresses of function pointers, by number. */
typedef void function(void);
typedef function **function_table[]; /* addresses of the pointers */
struct callbacks {
    size_t size;
    int (*get_module)(int module, function_table **table, unsigned *size);
};
enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };

/* ---- strings ---- */

/* The object returned by nvtxDomainRegisterString. Never freed: events may refer to it until the process ends. */
struct registered {
    struct registered *next;
    uint32_t len;
    char text[];
};
static _Atomic(struct registered *) all_registered;

/* Append CODE in UTF-8 at OUT + LEN, if there is room. Returns the new length. */
static size_t add_utf8(char *out, size_t len, size_t size, uint32_t code)
{
    if (code >= 0x110000 || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    size_t need = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (len + need > size)
        return len;
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = need; i-- > 1; code >>= 6)
        out[len + i] = (char)(0x80 | (code & 0x3f));
    out[len] = (char)(lead[need] | code);
    return len + need;
}

/* Convert WIDE to UTF-8. Returns the length. */
static size_t narrow(const wchar_t *wide, char *out, size_t size)
{
    size_t len = 0;
    for (; *wide && len + 4 <= size; wide++)
        len = add_utf8(out, len, size, (uint32_t)*wide);
    return len;
}

/* Cut to the longest text a ring accepts, between two characters. */
static size_t bounded(const char *text, size_t len)
{
    if (len <= HOST_LONGEST_TEXT)
        return len;
    len = HOST_LONGEST_TEXT;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return len;
}

/* ---- this thread's ring ---- */

static __thread struct host_ring *ring_of_thread;
static pthread_key_t ring_key;
static pthread_once_t ring_key_once = PTHREAD_ONCE_INIT;

static void thread_ends(void *argument)
{
    struct host_ring *ring = argument;
    ring_of_thread = NULL;
    for (size_t i = 0; i < HOST_MOST_DOMAINS; i++)
        if (ring->trigger[i])
            control_range_left(guest_control());
    atomic_store(&ring->orphan, true);
    guest_hurry(); /* the next thread may need its place */
}

static pthread_mutex_t domain_lock = PTHREAD_MUTEX_INITIALIZER;

/* In a forked child: forget this thread's ring, which is the parent's. */
static void forget_thread(void)
{
    pthread_mutex_init(&domain_lock, NULL); /* a thread of the parent may have held it */
    if (ring_of_thread)
        pthread_setspecific(ring_key, NULL);
    ring_of_thread = NULL;
}

static void make_ring_key(void)
{
    pthread_atfork(NULL, NULL, forget_thread);
    pthread_key_create(&ring_key, thread_ends);
}

static struct host_ring *get_ring(void)
{
    if (ring_of_thread)
        return ring_of_thread;
    pthread_once(&ring_key_once, make_ring_key);
    ring_of_thread = guest_open_ring();
    if (ring_of_thread)
        pthread_setspecific(ring_key, ring_of_thread);
    else
        guest_count_drop();
    return ring_of_thread;
}

/* ---- domains ---- */

static struct host_domain default_domain = { .index = 0 };
static struct host_domain *domains; /* except the default one */
static uint16_t domain_count = 1;

static struct host_domain *find_or_add_domain(const char *name)
{
    struct host_domain *domain = domains;
    while (domain && strcmp(domain->name, name) != 0)
        domain = domain->next;
    if (domain)
        return domain;
    size_t len = strlen(name);
    domain = calloc(1, sizeof *domain + len + 1);
    if (!domain)
        return NULL;
    /* The depths of all domains beyond the last are counted together; no program has that many. */
    domain->index = domain_count < HOST_MOST_DOMAINS - 1 ? domain_count++ : HOST_MOST_DOMAINS - 1;
    memcpy(domain->name, name, len + 1);
    domain->next = domains;
    domains = domain;
    return domain;
}

static struct host_domain *create_domain_a(const char *name)
{
    if (!name)
        return NULL;
    pthread_mutex_lock(&domain_lock);
    struct host_domain *domain = find_or_add_domain(name);
    pthread_mutex_unlock(&domain_lock);
    return domain;
}

static struct host_domain *create_domain_w(const wchar_t *name)
{
    char text[1024];
    if (!name)
        return NULL;
    text[narrow(name, text, sizeof text - 1)] = '\0';
    return create_domain_a(text);
}

/* ---- categories ---- */

/* The name of a category is the last one given; setting the same name again costs nothing. */
static void name_category(struct host_domain *domain, uint32_t category, const char *name)
{
    domain = domain ? domain : &default_domain;
    const struct host_category *known = atomic_load(&domain->categories);
    while (known && known->category != category)
        known = known->next;
    size_t len = name ? strlen(name) : 0;
    if (len == 0 || (known && strcmp(known->name, name) == 0) ||
        atomic_fetch_add(&domain->category_count, 1) >= HOST_MOST_CATEGORIES)
        return;
    struct host_category *named = malloc(sizeof *named + len + 1);
    if (!named)
        return;
    named->category = category;
    memcpy(named->name, name, len + 1);
    named->next = atomic_load(&domain->categories);
    while (!atomic_compare_exchange_weak(&domain->categories, &named->next, named))
        ;
}

static void name_category_wide(struct host_domain *domain, uint32_t category, const wchar_t *name)
{
    char text[1024];
    text[name ? narrow(name, text, sizeof text - 1) : 0] = '\0';
    name_category(domain, category, text);
}

static const struct host_domain *domain_or_default(const struct host_domain *domain)
{
    return domain ? domain : &default_domain;
}

/* ---- events ---- */

/* An event's name, and a buffer for names that must be converted. */
struct message {
    const char *text;
    size_t len;
};

static struct message message_of(const struct attributes *attributes, char *scratch, size_t size)
{
    if (!attributes || !attributes->message.ascii)
        return (struct message){ "", 0 };
    switch (attributes->message_type) {
    case MESSAGE_ASCII: {
        const char *text = attributes->message.ascii;
        return (struct message){ text, bounded(text, strlen(text)) };
    }
    case MESSAGE_WIDE: return (struct message){ scratch, narrow(attributes->message.wide, scratch, size) };
    case MESSAGE_REGISTERED: {
        const struct registered *registered = attributes->message.registered;
        return (struct message){ registered->text, bounded(registered->text, registered->len) };
    }
    default: return (struct message){ "", 0 };
    }
}

static void fill_payload(struct host_event *event, const struct attributes *attributes)
{
    double number;
    switch (attributes->payload_type) {
    case PAYLOAD_U64:
        event->payload_type = TPAFILE_PAYLOAD_UNSIGNED, event->payload = attributes->payload.u64;
        return;
    case PAYLOAD_U32:
        event->payload_type = TPAFILE_PAYLOAD_UNSIGNED, event->payload = attributes->payload.u32;
        return;
    case PAYLOAD_I64:
        event->payload_type = TPAFILE_PAYLOAD_SIGNED, event->payload = attributes->payload.u64;
        return;
    case PAYLOAD_I32:
        event->payload_type = TPAFILE_PAYLOAD_SIGNED;
        event->payload = (uint64_t)(int64_t)attributes->payload.i32;
        return;
    case PAYLOAD_F64: number = attributes->payload.f64; break;
    case PAYLOAD_F32: number = (double)attributes->payload.f32; break;
    default: return;
    }
    event->payload_type = TPAFILE_PAYLOAD_DOUBLE;
    memcpy(&event->payload, &number, sizeof number);
}

/* Write an event to the ring. ATTRIBUTES may be NULL. */
static void publish(struct host_ring *ring, enum host_event_kind kind, const struct host_domain *domain,
                    uint64_t id, unsigned depth, const struct attributes *attributes, struct message message)
{
    int64_t now = clock_now_ns();
    struct host_event *event = host_ring_reserve(ring, message.len);
    bool wake = false;
    if (!event)
        return;
    event->kind = (uint8_t)kind;
    event->depth = (uint16_t)depth;
    event->time_ns = now;
    event->id = id;
    event->domain = domain;
    if (attributes) {
        event->category = attributes->category;
        event->has_color = attributes->color_type == COLOR_ARGB;
        event->color = attributes->color;
        fill_payload(event, attributes);
    }
    if (message.len)
        memcpy(event->text, message.text, message.len);
    host_ring_publish(ring, event, &wake);
    if (wake)
        guest_hurry();
}

static bool is_recording(void)
{
    return atomic_load_explicit(&guest_control()->recording, memory_order_relaxed);
}

static bool wants_nvtx(void)
{
    return guest_control()->settings->kinds & CAPTURE_NVTX;
}

/* NULL attributes: a message alone. */
static int nvtx_own_push(const struct host_domain *domain, const struct attributes *attributes,
                         struct message message)
{
    struct host_ring *ring = guest_is_running() ? get_ring() : NULL;
    if (!ring)
        return PUSH_POP_DISABLED;
    domain = domain_or_default(domain);
    unsigned index = domain->index, depth = ring->depth[index];
    if (depth == UINT16_MAX - 1) /* practically endless: the program never pops */
        return PUSH_POP_DISABLED;
    ring->depth[index]++;
    if (ring->trigger[index] == 0 &&
        control_is_range(guest_control(), message.text, message.len, domain->name) &&
        control_range_entered(guest_control()))
        ring->trigger[index] = (uint16_t)(depth + 1);
    if (is_recording() && wants_nvtx())
        publish(ring, HOST_PUSH, domain, 0, depth, attributes, message);
    return (int)depth;
}

static int pop(const struct host_domain *domain)
{
    struct host_ring *ring = guest_is_running() ? ring_of_thread : NULL;
    if (!ring)
        return PUSH_POP_DISABLED;
    domain = domain_or_default(domain);
    unsigned index = domain->index;
    if (ring->depth[index] == 0)
        return PUSH_POP_DISABLED;
    unsigned depth = --ring->depth[index];
    if (is_recording() && wants_nvtx())
        publish(ring, HOST_POP, domain, 0, depth, NULL, (struct message){ "", 0 });
    if (ring->trigger[index] == depth + 1) {
        ring->trigger[index] = 0;
        control_range_left(guest_control());
    }
    return (int)depth;
}

/* Ids of ranges that start and end anywhere; the top bit marks those of --range. */
#define ID_TRIGGER (UINT64_C(1) << 63)
static _Atomic uint64_t last_range_id;

static uint64_t start_range(const struct host_domain *domain, const struct attributes *attributes,
                            struct message message)
{
    uint64_t id = atomic_fetch_add(&last_range_id, 1) + 1;
    struct host_ring *ring = guest_is_running() ? get_ring() : NULL;
    if (!ring)
        return id;
    domain = domain_or_default(domain);
    if (control_is_range(guest_control(), message.text, message.len, domain->name) &&
        control_range_entered(guest_control()))
        id |= ID_TRIGGER;
    if (is_recording() && wants_nvtx())
        publish(ring, HOST_OPEN, domain, id, 0, attributes, message);
    return id;
}

static void nvtx_end_range(uint64_t id)
{
    struct host_ring *ring = guest_is_running() ? get_ring() : NULL;
    if (!ring)
        return;
    if (is_recording() && wants_nvtx())
        publish(ring, HOST_CLOSE, NULL, id, 0, NULL, (struct message){ "", 0 });
    if (id & ID_TRIGGER)
        control_range_left(guest_control());
}

static void mark(const struct host_domain *domain, const struct attributes *attributes,
                 struct message message)
{
    struct host_ring *ring = guest_is_running() && is_recording() && wants_nvtx() ? get_ring() : NULL;
    if (ring)
        publish(ring, HOST_MARK, domain_or_default(domain), 0, 0, attributes, message);
}

static struct message ascii(const char *text)
{
    return (struct message){ text ? text : "", text ? bounded(text, strlen(text)) : 0 };
}

/* ---- the functions that NVTX calls instead of its own ---- */

enum { SCRATCH = 4096 }; /* bytes for a wide message (rare) */

/* A child made by fork begins a new recording with its first range. */
static void begin(void)
{
    int saved = errno;
    guest_start();
    errno = saved;
}

static void domain_mark_ex(const struct host_domain *domain, const struct attributes *attributes)
{
    char scratch[SCRATCH];
    begin();
    mark(domain, attributes, message_of(attributes, scratch, sizeof scratch));
}

static uint64_t domain_start_ex(const struct host_domain *domain, const struct attributes *attributes)
{
    char scratch[SCRATCH];
    begin();
    return start_range(domain, attributes, message_of(attributes, scratch, sizeof scratch));
}

static void domain_end(const struct host_domain *domain, uint64_t id)
{
    (void)domain;
    nvtx_end_range(id);
}

static int domain_push_ex(const struct host_domain *domain, const struct attributes *attributes)
{
    char scratch[SCRATCH];
    begin();
    return nvtx_own_push(domain, attributes, message_of(attributes, scratch, sizeof scratch));
}

static void mark_ex(const struct attributes *attributes)
{
    domain_mark_ex(NULL, attributes);
}

static void mark_a(const char *text)
{
    begin();
    mark(NULL, NULL, ascii(text));
}

static void mark_w(const wchar_t *text)
{
    domain_mark_ex(NULL, &(struct attributes){ .message_type = MESSAGE_WIDE, .message.wide = text });
}

static uint64_t start_ex(const struct attributes *attributes)
{
    return domain_start_ex(NULL, attributes);
}

static uint64_t start_a(const char *text)
{
    begin();
    return start_range(NULL, NULL, ascii(text));
}

static uint64_t start_w(const wchar_t *text)
{
    return domain_start_ex(NULL, &(struct attributes){ .message_type = MESSAGE_WIDE, .message.wide = text });
}

static int push_ex(const struct attributes *attributes)
{
    return domain_push_ex(NULL, attributes);
}

static int push_a(const char *text)
{
    begin();
    return nvtx_own_push(NULL, NULL, ascii(text));
}

static int push_w(const wchar_t *text)
{
    return domain_push_ex(NULL, &(struct attributes){ .message_type = MESSAGE_WIDE, .message.wide = text });
}

static int pop_default(void)
{
    return pop(NULL);
}

static void name_thread_a(uint32_t tid, const char *name)
{
    begin();
    struct host_ring *ring = guest_is_running() && wants_nvtx() ? get_ring() : NULL;
    if (ring)
        publish(ring, HOST_NAME_THREAD, &default_domain, tid, 0, NULL, ascii(name));
}

static void name_thread_w(uint32_t tid, const wchar_t *name)
{
    char text[256];
    text[name ? narrow(name, text, sizeof text - 1) : 0] = '\0';
    name_thread_a(tid, text);
}

static void name_category_a(uint32_t category, const char *name)
{
    name_category(NULL, category, name);
}

static void name_category_w(uint32_t category, const wchar_t *name)
{
    name_category_wide(NULL, category, name);
}

static const struct registered *register_a(const struct host_domain *domain, const char *text)
{
    (void)domain;
    size_t len = text ? strlen(text) : 0;
    struct registered *registered = malloc(sizeof *registered + len);
    if (!registered)
        return NULL;
    registered->len = (uint32_t)len;
    if (len)
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): its length is kept */
        memcpy(registered->text, text, len);
    registered->next = atomic_load(&all_registered);
    while (!atomic_compare_exchange_weak(&all_registered, &registered->next, registered))
        ;
    return registered;
}

static const struct registered *register_w(const struct host_domain *domain, const wchar_t *wide)
{
    char text[SCRATCH];
    text[wide ? narrow(wide, text, sizeof text - 1) : 0] = '\0';
    return register_a(domain, text);
}

/* Function numbers of NVTX; NVTX skips functions not set here (names of resources, streams). */
static const struct {
    int module;
    unsigned number;
    function *ours;
} attached[] = {
    { MODULE_CORE, 1, (function *)mark_ex },
    { MODULE_CORE, 2, (function *)mark_a },
    { MODULE_CORE, 3, (function *)mark_w },
    { MODULE_CORE, 4, (function *)start_ex },
    { MODULE_CORE, 5, (function *)start_a },
    { MODULE_CORE, 6, (function *)start_w },
    { MODULE_CORE, 7, (function *)nvtx_end_range },
    { MODULE_CORE, 8, (function *)push_ex },
    { MODULE_CORE, 9, (function *)push_a },
    { MODULE_CORE, 10, (function *)push_w },
    { MODULE_CORE, 11, (function *)pop_default },
    { MODULE_CORE, 12, (function *)name_category_a },
    { MODULE_CORE, 13, (function *)name_category_w },
    { MODULE_CORE, 14, (function *)name_thread_a },
    { MODULE_CORE, 15, (function *)name_thread_w },
    { MODULE_CORE2, 1, (function *)domain_mark_ex },
    { MODULE_CORE2, 2, (function *)domain_start_ex },
    { MODULE_CORE2, 3, (function *)domain_end },
    { MODULE_CORE2, 4, (function *)domain_push_ex },
    { MODULE_CORE2, 5, (function *)pop },
    { MODULE_CORE2, 8, (function *)name_category },
    { MODULE_CORE2, 9, (function *)name_category_wide },
    { MODULE_CORE2, 10, (function *)register_a },
    { MODULE_CORE2, 11, (function *)register_w },
    { MODULE_CORE2, 12, (function *)create_domain_a },
    { MODULE_CORE2, 13, (function *)create_domain_w },
};

bool nvtx_attach(nvtx_get_export_table *get_export_table)
{
    pthread_once(&ring_key_once, make_ring_key);
    const struct callbacks *callbacks = get_export_table ? get_export_table(TABLE_CALLBACKS) : NULL;
    if (!callbacks || callbacks->size < sizeof *callbacks || !callbacks->get_module)
        return false;
    bool any = false;
    for (size_t i = 0; i < sizeof attached / sizeof *attached; i++) {
        function_table *table = NULL;
        unsigned size = 0;
        if (!callbacks->get_module(attached[i].module, &table, &size) || !table || attached[i].number >= size)
            continue;
        function **place = (*table)[attached[i].number];
        if (place) {
            *place = attached[i].ours;
            any = true;
        }
    }
    return any;
}

/* ---- for tpa_capture.h ---- */

int nvtx_push(const char *name)
{
    int depth = nvtx_own_push(NULL, NULL, ascii(name));
    return depth < 0 ? TPA_CAPTURE_OFF : depth;
}

int nvtx_pop(void)
{
    int depth = pop(NULL);
    return depth >= 0 ? depth : ring_of_thread ? TPA_CAPTURE_INVALID : TPA_CAPTURE_OFF;
}

int nvtx_step(void)
{
    int64_t step = control_step(guest_control());
    struct host_ring *ring = is_recording() ? get_ring() : NULL;
    if (ring)
        publish(ring, HOST_STEP, &default_domain, (uint64_t)step, 0, NULL, (struct message){ "", 0 });
    return (int)(step & INT32_MAX);
}
