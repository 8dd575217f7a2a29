/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info - info objects: a long random life of several held against a plain model, at any time; the
 * program's start; hints of communicators. Usage: info [SEED]
 */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

/* ---- objects against a model ----------------------------------------------------------------- */

enum { KEYS = 12, OBJECTS = 4, LONGEST = CTRAN_MAX_INFO_VAL - 1 };

/* What an object should hold: value numbers by key, in the order of their setting. */
struct model {
    ctran_info_t info;
    int          n, key[KEYS], value[KEYS];
};

static const char *key_name(int key, char *out)
{
    if (key == 0) { /* one that is as long as may be */
        memset(out, 'k', CTRAN_MAX_INFO_KEY - 1);
        out[CTRAN_MAX_INFO_KEY - 1] = '\0';
    } else {
        snprintf(out, CTRAN_MAX_INFO_KEY, "key %d ", key);
    }
    return out;
}

/* Values of all lengths, the longest included. */
static const char *value_text(int value, char *out)
{
    const size_t len = value % 7 == 0 ? LONGEST : (size_t)value % 90;
    for (size_t i = 0; i < len; i++) {
        out[i] = (char)(' ' + (mix((uint64_t)value) + i) % 90);
    }
    out[len] = '\0';
    return out;
}

static int place_of(const struct model *m, int key)
{
    for (int i = 0; i < m->n; i++) {
        if (m->key[i] == key) {
            return i;
        }
    }
    return -1;
}

/* What the deprecated calls should say; `wanted` is NULL where there is no such key. */
static void expect_old_words(ctran_info_t info, const char *name, int cap, const char *wanted)
{
    char *found = guarded_new(CTRAN_MAX_INFO_VAL);
    int   len = -7, flag = -1, room = cap > 0 ? cap - 1 : 0;
    OK(ctran_info_get_valuelen(info, name, &len, &flag));
    EXPECT_EQ(wanted != NULL, flag);
    EXPECT_EQ(wanted != NULL ? (int)strlen(wanted) : -7, len);
    flag = -1;
    OK(ctran_info_get(info, name, room, found, &flag));
    EXPECT_EQ(wanted != NULL, flag);
    if (wanted != NULL) {
        const size_t part = strnlen(wanted, (size_t)room);
        EXPECT_GUARDED(found, CTRAN_MAX_INFO_VAL, part + 1);
        EXPECT(memcmp(found, wanted, part) == 0 && found[part] == '\0');
    }
    guarded_free(found);
}

/* What get_string should say for a buffer of `cap` bytes. */
static void expect_value(const struct model *m, int key, int cap)
{
    char      name[CTRAN_MAX_INFO_KEY], wanted[CTRAN_MAX_INFO_VAL];
    char     *found = guarded_new(CTRAN_MAX_INFO_VAL);
    int       buflen = cap, flag = -1;
    const int at = place_of(m, key);
    OK(ctran_info_get_string(m->info, key_name(key, name), &buflen, cap > 0 ? found : NULL, &flag));
    EXPECT_EQ(at >= 0, flag);
    if (at < 0) {
        EXPECT_EQ(cap, buflen);
        EXPECT_GUARDED(found, CTRAN_MAX_INFO_VAL, 0);
    } else {
        value_text(m->value[at], wanted);
        const size_t len = strlen(wanted), part = cap == 0            ? 0
                                                  : len < (size_t)cap ? len
                                                                      : (size_t)cap - 1;
        EXPECT_EQ(len + 1, buflen);
        EXPECT_GUARDED(found, CTRAN_MAX_INFO_VAL, cap > 0 ? part + 1 : 0);
        EXPECT(cap == 0 || (memcmp(found, wanted, part) == 0 && found[part] == '\0'));
    }
    expect_old_words(m->info, name, cap, at < 0 ? NULL : wanted);
    guarded_free(found);
}

