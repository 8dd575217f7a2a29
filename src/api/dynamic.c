/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that meet without a communicator in common: ports, names of services, sockets. */
#define CT_FOLDER "api"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"

/* ---- ports ----------------------------------------------------------------------------------- */

int ctran_open_port(ctran_info_t info_handle, char *port_name)
{
    static const char call[] = "ctran_open_port";
    struct ct_comm   *self;
    struct ct_info   *info;
    int               rc = ct_check_self(call, &self);
    rc = rc == CTRAN_SUCCESS ? ct_check_info(self, call, info_handle, &info) : rc;
    rc = rc == CTRAN_SUCCESS ? ct_check_out(self, call, port_name, "port_name") : rc;
    if (rc == CTRAN_SUCCESS) {
        rc = ct_port_open(self->p, port_name, CTRAN_MAX_PORT_NAME);
        return ct_api_pass(self, rc, call);
    }
    return rc;
}

static int check_port_name(struct ct_comm *comm, const char *call, const char *port_name)
{
    return port_name != NULL ? CTRAN_SUCCESS
                             : ct_api_raise(comm, CTRAN_ERR_ARG, call, "port_name is NULL");
}

int ctran_close_port(const char *port_name)
{
    static const char call[] = "ctran_close_port";
    struct ct_comm   *self;
    int               rc = ct_check_self(call, &self);
    rc = rc == CTRAN_SUCCESS ? check_port_name(self, call, port_name) : rc;
    if (rc == CTRAN_SUCCESS && ct_port_close(self->p, port_name) != CTRAN_SUCCESS) {
        rc = ct_api_raise(self, CTRAN_ERR_PORT, call, "\"%.64s\" is no open port of this process",
                          port_name);
    }
    return rc;
}

/* The key "timeout" of a call, in seconds. */
static int read_timeout(struct ct_comm *comm, const char *call, const struct ct_info *info,
                        uint64_t *timeout_ns)
{
    char    text[32];
    int64_t seconds;
    if (info == NULL || ct_info_get(&comm->p->infos, info, "timeout", text, sizeof text) < 0) {
        return CTRAN_SUCCESS;
    }
    if (!ct_config_number(CT_VAR_INT, text, &seconds) || seconds < 0 || seconds > INT32_MAX) {
        return ct_api_raise(comm, CTRAN_ERR_INFO_VALUE, call,
                            "\"timeout\" is \"%s\", must be a number of seconds", text);
    }
    *timeout_ns = (uint64_t)seconds * 1000 * CT_NS_PER_MS;
    return CTRAN_SUCCESS;
}

