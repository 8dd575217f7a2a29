/* SPDX-License-Identifier: BSD-3-Clause */
/* ctran_store: runs a server of the job's key-value service, or asks one. See ctran_store(1). */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <config.h>

#include "pmi/store/store.h"

enum { MAX_SERVERS = CT_STORE_SERVERS_MAX, DEFAULT_TIMEOUT_MS = 10000 };
enum { OK, FAILED, USAGE };

struct tool {
    struct ct_log          log;
    struct ct_loop         loop;
    struct ct_auth_key     key;
    struct ct_store       *store;
    struct ct_addr         servers[MAX_SERVERS];
    uint32_t               nservers;
    const char            *key_file, *listen;
    struct ct_store_limits limits;
    uint32_t               timeout_ms;
};

static const char usage_text[] =
    "usage: ctran_store key\n"
    "       ctran_store --key-file FILE [--listen ADDRESS:PORT] [--memory MIB]\n"
    "                   [--connections N] serve\n"
    "       ctran_store --key-file FILE --server ADDRESS:PORT[,...] [--timeout SECONDS] COMMAND\n"
    "\n"
    "commands:\n"
    "  set KEY VALUE           get KEY             wait KEY        watch KEY\n"
    "  add KEY NUMBER          cas KEY OLD NEW     check KEY       delete KEY\n"
    "  list [PREFIX]           dump [PREFIX]       waits [PREFIX]  barrier KEY NUMBER\n";

static int usage(const char *why)
{
    fprintf(stderr, "ctran_store: %s\n%s", why, usage_text);
    return USAGE;
}

static int make_key(void)
{
    struct ct_auth_key key;
    char               hex[CT_AUTH_HEX_SIZE];
    if (ct_auth_key_make(&key) != CTRAN_SUCCESS) {
        fputs("ctran_store: cannot make a key: this build is without libsodium\n", stderr);
        return FAILED;
    }
    ct_auth_key_to_hex(&key, hex);
    puts(hex);
    ct_auth_wipe(&key, sizeof key);
    ct_auth_wipe(hex, sizeof hex);
    return OK;
}

static int read_key(struct tool *t)
{
    char  hex[CT_AUTH_HEX_SIZE + 1] = "";
    FILE *f = t->key_file != NULL ? fopen(t->key_file, "r") : NULL;
    if (f == NULL || fgets(hex, sizeof hex, f) == NULL) {
        fprintf(stderr, "ctran_store: cannot read the key file %s\n",
                t->key_file != NULL ? t->key_file : "(give one with --key-file)");
        if (f != NULL) {
            (void)fclose(f);
        }
        return FAILED;
    }
    (void)fclose(f);
    hex[strcspn(hex, "\n")] = '\0';
    int rc = ct_auth_key_from_hex(&t->key, hex);
    ct_auth_wipe(hex, sizeof hex);
    if (rc != CTRAN_SUCCESS) {
        fprintf(stderr, "ctran_store: %s does not hold a key: 64 hexadecimal digits in a line\n",
                t->key_file);
        return FAILED;
    }
    return OK;
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    (void)event_base_loopbreak(arg);
}

static int serve(struct tool *t)
{
    struct ct_store_server *server;
    struct ct_store_stats   stats;
    struct ct_addr          addr;
    char                    text[64];
    struct event            stop[2];
    static const int        signals[2] = {SIGINT, SIGTERM};
    if (ct_addr_parse(&addr, t->listen) != CTRAN_SUCCESS) {
        return usage("--listen wants ADDRESS:PORT, as in 127.0.0.1:0");
    }
    if (ct_store_server_open(&server, &t->loop, &addr, &t->key, &t->limits) != CTRAN_SUCCESS) {
        return FAILED;
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(stop); i++) {
        (void)evsignal_assign(&stop[i], t->loop.base, signals[i], on_signal, t->loop.base);
        (void)event_add(&stop[i], NULL);
    }
    ct_addr_format(&addr, text, sizeof text);
    printf("%s\n", text);
    (void)fflush(stdout);
    (void)event_base_dispatch(t->loop.base);
    ct_store_server_stats(server, &stats);
    printf("requests %llu, keys %llu, memory %llu, refused %llu, dropped %llu\n",
           (unsigned long long)stats.requests, (unsigned long long)stats.keys,
           (unsigned long long)stats.memory, (unsigned long long)stats.refused,
           (unsigned long long)stats.dropped);
    for (size_t i = 0; i < CT_ARRAY_LEN(stop); i++) {
        (void)event_del(&stop[i]);
    }
    ct_store_server_close(server);
    return OK;
}