static void expect_model(const struct model *m)
{
    char name[CTRAN_MAX_INFO_KEY], found[CTRAN_MAX_INFO_KEY];
    int  n = -1;
    OK(ctran_info_get_nkeys(m->info, &n));
    EXPECT_EQ(m->n, n);
    for (int i = 0; i < n; i++) {
        OK(ctran_info_get_nthkey(m->info, i, found));
        EXPECT_EQ(0, strcmp(key_name(m->key[i], name), found));
    }
    for (int key = 0; key < KEYS; key++) {
        expect_value(m, key, CTRAN_MAX_INFO_VAL);
    }
}

static void remove_at(struct model *m, int at)
{
    m->n--;
    for (int i = at; i < m->n; i++) {
        m->key[i] = m->key[i + 1];
        m->value[i] = m->value[i + 1];
    }
}

static void change(struct model *m, uint64_t *rng)
{
    char         name[CTRAN_MAX_INFO_KEY], text[CTRAN_MAX_INFO_VAL];
    const int    key = rng_below(rng, KEYS), value = rng_below(rng, 100000);
    const int    at = place_of(m, key);
    ctran_info_t copy;
    switch (rng_below(rng, 8)) {
    case 0:
    case 1:
    case 2:
        OK(ctran_info_set(m->info, key_name(key, name), value_text(value, text)));
        m->n += at < 0;
        m->key[at < 0 ? m->n - 1 : at] = key;
        m->value[at < 0 ? m->n - 1 : at] = value;
        break;
    case 3:
    case 4:
        if (at >= 0) {
            OK(ctran_info_delete(m->info, key_name(key, name)));
            remove_at(m, at);
        }
        break;
    case 5:
        OK(ctran_info_dup(m->info, &copy));
        OK(ctran_info_free(&m->info));
        EXPECT_PTR(CTRAN_INFO_NULL, m->info);
        m->info = copy;
        break;
    default:
        expect_value(m, key, rng_below(rng, CTRAN_MAX_INFO_VAL + 1));
    }
}

static void random_life(void)
{
    uint64_t     rng = rng_of(900);
    struct model m[OBJECTS] = {{0}};
    for (int i = 0; i < OBJECTS; i++) {
        OK(ctran_info_create(&m[i].info));
    }
    for (int step = 0; step < 2000; step++) {
        struct model *one = &m[rng_below(&rng, OBJECTS)];
        change(one, &rng);
        if (step % 20 == 0) {
            expect_model(one);
        }
    }
    for (int i = 0; i < OBJECTS; i++) {
        expect_model(&m[i]);
        OK(ctran_info_free(&m[i].info));
    }
}

/* ---- the program's start --------------------------------------------------------------------- */

static const char *value_of(ctran_info_t info, const char *key, char *out)
{
    int len = CTRAN_MAX_INFO_VAL, flag = -1;
    OK(ctran_info_get_string(info, key, &len, out, &flag));
    return flag == 1 ? out : NULL;
}

static void expect_text(ctran_info_t info, const char *key, const char *wanted)
{
    char        value[CTRAN_MAX_INFO_VAL];
    const char *found = value_of(info, key, value);
    if ((found == NULL) != (wanted == NULL) || (found != NULL && strcmp(found, wanted) != 0)) {
        check_fail(__FILE__, __LINE__, "%s: wanted \"%s\", found \"%s\"", key,
                   wanted != NULL ? wanted : "(none)", found != NULL ? found : "(none)");
    }
}

static char **start_argv;
static int    known_size; /* once the job has been joined */
static char   known_host[CTRAN_MAX_PROCESSOR_NAME];

static void environment(void)
{
    char         wdir[4096], number[16], name[CTRAN_MAX_PROCESSOR_NAME];
    ctran_info_t kept = CTRAN_INFO_ENV, copy;
    int          len;
    expect_text(CTRAN_INFO_ENV, "command", start_argv[0]);
    EXPECT(getcwd(wdir, sizeof wdir) != NULL);
    expect_text(CTRAN_INFO_ENV, "wdir", wdir);
    snprintf(number, sizeof number, "%d", check_size);
    expect_text(CTRAN_INFO_ENV, "maxprocs", number);
    OK(ctran_get_processor_name(name, &len));
    expect_text(CTRAN_INFO_ENV, "host", name);
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_set(CTRAN_INFO_ENV, "a", "b"));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_delete(CTRAN_INFO_ENV, "host"));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_free(&kept));
    EXPECT_PTR(CTRAN_INFO_ENV, kept);
    OK(ctran_info_dup(CTRAN_INFO_ENV, &copy));
    OK(ctran_info_set(copy, "host", "elsewhere"));
    expect_text(copy, "host", "elsewhere");
    expect_text(CTRAN_INFO_ENV, "host", name);
    OK(ctran_info_free(&copy));
}

