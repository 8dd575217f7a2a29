# launcher/family: see family.h.
launcher_sources += \
	launcher/family/announced.c launcher/family/announced.h \
	launcher/family/family.h \
	launcher/family/jobs.c launcher/family/jobs.h \
	launcher/family/members.c launcher/family/members.h \
	launcher/family/messages.c launcher/family/messages.h \
	launcher/family/published.c launcher/family/published.h \
	launcher/family/published_store.c launcher/family/published_store.h \
	launcher/family/root.c launcher/family/root.h \
	launcher/family/root_get.c launcher/family/root_get.h \
	launcher/family/root_meet.c launcher/family/root_meet.h \
	launcher/family/spawned.c launcher/family/spawned.h \
	launcher/family/spawned_place.c launcher/family/spawned_place.h \
	launcher/family/state.h