static void print_value(const struct ct_store_reply *r)
{
    (void)fwrite(r->value.at, 1, r->value.len, stdout);
    (void)fputc('\n', stdout);
}

static int complain(const struct ct_store_request *req, int status)
{
    fprintf(stderr, "ctran_store: %.*s: %s\n", (int)req->key.len, (const char *)req->key.at,
            ct_error_text(status));
    return FAILED;
}

/* Of all servers; one that does not answer keeps nobody from seeing the others. */
static int list(struct tool *t, const char *prefix, enum ct_store_show what)
{
    int status = OK;
    for (uint32_t i = 0; i < t->nservers; i++) {
        int rc = ct_store_show(t->store, i, prefix, what, t->timeout_ms, stdout);
        if (rc != CTRAN_SUCCESS) {
            char text[CT_WIRE_ADDR_SIZE];
            ct_addr_format(&t->servers[i], text, sizeof text);
            fprintf(stderr, "ctran_store: %s: %s\n", text, ct_error_text(rc));
            status = FAILED;
        }
    }
    return status;
}

/* Prints each new value until the time is over. */
static int watch(struct tool *t, struct ct_store_request *req)
{
    for (;;) {
        struct ct_store_reply reply;
        void                 *memory;
        int                   rc = ct_store_call(t->store, req, &reply, &memory);
        if (rc != CTRAN_SUCCESS) {
            return rc == CTRAN_ERR_TIMEOUT ? OK : complain(req, rc);
        }
        if (reply.found) {
            print_value(&reply);
            (void)fflush(stdout);
        }
        free(memory);
        req->number = reply.number;
    }
}

/* The commands that are one request: their words after the key, and what is printed. */
static const struct {
    const char *name;
    uint8_t     op;
    int         words;
    char        prints; /* v: the value, n: the number, -: nothing */
} commands[] = {
    {"set", CT_STORE_SET, 1, '-'},         {"get", CT_STORE_GET, 0, 'v'},
    {"wait", CT_STORE_WAIT, 0, 'v'},       {"add", CT_STORE_ADD, 1, 'n'},
    {"cas", CT_STORE_CAS, 2, '-'},         {"check", CT_STORE_CHECK, 0, '-'},
    {"watch", CT_STORE_WATCH, 0, 'v'},     {"delete", CT_STORE_DELETE, 0, '-'},
    {"barrier", CT_STORE_BARRIER, 1, '-'},
};

/* Those that go over all servers. */
static const struct {
    const char        *name;
    enum ct_store_show what;
} lists[] = {
    {"list", CT_STORE_SHOW_KEYS},
    {"dump", CT_STORE_SHOW_VALUES},
    {"waits", CT_STORE_SHOW_WAITS},
};

static int ask(struct tool *t, size_t command, char **words)
{
    struct ct_store_request req = {
        .op = commands[command].op, .timeout_ms = t->timeout_ms, .key = ct_bytes_of(words[0])};
    struct ct_store_reply reply;
    void                 *memory;
    if (req.op == CT_STORE_ADD || req.op == CT_STORE_BARRIER) {
        char *end;
        req.number = strtoll(words[1], &end, 10);
        if (*words[1] == '\0' || *end != '\0') {
            return usage("this command wants a number");
        }
    } else if (req.op == CT_STORE_SET) {
        req.value = ct_bytes_of(words[1]);
    } else if (req.op == CT_STORE_CAS) {
        req.expected = ct_bytes_of(words[1]);
        req.value = ct_bytes_of(words[2]);
    } else if (req.op == CT_STORE_WATCH) {
        return watch(t, &req);
    }
    int rc = ct_store_call(t->store, &req, &reply, &memory);
    if (rc != CTRAN_SUCCESS) {
        return complain(&req, rc);
    }
    if (reply.found && commands[command].prints == 'v') {
        print_value(&reply);
    } else if (commands[command].prints == 'n') {
        printf("%lld\n", (long long)reply.number);
    }
    free(memory);
    return reply.found ? OK : FAILED;
}