/* Before init, between and after finalize alike; but before init the size is known only where
 * there is no launcher, or where that tells it. */
static void knows_the_job(char **argv)
{
    const char  *told = getenv("CTRAN_SIZE"), *size = told;
    char         number[16], host[CTRAN_MAX_PROCESSOR_NAME] = "";
    ctran_info_t info;
    int          len = sizeof host, flag = 0;
    if (known_size > 0) {
        snprintf(number, sizeof number, "%d", known_size);
        size = number;
    } else if (getenv("PMIX_RANK") == NULL) {
        size = "1";
    }
    OK(ctran_info_create_env(1, argv, &info));
    expect_text(info, "maxprocs", size);
    expect_text(info, "soft", size);
    OK(ctran_info_get_string(info, "host", &len, host, &flag));
    EXPECT(flag && host[0] != '\0');
    if (known_host[0] != '\0') {
        EXPECT(strcmp(host, known_host) == 0);
    }
    snprintf(known_host, sizeof known_host, "%s", host);
    OK(ctran_info_free(&info));
}

static void environments_of_ones_own(void)
{
    static char  longest[CTRAN_MAX_INFO_VAL + 1];
    char        *argv[] = {"prog", "-x", "a b", NULL}, *much[] = {"prog", longest, NULL};
    ctran_info_t info;
    memset(longest, 'x', CTRAN_MAX_INFO_VAL);
    OK(ctran_info_create_env(3, argv, &info));
    expect_text(info, "command", "prog");
    expect_text(info, "argv", "-x a b");
    OK(ctran_info_free(&info));
    OK(ctran_info_create_env(1, argv, &info));
    expect_text(info, "argv", NULL);
    OK(ctran_info_free(&info));
    OK(ctran_info_create_env(2, much, &info)); /* a part of it would mislead */
    expect_text(info, "argv", NULL);
    OK(ctran_info_free(&info));
    OK(ctran_info_create_env(5, argv, &info)); /* the array's end counts, not the number */
    expect_text(info, "argv", "-x a b");
    OK(ctran_info_free(&info));
    OK(ctran_info_create_env(0, NULL, &info));
    expect_text(info, "command", start_argv[0]);
    OK(ctran_info_free(&info));
    knows_the_job(argv);
}

/* ---- hints ----------------------------------------------------------------------------------- */

static void expect_hint(ctran_comm_t comm, const char *key, const char *wanted)
{
    ctran_info_t used = CTRAN_INFO_NULL;
    OK(ctran_comm_get_info(comm, &used));
    expect_text(used, key, wanted);
    OK(ctran_info_free(&used));
}

/* What a communicator's collectives shall take: told, taken back, refused if there is none. */
static void algorithms(ctran_comm_t comm)
{
    static const char key[] = "ctran_coll_algorithm";
    ctran_info_t      info;
    ctran_comm_t      copy = CTRAN_COMM_NULL;
    int               sum = -1;
    OK(ctran_info_create(&info));
    expect_hint(comm, key, NULL);
    OK(ctran_info_set(info, key, "allreduce=linear;bcast=knomial:4"));
    OK(ctran_comm_set_info(comm, info));
    expect_hint(comm, key, "allreduce=linear;bcast=knomial:4");
    OK(ctran_allreduce(&check_rank, &sum, 1, CTRAN_INT, CTRAN_SUM, comm));
    EXPECT_EQ(check_size * (check_size - 1) / 2, sum);
    OK(ctran_info_set(info, key, "allreduce=fastest"));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_INFO_VALUE, ctran_comm_set_info(comm, info));
    EXPECT_RC(CTRAN_ERR_INFO_VALUE, ctran_comm_dup_with_info(comm, info, &copy));
    EXPECT_PTR(CTRAN_COMM_NULL, copy);
    expect_hint(comm, key, "allreduce=linear;bcast=knomial:4");
    OK(ctran_info_set(info, key, "allreduce:ring"));
    OK(ctran_comm_dup_with_info(comm, info, &copy));
    expect_hint(copy, key, "allreduce:ring");
    OK(ctran_allreduce(&check_rank, &sum, 1, CTRAN_INT, CTRAN_SUM, copy));
    EXPECT_EQ(check_size * (check_size - 1) / 2, sum);
    OK(ctran_comm_free(&copy));
    OK(ctran_info_set(info, key, ""));
    OK(ctran_comm_set_info(comm, info));
    expect_hint(comm, key, NULL);
    OK(ctran_info_free(&info));
}

