# launcher/job: see job.h.
launcher_sources += \
	launcher/job/identity.c launcher/job/identity.h \
	launcher/job/job.h \
	launcher/job/jobdesc.c launcher/job/jobdesc.h \
	launcher/job/ranklist.c launcher/job/ranklist.h \
	launcher/job/recovery.c launcher/job/recovery.h \
	launcher/job/strlist.c launcher/job/strlist.h