/* Accepts a call at a port, or makes one. */
static int meet(const char *call, bool calls, const char *port_name, ctran_info_t info_handle,
                int root, ctran_comm_t handle, ctran_comm_t *newcomm)
{
    struct ct_comm   *comm, *made = NULL;
    struct ct_info   *info;
    struct ct_meeting at = {.port = port_name, .calls = calls, .timeout_ns = CT_PORT_FOREVER};
    int               rc = ct_check_intra(call, handle, &comm), bad = CTRAN_SUCCESS;
    rc = rc == CTRAN_SUCCESS ? ct_check_out(comm, call, newcomm, "newcomm") : rc;
    rc = rc == CTRAN_SUCCESS ? ct_check_root(comm, call, root) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if ((uint32_t)root == comm->run.me) {
        bad = check_port_name(comm, call, port_name);
        bad = bad == CTRAN_SUCCESS ? ct_check_info(comm, call, info_handle, &info) : bad;
        bad = bad == CTRAN_SUCCESS ? read_timeout(comm, call, info, &at.timeout_ns) : bad;
    }
    struct ct_blocked b;
    ct_api_block(&b, call, comm, CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    rc = ct_comm_meet_at(comm, (uint32_t)root, &at, bad, &made);
    ct_blocked_end(&b);
    if (bad != CTRAN_SUCCESS) {
        return bad; /* the others have it now, and a handler has seen it */
    }
    if (rc == CTRAN_ERR_PORT) {
        return ct_api_raise(comm, rc, call,
                            calls ? "the port is not open, its process has ended, or nobody has "
                                    "accepted in time: open it by "
                                    "ctran_open_port in the process that accepts"
                                  : "the port is not open in the root process");
    }
    if (rc == CTRAN_ERR_GROUP) {
        return ct_api_raise(comm, rc, call, "the two groups have a process in common");
    }
    return ct_api_give_comm(comm, rc, made, call, newcomm);
}

int ctran_comm_accept(const char *port_name, ctran_info_t info, int root, ctran_comm_t comm,
                      ctran_comm_t *newcomm)
{
    return meet("ctran_comm_accept", false, port_name, info, root, comm, newcomm);
}

int ctran_comm_connect(const char *port_name, ctran_info_t info, int root, ctran_comm_t comm,
                       ctran_comm_t *newcomm)
{
    return meet("ctran_comm_connect", true, port_name, info, root, comm, newcomm);
}

/* ---- names of services ----------------------------------------------------------------------- */

/* The arguments of the three calls; *self handles errors. */
static int check_service(const char *call, const char *service_name, ctran_info_t info_handle,
                         const char *port_name, struct ct_comm **self)
{
    struct ct_info *info;
    int             rc = ct_check_self(call, self);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (service_name == NULL || port_name == NULL) {
        return ct_api_raise(*self, CTRAN_ERR_ARG, call, "%s is NULL",
                            service_name == NULL ? "service_name" : "port_name");
    }
    rc = ct_check_info(*self, call, info_handle, &info);
    if (rc == CTRAN_SUCCESS && !(*self)->p->job->has_family) {
        rc = ct_api_raise(*self, CTRAN_ERR_UNSUPPORTED_OPERATION, call,
                          "this process was not started by ctranrun, which alone keeps names of "
                          "services");
    }
    return rc;
}

int ctran_publish_name(const char *service_name, ctran_info_t info, const char *port_name)
{
    static const char call[] = "ctran_publish_name";
    struct ct_comm   *self;
    int               rc = check_service(call, service_name, info, port_name, &self);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_family_publish(service_name, port_name);
    if (rc == CTRAN_ERR_SERVICE) {
        return ct_api_raise(self, rc, call, "\"%.64s\" is published already", service_name);
    }
    return ct_api_pass(self, rc, call);
}

int ctran_lookup_name(const char *service_name, ctran_info_t info, char *port_name)
{
    static const char call[] = "ctran_lookup_name";
    struct ct_comm   *self;
    int               rc = check_service(call, service_name, info, port_name, &self);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_family_look_up(service_name, port_name, CTRAN_MAX_PORT_NAME);
    if (rc == CTRAN_ERR_NAME) {
        return ct_api_raise(self, rc, call, "nobody has published \"%.64s\"", service_name);
    }
    return ct_api_pass(self, rc, call);
}

int ctran_unpublish_name(const char *service_name, ctran_info_t info, const char *port_name)
{
    static const char call[] = "ctran_unpublish_name";
    struct ct_comm   *self;
    int               rc = check_service(call, service_name, info, port_name, &self);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_family_unpublish(service_name);
    if (rc == CTRAN_ERR_SERVICE) {
        return ct_api_raise(self, rc, call, "this process has not published \"%.64s\"",
                            service_name);
    }
    return ct_api_pass(self, rc, call);
}

/* ---- over a socket --------------------------------------------------------------------------- */

/* What both ends of the socket say of themselves. */
struct hello {
    uint64_t family; /* a number that the processes of one family have in common; 0: none */
    uint32_t process, zero;
};

static bool send_all(int fd, const void *buf, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, buf, len);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        buf = (const char *)buf + (n > 0 ? n : 0);
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool recv_all(int fd, void *buf, size_t len)
{
    while (len > 0) {
        ssize_t n = read(fd, buf, len);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        buf = (char *)buf + (n > 0 ? n : 0);
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static uint64_t family_number(struct ct_job *job)
{
    struct ct_auth_key key;
    if (!job->has_family || ct_job_key(job, &key) != CTRAN_SUCCESS) {
        return 0;
    }
    const uint64_t number = ct_auth_number(&key, "join");
    ct_auth_wipe(&key, sizeof key);
    return number;
}

/* Both know each other: the one with the lower number opens a port and tells its name. */
static int join(struct ct_comm *self, int fd, bool calls, struct ct_comm **made)
{
    char port[CTRAN_MAX_PORT_NAME] = "";
    int  rc = calls ? CTRAN_SUCCESS : ct_port_open(self->p, port, sizeof port);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const bool told = calls ? recv_all(fd, port, sizeof port) : send_all(fd, port, sizeof port);
    port[sizeof port - 1] = '\0';
    const struct ct_meeting at = {.port = port, .calls = calls, .timeout_ns = CT_PORT_FOREVER};
    rc = told ? ct_comm_meet_at(self, 0, &at, CTRAN_SUCCESS, made) : CTRAN_ERR_SYSTEM;
    if (!calls) {
        (void)ct_port_close(self->p, port);
    }
    return rc;
}

int ctran_comm_join(int fd, ctran_comm_t *intercomm)
{
    static const char call[] = "ctran_comm_join";
    struct ct_comm   *self, *made = NULL;
    int               rc = ct_check_self(call, &self);
    rc = rc == CTRAN_SUCCESS ? ct_check_out(self, call, intercomm, "intercomm") : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct hello own = {family_number(self->p->job), ct_job_me(self->p->job), 0}, other;
    if (!send_all(fd, &own, sizeof own) || !recv_all(fd, &other, sizeof other)) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "the socket %d has failed: %s", fd,
                            errno != 0 ? strerror(errno) : "its other end was closed");
    }
    if (own.family == 0 || own.family != other.family || own.process == other.process) {
        *intercomm = CTRAN_COMM_NULL; /* no way to reach it, as MPI has it */
        return CTRAN_SUCCESS;
    }
    struct ct_blocked b;
    ct_api_block(&b, call, self, CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    rc = join(self, fd, own.process > other.process, &made);
    ct_blocked_end(&b);
    return ct_api_give_comm(self, rc, made, call, intercomm);
}