static void hints(void)
{
    static const char any_tag[] = "mpi_assert_no_any_tag", exact[] = "mpi_assert_exact_length";
    ctran_info_t      info;
    ctran_comm_t      comm, copy, part;
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, any_tag, "true"));
    OK(ctran_info_set(info, exact, "maybe"));
    OK(ctran_info_set(info, "unheard_of", "true"));
    OK(ctran_comm_dup_with_info(CTRAN_COMM_WORLD, info, &comm));
    expect_hint(comm, any_tag, "true");
    expect_hint(comm, exact, "false");
    expect_hint(comm, "unheard_of", NULL);
    expect_hint(CTRAN_COMM_WORLD, any_tag, "false");
    OK(ctran_comm_dup(comm, &copy)); /* MPI-4.1 sec. 7.4.2: not handed on */
    expect_hint(copy, any_tag, "false");
    OK(ctran_comm_split_type(comm, CTRAN_COMM_TYPE_SHARED, 0, info, &part));
    expect_hint(part, any_tag, "true");
    OK(ctran_info_delete(info, any_tag));
    OK(ctran_info_set(info, exact, "true"));
    OK(ctran_comm_set_info(comm, info));
    expect_hint(comm, any_tag, "true"); /* what is not named stays */
    expect_hint(comm, exact, "true");
    OK(ctran_info_set(info, any_tag, "false"));
    OK(ctran_comm_set_info(comm, info));
    expect_hint(comm, any_tag, "false");
    OK(ctran_comm_set_info(comm, CTRAN_INFO_NULL));
    OK(ctran_comm_set_info(comm, CTRAN_INFO_ENV));
    OK(ctran_info_free(&info));
    algorithms(comm);
    int sum = -1;
    OK(ctran_allreduce(&check_rank, &sum, 1, CTRAN_INT, CTRAN_SUM, comm));
    EXPECT_EQ(check_size * (check_size - 1) / 2, sum);
    OK(ctran_comm_free(&comm));
    OK(ctran_comm_free(&copy));
    OK(ctran_comm_free(&part));
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void bad_info(ctran_info_t bad)
{
    ctran_info_t kept = bad, other = CTRAN_INFO_NULL;
    ctran_comm_t comm = CTRAN_COMM_NULL;
    char         text[CTRAN_MAX_INFO_VAL] = "as it was";
    int          n = -5, len = sizeof text, flag = -5;
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_set(bad, "a", "b"));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_delete(bad, "a"));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_get_string(bad, "a", &len, text, &flag));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_get_nkeys(bad, &n));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_get_nthkey(bad, 0, text));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_dup(bad, &other));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_free(&kept));
    EXPECT_PTR(bad, kept);
    EXPECT_PTR(CTRAN_INFO_NULL, other);
    EXPECT_EQ(-5, n);
    EXPECT_EQ(-5, flag);
    EXPECT_EQ(sizeof text, len);
    EXPECT_EQ(0, strcmp("as it was", text));
    if (bad != CTRAN_INFO_NULL && check_size > 0) { /* with the job: a bad one is no hint */
        EXPECT_RC(CTRAN_ERR_INFO, ctran_comm_set_info(CTRAN_COMM_SELF, bad));
        EXPECT_RC(CTRAN_ERR_INFO, ctran_comm_dup_with_info(CTRAN_COMM_SELF, bad, &comm));
        EXPECT_RC(CTRAN_ERR_INFO,
                  ctran_comm_split_type(CTRAN_COMM_SELF, CTRAN_COMM_TYPE_SHARED, 0, bad, &comm));
        EXPECT_PTR(CTRAN_COMM_NULL, comm);
    }
}

