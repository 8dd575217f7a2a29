# launcher/place: see place.h.
launcher_sources += \
	launcher/place/corelock.c launcher/place/corelock.h \
	launcher/place/places.c launcher/place/places.h \
	launcher/place/places_report.c \
	launcher/place/gpuread.c launcher/place/gpuread.h \
	launcher/place/gpus.c launcher/place/gpus.h \
	launcher/place/limits.c launcher/place/limits.h \
	launcher/place/place.h \
	launcher/place/plan.c launcher/place/plan.h \
	launcher/place/plan_exec.c \
	launcher/place/rankconfig.c launcher/place/rankconfig.h
