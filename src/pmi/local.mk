# pmi: joining the job.
libctcore_la_SOURCES += \
	src/pmi/records.c \
	src/pmi/records.h \
	src/pmi/facts.c \
	src/pmi/facts.h \
	src/pmi/family.c \
	src/pmi/family.h \
	src/pmi/job.c \
	src/pmi/events.c \
	src/pmi/nodes.c \
	src/pmi/nodes.h \
	src/pmi/nodes_store.c \
	src/pmi/only.c \
	src/pmi/only.h \
	src/pmi/pmi.h \
	src/pmi/pmix.c \
	src/pmi/single.c