static void refused(void)
{
    static char  longest[CTRAN_MAX_INFO_VAL + 1];
    char         text[CTRAN_MAX_INFO_VAL] = "as it was";
    ctran_info_t info, freed;
    int          len = 4, flag = -5, negative = -1;
    OK(ctran_info_create(&info));
    freed = info;
    OK(ctran_info_free(&info));
    bad_info(CTRAN_INFO_NULL);
    bad_info(NULL);
    bad_info((ctran_info_t)CTRAN_INT);
    bad_info(freed);
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "a", "b"));
    memset(longest, 'x', sizeof longest - 1);
    EXPECT_RC(CTRAN_ERR_INFO_VALUE, ctran_info_set(info, "a", longest));
    EXPECT_RC(CTRAN_ERR_INFO_VALUE, ctran_info_set(info, "a", NULL));
    EXPECT_RC(CTRAN_ERR_INFO_KEY, ctran_info_set(info, NULL, "a"));
    EXPECT_RC(CTRAN_ERR_INFO_KEY, ctran_info_set(info, "", "a"));
    longest[CTRAN_MAX_INFO_KEY] = '\0';
    EXPECT_RC(CTRAN_ERR_INFO_KEY, ctran_info_set(info, longest, "a"));
    EXPECT_RC(CTRAN_ERR_INFO_NOKEY, ctran_info_delete(info, longest));
    EXPECT_RC(CTRAN_ERR_INFO_NOKEY, ctran_info_delete(info, "A"));
    EXPECT_RC(CTRAN_ERR_INFO_KEY, ctran_info_delete(info, NULL));
    EXPECT_RC(CTRAN_ERR_INFO_KEY, ctran_info_get_string(info, NULL, &len, text, &flag));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_info_get_string(info, "a", &negative, text, &flag));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_info_get_string(info, "a", NULL, text, &flag));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_info_get_string(info, "a", &len, NULL, &flag));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_info_get_nthkey(info, 1, text));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_info_get_nthkey(info, -1, text));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_info_get_nthkey(info, 0, NULL));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_info_create(NULL));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_info_dup(info, NULL));
    EXPECT_EQ(-5, flag);
    EXPECT_EQ(4, len);
    EXPECT_EQ(0, strcmp("as it was", text));
    expect_text(info, "a", "b");
    OK(ctran_info_free(&info));
}

/* ---- threads, at any time -------------------------------------------------------------------- */

static void *live(void *arg)
{
    (void)arg;
    random_life();
    return NULL;
}

static void threads(void)
{
    pthread_t other[3];
    for (size_t i = 0; i < LEN(other); i++) {
        EXPECT_EQ(0, pthread_create(&other[i], NULL, live, NULL));
    }
    random_life();
    for (size_t i = 0; i < LEN(other); i++) {
        pthread_join(other[i], NULL);
    }
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"random life", random_life},
        {"environment", environment},
        {"environments of one's own", environments_of_ones_own},
        {"hints", hints},
        {"refused", refused},
        {"threads", threads},
    };
    ctran_info_t before, none = CTRAN_INFO_NULL;
    int          n = -5;
    start_argv = argv;
    check_errors_return();
    threads();
    refused();
    environments_of_ones_own();
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_get_nkeys(CTRAN_INFO_ENV, &n));
    OK(ctran_info_create(&before));
    OK(ctran_info_set(before, "from", "before"));
    check_start(argc, argv);
    known_size = check_size;
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    expect_text(before, "from", "before");
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_get_info(CTRAN_COMM_NULL, &none));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_set_info(CTRAN_COMM_NULL, before));
    check_run(subjects, LEN(subjects));
    int rc = check_end();
    expect_text(before, "from", "before");
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_get_nkeys(CTRAN_INFO_ENV, &n));
    environments_of_ones_own();
    check_size = 0; /* without the job */
    refused();
    threads();
    OK(ctran_info_free(&before));
    return rc;
}
