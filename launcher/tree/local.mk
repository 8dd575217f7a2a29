# launcher/tree: see tree.h.
launcher_sources += \
	launcher/tree/router.c launcher/tree/router.h \
	launcher/tree/router_child.c launcher/tree/router_child.h \
	launcher/tree/router_events.c launcher/tree/router_events.h \
	launcher/tree/router_fence.c launcher/tree/router_fence.h \
	launcher/tree/launch.c launcher/tree/launch.h \
	launcher/tree/router_process.c launcher/tree/router_process.h \
	launcher/tree/router_state.h \
	launcher/tree/span.c launcher/tree/span.h \
	launcher/tree/tree.h