static int run(struct tool *t, int argc, char **argv)
{
    if (strcmp(argv[0], "serve") == 0) {
        return argc == 1 ? serve(t) : usage("serve takes no further words");
    }
    if (t->nservers == 0) {
        return usage("name the servers with --server");
    }
    if (ct_store_open(&t->store, &t->loop, t->servers, t->nservers, &t->key) != CTRAN_SUCCESS) {
        return FAILED;
    }
    int rc = -1;
    for (size_t i = 0; i < CT_ARRAY_LEN(lists); i++) {
        if (strcmp(argv[0], lists[i].name) == 0 && argc <= 2) {
            rc = list(t, argc == 2 ? argv[1] : "", lists[i].what);
        }
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(commands); i++) {
        if (strcmp(argv[0], commands[i].name) == 0 && argc == commands[i].words + 2) {
            rc = ask(t, i, argv + 1);
        }
    }
    ct_store_close(t->store);
    return rc >= 0 ? rc : usage("no such command, or not with these words");
}

static bool take_servers(struct tool *t, char *list_text)
{
    char *rest = NULL;
    for (char *one = strtok_r(list_text, ",", &rest); one != NULL;
         one = strtok_r(NULL, ",", &rest)) {
        if (t->nservers == MAX_SERVERS ||
            ct_addr_parse(&t->servers[t->nservers++], one) != CTRAN_SUCCESS) {
            return false;
        }
    }
    return true;
}

static bool take_connections(struct tool *t, const char *text)
{
    char         *end;
    unsigned long n = strtoul(text, &end, 10);
    t->limits.connections = (uint32_t)n;
    return *text >= '0' && *text <= '9' && *end == '\0' && n > 0 && n <= 1000000;
}

/* -1: go on; else the exit status. */
static int options(struct tool *t, int argc, char **argv)
{
    static const struct option known[] = {
        {"key-file", required_argument, NULL, 'k'},
        {"server", required_argument, NULL, 's'},
        {"listen", required_argument, NULL, 'l'},
        {"memory", required_argument, NULL, 'm'},
        {"timeout", required_argument, NULL, 't'},
        {"connections", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "+", known, NULL)) != -1;) {
        double seconds;
        switch (c) {
        case 'k':
            t->key_file = optarg;
            break;
        case 's':
            if (!take_servers(t, optarg)) {
                return usage("--server wants ADDRESS:PORT[,...], at most 64 of them");
            }
            break;
        case 'l':
            t->listen = optarg;
            break;
        case 'm':
            t->limits.memory = (size_t)strtoul(optarg, NULL, 10) << 20;
            break;
        case 'c':
            if (!take_connections(t, optarg)) {
                return usage("--connections wants a number, from 1 to 1000000");
            }
            break;
        case 't':
            seconds = strtod(optarg, NULL);
            if (!(seconds > 0 && seconds <= 86400)) {
                return usage("--timeout wants seconds, more than 0 and at most 86400");
            }
            t->timeout_ms = (uint32_t)(seconds * 1000 + 0.5);
            break;
        case 'h':
            fputs(usage_text, stdout);
            return OK;
        case 'V':
            puts("ctran_store " PACKAGE_VERSION);
            return OK;
        default:
            return USAGE;
        }
    }
    return optind < argc ? -1 : usage("a command is missing");
}

int main(int argc, char **argv)
{
    struct tool t = {.listen = "127.0.0.1:0", .timeout_ms = DEFAULT_TIMEOUT_MS};
    int         rc;
    ct_stdfd_fill();
    if (argc == 2 && strcmp(argv[1], "key") == 0) {
        return make_key();
    }
    rc = options(&t, argc, argv);
    if (rc >= 0) {
        return rc;
    }
    ct_log_init(&t.log, CT_LOG_WARN, "ctran_store");
    rc = read_key(&t);
    if (rc == OK && ct_loop_init(&t.loop, &t.log) != CTRAN_SUCCESS) {
        rc = FAILED;
    }
    if (rc == OK) {
        rc = run(&t, argc - optind, argv + optind);
    }
    ct_loop_fini(&t.loop);
    ct_auth_wipe(&t.key, sizeof t.key);
    return rc;
}
