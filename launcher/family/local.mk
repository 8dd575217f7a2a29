# launcher/family: see family.h.
launcher_sources += \
	launcher/family/family.h \
	launcher/family/kin.c launcher/family/kin.h \
	launcher/family/kin_get.c \
	launcher/family/kin_meet.c \
	launcher/family/kin_root.h \
	launcher/family/kin_unpack.c \
	launcher/family/published.c launcher/family/published.h \
	launcher/family/published_store.c launcher/family/published_store.h \
	launcher/family/spawned.c launcher/family/spawned.h \
	launcher/family/spawned_place.c launcher/family/spawned_place.h
