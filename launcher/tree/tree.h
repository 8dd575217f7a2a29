/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree - the tree of processes that carries the messages of a job from the head to the daemons and
 * back. span.h is the shape of the tree, launch.h starts a process of it, router.h passes messages
 * between a process and its children, router_process.h is a process that has a parent and children.
 */
#ifndef CT_LAUNCHER_TREE_TREE_H
#define CT_LAUNCHER_TREE_TREE_H

#include "launcher/tree/span.h"
#include "launcher/tree/launch.h"
#include "launcher/tree/router.h"
#include "launcher/tree/router_process.h"

#endif
