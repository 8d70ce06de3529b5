/* HTTP for chiliad serve, by libmicrohttpd. docs/formats/serve.md has the addresses and answers.
 *
 * A request passes four gates, in this order: its method; its Host, which has to be this host's own
 * name with our port, so that a page of another site cannot reach us by a name of its own that
 * leads here; its Origin and Sec-Fetch-Site, if it has them, which have to be ours; and for all but
 * the page itself the token, as a header that no other site's page can send. Nothing of a request
 * is a path of a file.
 *
 * Answers are whole before they are sent, and shared by those who ask for the same, so a client
 * that reads slowly holds a connection and nothing else. Connections are few hundred and end after
 * half a minute of silence.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cmd/serve.h"

enum { THREADS = 4, CONNECTIONS = 512, SILENCE = 30, REQUEST_MEMORY = 32768, NUMBER_TEXT = 24 };

struct request {
    struct serve *serve;
    struct MHD_Connection *connection;
    const char *method, *url;
};

/* --- Answers --------------------------------------------------------------------------------- */

static const char plain[] = "text/plain; charset=utf-8", json_text[] = "application/json",
                  binary[] = "application/octet-stream";

static enum MHD_Result send_response(const struct request *q, unsigned status, const char *type,
                                     struct MHD_Response *response)
{
    static const char *const headers[][2] = {
        {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Content-Security-Policy", "frame-ancestors 'none'"},
    };
    if (!response) return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        (void)MHD_add_response_header(response, headers[i][0], headers[i][1]);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (status == MHD_HTTP_UNAUTHORIZED)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
    enum MHD_Result result = MHD_queue_response(q->connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* A line that lasts for ever. */
static enum MHD_Result answer_text(const struct request *q, unsigned status, const char *line)
{
    return send_response(
        q, status, plain,
        MHD_create_response_from_buffer(strlen(line), (void *)line, MHD_RESPMEM_PERSISTENT));
}

/* The reference is taken. */
static enum MHD_Result answer_bytes(const struct request *q, const char *type,
                                    struct serve_bytes *bytes)
{
    if (!bytes) return answer_text(q, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
    return send_response(q, MHD_HTTP_OK, type,
                         MHD_create_response_from_buffer_with_free_callback_cls(
                             bytes->size, bytes->data, serve_bytes_drop, bytes));
}

static enum MHD_Result answer_json(const struct request *q, json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    struct serve_bytes *bytes = text ? serve_bytes_new(text, strlen(text)) : NULL;
    json_decref(json);
    free(text);
    return answer_bytes(q, json_text, bytes);
}

/* --- The gates ------------------------------------------------------------------------------- */

static const char *header(const struct request *q, const char *name)
{
    return MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, name);
}

/* "localhost:8080", with any case and a dot behind the name. */
static bool is_own_host(const struct request *q, const char *host)
{
    static const char *const names[] = {"localhost", "localhost.", "127.0.0.1", "[::1]"};
    char wanted[NUMBER_TEXT + 16];
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        (void)snprintf(wanted, sizeof wanted, "%s:%u", names[i], q->serve->port);
        if (strcasecmp(host, wanted) == 0) return true;
    }
    return false;
}

static bool is_own_origin(const struct request *q)
{
    static const char scheme[] = "http://";
    const char *origin = header(q, MHD_HTTP_HEADER_ORIGIN), *site = header(q, "Sec-Fetch-Site"),
               *host = header(q, MHD_HTTP_HEADER_HOST);
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0) return false;
    if (!origin) return true;
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcasecmp(origin + sizeof scheme - 1, host) == 0;
}

/* In a time that does not depend on where the first difference is. */
static bool has_token(const struct request *q)
{
    static const char bearer[] = "Bearer ";
    const char *word = header(q, MHD_HTTP_HEADER_AUTHORIZATION);
    unsigned differs = 0;
    if (!word || strncmp(word, bearer, sizeof bearer - 1) != 0) return false;
    word += sizeof bearer - 1;
    if (strlen(word) != SERVE_TOKEN - 1) return false;
    for (size_t i = 0; i < SERVE_TOKEN - 1; i++)
        differs |= (unsigned char)word[i] ^ (unsigned char)q->serve->token[i];
    return !differs;
}

/* --- What can be asked for ------------------------------------------------------------------- */

static const char *word_of(const struct request *q, const char *name)
{
    return MHD_lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

static bool number_of(const struct request *q, const char *name, uint64_t *number)
{
    const char *text = word_of(q, name);
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return !*end && !errno;
}

static enum MHD_Result get_page(const struct request *q)
{
    return send_response(q, MHD_HTTP_OK, "text/html; charset=utf-8",
                         MHD_create_response_from_buffer(q->serve->page_size, q->serve->page,
                                                         MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result get_list(const struct request *q)
{
    return answer_json(q, json_pack("{s:s,s:i,s:s,s:o,s:b,s:b}", "format", "chiliad-serve",
                                    "version", 1, "program", "chiliad " CHILIAD_VERSION, "results",
                                    serve_results_list(q->serve->results), "live",
                                    q->serve->live != NULL, "records",
                                    q->serve->live && q->serve->live->records));
}

static enum MHD_Result get_result(const struct request *q)
{
    uint64_t id;
    bool known = false;
    struct serve_bytes *bytes = NULL;
    if (number_of(q, "id", &id) && id <= INT32_MAX)
        bytes = serve_results_get(q->serve->results, (unsigned)id, &known);
    if (!known) return answer_text(q, MHD_HTTP_NOT_FOUND, "there is no result of that number\n");
    if (!bytes)
        return answer_text(q, 422,
                           "this file cannot be shown; the terminal of chiliad serve says why\n");
    return answer_bytes(q, binary, bytes);
}

/* "metric" is a number, or left out; "by" is "call", "thread", or left out. */
static enum MHD_Result get_sums(const struct request *q)
{
    uint64_t id, metric;
    bool known = false, good = false;
    const char *by = word_of(q, "by");
    struct serve_wanted wanted = {.metric = -1,
                                  .own = word_of(q, "own") != NULL,
                                  .by_thread = by && strcmp(by, "thread") == 0,
                                  .calls = word_of(q, "calls"),
                                  .threads = word_of(q, "threads")};
    struct serve_bytes *bytes = NULL;
    if (by && !wanted.by_thread && strcmp(by, "call") != 0)
        return answer_text(q, MHD_HTTP_BAD_REQUEST, "sums are by call or by thread\n");
    if (word_of(q, "metric"))
        wanted.metric =
            number_of(q, "metric", &metric) && metric < INT32_MAX ? (int)metric : INT32_MAX;
    if (number_of(q, "id", &id) && id <= INT32_MAX)
        bytes = serve_results_sums(q->serve->results, (unsigned)id, &wanted, &known, &good);
    if (!known) return answer_text(q, MHD_HTTP_NOT_FOUND, "there is no such experiment to ask\n");
    if (!good)
        return answer_text(q, MHD_HTTP_BAD_REQUEST, "there is no such metric or selection\n");
    return answer_bytes(q, binary, bytes);
}

/* {"state", "sequence", "experiment", "clock_hz", "result"}; nothing when `since` is the newest. */
static enum MHD_Result get_live(const struct request *q)
{
    static const char *const states[] = {"running", "paused", "ended"};
    struct serve_live *live = q->serve->live;
    uint64_t since = UINT64_MAX;
    char head[200];
    if (!live) return answer_text(q, MHD_HTTP_NOT_FOUND, "no program runs here\n");
    (void)number_of(q, "since", &since);
    (void)pthread_mutex_lock(&live->lock);
    bool news = live->sequence != since;
    struct serve_bytes *counts = news ? serve_bytes_keep(live->snapshot) : NULL;
    int length =
        snprintf(head, sizeof head,
                 "{\"state\":\"%s\",\"sequence\":%llu,\"experiment\":%llu,"
                 "\"clock_hz\":%llu,\"result\":",
                 states[live->state], (unsigned long long)live->sequence,
                 (unsigned long long)live->experiment_sequence, (unsigned long long)live->clock_hz);
    (void)pthread_mutex_unlock(&live->lock);
    if (!news) return answer_text(q, MHD_HTTP_NO_CONTENT, "");
    const char *result = counts ? counts->data : "null";
    size_t size = (size_t)length + strlen(result) + 1;
    char *text = malloc(size + 1);
    struct serve_bytes *bytes = NULL;
    if (text) {
        (void)snprintf(text, size + 1, "%s%s}", head, result);
        bytes = serve_bytes_new(text, size);
    }
    free(text);
    serve_bytes_drop(counts);
    return answer_bytes(q, json_text, bytes);
}

/* The newest counts of call paths; asking makes newer ones. */
static enum MHD_Result get_experiment(const struct request *q)
{
    struct serve_live *live = q->serve->live;
    if (!live || !live->records)
        return answer_text(q, MHD_HTTP_NOT_FOUND, "no call paths are counted here\n");
    (void)pthread_mutex_lock(&live->lock);
    struct serve_bytes *bytes = serve_bytes_keep(live->experiment);
    if (live->state != SERVE_ENDED) live->wants_paths = true;
    (void)pthread_cond_broadcast(&live->changed);
    (void)pthread_mutex_unlock(&live->lock);
    return bytes ? answer_bytes(q, binary, bytes) : answer_text(q, MHD_HTTP_NO_CONTENT, "");
}

static enum MHD_Result post_run(const struct request *q)
{
    const char *what = word_of(q, "do");
    uint64_t cycles = 0;
    (void)number_of(q, "cycles", &cycles);
    if (!q->serve->live) return answer_text(q, MHD_HTTP_NOT_FOUND, "no program runs here\n");
    if (!what || !serve_live_do(q->serve->live, what, cycles))
        return answer_text(q, MHD_HTTP_CONFLICT, "the program cannot do that now\n");
    return answer_text(q, MHD_HTTP_OK, "");
}

static enum MHD_Result get_metrics(const struct request *q)
{
    const char *accept = header(q, MHD_HTTP_HEADER_ACCEPT);
    bool open = accept && strstr(accept, "application/openmetrics-text");
    return answer_bytes(q,
                        open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                             : "text/plain; version=0.0.4; charset=utf-8",
                        serve_metrics(q->serve, open));
}

static const struct route {
    const char *url;
    enum MHD_Result (*answer)(const struct request *q);
    bool post, free; /* free: without the token */
} routes[] = {
    {"/", get_page, .free = true},
    {"/api/list", get_list, .free = false},
    {"/api/result", get_result, .free = false},
    {"/api/sums", get_sums, .free = false},
    {"/api/live", get_live, .free = false},
    {"/api/live/experiment", get_experiment, .free = false},
    {"/api/run", post_run, .post = true},
    {"/metrics", get_metrics, .free = false},
};

static enum MHD_Result answer(const struct request *q)
{
    bool post = strcmp(q->method, MHD_HTTP_METHOD_POST) == 0;
    if (!post && strcmp(q->method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(q->method, MHD_HTTP_METHOD_HEAD) != 0)
        return answer_text(q, MHD_HTTP_METHOD_NOT_ALLOWED, "GET, HEAD or POST\n");
    if (!is_own_host(q, header(q, MHD_HTTP_HEADER_HOST)))
        return answer_text(q, MHD_HTTP_MISDIRECTED_REQUEST, "this is not the host's own name\n");
    if (!is_own_origin(q))
        return answer_text(q, MHD_HTTP_FORBIDDEN, "pages of other origins get nothing here\n");
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const struct route *r = &routes[i];
        if (strcmp(q->url, r->url) != 0) continue;
        bool open = r->free || (r->answer == get_metrics && q->serve->open_metrics);
        if (!open && !has_token(q))
            return answer_text(q, MHD_HTTP_UNAUTHORIZED, "the token is missing or wrong\n");
        if (post != r->post) return answer_text(q, MHD_HTTP_METHOD_NOT_ALLOWED, "another method\n");
        return r->answer(q);
    }
    return answer_text(q, MHD_HTTP_NOT_FOUND, "there is nothing at this address\n");
}

/* Called first for the headers, then for each part of a body, which nothing here wants. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *body,
                              size_t *body_size, void **seen)
{
    static const char mark = 0;
    (void)version;
    (void)body;
    if (!*seen) {
        *seen = (void *)&mark;
        return MHD_YES;
    }
    if (*body_size) {
        *body_size = 0;
        return MHD_YES;
    }
    return answer(&(struct request){context, connection, method, url});
}

/* --- The server ------------------------------------------------------------------------------ */

static int make_token(char token[SERVE_TOKEN])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[(SERVE_TOKEN - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) /* allowed: a secret */
        return cmd_fail("serve", "the host has no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = digits[bytes[i] >> 4];
        token[2 * i + 1] = digits[bytes[i] & 15];
    }
    return 0;
}

/* The template with what is served in the place of data, and a policy that lets it ask us. */
static int make_page(struct serve *serve)
{
    static const char marker[] = "@CHILIAD_DATA@", none[] = "connect-src 'none'",
                      self[] = "connect-src 'self'";
    struct chil_error err = {0};
    char *text = NULL, *at;
    if (view_page_template(&text, &err)) return cmd_fail_error("serve", &err);
    _Static_assert(sizeof none == sizeof self, "one is written over the other");
    serve->page = text;
    if ((at = strstr(text, none))) memcpy(at, self, sizeof self - 1);
    char *data = at ? strstr(text, marker) : NULL;
    if (!data) return cmd_fail("serve", "the page's template is damaged; run 'make' again");
    memset(data, ' ', sizeof marker - 1);
    memcpy(data, "served", strlen("served"));
    serve->page_size = strlen(text);
    return 0;
}

int serve_start(struct serve *serve)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)serve->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int status = make_page(serve);
    if (!status) status = make_token(serve->token);
    if (status) return status;
    errno = 0;
    serve->daemon = MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handle, serve,
        MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SILENCE, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (!serve->daemon)
        return cmd_fail("serve", "cannot listen on port %u of 127.0.0.1: %s", serve->port,
                        errno ? strerror(errno) : "it is taken");
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(serve->daemon, MHD_DAEMON_INFO_BIND_PORT);
    if (info) serve->port = info->port;
    return 0;
}

void serve_stop(struct serve *serve)
{
    if (serve->daemon) MHD_stop_daemon(serve->daemon);
    free(serve->page);
}
