# launcher/tree: see tree.h.
launcher_sources += \
	launcher/tree/hub.c launcher/tree/hub.h \
	launcher/tree/hub_child.c \
	launcher/tree/hub_events.c \
	launcher/tree/hub_fence.c \
	launcher/tree/launch.c launcher/tree/launch.h \
	launcher/tree/relay.c launcher/tree/relay.h \
	launcher/tree/span.c launcher/tree/span.h \
	launcher/tree/tree.h
