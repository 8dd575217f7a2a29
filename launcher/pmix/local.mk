# launcher/pmix: see pmix.h.
launcher_sources += \
	launcher/pmix/ask.c launcher/pmix/ask.h \
	launcher/pmix/event.c launcher/pmix/event.h \
	launcher/pmix/fail.c launcher/pmix/fail.h \
	launcher/pmix/remote.c launcher/pmix/remote.h \
	launcher/pmix/guard.c launcher/pmix/guard.h \
	launcher/pmix/info.c launcher/pmix/info.h \
	launcher/pmix/family.c launcher/pmix/family.h \
	launcher/pmix/lib.c launcher/pmix/lib.h \
	launcher/pmix/job_event.c launcher/pmix/job_event.h \
	launcher/pmix/pmix.h \
	launcher/pmix/publish.c launcher/pmix/publish.h \
	launcher/pmix/query.c launcher/pmix/query.h \
	launcher/pmix/server.c launcher/pmix/server.h \
	launcher/pmix/shift.c launcher/pmix/shift.h \
	launcher/pmix/spawn.c launcher/pmix/spawn.h
